"""Opinions about a scorecard: does its sentence need a target, is it good enough, was it in time?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from hallumeter.records.aspects.scorecard_blocks import SENTENCE_LABELS, LatencyScore, PolicyScore, QualitySummary

if TYPE_CHECKING:
    from hallumeter.judges.aspects import TargetWords
    from hallumeter.records.aspects.scorecard_blocks import AspectScore, SentimentScore

PROFILES = ("smoke", "regression", "paper_main")
DEFAULT_PROFILE = "regression"
GATES_MS = {"smoke": 60_000.0, "regression": 30_000.0, "paper_main": 15_000.0}
"""How long a sentence may take."""
GOOD_ENOUGH = 0.5
_SHORTEST_WITH_TARGET = 4
"""Characters of a text without a space that may name a target."""


def is_expected_targetless(text: str, words: TargetWords, *, has_aspect: bool) -> bool:
    """Whether a text is too short to name a target, and none was found.

    >>> from hallumeter.judges.aspects import target_words
    >>> words = target_words()
    >>> [is_expected_targetless(text, words, has_aspect=False) for text in ("ㅋㅋ", "굿굿", "배터리 굿", "언제")]
    [True, True, False, True]
    """
    if has_aspect:
        return False
    plain = text.strip()
    is_short = " " not in plain and len(plain) < _SHORTEST_WITH_TARGET
    return len(plain) <= 1 or plain in words.stop_terms or is_short


def policy_score(*, is_targetless: bool, label: str | None) -> PolicyScore:
    """What a sentence needs, and what it has."""
    return PolicyScore(is_targetless, label in SENTENCE_LABELS)


def quality_summary(policy: PolicyScore, aspects: AspectScore, sentiments: SentimentScore) -> QualitySummary:
    """Whether a sentence is good enough. A rate that is undefined does not reach any bound."""
    if policy.is_expected_targetless:
        has_label = bool(policy.has_sentence_sentiment)
        return QualitySummary(has_label, () if has_label else ("no_sentence_sentiment",))
    rates = {
        "low_valid_aspect_rate": aspects.valid_aspect_rate,
        "low_opinion_grounded_rate": sentiments.opinion_grounded_rate,
        "low_evidence_relevance_score": sentiments.evidence_relevance_score,
    }
    reasons = tuple(reason for reason, rate in rates.items() if rate is None or rate < GOOD_ENOUGH)
    return QualitySummary(not reasons, reasons)


def latency_score(total_ms: float | None, profile: str) -> LatencyScore:
    """How long a sentence took; a profile that is not known has the bound of the default one.

    >>> latency_score(20_000, "paper_main").gate_status, latency_score(20_000, "smoke").gate_status
    ('WARN', 'PASS')
    >>> latency_score(None, "smoke").gate_status is None
    True
    """
    return with_gate(LatencyScore(total_ms, profile=profile), profile)


def with_gate(latency: LatencyScore, profile: str | None) -> LatencyScore:
    """A time with its bound and its status; the bound that it has itself goes before that of its profile.

    >>> with_gate(LatencyScore(20_000, 10_000), "smoke").gate_status
    'WARN'
    """
    bound = latency.gate_threshold_ms
    if bound is None:
        bound = GATES_MS.get(latency.profile or profile or DEFAULT_PROFILE, GATES_MS[DEFAULT_PROFILE])
    status = None if latency.total_ms is None else "PASS" if latency.total_ms <= bound else "WARN"
    return structs.replace(latency, gate_threshold_ms=bound, gate_status=status)
