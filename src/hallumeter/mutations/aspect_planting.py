"""Puts planned faults into right answers of agents, and lets later agents put some of them right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, cast

from msgspec.structs import replace

from hallumeter.records.aspects import (
    Aspect,
    AspectExtraction,
    AspectReview,
    AspectReviewItem,
    AspectSentiment,
    AspectSentiments,
    AspectTerm,
    CorrectionProposal,
    DebateSummary,
    DebateTurn,
    EditTarget,
    Polarity,
    ProposedEdit,
    SentimentReview,
    SentimentReviewItem,
    StructuralRisk,
    StructuralValidation,
)

from .aspect_faults import PlantedFault

Answer = TypeVar("Answer")
_STRANGERS = ("invented_aspect", "spurious_span")
_MISPLACED = ("miscounted_span", "other_units")
_CONFIDENCE = 0.9
_WHY = "planted"


def planted(answer: Answer, faults: Sequence[PlantedFault]) -> Answer:
    """An answer with the faults, and the repairs, of its agent; answers of other roles come back as they are.

    >>> from hallumeter.mutations.aspect_faults import planned_faults
    >>> from hallumeter.records.aspects import AspectTuple, TextSpan
    >>> gold = [AspectTuple("battery", "positive", span=TextSpan(4, 11))]
    >>> faults = planned_faults("The battery is fine.", gold, kinds=["miscounted_span"])
    >>> right = AspectExtraction((Aspect("battery", TextSpan(4, 11)),))
    >>> planted(right, faults).aspects[0].span
    TextSpan(start=3, end=10)
    """
    change = _CHANGES.get(type(answer))
    return answer if change is None or not faults else cast("Answer", change(answer, faults))


def _in_extraction(answer: AspectExtraction, faults: Sequence[PlantedFault]) -> AspectExtraction:
    missed = {fault.term for fault in faults if fault.kind == "missed_aspect"}
    moved = {fault.term: fault.span for fault in faults if fault.kind in _MISPLACED}
    aspects = [
        replace(aspect, span=moved.get(aspect.term, aspect.span))
        for aspect in answer.aspects
        if aspect.term not in missed
    ]
    aspects += [Aspect(fault.term, fault.span, _CONFIDENCE) for fault in faults if fault.kind in _STRANGERS]
    return AspectExtraction(tuple(aspects))


def _in_sentiments(answer: AspectSentiments, faults: Sequence[PlantedFault]) -> AspectSentiments:
    """Who misses an aspect has nothing to say about it; who invents one has."""
    missed = {fault.term for fault in faults if fault.kind == "missed_aspect"}
    turned = {fault.term: fault.polarity for fault in faults if fault.kind == "flipped_polarity"}
    sentiments = [
        replace(each, polarity=turned.get(each.term, each.polarity))
        for each in answer.aspect_sentiments
        if each.term not in missed
    ]
    sentiments += [
        AspectSentiment(AspectTerm(fault.term, fault.span), fault.polarity, _CONFIDENCE)
        for fault in faults
        if fault.kind in _STRANGERS
    ]
    return AspectSentiments(tuple(sentiments))


def _in_validation(answer: StructuralValidation, faults: Sequence[PlantedFault]) -> StructuralValidation:
    proposals, risks = list(answer.correction_proposals), list(answer.structural_risks)
    for fault in faults:
        if fault.kind == "proposed_flip":
            risks.append(StructuralRisk("NEGATION", fault.span, "high", _WHY))
            proposals.append(CorrectionProposal(fault.term, "FLIP_POLARITY", _WHY, confidence=_CONFIDENCE))
        elif fault.repaired_by == "validator_proposals" and fault.kind in _STRANGERS:
            proposals.append(CorrectionProposal(fault.term, "DROP_ASPECT", _WHY))
        elif fault.repaired_by == "validator_proposals":
            proposals.append(CorrectionProposal(fault.term, "REVISE_SPAN", _WHY, fault.true_span))
    return replace(answer, structural_risks=tuple(risks), correction_proposals=tuple(proposals))


def _pushed(faults: Sequence[PlantedFault]) -> Iterator[tuple[PlantedFault, Polarity]]:
    """Whose polarity a debate wants to set, and to what."""
    for fault in faults:
        if fault.kind == "pushed_polarity":
            yield fault, fault.polarity
        elif fault.repaired_by == "debate_override" and fault.true_polarity is not None:
            yield fault, fault.true_polarity


def _in_turn(answer: DebateTurn, faults: Sequence[PlantedFault]) -> DebateTurn:
    return replace(answer, proposed_edits=_edits(answer.proposed_edits, faults, "set_polarity"))


def _in_summary(answer: DebateSummary, faults: Sequence[PlantedFault]) -> DebateSummary:
    return replace(answer, final_patch=_edits(answer.final_patch, faults, "confirm_tuple"))


def _edits(edits: Sequence[ProposedEdit], faults: Sequence[PlantedFault], op: str) -> tuple[ProposedEdit, ...]:
    pushed = {fault.term: polarity for fault, polarity in _pushed(faults)}
    kept = [edit for edit in edits if edit.target.aspect_term not in pushed]
    added = [
        ProposedEdit(op, EditTarget(aspect_term=term, polarity=polarity), polarity, confidence=_CONFIDENCE)
        for term, polarity in pushed.items()
    ]
    return (*kept, *added)


def _in_aspect_review(answer: AspectReview, faults: Sequence[PlantedFault]) -> AspectReview:
    said: dict[str, AspectReviewItem] = {}
    for fault in faults:
        if fault.kind == "reviewed_drop":
            said[fault.term] = AspectReviewItem(fault.term, "drop", reason=_WHY)
        elif fault.repaired_by == "ate_review":
            said[fault.term] = AspectReviewItem(fault.term, _repair_of(fault), fault.true_span, _WHY)
    kept = [item for item in answer.aspect_review if item.term not in said]
    return AspectReview((*kept, *said.values()))


def _repair_of(fault: PlantedFault) -> str:
    if fault.kind in _STRANGERS:
        return "drop"
    return "add" if fault.kind == "missed_aspect" else "revise_span"


def _in_sentiment_review(answer: SentimentReview, faults: Sequence[PlantedFault]) -> SentimentReview:
    """A sentiment goes with an aspect that the other review adds."""
    said: dict[str, SentimentReviewItem] = {}
    for fault in faults:
        if fault.kind == "reviewed_flip":
            said[fault.term] = SentimentReviewItem(fault.term, "flip_polarity", fault.polarity, reason=_WHY)
        elif fault.repaired_by == "atsa_review":
            said[fault.term] = SentimentReviewItem(fault.term, "flip_polarity", fault.true_polarity, reason=_WHY)
        elif fault.kind == "missed_aspect" and fault.repaired_by is not None:
            said[fault.term] = SentimentReviewItem(fault.term, "add", fault.true_polarity, reason=_WHY)
        elif fault.repaired_by == "ate_review" and fault.kind in _STRANGERS:
            said[fault.term] = SentimentReviewItem(fault.term, "drop", reason=_WHY)
    kept = [item for item in answer.sentiment_review if item.aspect_term not in said]
    return SentimentReview((*kept, *said.values()))


_CHANGES: dict[type, Callable[..., object]] = {
    AspectExtraction: _in_extraction,
    AspectSentiments: _in_sentiments,
    StructuralValidation: _in_validation,
    DebateTurn: _in_turn,
    DebateSummary: _in_summary,
    AspectReview: _in_aspect_review,
    SentimentReview: _in_sentiment_review,
}
