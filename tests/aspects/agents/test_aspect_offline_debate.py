"""What offline agents propose in a debate, and what it comes to."""

from __future__ import annotations

from aspect_table_reader import TableReader

from hallumeter.aspects.agents.offline import OfflineAgent
from hallumeter.aspects.agents.protocol import AgentTask, Role
from hallumeter.aspects.records.aspect import Aspect, AspectSentiment, AspectTerm, AspectTuple, Polarity, TextSpan
from hallumeter.aspects.records.outputs import (
    AspectExtraction,
    AspectSentiments,
    DebateSummary,
    DebateTurn,
    EditTarget,
    ProposedEdit,
    StageOne,
)

TEXT = "The battery is terrible but the screen is nice."
BATTERY, SCREEN = TextSpan(4, 11), TextSpan(32, 38)


def reader(confidence: float = 0.95) -> TableReader:
    return TableReader(
        {"battery": 0.9, "screen": 0.8},
        {"battery": ("negative", confidence, "terrible"), "screen": ("positive", confidence, "nice")},
        cues={"but": "contrast"},
        words={"terrible": "negative", "nice": "positive"},
    )


def felt(term: str, polarity: Polarity | None, span: TextSpan | None = None, **more: object) -> AspectSentiment:
    return AspectSentiment(AspectTerm(term, span), polarity, **more)  # type: ignore[arg-type]


def stage1(*sentiments: AspectSentiment, aspects: tuple[Aspect, ...] | None = None) -> StageOne:
    if aspects is None:
        terms = [each.aspect_term for each in sentiments if each.aspect_term is not None]
        aspects = tuple(Aspect(each.term, each.span) for each in terms)
    return StageOne(AspectExtraction(aspects), AspectSentiments(sentiments))


def turn(role: Role, stage: StageOne, *history: DebateTurn, by: TableReader | None = None) -> DebateTurn:
    task = AgentTask(role=role, text=TEXT, language="en", stage1=stage, history=history)
    said = OfflineAgent([by or reader()]).answer(task).answer
    assert isinstance(said, DebateTurn)
    assert said.agent == role
    return said


def debated(stage: StageOne, by: TableReader | None = None) -> DebateSummary:
    epm = turn("epm", stage, by=by)
    tan = turn("tan", stage, epm, by=by)
    cj = turn("cj", stage, epm, tan, by=by)
    return summary(stage, epm, tan, cj, by=by)


def summary(stage: StageOne, *history: DebateTurn, by: TableReader | None = None) -> DebateSummary:
    task = AgentTask(role="debate_summary", text=TEXT, language="en", stage1=stage, history=history)
    said = OfflineAgent([by or reader()]).answer(task).answer
    assert isinstance(said, DebateSummary)
    assert any(words and words in TEXT for words in said.sentence_evidence_spans)
    return said


def edits(said: DebateTurn | DebateSummary) -> list[tuple[str, str | None, str | None]]:
    given = said.proposed_edits if isinstance(said, DebateTurn) else said.final_patch
    return [(edit.op, edit.target.aspect_term, edit.value) for edit in given]


RIGHT = stage1(felt("battery", "negative", BATTERY), felt("screen", "positive", SCREEN))
FLIPPED = stage1(felt("battery", "positive", BATTERY), felt("screen", "positive", SCREEN))


def test_right_polarities_are_confirmed_with_their_evidence_and_questioned_by_nobody() -> None:
    said = turn("epm", RIGHT)
    assert edits(said) == [("confirm_tuple", "battery", None), ("confirm_tuple", "screen", None)]
    assert [edit.evidence for edit in said.proposed_edits] == ["terrible", "nice"]
    assert [edit.target.polarity for edit in said.proposed_edits] == ["negative", "positive"]
    assert turn("tan", RIGHT, said).proposed_edits == ()
    assert turn("cj", RIGHT, said).proposed_edits == ()


def test_a_polarity_that_the_text_contradicts_is_set_by_both_who_look_at_it() -> None:
    epm = turn("epm", FLIPPED)
    assert edits(epm)[0] == ("set_polarity", "battery", "negative")
    assert epm.proposed_edits[0].target.polarity == "positive"
    assert edits(turn("cj", FLIPPED, epm)) == [("set_polarity", "battery", "negative")]


def test_a_reader_in_doubt_contradicts_nobody() -> None:
    doubtful = reader(confidence=0.6)
    assert edits(turn("epm", FLIPPED, by=doubtful)) == [("confirm_tuple", "screen", None)]
    assert debated(FLIPPED, by=doubtful).unresolved_conflicts == ("battery: stated positive, read as negative",)


def test_evidence_that_speaks_for_the_reader_lowers_its_bar_and_evidence_against_it_raises_it() -> None:
    by = reader(confidence=0.75)
    assert turn("epm", stage1(felt("battery", "positive", BATTERY)), by=by).proposed_edits == ()
    told = stage1(felt("battery", "positive", BATTERY, evidence="terrible"))
    assert edits(turn("epm", told, by=by)) == [("set_polarity", "battery", "negative")]
    against = stage1(felt("battery", "positive", BATTERY, evidence="nice"))
    assert turn("epm", against).proposed_edits == ()


def test_a_missing_polarity_and_one_that_code_filled_in_get_the_readers() -> None:
    for sentiment in (felt("battery", None, BATTERY), felt("battery", "neutral", BATTERY, is_backfilled=True)):
        assert edits(turn("epm", stage1(sentiment), by=reader(0.6))) == [("set_polarity", "battery", "negative")]


def test_a_term_at_two_places_is_left_alone_when_they_feel_different() -> None:
    text = "Nice screen, awful screen"
    stage = stage1(felt("screen", "positive", TextSpan(5, 11)), felt("screen", "negative", TextSpan(19, 25)))
    task = AgentTask(role="epm", text=text, language="en", stage1=stage)
    said = OfflineAgent([reader()]).answer(task).answer
    assert said == DebateTurn("epm")


def test_one_place_with_two_polarities_is_settled_by_the_judge() -> None:
    stage = stage1(felt("battery", "negative", BATTERY), felt("battery", "positive", BATTERY))
    assert edits(turn("cj", stage)) == [("set_polarity", "battery", "negative")]
    assert [each.polarity for each in debated(stage).final_tuples] == ["negative"]


def test_aspects_that_are_invented_doubled_or_misplaced_are_named() -> None:
    aspects = (
        Aspect("battery", TextSpan(3, 10)),
        Aspect("keyboard", TextSpan(0, 8)),
        Aspect("screen", SCREEN),
        Aspect("screen", SCREEN),
        Aspect("but", TextSpan(24, 27)),
    )
    assert edits(turn("tan", stage1(aspects=aspects))) == [
        ("set_aspect_ref", "battery", "battery"),
        ("drop_tuple", "keyboard", None),
        ("merge_tuples", "screen", "screen"),
        ("drop_tuple", "but", None),
    ]


def test_a_term_in_other_case_is_no_invention() -> None:
    said = turn("tan", stage1(aspects=(Aspect("Battery", BATTERY),)))
    assert edits(said) == [("set_aspect_ref", "Battery", "battery")]


def test_the_judge_drops_only_what_is_not_there() -> None:
    stage = stage1(felt("keyboard", "negative"), felt("screen", "positive", SCREEN))
    wanted = DebateTurn(
        "tan", tuple(ProposedEdit("drop_tuple", EditTarget(aspect_term=term)) for term in ("keyboard", "screen", "lid"))
    )
    assert edits(turn("cj", stage, wanted)) == [("drop_tuple", "keyboard", None), ("drop_tuple", "lid", None)]


def test_the_judge_takes_no_edit_without_words_of_the_text() -> None:
    invented = ProposedEdit(
        "set_polarity", EditTarget(aspect_term="battery"), value="positive", evidence="wonderful battery"
    )
    said = turn("cj", RIGHT, DebateTurn("epm", (invented,)))
    assert said.proposed_edits == ()
    came_to = summary(RIGHT, DebateTurn("epm", (invented,)), said)
    assert [each.polarity for each in came_to.final_tuples] == ["negative", "positive"]
    assert came_to.unresolved_conflicts == ("battery: positive was proposed and not taken",)


def test_the_judge_confirms_what_was_questioned_wrongly() -> None:
    wrong = ProposedEdit("set_polarity", EditTarget(aspect_term="battery"), value="positive", evidence="battery")
    assert edits(turn("cj", RIGHT, DebateTurn("epm", (wrong,)))) == [("confirm_tuple", "battery", None)]


def test_the_summary_has_one_polarity_for_each_aspect_and_words_of_the_text() -> None:
    came_to = debated(FLIPPED)
    assert came_to.final_tuples == (
        AspectTuple("battery", "negative", span=BATTERY),
        AspectTuple("screen", "positive", span=SCREEN),
    )
    assert edits(came_to) == [("set_polarity", "battery", "negative"), ("confirm_tuple", "screen", None)]
    assert came_to.sentence_polarity == "mixed"
    assert came_to.sentence_evidence_spans == ("terrible", "nice")
    assert came_to.aspect_evidence == {"battery": "terrible", "screen": "nice"}
    assert came_to.unresolved_conflicts == ()


def test_the_sentence_feels_what_its_aspects_feel() -> None:
    assert debated(stage1(felt("battery", "negative", BATTERY))).sentence_polarity == "negative"
    assert debated(stage1(felt("battery", "neutral", BATTERY)), by=reader(0.3)).sentence_polarity == "neutral"
    nothing = debated(stage1())
    assert (nothing.sentence_polarity, nothing.final_tuples) == ("negative", ())
    assert nothing.sentence_evidence_spans == ("terrible",)


def test_dropped_aspects_are_no_tuples_and_implicit_ones_stay() -> None:
    stage = stage1(felt("keyboard", "negative", TextSpan(0, 8)), AspectSentiment(None, "positive", is_implicit=True))
    assert debated(stage).final_tuples == (AspectTuple("", "positive"),)


def test_evidence_of_a_stated_polarity_is_kept_when_it_stands_in_the_text() -> None:
    stage = stage1(felt("battery", "positive", BATTERY, evidence="nice"))
    came_to = debated(stage, by=reader(0.6))
    assert came_to.aspect_evidence == {"battery": "nice"}
