"""Whether probabilities hold what they promise."""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


# Probabilities made to hold what they promise: a rising map from what a judge says to what came true.

ENOUGH_FOR_ISOTONIC = 1_000
"""With fewer labels a curve of two parameters is closer to the truth than one of any rising shape."""
FOLDS = 5
NEAREST_ODDS = 1e-6
"""How near to 0 and 1 a probability may come before its log-odds are taken: beyond it they tell of rounding."""
_MOST_ROUNDS = 50
_SMALLEST_STEP = 1e-10
"""Of Newton's method, in log-odds."""


class Recalibration(Struct, frozen=True):
    """A map from probabilities to probabilities."""

    method: Literal["isotonic", "logistic"]
    knots: tuple[float, ...] = ()
    """Isotonic: probabilities at which the map is known; straight lines between them, flat outside."""
    values: tuple[float, ...] = ()
    """What they become."""
    slope: float | None = None
    """Logistic: of the log-odds."""
    intercept: float | None = None

    def of(self, probabilities: FloatArray) -> FloatArray:
        """What probabilities become."""
        if self.slope is None or self.intercept is None:
            return np.interp(probabilities, self.knots, self.values)
        return _logistic(self.slope * _log_odds(probabilities) + self.intercept)


def recalibrate(probabilities: FloatArray, truth: FloatArray, weights: FloatArray) -> Recalibration:
    """Fit the map that these labels can carry: isotonic from a thousand on, else logistic."""
    if len(truth) >= ENOUGH_FOR_ISOTONIC:
        return isotonic_map(probabilities, truth, weights)
    return logistic_map(probabilities, truth, weights)


def isotonic_map(probabilities: FloatArray, truth: FloatArray, weights: FloatArray) -> Recalibration:
    """The rising map with the least squared error, by pooling adjacent violators (Ayer et al. 1955).

    >>> found = isotonic_map(np.array([0.1, 0.2, 0.3]), np.array([1.0, 0.0, 1.0]), np.ones(3))
    >>> found.knots, found.values
    ((0.1, 0.2, 0.3), (0.5, 0.5, 1.0))
    """
    knots, places = np.unique(probabilities, return_inverse=True)
    sizes = np.bincount(places, weights=weights)
    means = np.bincount(places, weights=weights * truth) / sizes
    blocks: list[tuple[float, float, int]] = []
    for mean, size in zip(means.tolist(), sizes.tolist(), strict=True):
        block = (mean, size, 1)
        while blocks and blocks[-1][0] >= block[0]:
            before = blocks.pop()
            total = before[1] + block[1]
            block = ((before[0] * before[1] + block[0] * block[1]) / total, total, before[2] + block[2])
        blocks.append(block)
    values = np.repeat([mean for mean, _, _ in blocks], [length for _, _, length in blocks])
    # Within a block the map is flat: its ends say all.
    last = np.cumsum([length for _, _, length in blocks]) - 1
    ends = np.unique(np.concatenate([last, [0], last[:-1] + 1]))
    return Recalibration("isotonic", knots=tuple(knots[ends].tolist()), values=tuple(values[ends].tolist()))


def logistic_map(probabilities: FloatArray, truth: FloatArray, weights: FloatArray) -> Recalibration:
    """A straight line through the log-odds (Platt 1999), with his targets, not quite 0 and 1.

    With them the line stays finite where a probability parts what is true from what is not. It is level where all
    probabilities are the same.
    """
    true, false = float(weights @ truth), float(weights @ (1 - truth))
    scale = len(weights) / float(weights.sum())
    targets = truth * (true * scale + 1) / (true * scale + 2) + (1 - truth) / (false * scale + 2)
    odds = _log_odds(probabilities)
    centre = float(odds.mean())
    design = np.stack([odds - centre, np.ones(len(odds))], axis=1)
    line: FloatArray = np.zeros(2)
    step: FloatArray = np.ones(2)
    rounds = 0
    error = _log_loss(design @ line, targets, weights)
    while np.abs(step).max() > _SMALLEST_STEP and rounds < _MOST_ROUNDS:
        guess = _logistic(design @ line)
        slope = design.T @ (weights * (targets - guess))
        bend = (design * (weights * guess * (1 - guess))[:, np.newaxis]).T @ design
        step = np.linalg.lstsq(bend, slope, rcond=None)[0].astype(np.float64)
        while (following := _log_loss(design @ (line + step), targets, weights)) > error and step.any():
            step = np.where(np.abs(step) > _SMALLEST_STEP, step / 2, 0.0)
        line, error, rounds = line + step, following, rounds + 1
    found = float(line[0])
    return Recalibration("logistic", slope=found, intercept=float(line[1]) - found * centre)


def cross_fitted(
    probabilities: FloatArray,
    truth: FloatArray,
    weights: FloatArray,
    *,
    clusters: NDArray[np.int64],
    rng: np.random.Generator,
) -> FloatArray | None:
    """What each probability becomes by a map that was fitted without its cluster; None with a single cluster.

    Clusters are dealt to five folds at random; each fold gets the map of the four others.
    """
    names, places = np.unique(clusters, return_inverse=True)
    folds = min(FOLDS, len(names))
    if folds < 2:
        return None
    dealt = (rng.permutation(len(names)) % folds)[places]
    found = np.empty(len(probabilities))
    for fold in range(folds):
        mine = dealt == fold
        fitted = recalibrate(probabilities[~mine], truth[~mine], weights[~mine])
        found[mine] = fitted.of(probabilities[mine])
    return found


def _log_odds(probabilities: FloatArray) -> FloatArray:
    inner = np.clip(probabilities, NEAREST_ODDS, 1 - NEAREST_ODDS)
    odds: FloatArray = np.log(inner) - np.log1p(-inner)
    return odds


def _logistic(log_odds: FloatArray) -> FloatArray:
    found: FloatArray = 0.5 * (1 + np.tanh(log_odds / 2))
    return found


def _log_loss(log_odds: FloatArray, targets: FloatArray, weights: FloatArray) -> float:
    return float(weights @ (np.logaddexp(0.0, log_odds) - targets * log_odds))


def expected_calibration_error(counts: ArrayLike, totals: ArrayLike, probability_sums: ArrayLike) -> float | None:
    """How far probabilities lie from what came true, on average (Naeini, Cooper and Hauskrecht 2015).

    The items are put into bins by their probability; `counts` are those of each bin that came true, `totals` all of
    them, `probability_sums` their probabilities added up. The distance between the share that came true and the mean
    probability is weighted with the size of the bin: sum |counts - probability_sums| / sum totals. Undefined when all
    bins are empty.

    >>> expected_calibration_error([0, 8], [10, 10], [1.0, 9.0])
    0.1
    >>> expected_calibration_error([0], [0], [0]) is None
    True
    """
    true, items, promised = (np.asarray(values, dtype=np.float64) for values in (counts, totals, probability_sums))
    if not true.shape == items.shape == promised.shape or not np.all((true >= 0) & (true <= items)):
        raise ValueError("counts, totals and probability sums need one number per bin, with 0 <= count <= total")
    if not items.sum():
        return None
    return float(np.abs(true - promised).sum() / items.sum())
