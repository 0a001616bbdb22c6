"""What a difference between two runs amounts to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from msgspec import Struct

from hallumeter.errors import TOLERANCE, SettingsError, check_share
from hallumeter.instruments import instrument_of, metric_named
from hallumeter.records.comparison import MetricComparison, Outcome, RowOutcome


class ComparePolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """When a difference between two runs is a regression, and when it is ruled out that there is one.

    Not shown to differ is not equal: without a regression the second run passes only if one larger than the margin
    is ruled out as well.
    """

    margin: float = 0.05
    """The largest change for the worse that does not matter, in the units of the metric: five points of a rate."""
    margins: dict[str, float] = {}
    """The same for single metrics. A margin that the user chose also excuses a smaller difference that is shown."""
    is_margin_chosen: bool = False
    are_slices_gated: bool = False
    """Whether slices decide as well; else they are shown, and tested apart, so that none of them moves the outcome."""
    largest_unmeasured: float = 0.05
    """Share of records, and of claims, that one of the runs may lack before nothing can be said."""

    def __post_init__(self) -> None:
        check_share("largest_unmeasured", self.largest_unmeasured)
        for margin in (self.margin, *self.margins.values()):
            if not 0 < margin < math.inf:
                raise SettingsError(f"margin is {margin:g}; expected a number above 0, such as 0.02")

    def margin_of(self, metric: str, *, is_share: bool) -> float | None:
        """The margin of a metric; only a share has one that nobody chose."""
        if metric in self.margins:
            return self.margins[metric]
        return self.margin if is_share or self.is_margin_chosen else None

    def outcome_of(self, row: MetricComparison, *, alpha: float, is_unchanged: bool = False) -> RowOutcome:
        """What is shown of one metric, from its tests; nothing has to be where no response and no label changed."""
        if row.difference is None or self.is_unmeasured(row):
            return "unmeasured"
        if is_unchanged:
            return "same"
        is_equal = row.equivalence_p_value is not None and row.equivalence_p_value <= alpha
        is_excused = is_equal and (self.is_margin_chosen or row.metric in self.margins)
        if row.adjusted_p_value is not None and row.adjusted_p_value <= alpha and not is_excused:
            if row.direction == "none":
                return "differs"
            return "worse" if (row.difference > 0) == (row.direction == "lower") else "better"
        if is_equal:
            return "equivalent"
        is_ruled_out = row.not_worse_p_value is not None and row.not_worse_p_value <= alpha
        return "not_worse" if is_ruled_out else "inconclusive"

    def is_unmeasured(self, row: MetricComparison) -> bool:
        """Whether too many claims of either run are undecided or failed, or too many records broke."""
        pairs = zip(row.unmeasured, row.measurable, strict=True)
        return any(missing > self.largest_unmeasured * everything + TOLERANCE for missing, everything in pairs)

    def outcome(self, rows: Iterable[MetricComparison], *, missing: float) -> tuple[Outcome, tuple[str, ...]]:
        """What is shown of all metrics with a better side, and why; `missing` is the share of records not common.

        Slices count only where they are gated.
        """
        decisive = [row for row in rows if row.direction != "none" and (self.are_slices_gated or not row.by)]
        if worse := [row for row in decisive if row.outcome == "worse"]:
            return "regression", tuple(f"{_where(row)} is worse by more than chance" for row in worse)
        reasons = [f"{_where(row)}: {_why_unmeasured(row)}" for row in decisive if row.outcome == "unmeasured"]
        if missing > self.largest_unmeasured + TOLERANCE:
            reasons.append(f"{missing:.1%} of the records are in one run only; {self.largest_unmeasured:.1%} may be")
        if reasons or not decisive:
            return "unmeasured", tuple(reasons or ["no metric with a better side was compared"])
        if all(row.outcome == "same" for row in decisive):
            return "no_regression", ("every answer, and the label of every claim, is the same in both runs",)
        if open_ones := [row for row in decisive if row.outcome == "inconclusive"]:
            return "inconclusive", tuple(map(_why_inconclusive, open_ones))
        return "no_regression", ("no metric is worse by more than chance, nor possibly by more than its margin",)


def _where(row: MetricComparison) -> str:
    known = metric_named(row.metric)
    name = known.alias if known else row.metric
    slice_ = ", ".join(f"{field}={value}" for field, value in row.by.items())
    return f"{name}, {slice_}" if slice_ else name


def _why_unmeasured(row: MetricComparison) -> str:
    """What is missing; where a run has no value at all, why."""
    causes = ", ".join(f"{cause} {number:,}" for cause, number in row.causes.items())
    if not any(row.unmeasured):
        return row.undefined or "nothing was measured"
    (first, second), (of_first, of_second) = row.unmeasured, row.measurable
    missing = (
        f"{first:,} of {of_first:,} {row.counted} are unmeasured in the first run, "
        f"{second:,} of {of_second:,} in the second"
    )
    return f"{missing} (failed: {causes})" if causes else missing


def _why_inconclusive(row: MetricComparison) -> str:
    if row.margin is None:
        return f"{_where(row)}: no margin says what is too much; give --margin {row.metric}=NUMBER"
    return f"{_where(row)}: a change for the worse of {row.margin:g} or more is neither shown nor ruled out"


def kind_of(run: str) -> str:
    """What a run of this name can be compared with: runs of the same instrument."""
    return instrument_of(run).name


def usual_metrics(run: str, known: Sequence[str]) -> list[str]:
    """Of the metrics that were measured those that tell whether a run is better; all where none of these is known.

    Results that were taken in from another tool are told by its own scores as well, `ragas:faithfulness` and the like.

    >>> usual_metrics("ingest", ["mihr", "factscore", "ragas:faithfulness"])
    ['mihr', 'ragas:faithfulness']
    """
    usual = instrument_of(run).compared
    chosen = [metric for metric in known if metric in usual or ":" in metric]
    return sorted(chosen, key=lambda metric: usual.index(metric) if metric in usual else len(usual)) or list(known)
