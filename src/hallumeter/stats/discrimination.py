"""How well a score tells units that are true of something from those that are not, and whether another does better.

Units are claims nested in clusters (responses). Their truth is 0 or 1, or a share where people disagree: such a unit
counts as true with that weight, and as false with the rest.
"""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from .intervals import Interval, student_quantile, upper_probability
from .significance import student_cumulative

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CHANCE = 0.5
"""The area under the curve of a score that says nothing."""
FOLDS = 5
_LEAST_CLUSTERS = 2
_HALVINGS = 60


class Areas(Struct, frozen=True, eq=False):
    """The areas under the ROC curves of several scores on the same units, and how they vary together."""

    values: FloatArray
    """One for each score: how probable it is that a true unit scores above a false one, equal scores counting half."""
    covariance: FloatArray
    positive_clusters: int
    """Clusters with a unit that is true."""
    negative_clusters: int

    @property
    def degrees(self) -> int:
        """Of freedom: as few as the rarer kind of cluster leaves."""
        return min(self.positive_clusters, self.negative_clusters) - 1


class AreaDifference(Struct, frozen=True):
    """How far the areas of two scores on the same units lie apart."""

    difference: float
    """First less second."""
    standard_error: float
    interval: Interval
    p_value: float
    """Two-sided, that both areas are the same; 1 where the scores order all units alike."""


class Decisions(Struct, frozen=True):
    """Units that were flagged beside those that are true; fractions where the truth is one."""

    units: int
    flagged: int
    positives: float
    hits: float
    """Flagged and true."""

    @property
    def precision(self) -> float | None:
        """The share of the flagged units that are true; None when none is flagged."""
        return self.hits / self.flagged if self.flagged else None

    @property
    def recall(self) -> float | None:
        """The share of the true units that are flagged; None when none is true."""
        return self.hits / self.positives if self.positives else None

    @property
    def f1(self) -> float | None:
        """Twice the hits over flagged and true units; None when there are neither."""
        both = self.flagged + self.positives
        return 2 * self.hits / both if both else None


def area_under_curve(scores: ArrayLike, truth: ArrayLike) -> float | None:
    """How probable it is that a true unit scores above a false one, equal scores counting half.

    The Mann-Whitney statistic over the number of pairs. Undefined unless some unit is true and some is false.

    >>> area_under_curve([0.9, 0.4, 0.4, 0.1], [1, 1, 0, 0])
    0.875
    """
    table, weights = _checked(scores, truth)
    positives, negatives = float(weights.sum()), float((1 - weights).sum())
    if not positives or not negatives:
        return None
    return float((weights * _placements(table[:, 0], 1 - weights)).sum() / positives)


def areas_under_curves(scores: ArrayLike, truth: ArrayLike, clusters: ArrayLike) -> Areas | None:
    """The areas of several scores (columns) on the same units (rows), with their covariance.

    DeLong, DeLong and Clarke-Pearson (1988), with the placement values of units added up within clusters as Obuchowski
    (1997) does: claims of one response may err together. With one unit to a cluster, both are the same. A score that
    separates all units shows no spread of its own; it is given that of an area half a cluster away from 1 (or 0), by
    Hanley and McNeil's formula as Newcombe (2006) writes it. Undefined with fewer than two clusters that hold a true
    unit, or a false one.

    >>> found = areas_under_curves([[3, 1], [2, 1], [1, 1], [2, 2]], [1, 1, 0, 0], [0, 1, 2, 3])
    >>> found.values.tolist()
    [0.875, 0.25]
    """
    table, weights = _checked(scores, truth)
    _, numbers = np.unique(np.asarray(clusters), return_inverse=True)
    if len(numbers) != len(weights):
        raise ValueError(f"expected a cluster for each of {len(weights)} units, found {len(numbers)}")
    size = int(numbers.max(initial=-1)) + 1
    of_clusters = [np.bincount(numbers, weights=part, minlength=size) for part in (weights, 1 - weights)]
    counts = [int((part > 0).sum()) for part in of_clusters]
    if min(counts) < _LEAST_CLUSTERS:
        return None
    values, pulls = _pulls(table, weights, numbers=numbers)
    covariance = sum(
        (factor * (first.T @ second) for factor, first, second in _products(pulls, counts, size=size)),
        start=np.zeros((len(values), len(values))),
    )
    hidden = [_hidden_variance(float(value), *counts) for value in values]
    return Areas(values, covariance + np.diag(hidden), *counts)


def area_interval(areas: Areas, place: int, *, confidence: float = 0.95) -> Interval | None:
    """The interval of one of the areas, symmetric on the logit scale, so that it stays between 0 and 1 (Pepe 2003).

    A score that separates all units has Newcombe's (2006) score interval instead. None for a score that is the same for
    all units: its area is 1/2 by definition.

    >>> found = areas_under_curves([[3], [2], [1], [2]], [1, 1, 0, 0], [0, 1, 2, 3])
    >>> area_interval(found, 0).low > 0
    True
    """
    value, variance = float(areas.values[place]), float(areas.covariance[place, place])
    if not variance:
        return None
    spread = student_quantile(upper_probability(confidence), areas.degrees)
    if value in (0.0, 1.0):
        low = _least_area(areas.positive_clusters, areas.negative_clusters, spread)
        return Interval(low, 1.0, "newcombe") if value else Interval(0.0, 1 - low, "newcombe")
    middle = math.log(value / (1 - value))
    step = spread * math.sqrt(variance) / (value * (1 - value))
    low, high = (1 / (1 + math.exp(-min(max(end, -700.0), 700.0))) for end in (middle - step, middle + step))
    return Interval(low, high, "obuchowski_logit")


def area_difference(areas: Areas, first: int, second: int, *, confidence: float = 0.95) -> AreaDifference:
    """How much larger the first of two areas is than the second, on the same units.

    Student's t, with one degree less than the rarer kind of cluster has.

    >>> found = areas_under_curves([[3, 1], [2, 1], [1, 1], [2, 2]], [1, 1, 0, 0], [0, 1, 2, 3])
    >>> area_difference(found, 0, 1).difference
    0.625
    """
    difference = float(areas.values[first] - areas.values[second])
    contrast = np.zeros(len(areas.values))
    contrast[first] += 1
    contrast[second] -= 1
    variance = float(contrast @ areas.covariance @ contrast)
    # Two scores that order all units alike leave rounding errors, of either sign.
    error = math.sqrt(variance) if variance > 1e-15 else 0.0
    reach = student_quantile(upper_probability(confidence), areas.degrees) * error
    interval = Interval(max(-1.0, difference - reach), min(1.0, difference + reach), "obuchowski")
    p_value = 2 * student_cumulative(-abs(difference) / error, areas.degrees) if error else 1.0
    return AreaDifference(difference, error, interval, min(1.0, p_value))


def decisions(is_flagged: ArrayLike, truth: ArrayLike) -> Decisions:
    """Flagged units beside true ones.

    Flagging everything has the prevalence p as its precision, and an F1 of 2p / (1 + p):

    >>> everything = decisions([True] * 4, [1, 0, 0, 0])
    >>> everything.precision, everything.f1
    (0.25, 0.4)
    """
    flags = np.asarray(is_flagged, dtype=bool)
    _, weights = _checked(flags.astype(np.float64), truth)
    return Decisions(len(flags), int(flags.sum()), float(weights.sum()), float(weights[flags].sum()))


def cross_fitted_flags(
    scores: ArrayLike, truth: ArrayLike, clusters: ArrayLike, *, rng: np.random.Generator, folds: int = FOLDS
) -> NDArray[np.bool_]:
    """Which units a score flags at a threshold that other clusters chose, by their best F1.

    A threshold chosen and tried on the same units looks better than it is. Whole clusters are dealt into folds; units
    at or above the threshold are flagged.

    >>> flags = cross_fitted_flags([1, 2, 8, 9] * 5, [0, 0, 1, 1] * 5, range(20), rng=np.random.default_rng(0))
    >>> flags[:4].tolist()
    [False, False, True, True]
    """
    table, weights = _checked(scores, truth)
    _, numbers = np.unique(np.asarray(clusters), return_inverse=True)
    size = int(numbers.max(initial=-1)) + 1
    fold_of = rng.permutation(size)[numbers] % max(1, min(folds, size))
    flags = np.zeros(len(weights), dtype=bool)
    for fold in np.unique(fold_of):
        own = fold_of == fold
        if not own.all():
            flags[own] = table[own, 0] >= _best_threshold(table[~own, 0], weights[~own])
    return flags


def _checked(scores: ArrayLike, truth: ArrayLike) -> tuple[FloatArray, FloatArray]:
    table, weights = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    table = table[:, np.newaxis] if table.ndim == 1 else table
    if weights.ndim != 1 or table.ndim != 2 or len(table) != len(weights) or not np.isfinite(table).all():
        raise ValueError(f"expected finite scores for each unit, found shapes {table.shape} and {weights.shape}")
    if not ((weights >= 0) & (weights <= 1)).all():
        raise ValueError("the truth of a unit lies between 0 and 1")
    return table, weights


def _placements(scores: FloatArray, others: FloatArray) -> FloatArray:
    """Of each unit, the share of the weight of the others that scores below it, equal scores counting half."""
    _, places = np.unique(scores, return_inverse=True)
    at = np.bincount(places, weights=others)
    below = np.cumsum(at) - at
    found: FloatArray = (below + at / 2)[places] / others.sum()
    return found


def _pulls(table: FloatArray, weights: FloatArray, *, numbers: IntArray) -> tuple[FloatArray, list[FloatArray]]:
    """The areas; and how far the true and the false units of each cluster pull them, as shares of all such units."""
    values = np.zeros(table.shape[1])
    size = int(numbers.max()) + 1
    pulls = [np.zeros((size, len(values))) for _ in range(2)]
    for column in range(len(values)):
        below = _placements(table[:, column], 1 - weights)
        above = 1 - _placements(table[:, column], weights)
        values[column] = (weights * below).sum() / weights.sum()
        for pull, part, placed in zip(pulls, (weights, 1 - weights), (below, above), strict=True):
            pull[:, column] = np.bincount(numbers, weights=part * (placed - values[column])) / part.sum()
    return values, pulls


def _products(
    pulls: list[FloatArray], counts: list[int], *, size: int
) -> tuple[tuple[float, FloatArray, FloatArray], ...]:
    """What adds up to the covariance: each kind of unit for itself, and both within the same cluster."""
    true, false = pulls
    whole = size / (size - 1)
    return (
        (counts[0] / (counts[0] - 1), true, true),
        (counts[1] / (counts[1] - 1), false, false),
        (whole, true, false),
        (whole, false, true),
    )


def _hidden_variance(value: float, positives: int, negatives: int) -> float:
    """The variance of an area half a cluster away from 0 or 1, for one that is 0 or 1; else nothing."""
    if 0 < value < 1:
        return 0.0
    fewer = min(positives, negatives)
    return _area_variance((fewer + 0.5) / (fewer + 1), positives, negatives)


def _area_variance(value: float, positives: int, negatives: int) -> float:
    """Hanley and McNeil's (1982) variance, symmetric in both kinds of unit (Newcombe 2006, method 5)."""
    between = (1 - value) / (2 - value) + value / (1 + value)
    return value * (1 - value) / (positives * negatives) * (1 + ((positives + negatives) / 2 - 1) * between)


def _least_area(positives: int, negatives: int, spread: float) -> float:
    """The smallest area from which one of 1 lies no more than `spread` standard errors away."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if 1 - middle > spread * math.sqrt(_area_variance(middle, positives, negatives)):
            low = middle
        else:
            high = middle
    return high


def _best_threshold(scores: FloatArray, weights: FloatArray) -> float:
    """The score from which on flagging gives the best F1; the highest of several that do."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    is_last = np.append(ordered[1:] != ordered[:-1], True)
    hits, flagged = np.cumsum(weights[order])[is_last], (np.flatnonzero(is_last) + 1)
    return float(ordered[is_last][np.argmax(2 * hits / (flagged + weights.sum()))])
