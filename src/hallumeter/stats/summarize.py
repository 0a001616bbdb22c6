"""Pool measurements by group and say how sure they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import Protocol

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.errors import SettingsError
from hallumeter.records.columns import Ratings
from hallumeter.records.measurement import MetricSummary, Signature
from hallumeter.records.metric import Metric
from hallumeter.records.rate import Rates

from .agreement import Agreement
from .bootstrap import bootstrap_statistic
from .intervals import Interval, wilson_interval
from .tally import RateTally

Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Takes many rows of multiplicities or of added-up counts at once, and gives one number for each."""


class Pages(Protocol):
    """Columns of numbers with a row for each page."""

    @property
    def columns(self) -> Mapping[str, NDArray[np.float64]]:
        """The columns by name."""
        ...

    def __len__(self) -> int: ...


class SummarySettings(Struct, frozen=True):
    """What every number of a summary depends on, beside the data."""

    version: str
    """Of hallumeter."""
    seed: int = 0
    resamples: int = 2_000
    confidence: float = 0.95
    cluster: str = "response"
    """The unit of resampling: the response, or a field such as a document that holds several."""
    stated: tuple[tuple[str, str], ...] = ()
    """What every signature states first, such as how claims were found."""


def check_interval_settings(*, confidence: float, resamples: int, seed: int) -> None:
    """Refuse settings with which no interval can be made."""
    if not 0 < confidence < 1:
        raise SettingsError(f"confidence is {confidence:g}; expected a number between 0 and 1, such as 0.95")
    if resamples < 100:
        raise SettingsError(f"{resamples} resamples are too few for an interval; expected 100 or more")
    if seed < 0:
        raise SettingsError(f"seed is {seed}; expected a whole number from 0")


class Slice(Struct, frozen=True):
    """Which part of a run a number speaks of."""

    by: dict[str, str]
    judge: str | None
    undecided: int = 0
    failed: int = 0
    settings: tuple[tuple[str, str], ...] = ()
    """What the numbers of this part depend on beside the metric, such as how the judges were joined."""


def summarize_rates(
    metric: Metric,
    rates: Rates | RateTally,
    part: Slice,
    *,
    settings: SummarySettings,
    bounds: tuple[float, float] | None = None,
    largest: float | None = None,
) -> MetricSummary:
    """Pool one rate per response into a value with its interval; undefined when there is nothing to count.

    `largest` is the largest possible value, that of the catalog unless it is given; the interval stays within it.
    """
    largest = metric.range[1] if largest is None else largest
    unit = 1.0 if largest is None else largest
    tally = rates if isinstance(rates, RateTally) else RateTally.of(rates)
    pooled = tally.pooled
    interval = None
    if pooled.total:
        is_one_each = metric.interval == "wilson" and settings.cluster == "response"
        if is_one_each:
            interval = wilson_interval(pooled.count, pooled.total, confidence=settings.confidence)
        else:
            interval = tally.interval(
                _generator(metric, settings, *_drawn(tally, unit)),
                resamples=settings.resamples,
                confidence=settings.confidence,
                unit=unit,
                is_share=largest is not None,
            )
    if interval is not None:
        interval = Interval(interval.low * unit, interval.high * unit, interval.method)
    row = _row(metric, part, settings, value=pooled.value, interval=interval, undefined=None)
    return structs.replace(
        row,
        count=pooled.count if pooled.total else 0.0,
        total=pooled.total,
        bounds=bounds if bounds is not None or pooled.value is None else (pooled.value, pooled.value),
    )


def summarize_expected(
    metric: Metric,
    rates: Rates | RateTally,
    part: Slice,
    *,
    settings: SummarySettings,
    shifts: Sequence[NDArray[np.float64]],
    bounds: tuple[float, float] | None = None,
) -> MetricSummary:
    """Pool sums of probabilities into an expected share; its interval holds the error of the calibration as well.

    `shifts` says how far the share might be off for each calibration, as `contrast_interval` takes it.
    """
    tally = rates if isinstance(rates, RateTally) else RateTally.of(rates)
    pooled, interval = tally.pooled, None
    if pooled.total:
        interval = tally.interval(
            _generator(metric, settings, *_drawn(tally, 1.0), *shifts),
            resamples=settings.resamples,
            confidence=settings.confidence,
            shifts=shifts,
        )
    row = _row(metric, part, settings, value=pooled.value, interval=interval, undefined=None)
    return structs.replace(row, count=pooled.count, total=pooled.total, bounds=bounds if pooled.total else None)


def summarize_agreement(
    metric: Metric,
    ratings: Ratings,
    part: Slice,
    *,
    settings: SummarySettings,
    judges: Mapping[str, int] | None = None,
) -> MetricSummary:
    """An agreement statistic over patterns of votes, with an interval by resampling clusters of responses.

    `judges` are the columns of the judges that the statistic asks for by name, such as first and second.
    """
    named = judges or {}
    result: Agreement = metric.compute(ratings, **named)
    interval = None
    if result.value is not None and metric.resample is not None:
        votes = ratings.multiplicities if ratings.clusters is None else ratings.clusters
        asked = ratings.patterns[:, list(named.values())]
        statistic = partial(metric.resample, ratings, **named)
        interval = _bootstrapped(metric, settings, votes, statistic=statistic, counted=(ratings.patterns, votes, asked))
    row = _row(metric, part, settings, value=result.value, interval=interval, undefined=result.undefined)
    return structs.replace(row, total=float(result.claims))


def summarize_pages(metric: Metric, pages: Pages, part: Slice, *, settings: SummarySettings) -> MetricSummary:
    """A figure that is made from sums over pages, with an interval by resampling pages."""
    value: float | None = metric.compute(pages)
    interval = None
    if value is not None and metric.resample is not None:
        each, statistic = np.ones(len(pages), dtype=np.int64), partial(metric.resample, pages)
        interval = _bootstrapped(metric, settings, each, statistic=statistic, counted=tuple(pages.columns.values()))
    return _row(metric, part, settings, value=value, interval=interval, undefined=None)


def summarize_clusters(
    metric: Metric,
    clusters: NDArray[np.int64],
    part: Slice,
    *,
    settings: SummarySettings,
    statistic: Statistic,
) -> MetricSummary:
    """A statistic of counts that add up over clusters (the questions, for consensus), resampled by whole clusters.

    `clusters` has one row of counts per cluster; `statistic` takes many rows of added-up counts at once and gives one
    number for each, NaN where it is undefined.
    """
    value, interval = _of_all(statistic, clusters), None
    if value is not None:
        interval = _bootstrapped(metric, settings, clusters, statistic=statistic, counted=(clusters,))
    return _row(metric, part, settings, value=value, interval=interval, undefined=None)


def summarize_patterns(
    metric: Metric,
    clusters: NDArray[np.int64],
    part: Slice,
    *,
    settings: SummarySettings,
    statistic: Statistic,
) -> MetricSummary:
    """The same where many clusters have the same row of counts: as fast for a hundred thousand as for a hundred."""
    patterns, multiplicities = np.unique(clusters, axis=0, return_counts=True)
    weights = patterns.astype(np.float64)
    value, interval = _of_all(statistic, clusters), None
    if value is not None:
        interval = _bootstrapped(
            metric,
            settings,
            multiplicities,
            statistic=lambda drawn: statistic(drawn @ weights),
            counted=(patterns, multiplicities),
        )
    return _row(metric, part, settings, value=value, interval=interval, undefined=None)


def summarize_value(
    metric: Metric,
    value: float | None,
    part: Slice,
    *,
    settings: SummarySettings,
    undefined: str | None = None,
    counts: tuple[float, float] | None = None,
) -> MetricSummary:
    """A single figure without an interval."""
    row = _row(metric, part, settings, value=value, interval=None, undefined=undefined)
    return structs.replace(row, count=counts[0], total=counts[1]) if counts else row


def _of_all(statistic: Statistic, clusters: NDArray[np.int64]) -> float | None:
    """The statistic of all clusters together; None where it is undefined."""
    value = float(statistic(clusters.sum(axis=0, keepdims=True).astype(np.float64))[0])
    return None if np.isnan(value) else value


def _bootstrapped(
    metric: Metric,
    settings: SummarySettings,
    table: NDArray[np.int64],
    *,
    statistic: Statistic,
    counted: tuple[NDArray[np.generic], ...],
) -> Interval | None:
    """The interval of a statistic, drawn by a generator of what was counted."""
    rng = _generator(metric, settings, *counted)
    return bootstrap_statistic(table, statistic, rng=rng, resamples=settings.resamples, confidence=settings.confidence)


def _row(
    metric: Metric,
    part: Slice,
    settings: SummarySettings,
    *,
    value: float | None,
    interval: Interval | None,
    undefined: str | None,
) -> MetricSummary:
    return MetricSummary(
        metric=metric.id,
        by=part.by,
        judge=part.judge,
        count=None,
        total=None,
        value=value,
        interval=(interval.low, interval.high) if interval else None,
        interval_method=interval.method if interval else None,
        direction=metric.direction,
        undefined=None if value is not None else undefined or metric.undefined_when,
        undecided=part.undecided,
        failed=part.failed,
        bounds=None,
        signature=str(_signature(metric, part, settings, interval=interval)),
    )


def _signature(metric: Metric, part: Slice, settings: SummarySettings, *, interval: Interval | None) -> Signature:
    named = [*settings.stated, *part.settings, *metric.settings]
    is_resampled = interval is not None and interval.method.endswith("bootstrap")
    if interval:
        drawn = f"-{settings.resamples}" if is_resampled else ""
        named.append(("ci", interval.method.replace("_", "-") + drawn))
        named.append(("confidence", f"{settings.confidence:g}"))
    cluster = "question" if metric.reads == "support" else settings.cluster
    if interval and cluster != "response":
        named.append(("cluster", cluster))
    return Signature(
        metric=metric.id,
        judge=part.judge,
        settings=tuple(named),
        seed=settings.seed if is_resampled else None,
        version=settings.version,
    )


def _drawn(tally: RateTally, unit: float) -> tuple[NDArray[np.generic], ...]:
    """What is resampled for the interval of a rate; nothing when it is linearized."""
    cells = tally.scaled_cells(unit)
    return () if cells is None else (cells.columns, cells.multiplicities)


def _generator(metric: Metric, settings: SummarySettings, *counted: NDArray[np.generic]) -> np.random.Generator:
    """A stream for each number, by the metric and what was counted.

    A number then depends neither on which others are computed nor on what a group, a model or a judge is called.
    """
    digest = blake2b(metric.id.encode(), digest_size=8)
    for array in counted:
        # Little-endian on every machine; adding 0 makes -0.0 the 0.0 that it is equal to.
        numbers = np.ascontiguousarray(array, dtype="<f8") + 0.0
        digest.update(repr(numbers.shape).encode() + numbers.tobytes())
    return np.random.default_rng([settings.seed, int.from_bytes(digest.digest())])
