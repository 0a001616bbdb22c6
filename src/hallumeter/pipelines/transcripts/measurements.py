"""Every metric on every page, as lines of `measurements.jsonl`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.metrics.catalog import ANCHORING_METRICS, READING_METRICS
from hallumeter.records import Measurement, Rate, Rates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .corpus import Corpus

_OF_A_PAGE = tuple(
    metric
    for metric in (*READING_METRICS, *ANCHORING_METRICS)
    if metric.is_poolable and not metric.id.endswith("_mean")
)
"""Metrics that are rates of a single page; its mean would be the same number again."""


def page_measurements(corpus: Corpus, *, is_aligned: bool) -> Iterator[Measurement]:
    """One measurement per page, engine and metric; a rate without anything to count says why it has no value."""
    columns = corpus.columns()
    metrics = _OF_A_PAGE if is_aligned else tuple(metric for metric in _OF_A_PAGE if metric in ANCHORING_METRICS)
    found: list[tuple[str, str, Rates]] = [
        (metric.id, metric.undefined_when, metric.compute(columns)) for metric in metrics
    ]
    for place, record_id in enumerate(corpus.record_ids):
        for metric, undefined_when, rates in found:
            rate = Rate(float(rates.counts[place]), float(rates.totals[place]))
            undefined = None if rate.total else undefined_when
            yield Measurement(metric, "record", record_id, {}, None, rate.count, rate.total, rate.value, undefined)
