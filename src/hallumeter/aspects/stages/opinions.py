"""What a stage, its most confident sentiment and a validator say about a sentence as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hallumeter.aspects.records.aspect import AspectSentiment, CorrectionProposal
from hallumeter.aspects.records.outputs import StageOpinion, StructuralReview, StructuralValidation, ValidatorOpinion
from hallumeter.aspects.settings import TOLERANCE

from .changes import with_flips
from .draft import Draft, ReadSentence
from .requests import proposal_kind

UNSTATED = 0.5
"""The weight of a sentiment whose agent did not say how sure it is."""
_IN_DOUBT = ("positive", "negative", "neutral")
"""Of labels that weigh the same, an earlier one is taken; positive and negative together are mixed."""


def sentence_opinion(draft: Draft) -> StageOpinion:
    """The polarity that weighs most by confidence; mixed where positive and negative weigh the same.

    Sentiments without a polarity say nothing, and those that code filled in speak only where nobody else does.
    Without any the label is neutral with confidence 0.
    """
    voices = _voices(draft.sentiments)
    weights = {label: math.fsum(weight_of(one) for one in voices if one.polarity == label) for label in _IN_DOUBT}
    most = max(weights.values())
    leading = [label for label in _IN_DOUBT if voices and most - weights[label] <= TOLERANCE]
    is_mixed = leading[:2] == ["positive", "negative"] and most > 0
    winners = [one for one in voices if one.polarity in (leading if is_mixed else leading[:1])]
    if not winners or most <= 0:
        return StageOpinion("neutral", 0.0, "nobody says anything about any aspect")
    label = "mixed" if is_mixed else leading[0]
    confidence = math.fsum(map(weight_of, winners)) / len(winners)
    return StageOpinion(label, confidence, f"{label} weighs most in {len(voices)} sentiments")


def surest_opinion(draft: Draft) -> StageOpinion | None:
    """The most confident sentiment with its place, the first of several; None without any."""
    surest = max(_voices(draft.sentiments), key=weight_of, default=None)
    if surest is None or surest.polarity is None:
        return None
    span = None if surest.aspect_term is None else surest.aspect_term.span
    number = draft.aspect_of(surest)
    if span is None and number is not None:
        span = draft.aspects[number].span
    return StageOpinion(surest.polarity, weight_of(surest), surest.evidence or "", surest.term or None, span)


def validator_opinion(
    validation: StructuralValidation | StructuralReview, stage1: Draft, sentence: ReadSentence
) -> ValidatorOpinion:
    """What a validator makes of the sentence: its risks, and the label that its flips of polarities alone lead to.

    Validators of both stages were shown the result of stage 1, so their flips are meant for it.
    """
    proposals = validation.correction_proposals
    flipped = with_flips(stage1, proposals, sentence)
    is_changed = any(entry.applied for entry in flipped.log)
    kinds = [proposal_kind(proposal) for proposal in proposals]
    return ValidatorOpinion(
        suggested_label=sentence_opinion(flipped.draft).label if is_changed else None,
        issues=tuple(
            f"{risk.type}: {risk.description} severity:{risk.severity}" for risk in validation.structural_risks
        ),
        confidence=_confidence(proposals, validation.consistency_score),
        agrees_with_ate=not {"drop", "span"} & set(kinds),
        agrees_with_atsa="flip" not in kinds,
    )


def weight_of(sentiment: AspectSentiment) -> float:
    """How much a sentiment weighs, from 0 to 1."""
    return _unit(sentiment.confidence)


def _voices(sentiments: Sequence[AspectSentiment]) -> list[AspectSentiment]:
    speaking = [one for one in sentiments if one.polarity is not None]
    return [one for one in speaking if not one.is_backfilled] or speaking


def _confidence(proposals: Sequence[CorrectionProposal], consistency: float | None) -> float:
    stated = [_unit(proposal.confidence) for proposal in proposals if proposal.confidence is not None]
    if stated:
        return math.fsum(stated) / len(stated)
    return 0.0 if consistency is None else 1 - _unit(consistency)


def _unit(confidence: float | None) -> float:
    if confidence is None or math.isnan(confidence):
        return UNSTATED
    return min(max(confidence, 0.0), 1.0)
