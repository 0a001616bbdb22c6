"""The rates of a labelled run, as its judge has them and corrected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.errors import SettingsError
from hallumeter.records.claim import Label
from hallumeter.records.columns import LABEL_CODES
from hallumeter.records.decisions import CORRECTION_VERSION, CorrectedRate, Correction, EstimatedRate
from hallumeter.stats.bootstrap import cluster_bootstrap_interval
from hallumeter.stats.correction import (
    Estimate,
    LabelledUnits,
    labels_for_width,
    prediction_powered_rate,
    rogan_gladen_rate,
    sensitivity,
    specificity,
)
from hallumeter.stats.intervals import Interval
from hallumeter.stats.summarize import check_interval_settings

from .run import LabelledRun, claim_strata, merged_strata, record_slices
from .sources import LabelSettings

# What each metric counts, as units with a judge's word and a truth.

ANSWER_WORDS = ("supported", "unsupported")
CODE_WORDS = ("supported", "refuted", "not enough info")
LEAST_WHOLE = 0.9
"""Share of the labelled responses that must be labelled in full, so that they stand for all responses."""


class MetricUnits(NamedTuple):
    """The units of one metric in one slice."""

    metric: str
    unit: str
    units: LabelledUnits
    undefined: str | None = None
    """Why labels cannot correct it, if that is known from how they were given."""
    is_complement: bool = False
    """Whether the metric is the share of the units that do not count."""


def metric_units(run: LabelledRun, records: NDArray[np.bool_]) -> list[MetricUnits]:
    """The units of every metric on some records."""
    chosen = run.is_decided & records[run.owners]
    # Of what is not supported both labels count; whether it is refuted depends on all three.
    unsupported = _Counted(run.is_flagged, run.unsupported, run.is_flagged)
    refuted = _Counted(run.codes == LABEL_CODES[Label.REFUTED], run.refuted, run.codes)
    units, why = _claims(run, chosen, unsupported)
    sizes = np.bincount(run.owners[chosen], minlength=len(run.record_ids))
    shares = 1.0 / np.maximum(sizes, 1)[run.owners[chosen]]
    weighted = LabelledUnits(units.clusters, units.strata, units.is_flagged, units.truth, weights=shares)
    return [
        MetricUnits("mihr", "claim", units, why),
        MetricUnits("mihr_refuted", "claim", *_claims(run, chosen, refuted)),
        MetricUnits("mihr_mean", "claim", weighted, why),
        MetricUnits("factscore", "claim", units, why, is_complement=True),
        _responses(run, chosen),
    ]


class _Counted(NamedTuple):
    """What a metric counts, of all claims."""

    is_flagged: NDArray[np.bool_]
    truth: NDArray[np.float64]
    answers: NDArray[Any]
    """Which claims the judge speaks of alike, as far as the metric cares."""


def _claims(run: LabelledRun, chosen: NDArray[np.bool_], counted: _Counted) -> tuple[LabelledUnits, str | None]:
    """The chosen claims, and why their labels correct nothing."""
    truth, answers = counted.truth[chosen], counted.answers[chosen]
    strata = claim_strata(run.codes, run.probabilities)[chosen]
    units = LabelledUnits(
        clusters=_numbered(run.clusters[run.owners[chosen]]),
        strata=merged_strata(strata, answers, ~np.isnan(truth)),
        is_flagged=counted.is_flagged[chosen],
        truth=truth,
    )
    if run.census.labels and np.isnan(run.unsupported).all():
        return units, "the labels speak of whole answers, not of claims"
    names = CODE_WORDS if counted.answers is run.codes else ANSWER_WORDS
    return units, _why_not(units, answers, unit="claim", names=names)


def _why_not(units: LabelledUnits, answers: NDArray[Any], *, unit: str, names: Sequence[str]) -> str | None:
    """Why labels correct nothing: there are none, or none for one of the judge's answers."""
    if not len(units):
        return f"no {unit} was decided"
    if not units.is_labelled.any():
        return f"no {unit} that counts here is labelled"
    for answer in np.unique(answers).tolist():
        mine = answers == answer
        if not units.is_labelled[mine].any():
            return f"none of the {int(mine.sum()):,} {unit}s that the judge calls {names[int(answer)]} is labelled"
    return None


def _responses(run: LabelledRun, chosen: NDArray[np.bool_]) -> MetricUnits:
    """Responses with a decided claim: flagged when a claim of it is, true by its own label or by all of its claims'."""
    count = len(run.record_ids)
    owners, truth = run.owners[chosen], run.unsupported[chosen]
    decided = np.bincount(owners, minlength=count)
    labelled = np.bincount(owners[~np.isnan(truth)], minlength=count)
    flagged = np.bincount(owners[run.is_flagged[chosen]], minlength=count) > 0
    worst = np.zeros(count)
    np.maximum.at(worst, owners, np.nan_to_num(truth))
    is_whole = (labelled == decided) & (decided > 0)
    known = np.where(np.isnan(run.response_truth), np.where(is_whole, worst, np.nan), run.response_truth)
    rows = decided > 0
    units = LabelledUnits(
        clusters=_numbered(run.clusters[rows]),
        strata=flagged[rows].astype(np.int64),
        is_flagged=flagged[rows],
        truth=known[rows],
    )
    why = _why_not(units, units.is_flagged, unit="answer", names=("supported", "hallucinated"))
    touched, whole = int((labelled[rows] > 0).sum()), int(is_whole[rows].sum())
    has_own = bool((~np.isnan(run.response_truth[rows])).any())
    if not has_own and whole < LEAST_WHOLE * touched:
        why = f"only {whole:,} of {touched:,} labelled answers are labelled in full; label whole answers"
    return MetricUnits("mahr", "response", units, why)


def _numbered(clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same clusters, numbered from 0 without gaps."""
    return np.unique(clusters, return_inverse=True)[1].astype(np.int64)


# How rates are corrected.


class CorrectSettings(Struct, frozen=True, kw_only=True):
    """Settings of a correction."""

    source: LabelSettings = LabelSettings()
    """Which labels, judge and slices."""
    half_width: float = 0.03
    """Plus or minus how much a corrected rate should be known: so many labels are asked for."""
    confidence: float = 0.95
    resamples: int = 2_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.half_width < 0.5:
            raise SettingsError(f"the half width is {self.half_width}; expected a number between 0 and 0.5")
        check_interval_settings(confidence=self.confidence, resamples=self.resamples, seed=self.seed)


FEW_LABELS = 30
"""Below this, sensitivity and specificity rest on a handful of labels."""


def corrected_rates(run: LabelledRun, *, name: str, settings: CorrectSettings) -> Correction:
    """Every rate that labels can correct, of a run that was read beside them."""
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
        EstimatedRate(None, undefined=why) if why else _estimated(estimate(units, confidence=settings.confidence))
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


def _estimated(estimate: Estimate) -> EstimatedRate:
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
