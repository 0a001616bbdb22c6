"""How a comparison is worded, the same in every form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.report.wording import DIRECTION_WORDS, NO_VALUE, format_number, format_pair

if TYPE_CHECKING:
    from hallumeter.records.decisions.comparison import Comparison, MetricComparison, Outcome, RowOutcome, Transition

OUTCOME_WORDS: dict[Outcome, str] = {
    "no_regression": "no regression",
    "regression": "REGRESSION",
    "inconclusive": "inconclusive",
    "unmeasured": "unmeasured",
}
ROW_WORDS: dict[RowOutcome, str] = {
    "same": "unchanged",
    "worse": "WORSE",
    "better": "better",
    "equivalent": "equal within the margin",
    "not_worse": "not worse by the margin",
    "differs": "differs",
    "inconclusive": "inconclusive",
    "unmeasured": "unmeasured",
}
STATE_WORDS = {
    "SUPPORTED": "supported",
    "REFUTED": "refuted",
    "NOT_ENOUGH_INFO": "not enough info",
    "UNDECIDED": "undecided",
    "FAILED": "no verdict",
    "ABSENT": "absent",
}


def metric_words(row: MetricComparison) -> str:
    """The name of a metric with the arrow to its better side."""
    known = METRICS_BY_ID.get(row.metric)
    return f"{known.alias if known else row.metric} {DIRECTION_WORDS[row.direction][0]}".rstrip()


def slice_words(row: MetricComparison) -> str:
    """The slice that a row speaks of."""
    return ", ".join(f"{field}={value}" for field, value in row.by.items())


def value_words(value: float | None) -> str:
    """A value, or a dash."""
    return NO_VALUE if value is None else format_number(value)


def difference_words(row: MetricComparison) -> str:
    """The difference with its sign."""
    if row.difference is None:
        return NO_VALUE
    return f"{'+' if row.difference > 0 else ''}{format_number(row.difference)}"


def p_words(row: MetricComparison) -> str:
    """The corrected p-value; where no cluster pulls the difference there is nothing to test."""
    if row.adjusted_p_value is not None:
        return format_number(row.adjusted_p_value)
    return NO_VALUE if row.difference is None else "none differ"


def bounds_words(row: MetricComparison) -> str:
    """The differences that the unmeasured allow; nothing when all was measured."""
    return format_pair(row.difference_bounds) if any(row.unmeasured) else ""


def change_words(cell: Transition) -> str:
    """What became of the claims of a cell."""
    if cell.first == "ABSENT":
        return f"appeared {STATE_WORDS[cell.second]}"
    if cell.second == "ABSENT":
        return f"disappeared ({STATE_WORDS[cell.first]})"
    if cell.first == cell.second:
        return f"still {STATE_WORDS[cell.first]}"
    return f"{STATE_WORDS[cell.first]} → {STATE_WORDS[cell.second]}"


def records_words(comparison: Comparison) -> str:
    """How many records are compared, and how many are not."""
    parts = [f"{comparison.common:,} records in both"]
    parts += [f"{comparison.only_first:,} only in {comparison.first.name}"] if comparison.only_first else []
    parts += [f"{comparison.only_second:,} only in {comparison.second.name}"] if comparison.only_second else []
    return " · ".join(parts)
