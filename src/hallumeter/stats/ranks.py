"""Which of several engines do better on the same pages: ranks within each page, Friedman's test, Nemenyi's after it."""

from __future__ import annotations

import itertools
import math

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from .bootstrap import FloatArray, IntArray
from .intervals import Interval, check_probability, normal_quantile, upper_probability

_GRID_STEP = 1 / 16
"""The integrand is entire and falls off like a bell, so that the error of equal steps is far below the last digit."""


class FriedmanTest(Struct, frozen=True):
    """Whether engines that were given the same pages differ at all."""

    mean_ranks: tuple[float, ...]
    """One per engine in the order given; 1 is the lowest value, and equal values share the mean of their ranks."""
    pages: int
    statistic: float | None
    """Chi-square with one degree of freedom less than there are engines, corrected for ties."""
    p_value: float | None
    agreement: float | None
    """Kendall's W: 1 when every page ranks the engines alike, 0 when the pages cancel each other out."""
    undefined: str | None = None
    """Why there is no statistic."""


class NemenyiTest(Struct, frozen=True):
    """Which engines differ, when every two are compared."""

    critical_difference: float
    """Mean ranks this far apart, or further, differ at the level `alpha`."""
    alpha: float
    p_values: tuple[tuple[float, ...], ...]
    """One row and one column per engine in the order given; 1 on the diagonal. Already adjusted for all pairs."""
    groups: tuple[tuple[int, ...], ...]
    """The largest groups of two engines or more in which none differ, as places in the order given, best first.

    These are the bars of a critical-difference diagram; an engine may stand in several or in none.
    """


def friedman_test(values: ArrayLike) -> FriedmanTest:
    """Test whether engines differ on the same pages (Friedman 1937), from one row per page and one column per engine.

    With R the sum of an engine's ranks r over N pages and k engines, in the form of Conover (1999) that needs no
    further correction for ties: (k - 1) sum (R - N(k + 1)/2)^2 / (sum r^2 - N k (k + 1)^2 / 4). Undefined with fewer
    than two engines, without pages, and when on every page all engines are equal.

    >>> test = friedman_test([[0.1, 0.2, 0.3], [0.1, 0.3, 0.2], [0.0, 0.4, 0.5], [0.2, 0.3, 0.4]])
    >>> test.mean_ranks, test.statistic, round(test.p_value, 4)
    ((1.0, 2.25, 2.75), 6.5, 0.0388)
    """
    table = _checked_table(values)
    pages, engines = table.shape
    if engines < 2 or pages == 0:
        missing = "there is no page" if engines >= 2 else "there are fewer than two engines"
        mean_ranks = (1.0,) * engines if pages else ()
        return FriedmanTest(mean_ranks, pages, None, None, None, missing)
    ranks = np.array([average_ranks(row) for row in table])
    sums = ranks.sum(axis=0)
    mean_ranks = tuple((sums / pages).tolist())
    spread = float((ranks**2).sum() - pages * engines * (engines + 1) ** 2 / 4)
    if spread == 0:
        return FriedmanTest(mean_ranks, pages, None, None, None, "on every page all engines are equal")
    between = float(((sums - pages * (engines + 1) / 2) ** 2).sum())
    statistic = (engines - 1) * between / spread
    p_value = chi_square_survival(statistic, engines - 1)
    return FriedmanTest(mean_ranks, pages, statistic, p_value, between / (pages * spread))


def nemenyi_test(mean_ranks: ArrayLike, pages: int, *, alpha: float = 0.05) -> NemenyiTest:
    """Compare every two engines by their mean ranks over the same pages (Nemenyi 1963).

    To be read only where Friedman's test finds a difference. Ties make it cautious.

    >>> test = nemenyi_test([1.2, 1.9, 2.9], 20)
    >>> round(test.critical_difference, 3), test.groups
    (0.741, ((0, 1),))
    """
    given = np.asarray(mean_ranks, dtype=np.float64)
    if given.ndim != 1 or not np.all((given >= 1) & (given <= len(given))):
        raise ValueError(f"mean ranks must be one list of numbers from 1 to the number of engines, found {given}")
    difference = critical_difference(len(given), pages, alpha=alpha)
    standard_error = _standard_error(len(given), pages)
    p_values = np.ones((len(given), len(given)))
    for one, other in itertools.combinations(range(len(given)), 2):
        distance = abs(given[one] - given[other]) / standard_error
        p_values[one, other] = p_values[other, one] = range_survival(math.sqrt(2) * distance, len(given))
    return NemenyiTest(
        critical_difference=difference,
        alpha=alpha,
        p_values=tuple(map(tuple, p_values.tolist())),
        groups=_groups(given, difference),
    )


def critical_difference(engines: int, pages: int, *, alpha: float = 0.05) -> float:
    """How far apart mean ranks must lie to differ: q sqrt(k (k + 1) / (6 N)) for k engines on N pages (Demsar 2006).

    q is the quantile of the range of k standard normal values, divided by the square root of 2.

    >>> round(critical_difference(5, 30), 3)  # 2.728 * sqrt(1 / 6)
    1.114
    """
    if engines < 2 or pages < 1:
        raise ValueError(f"comparing needs at least two engines and one page, found {engines} and {pages}")
    return range_quantile(1 - alpha, engines) / math.sqrt(2) * _standard_error(engines, pages)


def range_survival(width: float, count: int) -> float:
    """Probability that `count` independent standard normal values spread over more than `width`.

    The studentized range with infinite degrees of freedom. Given the largest value z, the others lie below it with
    probability P(z) and within the width with P(z) - P(z - width); the difference of the powers of these two is
    integrated in a form that keeps its digits however small it is.

    >>> round(range_survival(3.314493, 3), 6)
    0.05
    """
    if count < 2 or not 0 <= width < math.inf:
        raise ValueError(f"a range needs two values or more and a finite width, 0 or more; found {count} and {width}")
    if width == 0:
        return 1.0
    largest = np.arange(-9, width + 9, _GRID_STEP)
    below, beyond = _normal_cumulative(largest), _normal_cumulative(largest - width)
    density = np.exp(-(largest**2) / 2) / math.sqrt(2 * math.pi)
    with np.errstate(divide="ignore"):  # far out everyone is beyond: the logarithm of 0, and the power of it, is meant
        someone_beyond = -np.expm1((count - 1) * np.log1p(-beyond / below))
    total = count * _GRID_STEP * float((density * below ** (count - 1) * someone_beyond).sum())
    return min(total, 1.0)  # the sum may pass 1 in its last digit


def range_quantile(p: float, count: int) -> float:
    """The width that the range of `count` independent standard normal values stays below with probability p.

    >>> round(range_quantile(0.95, 2) / 2**0.5, 6)  # two values: the normal quantile
    1.959964
    """
    check_probability(p, "p")
    low, high = 0.0, 1.0
    while range_survival(high, count) > 1 - p:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if range_survival(middle, count) > 1 - p else (low, middle)
    return high


def chi_square_survival(value: float, degrees: int) -> float:
    """Probability that chi-square with these degrees of freedom exceeds the value.

    For whole degrees it is a finite sum of positive terms, which keeps its digits however small it is.

    >>> round(chi_square_survival(5.991465, 2), 6)
    0.05
    """
    if degrees < 1 or not 0 <= value < math.inf:
        raise ValueError(f"chi-square needs a whole degree or more and a finite value from 0, found {degrees}, {value}")
    if value == 0:
        return 1.0
    half = value / 2
    is_odd = degrees % 2
    first = math.erfc(math.sqrt(half)) if is_odd else 0.0
    powers = np.arange(is_odd / 2, degrees / 2)
    terms = [math.exp(power * math.log(half) - half - math.lgamma(power + 1)) for power in powers]
    return min(math.fsum([first, *terms]), 1.0)  # the sum may pass 1 in its last digit


def average_ranks(values: FloatArray) -> FloatArray:
    """Ranks from 1 for the lowest value; equal values share the mean of their ranks.

    >>> average_ranks(np.array([0.3, 0.1, 0.3])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, places, multiplicities = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(multiplicities)
    ranks: FloatArray = (last - (multiplicities - 1) / 2)[places]
    return ranks


def _checked_table(values: ArrayLike) -> FloatArray:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise ValueError(
            f"expected a finite number for each page (row) and engine (column), found shape {table.shape}: {table}"
        )
    return table


def _standard_error(engines: int, pages: int) -> float:
    return math.sqrt(engines * (engines + 1) / (6 * pages))


def _groups(mean_ranks: FloatArray, difference: float) -> tuple[tuple[int, ...], ...]:
    """Runs of neighbouring mean ranks within the difference that no longer run holds."""
    order = np.argsort(mean_ranks, kind="stable")
    ascending = mean_ranks[order]
    groups: list[tuple[int, ...]] = []
    reached = 0
    for start, rank in enumerate(ascending):
        end = int(np.count_nonzero(ascending - rank < difference))
        if end > max(reached, start + 1):
            groups.append(tuple(order[start:end].tolist()))
            reached = end
    return tuple(groups)


def _normal_cumulative(values: FloatArray) -> FloatArray:
    return np.array([math.erfc(-value / math.sqrt(2)) / 2 for value in values])


# Whether paired values differ, and by how much: Wilcoxon's signed-rank test and the estimate that belongs to it.

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
