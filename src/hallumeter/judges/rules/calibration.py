"""From what the checks see to a probability that a claim is not supported: a small logistic model, kept as a table."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct

from .findings import Finding
from .overlap import Overlap

COEFFICIENTS: dict[str, float] = {
    "constant": -4.091,
    "uncovered": 0.957,
    "uncovered_by_best": 1.875,
    "longest_run": 0.476,
    "missing_words": 0.444,
    "number_not_found": 2.003,
    "name_not_found": 1.244,
}
"""Fitted by benchmarks/rules_judge_validity.py on the training answers of RAGTruth."""

MISMATCH = 0.75
"""How often a claim is not supported when the evidence says otherwise by the checks, whatever else there is."""

FLOORS = {
    "number_not_found": 0.72,
    "date_not_found": 0.70,
    "name_not_found": 0.61,
    "quotation_not_found": 0.57,
    "negation_unclear": 0.3,
    "uncertain": 0.3,
}
"""The least probability with such a finding, so that it says the same as the label: how often a claim with what is
not found is not supported in RAGTruth; for doubts a value that calls for a look."""

LIKELY = 0.35
"""Probability from which a claim whose words are missing is not supported. With it the judge finds about as many
claims unsupported as people do in RAGTruth, so that rates are neither inflated nor deflated."""
UNLIKELY = 0.25
"""Probability up to which a claim is supported; between both it is undecided."""
COVERED = 0.5
"""Weighted share of its words that evidence or question must have before a claim is supported."""


class Signals(Struct, frozen=True):
    """What a verdict is calibrated on, in the order of `COEFFICIENTS` without the constant."""

    uncovered: float
    """Weighted share of the claim's words that neither the evidence nor the question has."""
    uncovered_by_best: float
    """Weighted share of the claim's words that the best sentence does not have."""
    longest_run: float
    """Words of the longest part that the evidence does not have, as the logarithm of one more."""
    missing_words: float
    """Words that the evidence does not have, as the logarithm of one more."""
    number_not_found: float
    """1 when a number or date is nowhere in the evidence."""
    name_not_found: float
    """1 when a name or quotation is nowhere in the evidence."""


def signals_of(overlap: Overlap, findings: Iterable[Finding]) -> Signals:
    """The signals of a claim."""
    reasons = {finding.reason for finding in findings}
    return Signals(
        uncovered=1.0 - overlap.share,
        uncovered_by_best=1.0 - overlap.best,
        longest_run=math.log1p(overlap.run_words),
        missing_words=math.log1p(overlap.missing),
        number_not_found=float(bool(reasons & {"number_not_found", "date_not_found"})),
        name_not_found=float(bool(reasons & {"name_not_found", "quotation_not_found"})),
    )


def floor_of(findings: Iterable[Finding]) -> float:
    """The least probability that the findings leave; 0 when there is none."""
    return max((FLOORS.get(finding.reason, 0.0) for finding in findings), default=0.0)


def unsupported_probability(signals: Signals, *, has_mismatch: bool) -> float:
    """How probable it is that the evidence does not support the claim; a mismatch adds to what the words say."""
    logit = COEFFICIENTS["constant"]
    for name in signals.__struct_fields__:
        logit += COEFFICIENTS[name] * getattr(signals, name)
    probability = 1.0 / (1.0 + math.exp(-logit))
    return 1.0 - (1.0 - probability) * (1.0 - MISMATCH) if has_mismatch else probability
