"""Whether paired values differ, and by how much: Wilcoxon's signed-rank test and the estimate that belongs to it."""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from .clusters import FloatArray, IntArray
from .intervals import Interval, normal_quantile, upper_probability
from .ranks import average_ranks

EXACT_UP_TO = 50
"""Pairs up to which all signs are counted; the normal approximation is then good to the third digit."""
_SUMS_AT_ONCE = 2**20
"""Sums of two differences that are held in memory; of more, only those around the one looked for."""


class SignedRankTest(Struct, frozen=True):
    """Whether the first or the second of paired values tends to be larger."""

    statistic: float | None
    """The smaller of the two sums of ranks, of the differences above 0 and of those below."""
    p_value: float | None
    """Two-sided."""
    pairs: int
    """All pairs, with those that do not differ."""
    zeros: int
    """Pairs that do not differ; the test leaves them out."""
    is_exact: bool
    """Whether all signs were counted; otherwise the normal approximation with correction for ties and continuity."""
    median_difference: float | None
    """Pseudo-median of first less second (Hodges and Lehmann 1963), over all pairs; None without pairs."""
    interval: Interval | None
    """Of the pseudo-median; None when there are too few pairs for the confidence asked (six for 0.95)."""
    undefined: str | None = None
    """Why there is no p-value."""


def wilcoxon_signed_rank(first: ArrayLike, second: ArrayLike, *, confidence: float = 0.95) -> SignedRankTest:
    """Test whether paired values differ, by the ranks of their differences (Wilcoxon 1945).

    Pairs that do not differ are left out of the test and counted; equal differences share their mean rank. Up to 50
    differing pairs the p-value is exact, given the ties. The pseudo-median is the median of the means of every two
    differences (each also with itself), zeros included, and its interval lies between two of these means (Tukey).
    Undefined when no pair differs.

    >>> test = wilcoxon_signed_rank([5, 7, 3, 8, 9, 6], [4, 5, 4, 4, 4, 0])
    >>> test.statistic, test.p_value, test.median_difference  # 3 of 64 signs, either way
    (1.5, 0.09375, 3.0)
    """
    differences = _checked_differences(first, second)
    changed = differences[differences != 0]
    pairs, zeros = len(differences), len(differences) - len(changed)
    middle, interval = _location(np.sort(differences), confidence)
    is_exact = len(changed) <= EXACT_UP_TO
    if not len(changed):
        reason = "no pair differs" if pairs else "there are no pairs"
        return SignedRankTest(None, None, pairs, zeros, is_exact, middle, interval, reason)
    ranks = average_ranks(np.abs(changed))
    above = float(ranks[changed > 0].sum())
    smaller = min(above, float(ranks.sum()) - above)
    p_value = _exact_p_value(ranks, smaller) if is_exact else _normal_p_value(ranks, smaller)
    return SignedRankTest(smaller, p_value, pairs, zeros, is_exact, middle, interval)


def _checked_differences(first: ArrayLike, second: ArrayLike) -> FloatArray:
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(f"both must list the same pairs in the same order, found shapes {one.shape} and {other.shape}")
    differences: FloatArray = one - other
    if not np.isfinite(differences).all():
        raise ValueError(f"paired values must be finite, found {one} and {other}")
    return differences


def _exact_p_value(ranks: FloatArray, smaller: float) -> float:
    """Twice the share of all signs whose sum of ranks is at most the smaller one."""
    # Mean ranks are multiples of one half.
    ways = _ways((2 * ranks).astype(np.int64))
    return min(1.0, 2 * float(ways[: int(2 * smaller) + 1].sum() / ways.sum()))


def _normal_p_value(ranks: FloatArray, smaller: float) -> float:
    # Under random signs a rank counts or not: the variance is a quarter of the sum of squares, ties or none.
    distance = float(ranks.sum()) / 2 - smaller
    standard_error = math.sqrt(float((ranks**2).sum()) / 4)
    return math.erfc(max(0.0, distance - 0.5) / standard_error / math.sqrt(2))


def _ways(ranks: IntArray) -> FloatArray:
    """In how many ways some of the ranks add up to 0, 1, 2 and so on; exact while there are at most 53 ranks."""
    ways = np.zeros(int(ranks.sum()) + 1)
    ways[0] = 1
    for rank in ranks:
        ways[rank:] = ways[rank:] + ways[:-rank]
    return ways


def _location(ascending: FloatArray, confidence: float) -> tuple[float | None, Interval | None]:
    """The pseudo-median of sorted values, and its interval."""
    pairs = len(ascending)
    left_out = _means_left_out(pairs, confidence)
    if not pairs:
        return None, None
    sums = pairs * (pairs + 1) // 2
    places = [(sums - 1) // 2, sums // 2]
    if left_out > 0:
        places += [left_out - 1, sums - left_out]
    lower, upper, *ends = _sums_at(ascending, places)
    interval = Interval(ends[0] / 2, ends[1] / 2, "signed_rank") if ends else None
    return (lower + upper) / 4, interval


def _means_left_out(pairs: int, confidence: float) -> int:
    """Which mean of two values, counted from either end, bounds the interval; 0 when even the first is too far in."""
    tail = 1 - upper_probability(confidence)
    if pairs > EXACT_UP_TO:
        standard_error = math.sqrt(pairs * (pairs + 1) * (2 * pairs + 1) / 24)
        return math.floor(pairs * (pairs + 1) / 4 + 0.5 - normal_quantile(1 - tail) * standard_error)
    ways = _ways(np.arange(1, pairs + 1))
    return int(np.count_nonzero(np.cumsum(ways) / ways.sum() <= tail))


def _sums_at(ascending: FloatArray, places: list[int]) -> list[float]:
    """The sums of two values (each also with itself) that would stand at these places if all were sorted."""
    count = len(ascending)
    rows = np.arange(count)
    if count * (count + 1) // 2 > _SUMS_AT_ONCE:
        return [_selected_sum(ascending, place) for place in places]
    sums = _sums_between(ascending, rows, np.full(count, count))
    return [float(value) for value in np.partition(sums, places)[places]]


def _selected_sum(ascending: FloatArray, place: int) -> float:
    """The sum at a place, in memory that does not grow with the square of the values.

    In each row (one value with itself and all larger ones) the sums ascend. The weighted median of the rows' middles
    has at least a quarter of what is left on either side, so a few dozen rounds leave little enough to sort.
    """
    count = len(ascending)
    starts, ends = np.arange(count), np.full(count, count)
    passed = 0
    while int((ends - starts).sum()) > _SUMS_AT_ONCE:
        pivot = _median_of_middles(ascending, starts, ends)
        lower = _first_reaching(pivot, ascending, (starts, ends))
        upper = _first_reaching(math.nextafter(pivot, math.inf), ascending, (lower, ends))
        below, equal = int((lower - starts).sum()), int((upper - lower).sum())
        if place < passed + below:
            ends = lower
        elif place < passed + below + equal:
            return pivot
        else:
            passed += below + equal
            starts = upper
    sums = _sums_between(ascending, starts, ends)
    return float(np.partition(sums, place - passed)[place - passed])


def _median_of_middles(ascending: FloatArray, starts: IntArray, ends: IntArray) -> float:
    """The middle sum of each row, of these the median, each weighing as much as its row has sums left."""
    rows = np.flatnonzero(ends > starts)
    middles = ascending[rows] + ascending[(starts[rows] + ends[rows]) // 2]
    order = np.argsort(middles)
    weights = np.cumsum((ends - starts)[rows][order])
    return float(middles[order][np.searchsorted(weights, weights[-1] / 2)])


def _first_reaching(target: float, ascending: FloatArray, between: tuple[IntArray, IntArray]) -> IntArray:
    """In each row, the first place within its bounds whose sum is the target or more; the end when there is none."""
    low, high = between
    while (low < high).any():
        middle = (low + high) // 2
        # A finished row may stand behind the last value; what is read there is not used.
        reaches = ascending + ascending[np.minimum(middle, len(ascending) - 1)] >= target
        is_open = low < high
        low, high = np.where(is_open & ~reaches, middle + 1, low), np.where(is_open & reaches, middle, high)
    return low


def _sums_between(ascending: FloatArray, starts: IntArray, ends: IntArray) -> FloatArray:
    """Of each value, its sums with the values from its start up to its end."""
    lengths = ends - starts
    rows = np.repeat(np.arange(len(ascending)), lengths)
    first = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    sums: FloatArray = ascending[rows] + ascending[first + np.arange(len(rows))]
    return sums
