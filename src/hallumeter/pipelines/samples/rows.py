"""From readings of samples to rows of a summary and to measurements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import structs

from hallumeter.metrics.catalog import SAMPLE_METRICS
from hallumeter.metrics.meanings import MeaningColumns
from hallumeter.metrics.token_logprobs import TokenColumns
from hallumeter.records import Measurement
from hallumeter.summary import Slice, summarize_rates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from hallumeter.metrics.catalog import Metric
    from hallumeter.records import MetricSummary, Rates
    from hallumeter.summary import SummarySettings

    from .reading import SampleReading


class SampleGroups(NamedTuple):
    """How readings are put together: for each, the group and the unit of resampling it belongs to."""

    by: Sequence[dict[str, str]] = ()
    """Empty when nothing is grouped."""
    clusters: NDArray[np.intp] | None = None
    """Codes of the units of resampling; None when every record is one."""


def sample_rows(
    readings: Sequence[SampleReading],
    groups: SampleGroups = SampleGroups(),  # noqa: B008
    *,
    equivalence: str | None,
    settings: SummarySettings,
) -> Iterator[MetricSummary]:
    """The metrics of samples and of tokens for the whole run, then for each group in order of appearance.

    `equivalence` is the name of who compared samples; None leaves their metrics out. Those of tokens are left out when
    no record has any.
    """
    metrics = _metrics(readings, equivalence)
    members: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for number, by in enumerate(groups.by):
        members.setdefault(tuple(by.items()), []).append(number)
    for by, chosen in [({}, list(range(len(readings)))), *((dict(key), rows) for key, rows in members.items())]:
        mine = [readings[number] for number in chosen]
        units = None if groups.clusters is None else np.unique(groups.clusters[chosen], return_inverse=True)[1]
        for metric in metrics:
            rates = _rates(metric, mine)
            yield _summarized(
                metric,
                rates if units is None else rates.pooled_by(units),
                mine,
                settings=settings,
                part=Slice(by, _who(metric, equivalence), failed=sum(_is_missing(metric, reading) for reading in mine)),
            )


def sample_measurements(
    readings: Sequence[SampleReading], by: Sequence[dict[str, str]] = (), *, equivalence: str | None
) -> Iterator[Measurement]:
    """The same metrics of every record that has samples, or tokens."""
    metrics = _metrics(readings, equivalence)
    columns = [(metric, _rates(metric, readings)) for metric in metrics]
    for number, reading in enumerate(readings):
        for metric, rates in columns:
            rate, is_missing = rates[number : number + 1].pooled, _is_missing(metric, reading)
            if not rate.total and not is_missing:
                continue
            yield Measurement(
                metric=metric.id,
                scope="record",
                record_id=reading.record_id,
                by=by[number] if by else {},
                judge=None,
                count=rate.count,
                total=rate.total,
                value=rate.value,
                undefined="it could not be read: see the failures" if is_missing else None,
            )


def _metrics(readings: Sequence[SampleReading], equivalence: str | None) -> list[Metric]:
    has_tokens = any(reading.tokens or reading.are_tokens_refused for reading in readings)
    wanted = {"meanings": equivalence is not None, "token_logprobs": has_tokens}
    return [metric for metric in SAMPLE_METRICS if wanted[metric.reads]]


def _rates(metric: Metric, readings: Sequence[SampleReading]) -> Rates:
    rates: Rates
    if metric.reads == "meanings":
        rates = metric.compute(MeaningColumns.of(reading.meanings for reading in readings))
    else:
        columns = TokenColumns(
            np.array([reading.tokens for reading in readings], dtype=np.int64),
            np.array([reading.surprisal for reading in readings], dtype=np.float64),
            np.array([reading.least_probability or 0.0 for reading in readings], dtype=np.float64),
        )
        rates = metric.compute(columns)
    return rates


def _who(metric: Metric, equivalence: str | None) -> str | None:
    return equivalence if metric.reads == "meanings" else None


def _is_missing(metric: Metric, reading: SampleReading) -> bool:
    return reading.are_meanings_missing if metric.reads == "meanings" else reading.are_tokens_refused


def _summarized(
    metric: Metric, rates: Rates, readings: Sequence[SampleReading], *, settings: SummarySettings, part: Slice
) -> MetricSummary:
    answers = max((reading.samples + 1 for reading in readings), default=1)
    largest = {"semantic_entropy": math.log(max(answers, 2)), "meanings_per_response": float(answers)}.get(metric.id)
    row = summarize_rates(metric, rates, part, settings=settings, largest=largest)
    row = structs.replace(row, judge=None)  # who compared samples judged no claim; the signature names it
    if not part.failed:
        return row
    return structs.replace(row, bounds=_bounds(metric, rates, readings))


def _bounds(metric: Metric, rates: Rates, readings: Sequence[SampleReading]) -> tuple[float, float] | None:
    """The values possible if all that could not be read had turned out lowest, and highest; None where none is."""
    missing = [reading.samples for reading in readings if _is_missing(metric, reading)]
    table: dict[str, list[tuple[float, float, float]]] = {
        "semantic_entropy": [(0.0, math.log(samples + 1), 1) for samples in missing],
        "sample_consistency": [(0.0, samples, samples) for samples in missing],
        "meanings_per_response": [(1.0, samples + 1, 1) for samples in missing],
        "least_token_probability": [(0.0, 1.0, 1) for _ in missing],
    }
    if metric.id not in table:
        return None
    pooled = rates.pooled
    lows, highs, totals = (sum(column) for column in zip(*table[metric.id], strict=True))
    total = pooled.total + totals
    return (pooled.count + lows) / total, (pooled.count + highs) / total
