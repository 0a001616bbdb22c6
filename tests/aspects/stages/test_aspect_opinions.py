"""What stages and validators say about a whole sentence, and what comes out in the end."""

from __future__ import annotations

import pytest
from small_reader import at, draft_of, felt, read

from hallumeter.aspects.records.aspect import (
    Aspect,
    AspectSentiment,
    AspectTuple,
    CorrectionProposal,
    Polarity,
    StructuralRisk,
    TextSpan,
)
from hallumeter.aspects.records.outputs import ModeratorOutput, StageOpinion, StructuralReview, StructuralValidation
from hallumeter.aspects.stages.draft import Draft
from hallumeter.aspects.stages.opinions import sentence_opinion, surest_opinion, validator_opinion
from hallumeter.aspects.stages.sequence import flags_of, has_conflict, result_of, tuples_of

TEXT = "The screen is not good, the camera is fine"


def said(*voices: tuple[Polarity | None, float | None]) -> StageOpinion:
    return sentence_opinion(Draft((), tuple(felt("x", polarity, confidence) for polarity, confidence in voices)))


@pytest.mark.parametrize(
    ("voices", "label", "confidence"),
    [
        ([("positive", 0.9), ("negative", 0.4), ("negative", 0.4)], "positive", 0.9),
        ([("positive", 0.6), ("negative", 0.4), ("negative", 0.5)], "negative", 0.45),
        ([("positive", 0.3), ("positive", 0.3), ("negative", 0.6)], "mixed", 0.4),
        ([("positive", 0.7), ("positive", 0.1), ("negative", 0.8)], "mixed", pytest.approx(1.6 / 3)),
        ([("neutral", 0.5), ("negative", 0.5)], "negative", 0.5),
        ([("neutral", 0.5), ("positive", 0.5), ("negative", 0.5)], "mixed", 0.5),
        ([("neutral", 0.9), ("positive", 0.5)], "neutral", 0.9),
        ([("positive", None)], "positive", 0.5),
        ([("positive", 7.0), ("negative", -1.0)], "positive", 1.0),
        ([(None, 1.0), ("negative", 0.2)], "negative", 0.2),
        ([(None, 1.0)], "neutral", 0.0),
        ([], "neutral", 0.0),
        ([("positive", 0.0)], "neutral", 0.0),
        ([("positive", float("nan"))], "positive", 0.5),
    ],
)
def test_a_sentence_is_what_weighs_most(
    voices: list[tuple[Polarity | None, float | None]], label: str, confidence: float
) -> None:
    opinion = said(*voices)
    assert opinion.label == label
    assert opinion.confidence == pytest.approx(confidence)


def test_what_code_filled_in_speaks_only_where_nobody_else_does() -> None:
    filled = AspectSentiment(None, "neutral", 0.5, is_backfilled=True)
    assert sentence_opinion(Draft((), (filled, filled, felt("x", "positive", 0.6)))).label == "positive"
    assert sentence_opinion(Draft((), (filled,))).confidence == 0.5


def test_the_surest_sentiment_speaks_with_its_place() -> None:
    draft = Draft(
        (Aspect("screen", TextSpan(4, 10)),),
        (felt("camera", None, 1.0), felt("screen", "negative", 0.7), felt("x", "positive", 0.7)),
    )
    surest = surest_opinion(draft)
    assert surest is not None
    assert (surest.label, surest.confidence, surest.target, surest.span) == ("negative", 0.7, "screen", TextSpan(4, 10))
    assert surest_opinion(Draft((), (felt("x", None),))) is None
    own = surest_opinion(Draft(draft.aspects, (felt("screen", "positive", 0.7, TextSpan(1, 2)),)))
    assert own is not None
    assert own.span == TextSpan(1, 2)
    unnamed = surest_opinion(Draft((), (felt(None, "positive"),)))
    assert unnamed is not None
    assert (unnamed.target, unnamed.span) == (None, None)


STAGE1 = draft_of(TEXT, {"screen": "positive", "camera": "positive"})
FLIP = CorrectionProposal("screen", "FLIP_POLARITY", confidence=0.8)


def test_a_validator_suggests_the_label_that_its_flips_lead_to() -> None:
    both = (FLIP, CorrectionProposal("camera", "FLIP_POLARITY", confidence=0.6), CorrectionProposal("x", "DROP_ASPECT"))
    risks = (StructuralRisk("NEGATION", severity="high", description="not"),)
    opinion = validator_opinion(StructuralValidation(risks, both, 0.9), STAGE1, read(TEXT))
    assert opinion.suggested_label == "negative"
    assert opinion.issues == ("NEGATION: not severity:high",)
    assert opinion.confidence == pytest.approx(0.7)
    assert (opinion.agrees_with_ate, opinion.agrees_with_atsa) == (False, False)


def test_a_validator_whose_flips_do_nothing_suggests_nothing() -> None:
    idle = CorrectionProposal("speaker", "FLIP_POLARITY")
    opinion = validator_opinion(StructuralReview((), (idle,), 0.25), STAGE1, read(TEXT))
    assert (opinion.suggested_label, opinion.confidence) == (None, 0.75)


def test_a_validator_with_nothing_to_say_agrees() -> None:
    opinion = validator_opinion(StructuralValidation(), STAGE1, read(TEXT))
    assert (opinion.suggested_label, opinion.confidence, opinion.issues) == (None, 0.0, ())
    assert (opinion.agrees_with_ate, opinion.agrees_with_atsa) == (True, True)


def test_drops_are_no_part_of_the_suggested_label() -> None:
    drop = CorrectionProposal("screen", "DROP_ASPECT")
    assert validator_opinion(StructuralValidation((), (drop,)), STAGE1, read(TEXT)).suggested_label is None


def test_tuples_have_the_place_of_the_aspect_or_else_of_the_sentiment() -> None:
    screen, said = at(TEXT, "screen"), TextSpan(0, 1)
    sentiments = (felt("screen", "positive", span=said),)
    assert tuples_of(Draft((Aspect("screen", screen),), sentiments)) == (
        AspectTuple("screen", "positive", span=screen),
    )
    assert tuples_of(Draft((Aspect("screen"),), sentiments)) == (AspectTuple("screen", "positive", span=said),)
    assert tuples_of(Draft((), sentiments)) == (AspectTuple("screen", "positive", span=said),)


def test_what_is_not_named_stands_nowhere_in_the_end() -> None:
    result = result_of(Draft((), (felt(None, "positive"),)), None, moderator=None, last=StageOpinion("positive", 0.8))
    ended = result.final_aspects[0]
    assert (ended.term, ended.span, ended.is_implicit) == ("", TextSpan(0, 0), True)
    assert result.final_tuples == (AspectTuple("", "positive"),)
    assert result.stage2_tuples == ()


def test_the_result_is_stage_2_with_the_label_of_the_moderator() -> None:
    patched = draft_of(TEXT, {"screen": "negative"})
    result = result_of(
        STAGE1, patched, moderator=ModeratorOutput("mixed", 0.7, "why"), last=StageOpinion("negative", 1)
    )
    assert (result.label, result.confidence, result.rationale) == ("mixed", 0.7, "why")
    assert result.final_tuples == result.stage2_tuples == tuples_of(patched)
    assert result.stage1_tuples == tuples_of(STAGE1)


def test_flags_say_what_happened() -> None:
    divided = Draft((), (felt("a", "positive"), felt("a", None), felt("a", "negative")))
    assert has_conflict(divided)
    assert not has_conflict(Draft((), (felt(None, "positive"), felt(None, "negative"))))
    flags = flags_of(divided, STAGE1, labels=("mixed", "positive"), confidence=0.4)
    assert (flags.correction_occurred, flags.conflict_resolved, flags.stage2_executed) == (True, True, True)
    alone = flags_of(divided, None, labels=("mixed", None), confidence=0.4)
    assert (alone.correction_occurred, alone.conflict_resolved, alone.stage2_executed) == (False, False, False)
    assert alone.final_confidence_score == 0.4
