"""A run and labels in, corrected rates out: what `hallumeter correct` and `hallumeter.correct` run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hallumeter.pipelines.labelled import read_labelled, record_slices
from hallumeter.pipelines.run import Run, load
from hallumeter.records.decisions.correction import (
    CORRECTION_VERSION,
    CorrectedRate,
    Correction,
    EstimatedRate,
)
from hallumeter.stats import (
    cluster_bootstrap_interval,
    labels_for_width,
    prediction_powered_rate,
    rogan_gladen_rate,
    sensitivity,
    specificity,
)

from .settings import CorrectSettings
from .units import metric_units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hallumeter.pipelines.labelled import LabelledRun
    from hallumeter.stats import Estimate, Interval, LabelledUnits

    from .units import MetricUnits

FEW_LABELS = 30
"""Below this, sensitivity and specificity rest on a handful of labels."""


def correct(run: Run | str | Path, *, settings: CorrectSettings | None = None) -> Correction:
    """Correct the rates of a run for the errors of its judge, by the labels that people gave to some of its claims.

    Raises:
        InputError: There are no labels, or they speak of nothing in the run, or contradict each other.
    """
    chosen = settings or CorrectSettings()
    opened = run if isinstance(run, Run) else load(run)
    labelled = read_labelled(opened, chosen.source)
    return corrected_rates(labelled, name=opened.path.name or str(opened.path), settings=chosen)


def corrected_rates(run: LabelledRun, *, name: str, settings: CorrectSettings) -> Correction:
    """The same, of a run that was read beside its labels."""
    rates = tuple(
        _rate(each, by, settings)
        for by, records in record_slices(run, settings.source.by)
        for each in metric_units(run, records)
    )
    return Correction(
        version=CORRECTION_VERSION,
        run=name,
        judge=run.judge,
        cluster=run.unit,
        confidence=settings.confidence,
        half_width=settings.half_width,
        labels=run.census,
        rates=rates,
        notices=tuple(_notices(run)),
    )


def corrected_rate(run: LabelledRun, metric: str, *, settings: CorrectSettings) -> CorrectedRate:
    """One rate of all records."""
    every = np.ones(len(run.record_ids), dtype=bool)
    return next(_rate(each, {}, settings) for each in metric_units(run, every) if each.metric == metric)


def _rate(each: MetricUnits, by: dict[str, str], settings: CorrectSettings) -> CorrectedRate:
    units = each.units
    why = each.undefined
    need = None if why else labels_for_width(units, settings.half_width, confidence=settings.confidence)
    estimates = [
        EstimatedRate(None, undefined=why) if why else _told(estimate(units, confidence=settings.confidence))
        for estimate in (prediction_powered_rate, _rogan_gladen, sensitivity, specificity)
    ]
    corrected, rogan_gladen, found, passed = estimates
    raw = _raw(units, settings)
    if each.is_complement:
        raw, corrected, rogan_gladen = (_complement(rate) for rate in (raw, corrected, rogan_gladen))
    return CorrectedRate(
        metric=each.metric,
        by=by,
        unit=each.unit,
        flagged=int((~units.is_flagged if each.is_complement else units.is_flagged).sum()),
        total=len(units),
        labelled=int(units.is_labelled.sum()),
        labelled_clusters=units.labelled_clusters,
        raw=raw,
        corrected=corrected,
        rogan_gladen=rogan_gladen,
        sensitivity=found,
        specificity=passed,
        more_labels=None if need is None else need.more,
        narrowest=None if need is None else need.narrowest,
    )


def _rogan_gladen(units: LabelledUnits, *, confidence: float) -> Estimate:
    """As labels drawn whatever the judge said allow; drawn by its verdicts, they leave only the weighted estimate.

    Weighted by verdict (Begg and Greenes 1983), sensitivity and specificity give back the post-stratified rate.
    """
    if is_drawn_by_verdict(units):
        return prediction_powered_rate(units, confidence=confidence)
    return rogan_gladen_rate(units, confidence=confidence)


def is_drawn_by_verdict(units: LabelledUnits) -> bool:
    """Whether the shares of flagged and of other units that are labelled differ by more than chance (1 %)."""
    sides = [units.is_labelled[units.is_flagged == side] for side in (False, True)]
    sizes = [len(side) for side in sides]
    if not all(sizes):
        return False
    pooled = float(units.is_labelled.mean())
    variance = pooled * (1 - pooled) * (1 / sizes[0] + 1 / sizes[1])
    apart = float(sides[0].mean() - sides[1].mean())
    return bool(apart**2 > 2.576**2 * variance) if variance else False


def _raw(units: LabelledUnits, settings: CorrectSettings) -> EstimatedRate:
    if not len(units):
        return EstimatedRate(None, undefined="nothing was decided")
    weights = np.ones(len(units)) if units.weights is None else units.weights
    counts = np.bincount(units.clusters, weights * units.is_flagged)
    totals = np.bincount(units.clusters, weights)
    interval = cluster_bootstrap_interval(
        counts,
        totals,
        rng=np.random.default_rng(settings.seed),
        resamples=settings.resamples,
        confidence=settings.confidence,
    )
    return EstimatedRate(float(counts.sum() / totals.sum()), *_pair(interval))


def _told(estimate: Estimate) -> EstimatedRate:
    return EstimatedRate(estimate.value, *_pair(estimate.interval), undefined=estimate.undefined)


def _pair(interval: Interval | None) -> tuple[tuple[float, float] | None, str | None]:
    return (None, None) if interval is None else ((interval.low, interval.high), interval.method)


def _complement(rate: EstimatedRate) -> EstimatedRate:
    if rate.value is None:
        return rate
    interval = None if rate.interval is None else (1 - rate.interval[1], 1 - rate.interval[0])
    return EstimatedRate(1 - rate.value, interval, rate.interval_method)


def _notices(run: LabelledRun) -> Iterator[str]:
    census = run.census
    units = metric_units(run, np.ones(len(run.record_ids), dtype=bool))[0].units
    if is_drawn_by_verdict(units):
        yield (
            "flagged claims were labelled more often than others, or less: labels are weighted by verdict, and the "
            "estimate of Rogan and Gladen is then the prediction-powered one"
        )
    if census.claims and census.claims < FEW_LABELS:
        yield f"few labelled claims ({census.claims:,}): intervals are wide, and rare errors of the judge unseen"
    ignored = int((~np.isnan(run.unsupported) & ~run.is_decided).sum())
    if ignored:
        yield f"{ignored:,} labelled claims were not decided by the judge; they are in no rate"
    if census.detached:
        yield f"{census.detached:,} labels speak of claims that now say something else, or are gone; they do not count"
    if census.disputed:
        yield f"annotators disagree on {census.disputed:,} claims; they count by their shares"
