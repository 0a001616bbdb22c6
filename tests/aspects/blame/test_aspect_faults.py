"""Faults of aspect agents, planted at known places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.aspects.records.aspect import Aspect, AspectSentiment, AspectTerm, AspectTuple, TextSpan
from hallumeter.aspects.records.outputs import (
    STEPS,
    AspectExtraction,
    AspectReview,
    AspectReviewItem,
    AspectSentiments,
    DebateSummary,
    DebateTurn,
    EditTarget,
    ProposedEdit,
    SentimentReview,
    SentimentReviewItem,
    StructuralReview,
    StructuralValidation,
)
from hallumeter.errors import SettingsError
from planted_faults import (
    FAULT_ERRORS,
    FAULT_KINDS,
    FAULT_STEPS,
    PlantedFault,
    planned_faults,
    planted,
)

TEXT = "The battery lasts for days, but the screen scratches easily and the case is plain."
GOLD = (
    AspectTuple("battery", "positive", span=TextSpan(4, 11)),
    AspectTuple("screen", "negative", span=TextSpan(36, 42)),
    AspectTuple("case", "neutral", span=TextSpan(68, 72)),
)
KOREAN = "배터리는 오래가지만 화면이 어둡다."
KOREAN_GOLD = (
    AspectTuple("배터리", "positive", span=TextSpan(0, 3)),
    AspectTuple("화면", "negative", span=TextSpan(11, 13)),
)
DONORS = ("battery pack", "screen", "espresso", "waiter")


def only(kind: str, **settings: object) -> PlantedFault:
    [fault] = planned_faults(TEXT, GOLD, kinds=(kind,), donors=DONORS, **settings)  # type: ignore[arg-type]
    return fault


def test_every_kind_has_a_step_and_an_error() -> None:
    assert set(FAULT_STEPS) == set(FAULT_ERRORS) == set(FAULT_KINDS)
    assert set(FAULT_STEPS.values()) <= set(STEPS)


def test_a_plan_depends_on_nothing_but_its_arguments() -> None:
    first = planned_faults(TEXT, GOLD, seed=3, donors=DONORS)
    assert first == planned_faults(TEXT, GOLD, seed=3, donors=DONORS)
    assert len({planned_faults(TEXT, GOLD, seed=seed, donors=DONORS) for seed in range(20)}) > 1


def test_miscounted_offsets_grow_along_the_sentence() -> None:
    faults = planned_faults(TEXT, GOLD, kinds=("miscounted_span",))
    shifts = {fault.term: fault.span.start - fault.true_span.start for fault in faults if fault.true_span}
    assert shifts == {"battery": -1, "screen": -2, "case": -3}


def test_where_there_is_no_room_offsets_are_too_large() -> None:
    gold = (AspectTuple("Soup", "positive", span=TextSpan(0, 4)),)
    [fault] = planned_faults("Soup was good.", gold, kinds=("miscounted_span",))
    assert fault.span == TextSpan(1, 5)


def test_offsets_are_counted_in_other_units_where_that_makes_a_difference() -> None:
    assert planned_faults(TEXT, GOLD, kinds=("other_units",)) == ()
    [fault] = planned_faults(KOREAN, KOREAN_GOLD, kinds=("other_units",))
    assert fault.span != fault.true_span
    assert fault.span.end - fault.span.start == 3 * len(fault.term)
    smile = "😀 soup"
    [fault] = planned_faults(smile, (AspectTuple("soup", "neutral", span=TextSpan(2, 6)),), kinds=("other_units",))
    assert fault.span == TextSpan(3, 7)


def test_an_invented_aspect_shares_no_word_with_the_text() -> None:
    for seed in range(10):
        fault = only("invented_aspect", seed=seed)
        assert fault.term in ("espresso", "waiter")
        assert fault.true_span is None
        assert fault.true_polarity is None
    assert planned_faults(TEXT, GOLD, kinds=("invented_aspect",), donors=("screen",)) == ()


def test_a_spurious_span_is_a_word_of_the_text_outside_of_gold() -> None:
    for seed in range(10):
        fault = only("spurious_span", seed=seed)
        assert TEXT[fault.span.start : fault.span.end] == fault.term
        assert fault.term not in ("battery", "screen", "case")
    covered = (AspectTuple("Good", "positive", span=TextSpan(0, 4)),)
    assert planned_faults("Good.", covered, kinds=("spurious_span",)) == ()


def test_a_polarity_is_turned_and_neutral_becomes_either() -> None:
    turned = {only("flipped_polarity", seed=seed).polarity for seed in range(20)}
    assert turned == {"positive", "negative"}
    for seed in range(20):
        fault = only("flipped_polarity", seed=seed)
        assert fault.polarity != fault.true_polarity


def test_a_validator_turns_nothing_neutral() -> None:
    assert {only("proposed_flip", seed=seed).term for seed in range(20)} == {"battery", "screen"}


def test_a_debate_puts_nothing_neutral_right() -> None:
    faults = [only("flipped_polarity", seed=seed) for seed in range(60)]
    assert {fault.repaired_by for fault in faults} == {None, "atsa_review", "debate_override"}
    assert all(fault.true_polarity != "neutral" for fault in faults if fault.repaired_by == "debate_override")
    assert all(only("flipped_polarity", seed=seed, are_repaired=False).repaired_by is None for seed in range(9))


def test_no_aspect_has_two_faults() -> None:
    faults = planned_faults(TEXT, GOLD, donors=DONORS)
    assert len({fault.term for fault in faults}) == len(faults)


def test_aspects_that_could_be_mistaken_for_others_are_passed_over() -> None:
    text = "The food court has food, and the view from the food court is nice."
    gold = (
        AspectTuple("food court", "positive", span=TextSpan(4, 14)),
        AspectTuple("food", "neutral", span=TextSpan(19, 23)),
        AspectTuple("view", "mixed", span=TextSpan(33, 37)),
        AspectTuple("", "positive"),
        AspectTuple("nice", "positive"),
        AspectTuple("has", "positive", span=TextSpan(0, 3)),
    )
    assert planned_faults(text, gold, kinds=("missed_aspect", "miscounted_span")) == ()


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(SettingsError, match="there is no fault of kind 'typo'"):
        planned_faults(TEXT, GOLD, kinds=("typo",))  # type: ignore[arg-type]


@given(st.text(max_size=40), st.data())
def test_planting_never_fails(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    gold = (AspectTuple(text[start:end], "positive", span=TextSpan(start, end)),)
    faults = planned_faults(text, gold, donors=("waiter",))
    answer = AspectExtraction((Aspect(text[start:end], TextSpan(start, end)),))
    assert isinstance(planted(answer, faults), AspectExtraction)


def extraction() -> AspectExtraction:
    return AspectExtraction(tuple(Aspect(each.aspect_term, each.span) for each in GOLD))


def sentiments() -> AspectSentiments:
    return AspectSentiments(
        tuple(AspectSentiment(AspectTerm(each.aspect_term, each.span), each.polarity) for each in GOLD)  # type: ignore[arg-type]
    )


def fault(kind: str, repaired_by: str | None = None, **changes: object) -> PlantedFault:
    known = {
        "term": "battery",
        "span": TextSpan(4, 11),
        "true_span": TextSpan(4, 11),
        "polarity": "negative",
        "true_polarity": "positive",
    }
    return PlantedFault(kind=kind, step=FAULT_STEPS[kind], repaired_by=repaired_by, **known | changes)  # type: ignore[arg-type, index]


def test_without_faults_answers_stay_as_they_are() -> None:
    answer = extraction()
    assert planted(answer, ()) is answer
    review = StructuralReview()
    assert planted(review, (fault("missed_aspect"),)) is review


def test_a_missed_aspect_is_missed_by_both_agents() -> None:
    faults = (fault("missed_aspect"),)
    assert [aspect.term for aspect in planted(extraction(), faults).aspects] == ["screen", "case"]
    assert [each.term for each in planted(sentiments(), faults).aspect_sentiments] == ["screen", "case"]


def test_an_invented_aspect_has_a_sentiment() -> None:
    faults = (fault("invented_aspect", term="espresso", true_span=None, true_polarity=None),)
    assert planted(extraction(), faults).aspects[-1].term == "espresso"
    assert planted(sentiments(), faults).aspect_sentiments[-1].polarity == "negative"


def test_a_flipped_polarity_is_the_fault_of_the_second_agent_alone() -> None:
    faults = (fault("flipped_polarity"),)
    assert planted(extraction(), faults) == extraction()
    assert planted(sentiments(), faults).aspect_sentiments[0].polarity == "negative"


@pytest.mark.parametrize(
    ("planned", "expected"),
    [
        (fault("proposed_flip"), ("FLIP_POLARITY", None)),
        (fault("spurious_span", "validator_proposals"), ("DROP_ASPECT", None)),
        (fault("other_units", "validator_proposals"), ("REVISE_SPAN", TextSpan(4, 11))),
    ],
)
def test_a_validator_proposes_wrong_flips_and_right_repairs(
    planned: PlantedFault, expected: tuple[str, TextSpan | None]
) -> None:
    answer = planted(StructuralValidation(consistency_score=1.0), (planned,))
    [proposal] = answer.correction_proposals
    assert (proposal.proposal_type, proposal.revised_span) == expected
    assert planted(StructuralValidation(), (fault("missed_aspect"),)) == StructuralValidation()


def test_a_debate_agrees_on_a_wrong_polarity() -> None:
    said = ProposedEdit("confirm_tuple", EditTarget(aspect_term="battery", polarity="positive"))
    turn = planted(DebateTurn("epm", (said,)), (fault("pushed_polarity"),))
    [edit] = turn.proposed_edits
    assert (edit.op, edit.value) == ("set_polarity", "negative")
    summary = planted(DebateSummary(), (fault("pushed_polarity"),))
    assert [edit.target.polarity for edit in summary.final_patch] == ["negative"]
    righted = planted(DebateTurn("epm", (said,)), (fault("flipped_polarity", "debate_override"),))
    assert [edit.value for edit in righted.proposed_edits] == ["positive"]


@pytest.mark.parametrize(
    ("planned", "action"),
    [
        (fault("reviewed_drop"), "drop"),
        (fault("invented_aspect", "ate_review", true_span=None), "drop"),
        (fault("missed_aspect", "ate_review"), "add"),
        (fault("miscounted_span", "ate_review"), "revise_span"),
        (fault("flipped_polarity"), "keep"),
    ],
)
def test_a_review_of_aspects_drops_what_is_right_and_repairs_what_is_wrong(planned: PlantedFault, action: str) -> None:
    [item] = planted(AspectReview((AspectReviewItem("battery", "keep"),)), (planned,)).aspect_review
    assert item.action == action


@pytest.mark.parametrize(
    ("planned", "action", "polarity"),
    [
        (fault("reviewed_flip"), "flip_polarity", "negative"),
        (fault("flipped_polarity", "atsa_review"), "flip_polarity", "positive"),
        (fault("missed_aspect", "ate_review"), "add", "positive"),
        (fault("spurious_span", "ate_review"), "drop", None),
        (fault("missed_aspect"), "maintain", None),
    ],
)
def test_a_review_of_sentiments_turns_what_is_right_and_repairs_what_is_wrong(
    planned: PlantedFault, action: str, polarity: str | None
) -> None:
    [item] = planted(SentimentReview((SentimentReviewItem("battery", "maintain"),)), (planned,)).sentiment_review
    assert (item.action, item.revised_polarity) == (action, polarity)
