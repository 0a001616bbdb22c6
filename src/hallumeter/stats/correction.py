"""Rates corrected for the errors of whoever counted: a judge says much, people have looked at some of it.

Units are claims nested in clusters (responses). Each has a stratum, which the judge's word decides, and some have a
truth. Every estimate is a smooth function of sums over clusters, so its standard error is a jackknife's over clusters:
claims of one response may err together, and the labelled ones count with all the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from .bootstrap import unseen_clusters_interval
from .intervals import Interval, normal_quantile, student_quantile, upper_probability, wilson_interval

FloatArray = NDArray[np.float64]


NO_LABEL = "no claim that counts here is labelled"
ONE_CLUSTER = "labels of a single response do not tell how responses differ"
NO_BETTER = "on the labelled claims the judge is no better than chance"
ALL_ALIKE = "all labelled claims are alike, so one of the judge's two error rates is not known"
UNLABELLED_STRATUM = "no claim with one of the judge's answers is labelled"


class LabelledUnits(Struct, frozen=True, eq=False):
    """What a judge said of every unit, and what is true of those that were labelled; one row per unit."""

    clusters: NDArray[np.int64]
    """Numbers from 0."""
    strata: NDArray[np.int64]
    """Numbers from 0; the units of one stratum were equally likely to be labelled."""
    is_flagged: NDArray[np.bool_]
    """Whether the judge counts the unit; the same for all units of a stratum."""
    truth: FloatArray
    """Whether it counts in truth: 0 or 1, a share where people disagree, NaN where nobody said."""
    weights: FloatArray | None = None
    """What each unit weighs in the rate; None for one each."""

    def __len__(self) -> int:
        return len(self.clusters)

    @property
    def is_labelled(self) -> NDArray[np.bool_]:
        """Which units have a truth."""
        return ~np.isnan(self.truth)

    @property
    def labelled_clusters(self) -> int:
        """Clusters with a unit that has a truth."""
        return len(np.unique(self.clusters[self.is_labelled]))


class Estimate(Struct, frozen=True):
    """A rate with its uncertainty, or why there is none."""

    value: float | None
    standard_error: float | None = None
    interval: Interval | None = None
    undefined: str | None = None


def prediction_powered_rate(units: LabelledUnits, *, confidence: float = 0.95) -> Estimate:
    """The true rate, from the labels within each stratum and the sizes of the strata.

    This is prediction-powered inference (Angelopoulos et al. 2023) with a prediction for each stratum (Fisch et al.
    2024): the labelled units say what each stratum is worth, all units say how large it is. With two strata, flagged
    and not, it is PPI++ with its best weight. The labels may be drawn at different rates from the strata.

    Undefined without a label in some stratum, and with labels from a single cluster.

    >>> units = LabelledUnits(
    ...     clusters=np.arange(8),
    ...     strata=np.array([0, 0, 0, 0, 0, 0, 1, 1]),
    ...     is_flagged=np.array([False] * 6 + [True] * 2),
    ...     truth=np.array([0, 0, 0, 1, np.nan, np.nan, 1, 1]),
    ... )
    >>> prediction_powered_rate(units).value  # six eighths of a quarter, and two eighths of all
    0.4375
    """
    sums = _stratum_sums(units)
    if why := _why_undefined(units, sums):
        return Estimate(None, undefined=why)
    value, standard_error = jackknife(sums, _stratified)
    variance = standard_error**2 + _unseen_variance(units, sums, _stratified)
    return _estimate(value, math.sqrt(variance), clusters=units.labelled_clusters, confidence=confidence)


def sensitivity(units: LabelledUnits, *, confidence: float = 0.95) -> Estimate:
    """The share of the units that count in truth which the judge flags, each stratum weighing what it holds."""
    return _recognized(units, is_flagged=True, confidence=confidence)


def specificity(units: LabelledUnits, *, confidence: float = 0.95) -> Estimate:
    """The share of the units that do not count in truth which the judge passes."""
    return _recognized(units, is_flagged=False, confidence=confidence)


def rogan_gladen_rate(units: LabelledUnits, *, confidence: float = 0.95) -> Estimate:
    """The true rate from the judge's rate, its sensitivity and its specificity (Rogan and Gladen 1978).

    (rate + specificity - 1) / (sensitivity + specificity - 1), kept between 0 and 1. Both are read off the labelled
    units as they are, so these must be a sample of all units, whatever the judge said of them. The interval is
    Fieller's for a quotient: it grows without end as the judge comes near chance. Undefined when the judge is no better
    than chance on the labelled units, and when these are all alike.
    """
    if why := _why_unlabelled(units):
        return Estimate(None, undefined=why)
    sums = _confusion_sums(units)
    totals = sums.sum(axis=0)
    if not totals[3] or not totals[5]:
        return Estimate(None, undefined=ALL_ALIKE)
    excess, skill = _excess_and_skill(totals[np.newaxis])[0].tolist()
    if skill <= 0:
        return Estimate(None, undefined=NO_BETTER)
    covariance = _jackknife_covariance(sums, _excess_and_skill) + _unseen_error_rates(totals)
    spread = student_quantile(upper_probability(confidence), units.labelled_clusters - 1)
    low, high = _fieller((excess, skill), covariance, spread=spread)
    value = min(1.0, max(0.0, excess / skill))
    slope = np.array([1.0, -excess / skill]) / skill
    standard_error = math.sqrt(float(slope @ covariance @ slope))
    return Estimate(value, standard_error, Interval(min(low, value), max(high, value), "fieller"))


class LabelNeed(Struct, frozen=True):
    """How many labels make an interval as narrow as wanted."""

    more: int | None
    """Labels beyond those there are, drawn as these were; None when no number of labels suffices."""
    narrowest: float
    """Half the width that an interval would have if every unit were labelled."""


def labels_for_width(units: LabelledUnits, half_width: float, *, confidence: float = 0.95) -> LabelNeed | None:
    """How many more labels bring the interval of `prediction_powered_rate` to plus or minus half its width.

    A part of its variance comes from the units themselves, which no label makes smaller; the rest shrinks with the
    number of labels. None where there is no estimate to begin with.
    """
    estimate = prediction_powered_rate(units, confidence=confidence)
    if estimate.standard_error is None:
        return None
    spread = normal_quantile(upper_probability(confidence))
    if estimate.value in (0.0, 1.0):
        return _clusters_for_width(units, half_width, spread=spread)
    sums = _stratum_sums(units)
    _, worth = _sizes_and_worth(sums.sum(axis=0, keepdims=True))

    def if_worth_were_known(rows: FloatArray) -> FloatArray:
        sizes = np.split(rows, 3, axis=1)[0]
        found: FloatArray = (sizes * worth).sum(axis=1) / sizes.sum(axis=1)
        return found

    labelled = int(units.is_labelled.sum())
    fixed = jackknife(sums, if_worth_were_known)[1] ** 2
    shrinking = max(0.0, estimate.standard_error**2 - fixed) * labelled
    narrowest = spread * math.sqrt(fixed + shrinking / len(units))
    if half_width <= narrowest:
        return LabelNeed(None, narrowest)
    needed = math.ceil(shrinking / ((half_width / spread) ** 2 - fixed))
    return LabelNeed(max(0, needed - labelled), narrowest)


def _clusters_for_width(units: LabelledUnits, half_width: float, *, spread: float) -> LabelNeed:
    """Where no labelled cluster differs from the others: how many must be alike before the rest can hide little."""
    clusters = len(np.unique(units.clusters))
    narrowest = spread**2 / (clusters + spread**2) / 2
    if half_width < narrowest:
        return LabelNeed(None, narrowest)
    needed = math.ceil(spread**2 * (1 / (2 * half_width) - 1))
    return LabelNeed(max(0, needed - units.labelled_clusters), narrowest)


def jackknife(sums: FloatArray, statistic: Callable[[FloatArray], FloatArray]) -> tuple[float, float]:
    """A statistic of sums over clusters, and its standard error by leaving out each cluster in turn.

    `sums` has a row per cluster; `statistic` gets rows of totals and returns one number for each. A cluster without
    which there is no statistic is not left out.

    >>> value, error = jackknife(np.array([[1.0, 2.0], [0.0, 2.0], [2.0, 2.0]]), lambda rows: rows[:, 0] / rows[:, 1])
    >>> value, round(error, 6)  # the standard error of the mean of 1/2, 0 and 1
    (0.5, 0.288675)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(statistic(sums.sum(axis=0, keepdims=True))[0])
    covariance = _jackknife_covariance(sums, lambda rows: statistic(rows)[:, np.newaxis])
    return value, math.sqrt(float(covariance[0, 0]))


def effective_interval(value: float, standard_error: float, *, clusters: int, confidence: float = 0.95) -> Interval:
    """Wilson's interval for as many independent units as would have this standard error.

    What Korn and Graubard (1998) do with the exact interval: few clusters make the number smaller, by Student's t.

    >>> found = effective_interval(0.1, math.sqrt(0.1 * 0.9 / 200), clusters=10_001)
    >>> round(found.low, 3), round(found.high, 3)  # 20 of 200
    (0.066, 0.149)
    """
    upper = upper_probability(confidence)
    # A rate of 0 or 1 has no spread of its own: that of the nearest rate which the standard error leaves possible.
    near = min(standard_error, 0.5)
    inner = min(max(value, near), 1 - near)
    quantiles = normal_quantile(upper) / student_quantile(upper, clusters - 1)
    size = inner * (1 - inner) / standard_error**2 * quantiles**2
    found = wilson_interval(value * size, size, confidence=confidence)
    assert found is not None
    return Interval(found.low, found.high, "wilson_effective")


def _estimate(value: float, standard_error: float, *, clusters: int, confidence: float) -> Estimate:
    """An estimate with its interval; one of 0 or 1 says no more than that so many clusters are alike."""
    unseen = unseen_clusters_interval(value, (0.0, 1.0), clusters=clusters, confidence=confidence)
    if not standard_error:
        return Estimate(value, standard_error, unseen)
    interval = effective_interval(value, standard_error, clusters=max(2, clusters), confidence=confidence)
    if unseen is not None and value in (0.0, 1.0) and unseen.high - unseen.low > interval.high - interval.low:
        interval = unseen
    return Estimate(value, standard_error, interval)


def _jackknife_covariance(sums: FloatArray, statistics: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """How several statistics of sums over clusters vary together."""
    totals = sums.sum(axis=0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        values, left = statistics(totals), statistics(totals - sums)
    left = np.where(np.isfinite(left), left, values)
    apart = left - left.mean(axis=0)
    covariance: FloatArray = (len(sums) - 1) / len(sums) * (apart.T @ apart)
    return covariance


def _fieller(pair: tuple[float, float], covariance: FloatArray, *, spread: float) -> tuple[float, float]:
    """The quotients between 0 and 1 that the pair does not contradict (Fieller 1954)."""
    top, bottom = pair
    square = spread**2
    first = bottom**2 - square * covariance[1, 1]
    second = top * bottom - square * covariance[0, 1]
    third = top**2 - square * covariance[0, 0]
    if first <= 0:
        return 0.0, 1.0
    # The quotient itself is never contradicted, so there are two ends; rounding alone could deny it.
    apart = math.sqrt(max(0.0, second**2 - first * third))
    low, high = (second - apart) / first, (second + apart) / first
    return min(1.0, max(0.0, float(low))), min(1.0, max(0.0, float(high)))


def _recognized(units: LabelledUnits, *, is_flagged: bool, confidence: float) -> Estimate:
    sums = _stratum_sums(units)
    if why := _why_undefined(units, sums):
        return Estimate(None, undefined=why)
    recognized = np.zeros(sums.shape[1] // 3, dtype=bool)
    recognized[units.strata] = units.is_flagged == is_flagged

    def share(rows: FloatArray) -> FloatArray:
        sizes, worth = _sizes_and_worth(rows)
        held = sizes * (worth if is_flagged else 1 - worth)
        found: FloatArray = held[:, recognized].sum(axis=1) / held.sum(axis=1)
        return found

    value, standard_error = jackknife(sums, share)
    if math.isnan(value):
        return Estimate(None, undefined=ALL_ALIKE)
    variance = standard_error**2 + _unseen_variance(units, sums, share)
    is_confirmed = np.nan_to_num(units.truth if is_flagged else 1 - units.truth) > 0
    clusters = len(np.unique(units.clusters[is_confirmed]))
    return _estimate(value, math.sqrt(variance), clusters=clusters, confidence=confidence)


def _stratum_sums(units: LabelledUnits) -> FloatArray:
    """For every cluster: the weight of its units, of labelled units, and of true ones among these, by stratum."""
    weights = np.ones(len(units)) if units.weights is None else units.weights
    clusters, strata = int(units.clusters.max(initial=-1)) + 1, int(units.strata.max(initial=-1)) + 1
    cells = units.clusters * strata + units.strata
    columns = (weights, weights * units.is_labelled, weights * np.nan_to_num(units.truth))
    tables = [np.bincount(cells, column, minlength=clusters * strata).reshape(clusters, strata) for column in columns]
    return np.concatenate(tables, axis=1)


def _confusion_sums(units: LabelledUnits) -> FloatArray:
    """For every cluster: flagged units, units; of the labelled: hits, positives, passes, negatives."""
    truth = np.nan_to_num(units.truth)
    false = np.where(units.is_labelled, 1 - truth, 0.0)
    flagged = units.is_flagged
    columns = [flagged, np.ones(len(units)), truth * flagged, truth, false * ~flagged, false]
    weights = 1.0 if units.weights is None else units.weights
    return np.stack([np.bincount(units.clusters, weights=column * weights) for column in columns], axis=1)


def _sizes_and_worth(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How many units each stratum has, and what share of its labelled ones is true; 0 for a stratum without units."""
    sizes, labelled, true = np.split(rows, 3, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return sizes, np.where(sizes > 0, true / labelled, 0.0)


def _stratified(rows: FloatArray) -> FloatArray:
    sizes, worth = _sizes_and_worth(rows)
    found: FloatArray = (sizes * worth).sum(axis=1) / sizes.sum(axis=1)
    return found


def _excess_and_skill(rows: FloatArray) -> FloatArray:
    """What the judge flags beyond its false alarms if nothing were true, and how far it is above chance."""
    flagged, units, hits, positives, passes, negatives = rows.T
    found, passed = hits / positives, passes / negatives
    return np.stack([flagged / units + passed - 1, found + passed - 1], axis=1)


def _unseen_variance(units: LabelledUnits, sums: FloatArray, statistic: Callable[[FloatArray], FloatArray]) -> float:
    """What labels that all agree hide: the units that the judge treats alike may hold half a label more, or less.

    Twenty labels without an error do not show that there is none; without this the interval would say so. Strata share
    the half label by their sizes.
    """
    totals = sums.sum(axis=0)
    weight = np.split(totals, 3)[1]
    strata = len(weight)
    is_labelled = units.is_labelled
    sizes = np.bincount(units.strata, minlength=strata)
    labelled = np.bincount(units.strata[is_labelled], minlength=strata)
    true = np.bincount(units.strata[is_labelled], units.truth[is_labelled], minlength=strata)
    # How much the statistic moves with the rate of each stratum, over one label more.
    steps = np.zeros((strata, len(totals)))
    steps[np.arange(strata), 2 * strata + np.arange(strata)] = weight / np.maximum(labelled, 1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = labelled * (statistic(totals + steps) - statistic(totals - steps))
    is_flagged = np.zeros(strata, dtype=bool)
    is_flagged[units.strata] = units.is_flagged
    alike = np.where(is_flagged, sizes[is_flagged].sum(), sizes[~is_flagged].sum())
    hidden = _hidden(true, labelled, sizes / (2 * np.maximum(alike, 1))) * (1 - labelled / np.maximum(sizes, 1))
    # Where half a label less leaves nothing to divide by, there is no slope.
    return float((np.where(np.isfinite(slopes), slopes, 0.0) ** 2 * hidden).sum())


def _unseen_error_rates(totals: FloatArray) -> FloatArray:
    """The same for sensitivity and specificity, as covariance of excess and skill."""
    counts, of = totals[2::2], totals[3::2]
    found, passed = _hidden(counts, of, np.full(2, 0.5)).tolist()
    return np.array([[passed, passed], [passed, found + passed]])


def _hidden(count: NDArray[Any], total: NDArray[Any], more: FloatArray) -> FloatArray:
    """Variance of a share with so much more of either kind, as far as it is above that of the share."""
    known = np.maximum(total, 1)
    seen, possible = count / known, (count + more) / np.maximum(total + 2 * more, 1)
    found: FloatArray = np.maximum(0.0, possible * (1 - possible) - seen * (1 - seen)) / known
    return found


def _why_unlabelled(units: LabelledUnits) -> str | None:
    labelled = units.clusters[units.is_labelled]
    if not len(labelled):
        return NO_LABEL
    return ONE_CLUSTER if (labelled == labelled[0]).all() else None


def _why_undefined(units: LabelledUnits, sums: FloatArray) -> str | None:
    if why := _why_unlabelled(units):
        return why
    sizes, labelled, _ = np.split(sums.sum(axis=0), 3)
    return UNLABELLED_STRATUM if ((sizes > 0) & (labelled == 0)).any() else None
