"""Scores of another tool: one number per record, kept as measurements and pooled into rows of the summary."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import structs

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.records.claim import Failure
from hallumeter.records.manifest import Manifest
from hallumeter.records.measurement import Measurement, MetricSummary
from hallumeter.records.metric import Metric
from hallumeter.records.ranking import Direction
from hallumeter.records.rate import Rates
from hallumeter.records.response import Response
from hallumeter.stats.intervals import mean_bounds
from hallumeter.stats.summarize import Slice, SummarySettings, summarize_rates

from .record import UNKNOWN, ForeignRecord, Score, ScoreKind

# How scores of another tool are read: their ranges as a run keeps them, and their rows in place of the catalog's.

RANGES = "ranges"
"""The setting of a run that has the smallest and the largest value of every score that has both."""


def range_lines(kinds: Mapping[str, ScoreKind]) -> list[str]:
    """The ranges that are known, as a manifest keeps them."""
    return [
        f"{metric} {kind.low:g} {kind.high:g}"
        for metric, kind in kinds.items()
        if kind.low is not None and kind.high is not None
    ]


def ranges_of(manifest: Manifest) -> dict[str, tuple[float, float]]:
    """The ranges that a run kept; a line that is none is passed over."""
    kept = manifest.settings.get(RANGES)
    found = {}
    for line in kept if isinstance(kept, list) else ():
        metric, *ends = line.rsplit(" ", 2)
        try:
            low, high = map(float, ends)
        except ValueError:
            continue
        if math.isfinite(low) and math.isfinite(high) and low < high:
            found[metric] = (low, high)
    return found


def metric_named(name: str, *, direction: Direction, low: float | None = None, high: float | None = None) -> Metric:
    """The row of the catalog, or one like it for a score that is not in it."""
    return METRICS_BY_ID.get(name) or Metric(
        id=name,
        alias=name,
        name=name,
        reads="labels",
        compute=lambda rates: rates,
        direction=direction,
        range=(-math.inf if low is None else low, high),
        undefined_when="no record has a score that was measured",
        is_poolable=True,
        interval="cluster_bootstrap",
    )


NO_VALUE = "(none)"
"""The group of records that lack the field they are grouped by."""


class _Given(NamedTuple):
    record_id: str
    by: tuple[str, ...]
    score: Score


class ScoreTable:
    """Takes in the scores of all records."""

    def __init__(self, by: Sequence[str]) -> None:
        self._by = tuple(by)
        self._given: dict[str, list[_Given]] = {}
        self._broken: list[tuple[Response, Failure]] = []

    def add(self, record: ForeignRecord, kinds: Mapping[str, ScoreKind]) -> list[Failure]:
        """Take the scores of a record; what the tool hid comes back as failures."""
        if record.error is not None:
            self._broken.append((record.response, record.error))
        failures = []
        for score in record.scores:
            checked = _checked(score, kinds.get(score.metric, UNKNOWN))
            if checked.value is None:
                failures.append(_failure(record.response.record_id, checked))
            self._append(record.response, checked)
        return failures

    def finish(self) -> list[Failure]:
        """Count every score as unmeasured on the records that broke, and say so; without any score say it once."""
        from_broken = []
        for response, error in self._broken:
            for metric in self._given:
                score = Score(metric, None, error.code, error.message)
                self._append(response, score)
                from_broken.append(_failure(response.record_id, score))
            if not self._given:
                from_broken.append(error)
        return from_broken

    def _append(self, response: Response, score: Score) -> None:
        known = response.fields | {"model": response.model}
        by = tuple(_shown(known.get(field)) for field in self._by)
        self._given.setdefault(score.metric, []).append(_Given(response.record_id, by, score))

    def measurements(self) -> Iterator[Measurement]:
        """Every score as the measurement of its record."""
        for metric, given in self._given.items():
            for item in given:
                value = item.score.value
                yield Measurement(
                    metric=metric,
                    scope="record",
                    record_id=item.record_id,
                    by=dict(zip(self._by, item.by, strict=True)),
                    judge=None,
                    count=0.0 if value is None else value,
                    total=0.0 if value is None else 1.0,
                    value=value,
                    undefined=item.score.reason if value is None else None,
                )

    def rows(self, kinds: Mapping[str, ScoreKind], settings: SummarySettings) -> Iterator[MetricSummary]:
        """The mean of every score, for the run and for each group."""
        for metric, given in self._given.items():
            kind = kinds.get(metric, UNKNOWN)
            yield _row(metric, kind, [item.score for item in given], by={}, settings=settings)
        for group in sorted({item.by for given in self._given.values() for item in given} if self._by else ()):
            named = dict(zip(self._by, group, strict=True))
            for metric, given in self._given.items():
                scores = [item.score for item in given if item.by == group]
                if scores:
                    yield _row(metric, kinds.get(metric, UNKNOWN), scores, by=named, settings=settings)


def _shown(value: object) -> str:
    if value is None or value == "":
        return NO_VALUE
    return str(value).lower() if isinstance(value, bool) else str(value)


def _checked(score: Score, kind: ScoreKind) -> Score:
    """A score that no such metric can have is none."""
    value = score.value
    if value is None:
        return score
    is_possible = (kind.low is None or value >= kind.low) and (kind.high is None or value <= kind.high)
    if is_possible and math.isfinite(value):
        return score
    ends = f" from {kind.low:g} to {kind.high:g}" if kind.low is not None and kind.high is not None else ""
    reason = f"{score.metric} is {value:g}; expected a number{ends}"
    return structs.replace(score, value=None, code="impossible_score", reason=reason)


def _failure(record_id: str, score: Score) -> Failure:
    message = f"{record_id}: {score.metric}: {score.reason or 'no value'}"
    return Failure(record_id, None, "measure", score.metric, score.code or "unmeasured", message)


def _row(
    metric: str, kind: ScoreKind, scores: Sequence[Score], *, by: dict[str, str], settings: SummarySettings
) -> MetricSummary:
    values = np.array([score.value for score in scores if score.value is not None], dtype=np.float64)
    failed = len(scores) - len(values)
    is_share = kind.low == 0 or (kind.high is None and bool(((values >= 0) & (values <= 1)).all()))
    row = summarize_rates(
        metric_named(metric, direction=kind.direction, low=kind.low, high=(kind.high or 1.0) if is_share else None),
        Rates(values, np.ones(len(values))),
        Slice(by, None, failed=failed),
        settings=settings,
        bounds=_bounds(values, kind, failed),
    )
    note = "its documentation does not say which way is better, nor its range: no best and worst case"
    is_unbounded = bool(failed) and (kind.low is None or kind.high is None)
    return structs.replace(row, note=note if kind == UNKNOWN else None, bounds=None if is_unbounded else row.bounds)


def _bounds(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], kind: ScoreKind, failed: int
) -> tuple[float, float] | None:
    """What the mean could be, whatever the unmeasured would have been; None where the ends are not known."""
    if not failed or kind.low is None or kind.high is None:
        return None
    return mean_bounds(float(values.sum()), len(values), failed, low=kind.low, high=kind.high)
