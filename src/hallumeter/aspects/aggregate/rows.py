"""Every metric of all scorecards and of each run, with intervals by resampling sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.aspects.catalog import ASPECT_METRICS
from hallumeter.aspects.metrics.rates import RESOLUTION, case_columns, resolution_of_sums
from hallumeter.aspects.records.columns import CaseColumns
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.metric import Metric
from hallumeter.records.rate import Rates
from hallumeter.records.summaries import SeedSpread
from hallumeter.run.engines.local import map_in_order
from hallumeter.stats.intervals import manski_bounds
from hallumeter.stats.summarize import Slice, SummarySettings, summarize_patterns, summarize_rates

from .counted import CardCounts, RunKey

RUN, SEED = "run", "seed"
UNNAMED = "unnamed"
"""What a run is called whose scorecards do not name it; nothing stands for all runs together."""
_OF_ALL = ("samples", "classified", "final_known", "validated", "delta_known", "pairs_known", "bucketed")
"""Totals that every sentence would have been in that failed."""
_OF_GOLD = ("gold_s1", "gold_final")
"""Totals that every sentence with gold would have been in that failed."""
_OF_ATTEMPTS = ("attempted", "implicit_gold", "tokens_known", "cost_known", "latency_known")
"""Totals that sentences that failed are in."""


class Part(Struct, frozen=True, eq=False):
    """Some of the scorecards: those of one run, or all of them."""

    by: dict[str, str]
    card_counts: CardCounts
    rows: NDArray[np.intp] | None
    """Which of them; None for all."""
    clusters: NDArray[np.intp]
    """Which sentence each is of, from 0 without gaps."""
    cases: CaseColumns

    def column(self, name: str) -> NDArray[np.float64]:
        """One count."""
        column = self.card_counts.column(name)
        return column if self.rows is None else column[self.rows]

    def total(self, name: str) -> float:
        """One count added up."""
        return float(self.column(name).sum())


def run_name(run: RunKey) -> dict[str, str]:
    """A run as the group that it is.

    >>> run_name(("demo", 1)), run_name(("", None))
    ({'run': 'demo', 'seed': '1'}, {'run': 'unnamed'})
    """
    name = run[0] or UNNAMED
    return {RUN: name} if run[1] is None else {RUN: name, SEED: str(run[1])}


def parts_of(card_counts: CardCounts) -> list[Part]:
    """All scorecards, and those of each run when there are several."""
    cases, runs = card_counts.cases, card_counts.run_codes
    parts = [Part({}, card_counts, None, _clusters(cases), case_columns(cases, runs, card_counts.said))]
    for run, code in card_counts.runs.items() if len(card_counts.runs) > 1 else ():
        rows = np.flatnonzero(runs == code)
        parts.append(Part(run_name(run), card_counts, rows, _clusters(cases[rows]), CaseColumns.of([])))
    return parts


def metric_rows(parts: Sequence[Part], settings: SummarySettings, *, workers: int) -> list[MetricSummary]:
    """Every metric of every part."""
    tasks = [(part, metric) for part in range(len(parts)) for metric in range(len(ASPECT_METRICS))]
    shares = [tasks[first::_SHARES] for first in range(_SHARES)]
    summarize = partial(_share_rows, parts=parts, settings=settings)
    with closing(map_in_order(summarize, shares, workers=workers)) as found:
        rows = dict(row for share in found for row in share)
    return [rows[task] for task in tasks]


_SHARES = 8
"""Into how many the work is cut."""


def spread_of(rows: Sequence[MetricSummary]) -> Iterator[SeedSpread]:
    """Mean and deviation of each metric over the runs; nothing for a single run."""
    by_metric: dict[str, list[MetricSummary]] = {}
    for row in rows:
        if row.by:
            by_metric.setdefault(row.metric, []).append(row)
    for metric, found in by_metric.items():
        values = [row.value for row in found if row.value is not None]
        mean = math.fsum(values) / len(values) if values else None
        deviation = None
        if mean is not None and len(values) > 1:
            deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
        yield SeedSpread(metric, mean, deviation, len(values))


def _clusters(cases: NDArray[np.int64]) -> NDArray[np.intp]:
    return np.unique(cases, return_inverse=True)[1].astype(np.intp)


def _share_rows(
    share: list[tuple[int, int]], parts: Sequence[Part], settings: SummarySettings
) -> list[tuple[tuple[int, int], MetricSummary]]:
    return [((part, metric), _row(parts[part], ASPECT_METRICS[metric], settings)) for part, metric in share]


def _row(part: Part, metric: Metric, settings: SummarySettings) -> MetricSummary:
    failed = int(part.total("failed"))
    slice_ = Slice(part.by, None, failed=failed)
    if metric.reads == "aspect_cases":
        return summarize_rates(metric, metric.compute(part.cases), slice_, settings=settings)
    if not metric.is_poolable:
        return _resolution_row(part, metric, slice_, settings=settings)
    total = metric.compute.keywords["total"]  # type: ignore[attr-defined]
    undecided = int(part.total("samples") - part.total("classified"))
    if total in ("classified", "classified_aspects"):
        slice_ = structs.replace(slice_, undecided=undecided)
    if total in _OF_ATTEMPTS:
        slice_ = structs.replace(slice_, failed=0)
    rates: Rates = metric.compute(part)
    if metric.range[0] < 0:
        return _difference_row(part, metric, rates, slice_=slice_, settings=settings)
    bounds = _bounds(part, metric, rates, total=total)
    row = summarize_rates(metric, rates.pooled_by(part.clusters), slice_, settings=settings, bounds=bounds)
    is_open = bounds is None and slice_.failed > 0
    return structs.replace(row, bounds=None) if is_open else row


def _difference_row(
    part: Part, metric: Metric, rates: Rates, *, slice_: Slice, settings: SummarySettings
) -> MetricSummary:
    """A mean of differences between -1 and 1, taken as a share of the way from one to the other."""
    shares = Rates((rates.counts + rates.totals) / 2, rates.totals).pooled_by(part.clusters)
    row = summarize_rates(metric, shares, slice_, settings=settings)
    interval = None if row.interval is None else (2 * row.interval[0] - 1, 2 * row.interval[1] - 1)
    pooled = rates.pooled
    bounds = None if slice_.failed or pooled.value is None else (pooled.value, pooled.value)
    return structs.replace(row, count=pooled.count, value=pooled.value, interval=interval, bounds=bounds)


def _resolution_row(part: Part, metric: Metric, slice_: Slice, *, settings: SummarySettings) -> MetricSummary:
    """Risks before and after, added up within every sentence."""
    before, after = (part.column(name) for name in RESOLUTION)
    sums = Rates(after, before).pooled_by(part.clusters)
    clusters = np.stack([sums.totals, sums.counts], axis=1).astype(np.int64)
    row = summarize_patterns(metric, clusters, slice_, settings=settings, statistic=resolution_of_sums)
    return structs.replace(row, count=float(before.sum() - after.sum()), total=float(before.sum()))


def _bounds(part: Part, metric: Metric, rates: Rates, *, total: str) -> tuple[float, float] | None:
    """What a share could be if sentences that failed had been measured; None where nobody can tell."""
    unmeasured = 0.0
    if total in _OF_ALL:
        unmeasured = part.total("failed")
    elif total in _OF_GOLD:
        unmeasured = part.total("failed_gold")
    if total == "classified":
        unmeasured += part.total("samples") - part.total("classified")
    if not unmeasured or metric.range[1] is None:
        return None
    pooled = rates.pooled
    return manski_bounds(pooled.count, pooled.total, unmeasured)
