"""What judges say about the truth and about each other, without a reference (Dawid and Skene 1979)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from .bootstrap import FloatArray, IntArray

RatingArray = NDArray[np.int8]

MISSING = -1
"""Stands in a pattern where a judge gave no rating."""

_TABLE = 2**16
"""Number of possible patterns up to which a table replaces a sort."""


class DawidSkene(Struct, frozen=True, eq=False):
    """The panel model fitted to ratings: each item has one true class, and judges err independently given it."""

    posteriors: FloatArray
    """(patterns, classes): probability of each true class for an item that shows the pattern."""
    prevalence: FloatArray
    """(classes,): share of rated items in each true class."""
    confusion: FloatArray
    """(judges, classes, classes): row = true class, column = rating, adding up to 1; uniform where never rated."""
    rated: FloatArray
    """(judges, classes): expected number of items of each true class that the judge rated."""
    iterations: int
    """Steps taken."""
    converged: bool
    """Whether the last step moved no rated item's posterior by more than the tolerance."""


class JudgeAccuracy(Struct, frozen=True):
    """How often a judge says so when it is so, and does not when it is not."""

    sensitivity: float | None
    """Share of positive items rated positive; None when the judge rated no item that may be positive."""
    specificity: float | None
    """Share of negative items rated negative; None when the judge rated no item that may be negative."""


def dawid_skene(
    patterns: ArrayLike,
    multiplicities: ArrayLike,
    *,
    classes: int,
    iterations: int = 100,
    tolerance: float = 1e-8,
    smoothing: float = 0.01,
) -> DawidSkene:
    """Estimate true classes and each judge's confusion matrix by expectation maximisation.

    `patterns` has one row per distinct combination of ratings and one column per judge, -1 where a judge gave none;
    `multiplicities` says how many items show it (`distinct_patterns` makes both). Starts from the shares of the votes,
    so equal input gives equal output, and the class that most judges name keeps its name. `smoothing` is added to each
    cell of the confusion counts: no judge is taken to be infallible. Items that nobody rated get the prevalence.

    >>> fit = dawid_skene([[0, 0, 0], [1, 1, 1], [1, 1, 0]], [60, 30, 10], classes=2)
    >>> fit.prevalence.round(2).tolist()
    [0.6, 0.4]
    >>> fit.confusion[2].round(2).tolist()  # the third judge misses a quarter of the ones
    [[1.0, 0.0], [0.25, 0.75]]
    """
    ratings, weights = _checked(patterns, multiplicities, classes)
    if iterations < 1 or not smoothing > 0 or not tolerance >= 0:
        raise ValueError(
            "iterations must be 1 or more, smoothing above 0 and tolerance 0 or more; "
            f"found {iterations}, {smoothing} and {tolerance}"
        )
    one_hot = (ratings.T[:, :, np.newaxis] == np.arange(classes)).astype(np.float64)
    votes = one_hot.sum(axis=0)
    weights = np.where(votes.any(axis=1), weights, 0.0)
    if not weights.any():
        raise ValueError("no item was rated by any judge; the panel model needs at least one rating")
    posteriors = _normalized(votes + (1 / classes) * ~votes.any(axis=1, keepdims=True))
    converged = False
    step = 0
    while step < iterations and not converged:
        step += 1
        previous = posteriors
        prevalence, confusion, rated = _maximized(previous, weights, one_hot, smoothing=smoothing)
        posteriors = _expected(prevalence, confusion, one_hot)
        converged = bool(np.abs(posteriors - previous)[weights > 0].max() <= tolerance)
    return DawidSkene(posteriors, prevalence, confusion, rated, step, converged)


def distinct_patterns(ratings: ArrayLike) -> tuple[RatingArray, IntArray, IntArray]:
    """Distinct rows of an (items, judges) table; how many items show each; and the row that each item shows.

    Rows come in ascending order.

    >>> patterns, multiplicities, inverse = distinct_patterns([[0, 1], [0, -1], [0, 1]])
    >>> patterns.tolist(), multiplicities.tolist(), inverse.tolist()
    ([[0, -1], [0, 1]], [1, 2], [1, 0, 1])
    """
    table = _rating_table(ratings)
    items, judges = table.shape
    base = int(table.max(initial=MISSING)) + 2
    if base**judges > 2**62:
        patterns, inverse, multiplicities = np.unique(table, axis=0, return_inverse=True, return_counts=True)
        return patterns, multiplicities.astype(np.int64), inverse.reshape(-1).astype(np.int64)
    keys = np.zeros(items, dtype=np.int64)
    for column in table.T:
        keys = keys * base + (column.astype(np.int64) + 1)
    if base**judges > _TABLE:
        present, inverse, multiplicities = np.unique(keys, return_inverse=True, return_counts=True)
    else:
        table_counts = np.bincount(keys, minlength=base**judges)
        present = np.flatnonzero(table_counts)
        multiplicities = table_counts[present]
        inverse = (np.cumsum(table_counts > 0) - 1)[keys]
    digits = present[:, np.newaxis] // base ** np.arange(judges - 1, -1, -1) % base
    return (digits - 1).astype(np.int8), multiplicities.astype(np.int64), inverse.astype(np.int64)


def sensitivity_specificity(result: DawidSkene, positive: Sequence[int]) -> tuple[JudgeAccuracy, ...]:
    """Accuracy of each judge when some classes count as positive (unsupported: refuted, or not enough information).

    Classes are weighted by their prevalence.

    >>> fit = dawid_skene([[0, 0, 0], [1, 1, 1], [1, 1, 0]], [60, 30, 10], classes=2)
    >>> third = sensitivity_specificity(fit, positive=[1])[2]
    >>> round(third.sensitivity, 2), round(third.specificity, 2)
    (0.75, 1.0)
    """
    classes = len(result.prevalence)
    chosen = set(positive)
    if len(chosen) != len(positive) or not chosen <= set(range(classes)) or not 0 < len(chosen) < classes:
        raise ValueError(
            f"positive must name some but not all of the classes 0 to {classes - 1}, each once; found {list(positive)}"
        )
    is_positive = np.isin(np.arange(classes), sorted(chosen))
    return tuple(
        JudgeAccuracy(
            _share_within(result, judge, is_positive),
            _share_within(result, judge, ~is_positive),
        )
        for judge in range(len(result.confusion))
    )


def _maximized(
    posteriors: FloatArray, weights: FloatArray, one_hot: FloatArray, *, smoothing: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Prevalence, confusion and rated items that make the posteriors most likely."""
    weighted = posteriors * weights[:, np.newaxis]
    counts = weighted.T @ one_hot
    return _normalized(weighted.sum(axis=0)), _normalized(counts + smoothing), counts.sum(axis=2)


def _expected(prevalence: FloatArray, confusion: FloatArray, one_hot: FloatArray) -> FloatArray:
    """Posterior of each class for each pattern; in logarithms, because many judges make small products."""
    with np.errstate(divide="ignore"):  # a class that nobody voted for has prevalence 0 and stays out
        log_prevalence = np.log(prevalence)
    log_joint = log_prevalence + np.tensordot(one_hot, np.log(confusion), axes=([0, 2], [0, 2]))
    return _normalized(np.exp(log_joint - log_joint.max(axis=1, keepdims=True)))


def _normalized(values: FloatArray) -> FloatArray:
    """Shares that add up to 1 along the last axis."""
    shares: FloatArray = values / values.sum(axis=-1, keepdims=True)
    return shares


def _share_within(result: DawidSkene, judge: int, group: NDArray[np.bool_]) -> float | None:
    """Share of the items truly in the group that the judge puts there; None if it rated none of them."""
    prevalence = result.prevalence[group]
    if not result.rated[judge, group].any():
        return None
    kept = result.confusion[judge][np.ix_(group, group)].sum(axis=1)
    return float(prevalence @ kept / prevalence.sum())


def _rating_table(ratings: ArrayLike) -> RatingArray:
    table = np.asarray(ratings)
    if table.ndim != 2 or table.dtype.kind not in "iu":
        raise ValueError(
            "ratings must be whole numbers in one row per item and one column per judge; "
            f"found shape {table.shape}, type {table.dtype}"
        )
    if table.size and not (table.min() >= MISSING and table.max() <= 126):
        raise ValueError(f"ratings must lie in -1 (missing) to 126, found {table.min()} to {table.max()}")
    return table.astype(np.int8, copy=False)


def _checked(patterns: ArrayLike, multiplicities: ArrayLike, classes: int) -> tuple[RatingArray, FloatArray]:
    table = _rating_table(patterns)
    weights = np.asarray(multiplicities, dtype=np.float64)
    if classes < 2 or table.max(initial=MISSING) >= classes:
        raise ValueError(
            f"there must be two classes or more and ratings below their number; "
            f"found {classes} classes and a rating of {table.max(initial=MISSING)}"
        )
    if weights.shape != (len(table),) or not np.all((weights >= 0) & np.isfinite(weights)):
        raise ValueError(
            f"multiplicities must be one number, 0 or more, for each of the {len(table)} patterns; "
            f"found shape {weights.shape}: {weights}"
        )
    return table, weights
