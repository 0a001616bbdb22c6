"""What is felt about aspects: does the aspect stand where it was said to, and is the evidence a part of the text?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.records.aspects.scorecard_blocks import INSUFFICIENT, SentimentJudgement, SentimentScore

from .grounding import is_at, placement_of
from .offset_conventions import CountedText
from .targets import composed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from hallumeter.records.aspects import AspectSentiment, AspectTerm


def judge_sentiments(text: str, sentiments: Iterable[AspectSentiment], *, kept: Collection[str]) -> SentimentScore:
    """Judge every sentiment by its sentence, and by the terms of the aspects that were kept.

    An aspect that is not named can neither be kept nor stand anywhere: only its evidence is judged. A term without a
    span is grounded when it stands in the text at all.

    >>> from hallumeter.records.aspects import AspectSentiment, AspectTerm, TextSpan
    >>> said = AspectSentiment(AspectTerm("screen", TextSpan(1, 7)), "positive", evidence="bright screen")
    >>> judge_sentiments("A bright screen", [said], kept=["screen"]).sentiment_judgements[0].issues
    ('opinion_not_grounded: the text at 1-7 is not the term',)
    """
    counted = CountedText(text)
    judgements = tuple(_judged(counted, sentiment, kept) for sentiment in sentiments)
    return SentimentScore(
        judgements,
        mean_attribution_score=_mean([judgement.attribution_score for judgement in judgements]),
        opinion_grounded_rate=_mean([judgement.opinion_grounded for judgement in judgements]),
        evidence_relevance_score=_mean([judgement.evidence_relevant for judgement in judgements]),
        evidence_flags=tuple(each.aspect_term or "" for each in judgements if not each.evidence_relevant),
    )


def _judged(counted: CountedText, sentiment: AspectSentiment, kept: Collection[str]) -> SentimentJudgement:
    evidence = sentiment.evidence or ""
    is_relevant = bool(evidence) and (evidence in counted.text or composed(evidence) in counted.composed)
    insufficient = (INSUFFICIENT,) if sentiment.polarity is None or not evidence else ()
    named = sentiment.aspect_term
    if named is None or not named.term:
        return SentimentJudgement(None, evidence_relevant=is_relevant, issues=insufficient)
    missing = _missing(counted, named)
    attribution = 1.0 if named.term in kept else 0.0
    if missing is None:
        return SentimentJudgement(named.term, attribution, True, None, is_relevant, insufficient)
    issues = (f"opinion_not_grounded: {missing}", *insufficient)
    return SentimentJudgement(named.term, attribution, False, missing, is_relevant, issues, _fix(counted, named))


def _missing(counted: CountedText, named: AspectTerm) -> str | None:
    """Why a term does not stand where it was said to; None when it does."""
    term, span = named.term, named.span
    if span is None:
        is_there = term in counted.text or composed(term) in counted.composed
        return None if is_there else "the term does not stand in the text"
    if is_at(counted.text, term, span):
        return None
    return f"the text at {span.start}-{span.end} is not the term"


def _fix(counted: CountedText, named: AspectTerm) -> str | None:
    nearest = placement_of(counted, named.term, None).nearest
    return None if nearest is None else f"the term stands at {nearest.start}-{nearest.end}"


def _mean(values: list[float | None] | list[bool | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
