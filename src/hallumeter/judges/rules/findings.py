"""What a check has found wrong with a claim."""

from __future__ import annotations

from msgspec import Struct

from hallumeter.records import Quote


class Finding(Struct, frozen=True):
    """One part of a claim that the evidence denies, or does not have."""

    reason: str
    """A code of `REASONS`."""
    start: int
    """Where the part begins in the claim, in code points."""
    end: int
    note: str
    quotes: tuple[Quote, ...] = ()
    """Where the evidence says otherwise; empty when it is silent."""


MISMATCHES = (
    "number_mismatch",
    "unit_mismatch",
    "money_mismatch",
    "percent_mismatch",
    "date_mismatch",
    "name_mismatch",
    "quotation_mismatch",
    "negation_mismatch",
    "comparison_mismatch",
)
"""The evidence says otherwise, in a place that speaks of the same thing."""
MISSING = ("number_not_found", "date_not_found", "name_not_found", "quotation_not_found", "words_not_found")
"""The evidence does not say so."""
REASONS = MISMATCHES + MISSING
DOUBTS = ("negation_unclear", "uncertain")
"""The evidence has nearly the same words, but may say something else."""


def is_mismatch(finding: Finding) -> bool:
    """Whether the evidence says otherwise, and does not merely keep silent."""
    return finding.reason in MISMATCHES


def as_doubt(finding: Finding) -> Finding:
    """The same, where the evidence has what the claim says in another place, so that it may be right after all."""
    return Finding("uncertain", finding.start, finding.end, finding.note, finding.quotes)


def is_doubt(finding: Finding) -> bool:
    """Whether it cannot be told if the evidence says the same."""
    return finding.reason in DOUBTS
