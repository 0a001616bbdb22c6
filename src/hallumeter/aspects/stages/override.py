"""Lets a debate change a polarity, where its hints are strong and agree."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from hallumeter.aspects.records.aspect import AspectSentiment, AspectTerm, Polarity, StructuralRisk
from hallumeter.aspects.records.outputs import AspectHint, Correction, OverrideDecision, ReviewContext
from hallumeter.aspects.settings import OverrideThresholds, reaches

from .changes import with_polarity
from .draft import Draft
from .hints import sources_of

OVERRIDE = "DEBATE_OVERRIDE"
SHARE = 0.8
"""Of the distribution, for the polarity that the debate asks for."""
_DELICATE = ("NEGATION", "CONTRAST", "IRONY", "POLARITY_MISMATCH")


class Overridden(Struct, frozen=True):
    """A draft after the debate's word, all decisions, and an entry for each change."""

    draft: Draft
    decisions: tuple[OverrideDecision, ...] = ()
    log: tuple[Correction, ...] = ()


def with_overrides(
    draft: Draft, context: ReviewContext, *, thresholds: OverrideThresholds, risks: Iterable[StructuralRisk]
) -> Overridden:
    """Weigh the hints about each aspect; a request to drop a tuple is no hint about its polarity."""
    is_delicate = thresholds.l3_conservative and any(is_delicate_risk(risk) for risk in risks)
    decisions: list[OverrideDecision] = []
    log: list[Correction] = []
    for term, hints in context.aspect_hints.items():
        decision = _decided(term, hints, draft=draft, thresholds=thresholds, is_delicate=is_delicate)
        decisions.append(decision)
        if decision.decision == "applied":
            draft = _overridden(draft, decision, thresholds)
            log.append(_entry(decision, hints))
    return Overridden(draft, tuple(decisions), tuple(log))


def is_delicate_risk(risk: StructuralRisk) -> bool:
    """Whether a risk makes polarities hard to tell: negation, contrast, irony.

    >>> is_delicate_risk(StructuralRisk("CONTRAST_SCOPE")), is_delicate_risk(StructuralRisk(""))
    (True, False)
    """
    return risk.type.strip().upper().startswith(_DELICATE)


def _decided(
    term: str,
    hints: tuple[AspectHint, ...],
    *,
    draft: Draft,
    thresholds: OverrideThresholds,
    is_delicate: bool,
) -> OverrideDecision:
    positive, negative = (
        math.fsum(hint.weight for hint in hints if hint.polarity_hint == polarity and not hint.is_drop)
        for polarity in ("positive", "negative")
    )
    target: Polarity = "positive" if positive > negative else "negative"
    current = [sentiment for sentiment in draft.sentiments if sentiment.term == term]
    weighed = OverrideDecision(term, positive, negative, "skipped", "")
    if not (weighed.total > 0 and reaches(weighed.total, thresholds.min_total)):
        return replace(weighed, reason="skipped_low_signal")
    if not (weighed.margin > 0 and reaches(weighed.margin, thresholds.min_margin)):
        return replace(weighed, reason="skipped_conflict")
    first = current[0] if current else None
    weighed = replace(
        weighed,
        target=target,
        current_polarity=None if first is None else first.polarity,
        current_confidence=None if first is None else first.confidence,
    )
    if is_delicate:
        return replace(weighed, reason="skipped_l3_conservative")
    if term not in draft.aspect_terms:
        return replace(weighed, reason="skipped_no_such_aspect")
    return _by_what_is_there(weighed, current, thresholds)


def _by_what_is_there(
    weighed: OverrideDecision, current: list[AspectSentiment], thresholds: OverrideThresholds
) -> OverrideDecision:
    if not current:
        return replace(weighed, decision="applied", reason="debate_override_add")
    least = thresholds.min_target_conf
    if any(sentiment.polarity != weighed.target for sentiment in current):
        former = next(sentiment.polarity for sentiment in current if sentiment.polarity != weighed.target)
        return replace(weighed, decision="applied", reason=f"debate_override_flip {former}->{weighed.target}")
    if all(reaches(sentiment.confidence or 0.0, least) for sentiment in current):
        return replace(weighed, reason="skipped_already_confident")
    return replace(weighed, decision="applied", reason=f"debate_override_confirm {weighed.target}")


def _overridden(draft: Draft, decision: OverrideDecision, thresholds: OverrideThresholds) -> Draft:
    polarity: Polarity = "positive" if decision.target == "positive" else "negative"
    least = thresholds.min_target_conf
    if decision.reason == "debate_override_add":
        span = next(aspect.span for aspect in draft.aspects if aspect.term == decision.aspect_term)
        term = AspectTerm(decision.aspect_term, span)
        added = AspectSentiment(term, polarity, least, polarity_distribution={polarity: SHARE})
        return replace(draft, sentiments=(*draft.sentiments, added))
    sentiments = tuple(
        with_polarity(sentiment, polarity, confidence=least, share=SHARE)
        if sentiment.term == decision.aspect_term
        else sentiment
        for sentiment in draft.sentiments
    )
    return replace(draft, sentiments=sentiments)


def _entry(decision: OverrideDecision, hints: tuple[AspectHint, ...]) -> Correction:
    sources = sources_of(hint for hint in hints if hint.polarity_hint == decision.target)
    text = f"positive {decision.positive:g}, negative {decision.negative:g}"
    reason = f"{decision.reason} [{sources}]" if sources else decision.reason
    return Correction(
        OVERRIDE, decision.aspect_term, text, True, reason, "debate_override", None, decision.target, sources
    )
