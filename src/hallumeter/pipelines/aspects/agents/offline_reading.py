"""Stage 1 offline: three readings of a sentence, none of which knows the others."""

from __future__ import annotations

import unicodedata

from hallumeter.extractors.aspects.protocol import CueKind, FoundCue, FoundPolarity, FoundTerm
from hallumeter.records.aspects import (
    Aspect,
    AspectExtraction,
    AspectSentiment,
    AspectSentiments,
    AspectTerm,
    CorrectionProposal,
    StructuralRisk,
    StructuralValidation,
    TextSpan,
)

from .sentence_facts import SentenceFacts

RISK_OF: dict[CueKind, str] = {"negation": "NEGATION", "contrast": "CONTRAST", "irony": "IRONY"}
_DOUBT_OF = {"high": 0.2, "medium": 0.1, "low": 0.05}
"""What a risk takes from the clearness of a sentence."""
_LEAST_CLEAR = 0.1
_LAST_SINGLE = "\uffff"
"""The last character that every way of counting in units takes for one."""


def extracted(facts: SentenceFacts) -> AspectExtraction:
    """ATE: the terms of which the reader is sure enough."""
    return AspectExtraction(tuple(aspect_of(facts, found) for found in facts.terms(facts.settings.term_confidence)))


def aspect_of(facts: SentenceFacts, found: FoundTerm) -> Aspect:
    """A term as an aspect."""
    span = TextSpan(found.start, found.end)
    return Aspect(facts.words(found), span, confidence=found.confidence, syntactic_head=found.head)


def felt(facts: SentenceFacts) -> AspectSentiments:
    """ATSA: what is felt about the terms that it finds itself; about the sentence where it finds none."""
    terms = facts.terms(facts.settings.term_confidence)
    sentiments = [_sentiment(facts, facts.polarity_at(found.start, found.end), found) for found in terms]
    whole = facts.sentence_polarity
    if not sentiments and whole.polarity != "neutral" and whole.confidence >= facts.settings.term_confidence:
        sentiments = [_sentiment(facts, whole, None)]
    return AspectSentiments(tuple(sentiments))


def _sentiment(facts: SentenceFacts, polarity: FoundPolarity, found: FoundTerm | None) -> AspectSentiment:
    term = None if found is None else AspectTerm(facts.words(found), TextSpan(found.start, found.end))
    return AspectSentiment(
        term,
        polarity.polarity,
        confidence=polarity.confidence,
        evidence=facts.evidence_of(polarity),
        polarity_distribution=dict(polarity.distribution),
        is_implicit=found is None,
    )


def validated(facts: SentenceFacts) -> StructuralValidation:
    """Validator: what misleads, and corrections for what other readers will get wrong."""
    risks = tuple(_risk(facts, cue) for cue in facts.reading.cues)
    return StructuralValidation(
        risks, tuple(_proposals(facts)), consistency_score=clearness([risk.severity for risk in risks])
    )


def clearness(severities: list[str]) -> float:
    """How clearly a sentence with such risks can be read.

    >>> clearness([]), clearness(["high", "low"]), clearness(["high"] * 9)
    (1.0, 0.75, 0.1)
    """
    return max(_LEAST_CLEAR, round(1.0 - sum(_DOUBT_OF.get(severity, 0.1) for severity in severities), 4))


def _risk(facts: SentenceFacts, cue: FoundCue) -> StructuralRisk:
    words = facts.text[cue.start : cue.end]
    return StructuralRisk(
        RISK_OF[cue.kind],
        TextSpan(cue.scope_start, cue.scope_end),
        severity=_severity(facts, cue),
        description=f"{words!r} acts on {facts.text[cue.scope_start : cue.scope_end]!r}",
    )


def _severity(facts: SentenceFacts, cue: FoundCue) -> str:
    """High where who misses the cue gets a polarity wrong, low where it acts on no aspect."""
    terms = facts.terms(facts.settings.term_confidence)
    if cue.kind == "contrast":
        felt_here = {facts.polarity_at(term.start, term.end).polarity for term in terms}
        return "high" if {"positive", "negative"} <= felt_here else "medium" if terms else "low"
    acted_on = [term for term in terms if _is_acted_on(facts, term, cue)]
    if not acted_on:
        return "low"
    if cue.kind == "irony":
        return "high"
    polarities = [facts.polarity_at(term.start, term.end).polarity for term in acted_on]
    return "high" if any(polarity != "neutral" for polarity in polarities) else "medium"


def _is_acted_on(facts: SentenceFacts, term: FoundTerm, cue: FoundCue) -> bool:
    """Whether a cue acts on a term, or on the words that show what is felt about it."""
    shown = facts.polarity_at(term.start, term.end)
    places = [(term.start, term.end)]
    if shown.start is not None and shown.end is not None:
        places.append((shown.start, shown.end))
    return any(start < cue.scope_end and cue.scope_start < end for start, end in places)


def _proposals(facts: SentenceFacts) -> list[CorrectionProposal]:
    """Corrections that hold whatever stage 1 said; a polarity is never turned blindly."""
    terms = facts.terms(facts.settings.term_confidence)
    proposals = [*_not_about_the_product(facts, terms), *_miscounted(facts, terms)]
    return [proposal for _, proposal in sorted(proposals, key=lambda placed: placed[0])]


def _not_about_the_product(facts: SentenceFacts, terms: list[FoundTerm]) -> list[tuple[int, CorrectionProposal]]:
    """Terms that stand only in sentences which speak to the reader of the review."""
    outside = {facts.words(term) for term in terms if not facts.is_instructed(term.start, term.end)}
    return [
        (term.start, CorrectionProposal(words, "DROP_ASPECT", "it stands in words to the reader", confidence=0.9))
        for term in terms
        if (words := facts.words(term)) not in outside and facts.is_instructed(term.start, term.end)
    ]


def _miscounted(facts: SentenceFacts, terms: list[FoundTerm]) -> list[tuple[int, CorrectionProposal]]:
    """Terms behind characters that other ways of counting count twice, such as emoji; those that occur once."""
    first = next((place for place, sign in enumerate(facts.text) if sign > "\u02ff" and _is_counted_twice(sign)), None)
    if first is None:
        return []
    why = f"characters before it, such as {facts.text[first]!r}, are counted twice by others"
    return [
        (
            term.start,
            CorrectionProposal(words, "REVISE_SPAN", why, revised_span=TextSpan(term.start, term.end), confidence=0.9),
        )
        for term in terms
        if term.start > first and facts.text.count(words := facts.words(term)) == 1
    ]


def _is_counted_twice(sign: str) -> bool:
    """Whether a sign is two units of UTF-16, or a part of the character before it."""
    return sign > _LAST_SINGLE or unicodedata.combining(sign) > 0 or "\u1160" <= sign <= "\u11ff"
