"""How offline agents review stage 1."""

from __future__ import annotations

import pytest
from aspect_table_reader import TableReader

from hallumeter.aspects.agents.offline import OfflineAgent
from hallumeter.aspects.agents.protocol import AgentAnswer, AgentTask, Role
from hallumeter.aspects.records.aspect import (
    Aspect,
    AspectSentiment,
    AspectTerm,
    AspectTuple,
    Polarity,
    StructuralRisk,
    TextSpan,
)
from hallumeter.aspects.records.outputs import (
    AspectExtraction,
    AspectHint,
    AspectReview,
    AspectSentiments,
    DebateSummary,
    ReviewContext,
    SentimentReview,
    StageOne,
    StructuralReview,
    StructuralValidation,
)

TEXT = "The battery is not good but the screen is nice."
BATTERY, SCREEN = TextSpan(4, 11), TextSpan(32, 38)


def reader(confidence: float = 0.95, screen: float = 0.8) -> TableReader:
    return TableReader(
        {"battery": 0.95, "screen": screen},
        {"battery": ("negative", confidence, "not good"), "screen": ("positive", confidence, "nice")},
        cues={"not": "negation", "but": "contrast"},
        words={"nice": "positive"},
    )


def answer(
    role: Role, stage: StageOne, context: ReviewContext | None = None, by: TableReader | None = None
) -> AgentAnswer:
    task = AgentTask(role=role, text=TEXT, language="en", stage1=stage, context=context)
    return OfflineAgent([by or reader()]).answer(task).answer


def reviewed(*aspects: Aspect, context: ReviewContext | None = None) -> list[tuple[str, str, TextSpan | None]]:
    said = answer("ate_review", StageOne(AspectExtraction(aspects)), context)
    assert isinstance(said, AspectReview)
    return [(item.term, item.action, item.revised_span) for item in said.aspect_review]


def felt(
    *sentiments: AspectSentiment, context: ReviewContext | None = None, by: TableReader | None = None
) -> list[tuple[str, str, Polarity | None]]:
    said = answer("atsa_review", StageOne(atsa=AspectSentiments(sentiments)), context, by)
    assert isinstance(said, SentimentReview)
    return [(item.aspect_term, item.action, item.revised_polarity) for item in said.sentiment_review]


def sentiment(term: str, polarity: Polarity | None, span: TextSpan | None, **more: object) -> AspectSentiment:
    return AspectSentiment(AspectTerm(term, span), polarity, **more)  # type: ignore[arg-type]


RIGHT = sentiment("battery", "negative", BATTERY), sentiment("screen", "positive", SCREEN)
ADDED_BATTERY = ("battery", "add", BATTERY)


def test_what_stands_at_its_place_is_kept() -> None:
    assert reviewed(Aspect("battery", BATTERY), Aspect("screen", SCREEN)) == [
        ("battery", "keep", None),
        ("screen", "keep", None),
    ]


@pytest.mark.parametrize("span", [TextSpan(3, 10), TextSpan(4, 12), TextSpan(-2, 5), TextSpan(40, 99), None])
def test_a_wrong_place_is_revised_to_the_nearest_true_one(span: TextSpan | None) -> None:
    assert reviewed(Aspect("battery", span)) == [("battery", "revise_span", BATTERY)]


def test_what_stands_nowhere_is_dropped_and_so_is_what_can_be_no_target() -> None:
    assert reviewed(
        Aspect("keyboard", TextSpan(0, 8)), Aspect("but", TextSpan(24, 27)), Aspect("", TextSpan(0, 0))
    ) == [
        ("keyboard", "drop", None),
        ("but", "drop", None),
        ("", "drop", None),
        ADDED_BATTERY,
    ]


def test_a_term_in_other_case_is_kept_since_no_span_makes_it_equal() -> None:
    assert reviewed(Aspect("Battery", BATTERY)) == [("Battery", "keep", None)]


def test_a_term_that_the_reader_does_not_know_is_kept_unless_the_debate_drops_it() -> None:
    aspect = Aspect("good", TextSpan(19, 23))
    assert ("good", "keep", None) in reviewed(aspect)
    dropping = ReviewContext(aspect_hints={"good": (AspectHint("tan", "patch", 0.8, is_drop=True),)})
    assert ("good", "drop", None) in reviewed(aspect, context=dropping)
    disputed = ReviewContext(
        aspect_hints={
            "good": (AspectHint("tan", "patch", 0.8, is_drop=True), AspectHint("epm", "patch", 0.9, "positive"))
        }
    )
    assert ("good", "keep", None) in reviewed(aspect, context=disputed)


def test_a_guess_is_dropped_unless_the_reader_knows_it() -> None:
    assert reviewed(Aspect("good", TextSpan(19, 23), 0.5))[0] == ("good", "drop", None)
    assert reviewed(Aspect("battery", BATTERY, 0.5))[0] == ("battery", "keep", None)


def test_a_term_about_which_nothing_sure_is_felt_is_not_added() -> None:
    stage = StageOne()
    for feeling in (("neutral", 0.99, ""), ("negative", 0.5, "not good")):
        by = TableReader({"battery": 0.99}, {"battery": feeling})
        assert answer("ate_review", stage, by=by) == AspectReview()
        assert answer("atsa_review", stage, by=by) == SentimentReview()


def test_only_a_term_that_is_clearly_missing_is_added() -> None:
    assert reviewed() == [ADDED_BATTERY]
    assert reviewed(Aspect("The battery", TextSpan(0, 11))) == [("The battery", "keep", None)]


def test_right_sentiments_are_maintained() -> None:
    assert felt(*RIGHT) == [("battery", "maintain", None), ("screen", "maintain", None)]


def test_a_contradicted_polarity_is_flipped_only_when_the_reader_is_sure() -> None:
    flipped = sentiment("battery", "positive", BATTERY)
    assert felt(flipped, RIGHT[1]) == [("battery", "flip_polarity", "negative"), ("screen", "maintain", None)]
    assert felt(flipped, RIGHT[1], by=reader(confidence=0.7))[0] == ("battery", "maintain", None)


def test_the_debate_helps_who_it_agrees_with() -> None:
    flipped = sentiment("battery", "positive", BATTERY)

    def hinted(polarity: str) -> ReviewContext:
        return ReviewContext(aspect_hints={"battery": (AspectHint("epm", "patch", 0.5, polarity),)})

    unsure = reader(confidence=0.75)
    assert felt(flipped, by=unsure)[0][1] == "maintain"
    assert felt(flipped, context=hinted("negative"), by=unsure)[0][1] == "flip_polarity"
    assert felt(flipped, context=hinted("positive"))[0][1] == "maintain"
    dropping = ReviewContext(aspect_hints={"battery": (AspectHint("tan", "patch", 0.8, is_drop=True),)})
    assert felt(flipped, context=dropping, by=unsure)[0][1] == "maintain"


@pytest.mark.parametrize("polarity", [None, "neutral"])
def test_what_nobody_stated_gets_what_the_reader_finds(polarity: Polarity | None) -> None:
    filled = sentiment("battery", polarity, BATTERY, is_backfilled=polarity is not None)
    assert felt(filled, by=reader(confidence=0.6))[0] == ("battery", "flip_polarity", "negative")
    assert felt(filled, by=reader(confidence=0.3))[0] == ("battery", "maintain", None)


def test_a_neutral_that_the_agent_stated_is_not_overruled_lightly() -> None:
    neutral = sentiment("battery", "neutral", BATTERY)
    assert felt(neutral, by=reader(confidence=0.9))[0][1] == "maintain"
    assert felt(neutral, by=reader(confidence=0.97))[0] == ("battery", "flip_polarity", "negative")


def test_what_code_filled_in_as_the_reader_reads_it_stays() -> None:
    by = TableReader({"battery": 0.95}, {"battery": ("neutral", 0.8, "")})
    assert felt(sentiment("battery", "neutral", BATTERY, is_backfilled=True), by=by) == [("battery", "maintain", None)]


def test_sentiments_about_nothing_in_the_text_are_dropped() -> None:
    said = felt(sentiment("keyboard", "positive", None), sentiment("but", "neutral", TextSpan(24, 27)), *RIGHT)
    assert said[:2] == [("keyboard", "drop", None), ("but", "drop", None)]


def test_a_missing_sentiment_is_added_only_about_a_sure_term() -> None:
    assert felt() == [("battery", "add", "negative")]
    assert felt(AspectSentiment(None, "positive", is_implicit=True)) == [("battery", "add", "negative")]


def test_a_sentiment_at_a_wrong_place_is_moved() -> None:
    said = answer("atsa_review", StageOne(atsa=AspectSentiments((sentiment("battery", "negative", TextSpan(0, 7)),))))
    assert isinstance(said, SentimentReview)
    [item] = said.sentiment_review
    assert (item.action, item.revised_span) == ("revise_span", BATTERY)
    both = felt(sentiment("battery", "positive", TextSpan(0, 7)))
    assert both == [("battery", "flip_polarity", "negative"), ("battery", "revise_span", None)]


RISKS = StructuralValidation(
    (
        StructuralRisk("NEGATION", TextSpan(0, 23), "high", "'not'"),
        StructuralRisk("CONTRAST", TextSpan(0, len(TEXT)), "high", "'but'"),
    )
)


def risks_left(
    context: ReviewContext | None, by: TableReader | None = None, stage: StructuralValidation = RISKS
) -> list[str]:
    said = answer("validator_review", StageOne(validator=stage), context, by)
    assert isinstance(said, StructuralReview)
    assert said.final_validation is not None
    named = len(said.final_validation.remaining_risks), len(said.final_validation.resolved_risks)
    of_agents = [risk for risk in stage.structural_risks if risk.type != "MISSING_SECOND_ASPECT"]
    assert named == (len(said.structural_risks), len(of_agents) - len(said.structural_risks))
    assert said.final_validation.final_consistency_score == said.consistency_score
    return [risk.type for risk in said.structural_risks]


def came_to(battery: str, /, *conflicts: str, **hints: tuple[AspectHint, ...]) -> ReviewContext:
    tuples = (AspectTuple("battery", battery), AspectTuple("screen", "positive"))
    return ReviewContext(
        summary=DebateSummary(final_tuples=tuples, unresolved_conflicts=conflicts),
        aspect_terms=("battery", "screen"),
        aspect_hints=hints,
    )


def test_a_risk_is_resolved_when_what_it_acts_on_is_settled() -> None:
    assert risks_left(came_to("negative")) == []
    assert risks_left(None) == []


def test_a_risk_is_left_while_what_it_acts_on_is_still_read_wrongly() -> None:
    assert risks_left(came_to("positive")) == ["NEGATION", "CONTRAST"]


def test_a_risk_is_left_while_speakers_differ() -> None:
    hints = AspectHint("epm", "patch", 0.5, "positive"), AspectHint("cj", "patch", 0.5, "negative")
    assert risks_left(came_to("negative", battery=hints)) == ["NEGATION", "CONTRAST"]
    assert risks_left(came_to("negative", "screen: disputed")) == ["CONTRAST"]


def test_a_risk_is_left_while_nobody_can_be_sure() -> None:
    assert risks_left(came_to("negative"), by=reader(confidence=0.4)) == ["NEGATION", "CONTRAST"]
    assert risks_left(None, by=reader(confidence=0.4)) == ["NEGATION", "CONTRAST"]


def test_the_risk_that_code_raises_is_left_to_code() -> None:
    missing = StructuralValidation((StructuralRisk("MISSING_SECOND_ASPECT", TextSpan(0, len(TEXT)), "high"),))
    for context in (None, ReviewContext(aspect_terms=("battery",)), ReviewContext(aspect_terms=("battery", "screen"))):
        assert risks_left(context, stage=missing) == []


def test_a_risk_with_an_impossible_scope_is_about_the_whole_sentence() -> None:
    odd = StructuralValidation((StructuralRisk("IRONY", TextSpan(90, 99), "low", "odd"), StructuralRisk("IRONY")))
    assert risks_left(came_to("positive"), stage=odd) == ["IRONY", "IRONY"]
    absent = ReviewContext(aspect_terms=("keyboard",))
    assert risks_left(absent, stage=odd) == []
