"""Who introduced, repaired and broke what, in outputs made by hand."""

from __future__ import annotations

import msgspec
import pytest
from blamed_outputs import GOLD, TEXT, found, gold, output, place, said, states
from hypothesis import given, settings
from hypothesis import strategies as st

from hallumeter.aspects.blame.tables import blame_of
from hallumeter.aspects.metrics.tuples import match_tuples, pairs_of
from hallumeter.aspects.records.aspect import Aspect, AspectSentiment, AspectTerm, AspectTuple, TextSpan
from hallumeter.aspects.records.blame import SentenceBlame, UnitBlame
from hallumeter.aspects.records.outputs import (
    STEPS,
    AspectExtraction,
    AspectSentiments,
    AspectState,
    FinalAspect,
    FinalResult,
    ModeratorOutput,
    PipelineOutput,
    StageOne,
    StageTwo,
    StepState,
)

READ = (said("battery", "positive"), said("screen", "negative"), said("service", "negative"))
NAMED = (found("battery"), found("screen"), found("service"))


def unit(blame: SentenceBlame, error: str, term: str) -> UnitBlame:
    [only] = [unit for unit in blame.units if (unit.error, unit.term) == (error, term)]
    return only


def errors(blame: SentenceBlame) -> set[tuple[str, str]]:
    return {(unit.error, unit.term) for unit in blame.units if unit.does_stand_at_end}


def test_a_right_sentence_has_no_blame() -> None:
    blame = blame_of(output(*states(ate=NAMED, atsa=READ)))
    assert blame.units == ()
    assert blame.undefined is None
    assert blame.has_gold
    assert not blame.is_coarse


def test_an_invented_aspect_is_ungrounded_and_spurious_and_goes_when_it_is_dropped() -> None:
    invented = (*NAMED, found("camera"))
    blame = blame_of(
        msgspec.structs.replace(
            output(*states(ate=invented, atsa=(*READ, said("camera", "neutral")), ate_review=READ)), stage2=StageTwo()
        )
    )
    for error in ("ungrounded", "spurious"):
        camera = unit(blame, error, "camera")
        assert (camera.introduced_by, camera.repaired_by, camera.does_stand_at_end) == ("ate", ("ate_review",), False)
    assert unit(blame, "ungrounded", "camera").detail == "H1"
    assert unit(blame, "spurious", "camera").detail is None
    assert errors(blame) == set()


def test_a_misplaced_span_needs_no_gold() -> None:
    shifted = (found("battery", shift=-2), found("screen"))
    blame = blame_of(output(*states(ate=shifted), gold_tuples=None))
    assert not blame.has_gold
    [battery] = blame.units
    assert (battery.error, battery.detail, battery.introduced_by) == ("ungrounded", "H2", "ate")
    assert {tally.error for tally in blame.tallies} == {"ungrounded"}


def test_a_span_without_numbers_or_outside_the_text_is_misplaced() -> None:
    nowhere = (AspectState("battery", None, None), AspectState("screen", TextSpan(-3, 200), None))
    blame = blame_of(output(*states(ate=nowhere), gold_tuples=None))
    assert [unit.detail for unit in blame.units] == ["H2", "H2"]


def test_an_aspect_whose_particle_is_cut_is_the_same_aspect() -> None:
    text = "배터리는 좋지만 화면이 어둡다"
    stated = (AspectState("배터리는", TextSpan(0, 4), None, has_sentiment=False), found("화면", text=text))
    tidied = (found("배터리", text=text), found("화면", text=text))
    wanted = gold(("배터리", "positive"), ("화면", "negative"), text=text)
    blame = blame_of(output(*states(ate=stated, ate_tidying=tidied), gold_tuples=wanted, text=text))
    spurious = unit(blame, "spurious", "배터리")
    assert (spurious.introduced_by, spurious.repaired_by) == ("ate", ("ate_tidying",))
    assert unit(blame, "missing", "배터리").repaired_by == ("ate_tidying",)


def test_an_aspect_that_comes_back_is_the_one_that_went() -> None:
    camera = said("camera", "neutral")
    steps = states(
        ate=(found("camera"),), ate_tidying=(), atsa=(), ate_review=(found("camera"),), atsa_review=(camera,)
    )
    blame = blame_of(msgspec.structs.replace(output(*steps, gold_tuples=()), stage2=StageTwo()))
    ungrounded = unit(blame, "ungrounded", "camera")
    assert [change.step for change in ungrounded.changes] == ["ate", "ate_tidying", "ate_review"]
    assert ungrounded.introduced_by == "ate_review"
    assert ungrounded.does_stand_at_end


def test_a_renamed_aspect_at_the_same_place_is_one_thread() -> None:
    wrong = AspectState("display", place("screen"), "negative")
    blame = blame_of(output(*states(ate=(wrong,), atsa=(wrong,), atsa_tidying=(said("screen", "negative"),))))
    assert unit(blame, "ungrounded", "screen").repaired_by == ("atsa_tidying",)


def test_a_missing_aspect_that_a_review_adds_is_missing_again_when_nobody_feels_anything_about_it() -> None:
    steps = states(ate=NAMED[:2], atsa=READ[:2], ate_review=(*READ[:2], found("service")))
    blame = blame_of(msgspec.structs.replace(output(*steps), stage2=StageTwo()))
    service = unit(blame, "missing", "service")
    assert [(change.step, change.became) for change in service.changes] == [
        ("ate", "wrong"),
        ("ate_review", "right"),
        ("atsa_review", "wrong"),
    ]
    assert service.introduced_by == "atsa_review"
    assert {unit.error for unit in blame.units} == {"missing"}


def test_an_added_aspect_with_its_polarity_is_a_repair_without_a_new_error() -> None:
    steps = states(ate=NAMED[:2], atsa=READ[:2], ate_review=(*READ[:2], found("service")), atsa_review=READ)
    blame = blame_of(msgspec.structs.replace(output(*steps), stage2=StageTwo()))
    assert errors(blame) == set()
    assert unit(blame, "missing", "service").repaired_by == ("ate_review",)
    assert {unit.error for unit in blame.units} == {"missing"}


def test_who_says_nothing_about_an_aspect_is_blamed_for_the_neutral_that_code_fills_in() -> None:
    silent = (*READ[:2], found("service"))
    blame = blame_of(output(*states(ate=NAMED, atsa=silent, atsa_tidying=(*READ[:2], said("service", "neutral")))))
    service = unit(blame, "polarity", "service")
    assert (service.introduced_by, service.polarity, service.gold_polarity) == ("atsa", "neutral", "negative")


def test_a_polarity_that_is_missing_is_wrong_and_not_neutral() -> None:
    blame = blame_of(output(*states(ate=NAMED, atsa=(*READ[:2], said("service", None)))))
    assert unit(blame, "polarity", "service").polarity is None


def test_a_polarity_turned_by_a_review_was_broken_by_it() -> None:
    turned = (said("battery", "negative"), *READ[1:])
    blame = blame_of(
        msgspec.structs.replace(output(*states(ate=NAMED, atsa=READ, atsa_review=turned)), stage2=StageTwo())
    )
    battery = unit(blame, "polarity", "battery")
    assert (battery.introduced_by, battery.broken_by) == ("atsa_review", ("atsa_review",))
    assert battery.changes[0].became == "right"


def test_to_drop_an_aspect_of_wrong_polarity_repairs_nothing() -> None:
    wrong = (said("battery", "negative"), *READ[1:])
    blame = blame_of(
        msgspec.structs.replace(output(*states(ate=NAMED, atsa=wrong, ate_review=READ[1:])), stage2=StageTwo())
    )
    assert unit(blame, "polarity", "battery").repaired_by == ()
    assert not unit(blame, "polarity", "battery").does_stand_at_end
    assert unit(blame, "missing", "battery").broken_by == ("ate_review",)
    tallies = {(tally.step, tally.error): tally for tally in blame.tallies if tally.chances or tally.standing}
    assert tallies["ate_review", "polarity"].repaired == 0


def test_an_aspect_with_two_polarities_has_one_too_many() -> None:
    twice = (said("battery", "positive"), said("battery", "negative"), *READ[1:])
    blame = blame_of(output(*states(ate=NAMED, atsa=twice, atsa_tidying=READ)))
    [spurious] = blame.units
    assert (spurious.error, spurious.polarity) == ("spurious", "negative")
    assert (spurious.introduced_by, spurious.repaired_by) == ("atsa", ("atsa_tidying",))


def test_what_is_said_twice_counts_once() -> None:
    repeated = (*READ, said("battery", "positive"))
    named = (*NAMED, found("battery"))
    assert blame_of(output(*states(ate=named, atsa=repeated), gold_tuples=(*GOLD, GOLD[0]))).units == ()


def test_a_term_stands_for_all_pairs_of_gold_until_polarities_are_known() -> None:
    both = gold(("battery", "positive"), ("battery", "negative"))
    blame = blame_of(output(*states(ate=(found("battery"),), atsa=(said("battery", "positive"),)), gold_tuples=both))
    [missing] = blame.units
    assert (missing.error, missing.gold_polarity, missing.introduced_by) == ("missing", "negative", "atsa")


def test_of_two_equal_terms_the_one_at_the_place_of_gold_is_meant() -> None:
    text = "Good food, but the food came late."
    wanted = (
        AspectTuple("food", "negative", span=TextSpan(19, 23)),
        AspectTuple("food", "positive", span=TextSpan(5, 9)),
    )
    lines = (AspectState("food", TextSpan(5, 9), "neutral"), AspectState("food", TextSpan(19, 23), "positive"))
    blame = blame_of(output(*states(ate=lines, atsa=lines), gold_tuples=wanted, text=text))
    assert {(unit.error, unit.gold_polarity) for unit in blame.units if unit.does_stand_at_end} == {
        ("polarity", "negative")
    }


def test_an_aspect_that_is_not_named_is_found_only_by_one_that_is_not_named() -> None:
    wanted = gold(("", "positive"))
    named = blame_of(output(*states(ate=(), atsa=(said("battery", "positive"),)), gold_tuples=wanted))
    assert {(unit.error, unit.introduced_by) for unit in named.units} == {("spurious", "atsa"), ("missing", "atsa")}
    unnamed = blame_of(output(*states(ate=(), atsa=(said("", "positive"),)), gold_tuples=wanted))
    assert unnamed.units == ()
    turned = blame_of(output(*states(ate=(), atsa=(said("", "negative"),)), gold_tuples=wanted))
    assert [(unit.error, unit.term) for unit in turned.units] == [("polarity", "")]


def test_gold_without_a_polarity_tells_only_whether_an_aspect_is_one() -> None:
    wanted = (AspectTuple("battery", None, span=place("battery")),)
    assert blame_of(output(*states(ate=(found("battery"),), atsa=(READ[0],)), gold_tuples=wanted)).units == ()


def test_a_sentence_that_failed_has_no_blame() -> None:
    blame = blame_of(PipelineOutput("s1", TEXT, failed="ate: no answer"))
    assert blame.undefined == "the pipeline broke off"
    assert (blame.units, blame.tallies) == ((), ())


def test_an_output_without_states_and_result_has_no_blame() -> None:
    assert blame_of(PipelineOutput("s1", TEXT)).undefined == "the output holds neither states nor a final result"


def test_an_output_without_states_is_told_by_its_two_ends() -> None:
    stage1 = StageOne(
        AspectExtraction((Aspect("battery", place("battery")), Aspect("screen", place("screen")))),
        AspectSentiments(
            (
                AspectSentiment(AspectTerm("battery", place("battery")), "negative"),
                AspectSentiment(None, "positive", is_implicit=True),
                AspectSentiment(AspectTerm("camera"), "positive"),
            )
        ),
    )
    result = FinalResult(
        "mixed",
        0.9,
        final_aspects=(
            FinalAspect("battery", place("battery"), "positive"),
            FinalAspect("", TextSpan(0, 0), "positive", is_implicit=True),
        ),
    )
    blame = blame_of(PipelineOutput("s1", TEXT, stage1=stage1, final_result=result, gold_tuples=GOLD[:2]))
    assert blame.is_coarse
    battery = unit(blame, "polarity", "battery")
    assert (battery.introduced_by, battery.repaired_by) == ("stage1", ("final",))
    assert unit(blame, "missing", "screen").introduced_by == "final"
    assert unit(blame, "ungrounded", "camera").repaired_by == ("final",)


def test_tuples_stand_in_where_aspects_are_not_told() -> None:
    result = FinalResult(
        "positive",
        0.9,
        stage1_tuples=(AspectTuple("battery", "negative"),),
        final_tuples=(AspectTuple("battery", "positive"),),
    )
    blame = blame_of(PipelineOutput("s1", TEXT, final_result=result, gold_tuples=GOLD[:1]))
    assert unit(blame, "polarity", "battery").repaired_by == ("final",)


def test_steps_that_were_not_taken_are_not_counted() -> None:
    blame = blame_of(output(*states(ate=NAMED, atsa=READ)))
    assert list(dict.fromkeys(tally.step for tally in blame.tallies)) == list(STEPS[:4])
    closed = msgspec.structs.replace(output(*states(ate=NAMED, atsa=READ)), moderator=ModeratorOutput("mixed", 0.9))
    assert "moderator" in {tally.step for tally in blame_of(closed).tallies}


def test_blame_survives_a_trip_through_json() -> None:
    blame = blame_of(output(*states(ate=NAMED[:2], atsa=READ[:2])))
    assert msgspec.json.decode(msgspec.json.encode(blame), type=SentenceBlame) == blame


terms = st.sampled_from(["battery", "screen", "service", "camera", "slow"])
polarities = st.sampled_from(["positive", "negative", "neutral", None])
lines = st.builds(said, terms, polarities, shift=st.sampled_from([0, 0, 0, 1]))
later = st.lists(
    st.tuples(st.sampled_from(STEPS[3:]), st.lists(lines, max_size=4).map(tuple)),
    max_size=5,
    unique_by=lambda pair: pair[0],
)
pairs = st.lists(st.tuples(terms, st.sampled_from(["positive", "negative", "neutral"])), max_size=4)


@st.composite
def outputs(draw: st.DrawFn) -> PipelineOutput:
    """Aspects that come, go and change at random."""
    first = draw(st.lists(lines, max_size=4).map(tuple))
    named = tuple(AspectState(line.term, line.span, None, has_sentiment=False) for line in first)
    steps = [StepState("ate", named), StepState("atsa", first), *(StepState(*pair) for pair in draw(later))]
    made = output(*steps, gold_tuples=gold(*draw(pairs)))
    return msgspec.structs.replace(made, stage2=StageTwo())


@settings(max_examples=150)
@given(outputs())
def test_every_error_at_the_end_has_one_author_and_the_end_agrees_with_tuple_f1(given_output: PipelineOutput) -> None:
    blame = blame_of(given_output)
    ordered = sorted(given_output.states, key=lambda state: STEPS.index(state.step))
    last = [AspectTuple(line.term, line.polarity) for line in ordered[-1].aspects]
    standing = [unit for unit in blame.units if unit.does_stand_at_end]
    wrong = match_tuples(last, pairs_of(given_output.gold_tuples or ()))
    assert wrong.is_perfect == all(unit.error == "ungrounded" for unit in standing)
    misplaced = {line for line in ordered[-1].aspects if TEXT[slice(line.span.start, line.span.end)] != line.term}  # type: ignore[union-attr]
    assert bool(misplaced) == any(unit.error == "ungrounded" for unit in standing)
    for each in blame.units:
        wrongs = [change.step for change in each.changes if change.became == "wrong"]
        assert each.introduced_by == wrongs[-1]
        assert set(each.broken_by) <= set(wrongs)
        assert each.does_stand_at_end == (each.changes[-1].became == "wrong")


@settings(max_examples=60)
@given(outputs())
def test_tallies_add_up_to_the_errors_at_the_end(given_output: PipelineOutput) -> None:
    blame = blame_of(given_output)
    for error in ("ungrounded", "spurious", "missing"):
        tallies = [tally for tally in blame.tallies if tally.error == error]
        made = sum(tally.introduced for tally in tallies) - sum(tally.repaired for tally in tallies)
        assert made == sum(unit.error == error and unit.does_stand_at_end for unit in blame.units)


@pytest.mark.parametrize("number", [1, 2])
def test_the_same_output_has_the_same_blame(number: int) -> None:
    made = output(*states(ate=NAMED[:number], atsa=READ[:number]))
    assert blame_of(made) == blame_of(made)
