"""What comes out in the end: aspects, tuples, and what happened to the sentence as a whole."""

from __future__ import annotations

from hallumeter.records.aspects import (
    AnalysisFlags,
    AspectSentiment,
    AspectTuple,
    FinalAspect,
    FinalResult,
    ModeratorOutput,
    StageOpinion,
    TextSpan,
)

from .draft import Draft

NOWHERE = TextSpan(0, 0)


def tuples_of(draft: Draft) -> tuple[AspectTuple, ...]:
    """The aspects with their polarities; one that is not named has an empty term."""
    return tuple(
        AspectTuple(sentiment.term, sentiment.polarity, span=_span(draft, sentiment)) for sentiment in draft.sentiments
    )


def aspects_at_the_end(draft: Draft) -> tuple[FinalAspect, ...]:
    """The sentiments as they are; one about nothing by name stands nowhere."""
    return tuple(
        FinalAspect(
            sentiment.term,
            _span(draft, sentiment) or NOWHERE,
            sentiment.polarity,
            sentiment.confidence,
            sentiment.evidence,
            sentiment.is_implicit or not sentiment.term,
        )
        for sentiment in draft.sentiments
    )


def result_of(
    stage1: Draft, stage2: Draft | None, *, moderator: ModeratorOutput | None, last: StageOpinion
) -> FinalResult:
    """The final result; without a moderator the label is that of the last stage that there was."""
    closing = stage1 if stage2 is None else stage2
    tuples = tuples_of(closing)
    label, confidence, rationale = last.label, last.confidence, last.rationale
    if moderator is not None:
        label, confidence, rationale = moderator.final_label, moderator.confidence, moderator.rationale
    return FinalResult(
        label,
        confidence,
        rationale,
        aspects_at_the_end(closing),
        tuples_of(stage1),
        () if stage2 is None else tuples,
        tuples,
    )


def flags_of(
    stage1: Draft, stage2: Draft | None, *, labels: tuple[str, str | None], confidence: float
) -> AnalysisFlags:
    """What happened to the sentence; `labels` are those of both stages."""
    return AnalysisFlags(
        correction_occurred=labels[1] is not None and labels[0] != labels[1],
        conflict_resolved=stage2 is not None and has_conflict(stage1) and not has_conflict(stage2),
        final_confidence_score=confidence,
        stage2_executed=stage2 is not None,
    )


def has_conflict(draft: Draft) -> bool:
    """Whether an aspect has several polarities."""
    polarities: dict[str, str] = {}
    return any(
        polarities.setdefault(sentiment.term, sentiment.polarity) != sentiment.polarity
        for sentiment in draft.sentiments
        if sentiment.term and sentiment.polarity is not None
    )


def _span(draft: Draft, sentiment: AspectSentiment) -> TextSpan | None:
    """Where a sentiment's term stands: where its aspect does, as reviews may have moved it, else as its agent said."""
    if sentiment.aspect_term is None or not sentiment.term:
        return None
    number = draft.aspect_of(sentiment)
    stands = None if number is None else draft.aspects[number].span
    return sentiment.aspect_term.span if stands is None else stands
