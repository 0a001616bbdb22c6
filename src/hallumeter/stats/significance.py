"""Whether a difference could be chance: paired intervals, tests, and corrections for many tests."""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from .bootstrap import (
    BLOCK,
    DRAW_COST,
    FloatArray,
    cluster_columns,
    contrast,
    contrast_interval,
    distinct_cells,
    linearized_standard_error,
)
from .intervals import Interval, check_probability, log_beta, regularized_incomplete_beta, student_quantile

# What a paired comparison can show: how large an effect is, how large one must be to show, and what is ruled out.


def student_cumulative(t: float, degrees: float) -> float:
    """Probability that Student's t with these degrees of freedom stays at or below t.

    >>> round(student_cumulative(2.228139, 10), 6)
    0.975
    """
    if not 0 < degrees < math.inf:
        raise ValueError(f"degrees of freedom must be a finite number above 0, found {degrees}")
    tail = regularized_incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2
    return tail if t < 0 else 1 - tail


def not_above_p_value(difference: float, *, margin: float, standard_error: float, clusters: int) -> float | None:
    """One-sided test against a true difference of the margin or more; a small value rules that out.

    Student's t with one degree less than there are clusters. Where all clusters differ alike (mostly: not at all) there
    is no standard error; for a difference of shares to reach the margin, a share (margin - difference) /
    (1 - difference) of the clusters must then be unlike all those seen, and the p-value is the chance to meet none of
    them. Undefined with fewer than two clusters.

    >>> not_above_p_value(0.0, margin=0.05, standard_error=0.0, clusters=100) < 0.01
    True
    """
    if not 0 < margin < math.inf or standard_error < 0:
        raise ValueError(f"expected a margin above 0 and a standard error from 0, found {margin} and {standard_error}")
    if clusters < 2:
        return None
    if standard_error == 0:
        return 1.0 if difference >= margin else max(0.0, (1 - margin) / (1 - difference)) ** clusters
    return student_cumulative((difference - margin) / standard_error, clusters - 1)


def equivalence_p_value(difference: float, *, margin: float, standard_error: float, clusters: int) -> float | None:
    """Two one-sided tests against a true difference of the margin or more, either way (Schuirmann 1987).

    The larger of the two p-values; a small one shows that the arms are equal within the margin.

    >>> round(equivalence_p_value(0.01, margin=0.05, standard_error=0.02, clusters=41), 4)
    0.0262
    """
    sides = [
        not_above_p_value(side, margin=margin, standard_error=standard_error, clusters=clusters)
        for side in (difference, -difference)
    ]
    found = [p_value for p_value in sides if p_value is not None]
    return max(found) if found else None


def minimum_detectable_difference(
    standard_error: float, clusters: int, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """The true difference that a two-sided test at this level would show with this probability.

    The sum of the two quantiles of Student's t, times the standard error. Undefined with fewer than two clusters, and
    where none differs: nothing then tells how much differences would vary.

    >>> round(minimum_detectable_difference(0.01, 2000), 4)  # 1.961 + 0.842 standard errors
    0.028
    """
    check_probability(alpha, "alpha")
    check_probability(power, "power")
    if clusters < 2 or standard_error == 0:
        return None
    degrees = clusters - 1
    return (student_quantile(1 - alpha / 2, degrees) + student_quantile(power, degrees)) * standard_error


def cohen_h(first: float, second: float) -> float:
    """Effect size of two shares: the difference of their angles 2 asin(sqrt(share)), first less second (Cohen 1988).

    0.2 is small, 0.5 medium, 0.8 large: a point more matters more near 0 and 1 than in the middle.

    >>> round(cohen_h(0.5, 0.3), 4)
    0.4115
    """
    for share in (first, second):
        if not 0 <= share <= 1:
            raise ValueError(f"a share lies between 0 and 1, found {share}")
    return 2 * math.asin(math.sqrt(first)) - 2 * math.asin(math.sqrt(second))


SURE_ENOUGH = 500
"""Differing clusters from which on a sum of signs is taken for normal: at four standard errors the tail is then
overstated by a thirtieth, never understated."""


class PairedDifference(Struct, frozen=True):
    """How far the rates of two arms over the same clusters lie apart."""

    difference: float
    """Rate of the first arm less rate of the second."""
    interval: Interval | None
    """None with fewer than two clusters, and for ratios beyond proportions that differ alike in every cluster."""
    clusters: int
    """Clusters with a total in at least one of the arms."""
    standard_error: float
    """By the delta method; 0 when no cluster pulls the difference."""
    differing: int
    """Clusters whose two arms are not the same."""


class SignFlip(Struct, frozen=True):
    """Whether two arms could be exchanged cluster by cluster."""

    p_value: float
    method: str
    """`exact`, `random` with so many random signs, or `normal` where hundreds of clusters differ."""


def paired_bootstrap_difference(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    *,
    rng: np.random.Generator,
    resamples: int = 2_000,
    confidence: float = 0.95,
) -> PairedDifference | None:
    """Difference of two pooled rates measured on the same clusters (two models, the same questions).

    Each arm is (counts, totals), aligned by cluster. A cluster is drawn with both its arms, so that what makes a
    question hard for both cancels out. Undefined when an arm has no total. The interval is made as in
    `cluster_bootstrap_interval`, and stays within -1..1 when the rates are proportions.

    >>> baseline, candidate = ([2, 1, 3, 0], [4, 4, 4, 4]), ([1, 1, 1, 0], [4, 4, 4, 4])
    >>> result = paired_bootstrap_difference(baseline, candidate, rng=np.random.default_rng(0))
    >>> result.difference, result.interval.low < 0 < result.interval.high
    (0.1875, True)
    """
    arms = cluster_columns(*first), cluster_columns(*second)
    if len(arms[0]) != len(arms[1]):
        raise ValueError(
            f"both arms must list the same clusters in the same order, found {len(arms[0])} and {len(arms[1])}"
        )
    columns = np.concatenate(arms, axis=1)
    columns = columns[(columns[:, 1::2] > 0).any(axis=1)]
    if not (columns[:, 1::2].sum(axis=0) > 0).all():
        return None
    cells = distinct_cells(columns)
    interval = contrast_interval(cells, rng=rng, resamples=resamples, confidence=confidence)
    is_same = (cells.columns[:, :2] == cells.columns[:, 2:]).all(axis=1)
    return PairedDifference(
        difference=float(contrast(cells.sums)),
        interval=interval,
        clusters=cells.clusters,
        standard_error=linearized_standard_error(cells),
        differing=int(cells.multiplicities[~is_same].sum()),
    )


def paired_sign_flip(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    *,
    rng: np.random.Generator,
    resamples: int = 10_000,
) -> SignFlip | None:
    """Two-sided test that the arms of every cluster could be exchanged, on the difference of the pooled rates.

    With p the rate of both arms together, a cluster pulls the difference by (count - p total) of its first arm less
    that of its second. Exchanging its arms turns the sign of the pull and leaves p as it is, so that all exchanges are
    signs, and whole clusters keep together (Gail, Mark, Carroll, Green and Pee 1996). Beyond `SURE_ENOUGH` clusters
    that differ, by the count that unequal pulls amount to, the sum is normal, and its p-value has no smallest step.
    Undefined when an arm has no total, or no cluster differs.

    >>> result = paired_sign_flip(([1] * 5, [1] * 5), ([0] * 5, [1] * 5), rng=np.random.default_rng(0))
    >>> result.p_value, result.method  # 2 of 32 signs
    (0.0625, 'exact')
    """
    arms = cluster_columns(*first), cluster_columns(*second)
    totals = [arm[:, 1].sum() for arm in arms]
    if min(totals) == 0:
        return None
    rate = sum(arm[:, 0].sum() for arm in arms) / sum(totals)
    one, other = (arm[:, 0] - rate * arm[:, 1] for arm in arms)
    pulls = (one - other)[(arms[0] != arms[1]).any(axis=1)]
    squares = float((pulls**2).sum())
    if squares == 0:
        return None
    if squares**2 > SURE_ENOUGH * float((pulls**4).sum()):
        return SignFlip(math.erfc(abs(float(pulls.sum())) / math.sqrt(2 * squares)), "normal")
    p_value = permutation_p_value(pulls, rng=rng, resamples=resamples)
    assert p_value is not None
    return SignFlip(p_value, "exact" if 2 ** min(int(np.count_nonzero(pulls)), 64) <= resamples else "random")


def permutation_p_value(differences: ArrayLike, *, rng: np.random.Generator, resamples: int = 10_000) -> float | None:
    """Two-sided sign-flip test that paired differences are symmetric about 0, on their sum.

    If the two arms were exchangeable, each difference could as well have had the other sign. Exact when all 2**n signs
    (n differences that are not 0) number at most `resamples`; otherwise (1 + as extreme) / (1 + resamples), which
    never claims 0 (Phipson and Smyth 2010). 1 when all differences are 0; undefined without differences.

    >>> permutation_p_value([1, 1, 1, 1, 1], rng=np.random.default_rng(0))  # 2 of 32 signs
    0.0625
    """
    given = np.asarray(differences, dtype=np.float64)
    if given.ndim != 1 or not np.isfinite(given).all():
        raise ValueError(f"differences must be finite, one per pair; found shape {given.shape}: {given}")
    if resamples < 1:
        raise ValueError(f"at least one resample is needed, found {resamples}")
    if not len(given):
        return None
    changed = given[given != 0]
    sizes = np.sort(np.abs(changed))
    # Sums of the same terms in another order differ in the last digits; as extreme must include equal.
    threshold = abs(changed.sum()) - 1e-12 * sizes.sum()
    if 2 ** min(len(sizes), 64) <= resamples:
        return float(np.mean(np.abs(_all_signed_sums(sizes)) >= threshold))
    sums = _random_signed_sums(sizes, rng=rng, resamples=resamples)
    return float((1 + np.count_nonzero(np.abs(sums) >= threshold)) / (1 + resamples))


def mcnemar_mid_p(only_a: int, only_b: int) -> float | None:
    """Two-sided mid-p McNemar test on the pairs where exactly one arm fails (Fagerland, Lydersen and Laake 2013).

    With n discordant pairs, X binomial(n, 1/2) and k the smaller count: 2 P(X <= k) - P(X = k). The mid-p counts the
    observed table by half, which keeps close to the nominal level where the exact test is too cautious. Undefined
    without discordant pairs.

    >>> round(mcnemar_mid_p(1, 5), 12)  # 2 * 7/64 - 6/64
    0.125
    """
    if not (only_a >= 0 and only_b >= 0 and only_a == int(only_a) and only_b == int(only_b)):
        raise ValueError(f"discordant pairs must be whole numbers, 0 or more; found {only_a} and {only_b}")
    pairs, smaller = only_a + only_b, min(only_a, only_b)
    if pairs == 0:
        return None
    if only_a == only_b:
        return 1.0
    at_most = regularized_incomplete_beta(0.5, pairs - smaller, smaller + 1)
    log_ways = -log_beta(smaller + 1, pairs - smaller + 1) - math.log(pairs + 1)
    exactly = math.exp(log_ways - pairs * math.log(2))
    return 2 * at_most - exactly


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjusted p-values that keep the chance of any false alarm below the level (Holm 1979), in order.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    given = _checked(p_values)
    order = np.argsort(given, kind="stable")
    remaining = np.arange(len(given), 0, -1)
    return _restored(np.maximum.accumulate(given[order] * remaining), order)


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Adjusted p-values that bound the expected share of false alarms (Benjamini and Hochberg 1995), in order.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    given = _checked(p_values)
    order = np.argsort(-given, kind="stable")
    rank = np.arange(len(given), 0, -1)
    return _restored(np.minimum.accumulate(given[order] * (len(given) / rank)), order)


def _all_signed_sums(sizes: FloatArray) -> FloatArray:
    """The sum under each of the 2**n choices of signs."""
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _random_signed_sums(sizes: FloatArray, *, rng: np.random.Generator, resamples: int) -> FloatArray:
    """The sum under random signs; equal sizes are drawn together when there are many."""
    distinct, multiplicities = np.unique(sizes, return_counts=True)
    together = DRAW_COST * len(distinct) < len(sizes)
    terms = distinct if together else sizes
    rows = max(1, BLOCK // len(terms))
    blocks = []
    for start in range(0, resamples, rows):
        shape = (min(rows, resamples - start), len(terms))
        if together:
            positive = rng.binomial(multiplicities, 0.5, size=shape)
        else:
            positive = rng.integers(2, size=shape, dtype=np.int8)
        blocks.append(2 * (positive @ terms) - sizes.sum())
    return np.concatenate(blocks)


def _checked(p_values: ArrayLike) -> FloatArray:
    given = np.asarray(p_values, dtype=np.float64)
    if given.ndim != 1 or not np.all((given >= 0) & (given <= 1)):
        raise ValueError(f"p-values must be one list of numbers from 0 to 1, found {given}")
    return given


def _restored(adjusted: FloatArray, order: np.ndarray[tuple[int], np.dtype[np.intp]]) -> FloatArray:
    """Put adjusted p-values back in the order given; a p-value is at most 1."""
    restored = np.empty(len(adjusted))
    restored[order] = np.minimum(adjusted, 1.0)
    return restored
