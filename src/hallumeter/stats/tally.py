"""What can be added up shard by shard: sums without rounding, rates of clusters, and counts of clusters by column.

Each of these has a `merge` that is associative and commutative and never rounds. What is merged from any parts, in any
order, is equal to what is made from everything at once, bit for bit, and so is every number that is computed from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.records.rate import Rate, Rates

from .bootstrap import (
    DRAW_COST,
    MOST_DRAWS,
    Cells,
    Spread,
    cluster_columns,
    contrast_interval,
    distinct_cells,
    error_of,
    range_of_rate,
)
from .intervals import Interval

Exact = tuple[float, ...]
"""A sum that was not rounded, as the few numbers that add up to it: the first is the sum rounded once."""

_AT_ONCE = 1 << 16
MOST_BLOCKS = 512
"""Units are resampled one by one up to this many; beyond it in this many blocks by a stable hash, which is as good."""


def exact_sum(numbers: Iterable[float]) -> Exact:
    """Add numbers up without rounding: the same for every order, and for every way to cut them into parts.

    >>> exact_sum([0.1, 0.2])
    (0.30000000000000004, -2.7755575615628914e-17)
    >>> exact_sum([*exact_sum([1e16, 1.0]), *exact_sum([-1e16])])
    (1.0,)
    """
    given, parts = list(numbers), list[float]()
    while part := math.fsum(chain(given, (-known for known in parts))):
        parts.append(part)
    return tuple(parts)


def rounded(total: Exact) -> float:
    """An exact sum as one number."""
    return total[0] if total else 0.0


def added(first: Exact, second: Exact) -> Exact:
    """Two exact sums added up."""
    return exact_sum((*first, *second))


def exact_sum_of(column: NDArray[np.float64]) -> Exact:
    """The exact sum of a column, some of it at a time."""
    if not len(column):
        return ()
    blocks = (column[start : start + _AT_ONCE].tolist() for start in range(0, len(column), _AT_ONCE))
    return exact_sum(chain.from_iterable(map(exact_sum, blocks)))


def _exact(total: Exact) -> Fraction:
    return sum(map(Fraction, total), Fraction(0))


def _products(first: NDArray[np.float64], second: NDArray[np.float64]) -> Exact:
    """The exact sum of products; each is its rounded value and what the rounding left (Dekker 1971)."""
    product = first * second
    (high, low), (other_high, other_low) = _halves(first), _halves(second)
    rest = ((high * other_high - product) + high * other_low + low * other_high) + low * other_low
    return added(exact_sum_of(product), exact_sum_of(rest))


def _halves(column: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Numbers cut into two of 26 bits each, whose products are exact."""
    scaled = column * 134_217_729.0  # 2 ** 27 + 1
    high = scaled - (scaled - column)
    return high, column - high


class RateTally(Struct, frozen=True):
    """What clusters with a count and a total each add up to: enough for the pooled rate and its interval.

    Distinct clusters are kept while an interval would resample them: up to 8,192 clusters, or 1,024 different ones.
    Beyond that the interval comes from the sums of squares, and only those are kept. Which of the two it is depends on
    the clusters alone, not on how they were put together.
    """

    clusters: int = 0
    """How many have a total."""
    count: Exact = ()
    total: Exact = ()
    cells: tuple[tuple[float, float, int], ...] | None = ()
    """Distinct counts and totals, in order, and how many clusters have them; None when there are too many."""
    squares: tuple[Exact, Exact, Exact] | None = None
    """Sums of count², count times total, and total², once there are no cells."""
    lowest: float = 0.0
    """The smallest ratio of count and total, if it is below 0."""
    highest: float = 0.0
    """The largest."""
    largest: float = 0.0
    """The largest count or total, without its sign."""

    @classmethod
    def of(cls, rates: Rates, times: NDArray[np.int64] | None = None) -> RateTally:
        """Add up one rate per cluster, or `times` clusters for each rate.

        >>> RateTally.of(Rates(np.array([1.0, 0.0, 1.0]), np.array([2.0, 3.0, 2.0]))).cells
        ((0.0, 3.0, 1), (1.0, 2.0, 2))
        """
        columns = cluster_columns(rates.counts, rates.totals)
        kept = columns[:, 1] > 0
        if times is None:
            return _tally_of(distinct_cells(columns[kept]))
        distinct, inverse = np.unique(columns[kept], axis=0, return_inverse=True)
        weights = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(weights, inverse.reshape(-1), times[kept])
        return _tally_of(Cells(distinct, weights))

    @property
    def pooled(self) -> Rate:
        """All counts over all totals."""
        return Rate(rounded(self.count), rounded(self.total))

    def merge(self, other: RateTally) -> RateTally:
        """Both together."""
        if self.cells is not None and other.cells is not None:
            times: dict[tuple[float, float], int] = {}
            for count, total, number in chain(self.cells, other.cells):
                times[count, total] = times.get((count, total), 0) + number
            columns = np.array(sorted(times), dtype=np.float64).reshape(-1, 2)
            return _tally_of(Cells(columns, np.array([times[key] for key in sorted(times)], dtype=np.int64)))
        mine, others = self._squares(), other._squares()
        return RateTally(
            clusters=self.clusters + other.clusters,
            count=added(self.count, other.count),
            total=added(self.total, other.total),
            cells=None,
            squares=(added(mine[0], others[0]), added(mine[1], others[1]), added(mine[2], others[2])),
            lowest=min(self.lowest, other.lowest),
            highest=max(self.highest, other.highest),
            largest=max(self.largest, other.largest),
        )

    def scaled_cells(self, unit: float) -> Cells | None:
        """The distinct clusters with their counts as shares of a unit; None when they are no longer kept."""
        if self.cells is None:
            return None
        columns = np.array([cell[:2] for cell in self.cells], dtype=np.float64).reshape(-1, 2)
        columns[:, 0] /= unit
        times = np.array([number for _, _, number in self.cells], dtype=np.int64)
        # Two counts that differ in their last bit may be equal once they are divided.
        return distinct_cells(np.repeat(columns, times, axis=0)) if unit != 1 else Cells(columns, times)

    def interval(
        self,
        rng: np.random.Generator,
        *,
        resamples: int,
        confidence: float,
        unit: float = 1.0,
        is_share: bool = True,
        shifts: Sequence[NDArray[np.float64]] = (),
    ) -> Interval | None:
        """Interval of the pooled rate, as a share of a unit; see `contrast_interval` for the rest."""
        cells = self.scaled_cells(unit)
        if cells is None:
            spread = self._linearized(unit, is_share=is_share, shift_error=error_of(shifts))
            return spread.interval("cluster_linearized" if spread.error else "wilson_by_cluster", confidence=confidence)
        return contrast_interval(
            cells, rng=rng, resamples=resamples, confidence=confidence, is_share=is_share, shifts=shifts
        )

    def _linearized(self, unit: float, *, is_share: bool, shift_error: float) -> Spread:
        """The standard error of a ratio by the delta method, from sums that were not rounded."""
        count, total = _exact(self.count) / Fraction(unit), _exact(self.total)
        rate = count / total
        of_count, of_both, of_total = map(_exact, self._squares())
        of_count, of_both = of_count / Fraction(unit) ** 2, of_both / Fraction(unit)
        error = math.sqrt((of_count - 2 * rate * of_both + rate * rate * of_total) / total**2)
        is_within = self.lowest >= 0 and self.highest <= unit and (is_share or not count)
        bounds = range_of_rate(is_positive=self.lowest >= 0, is_within=is_within)
        value = float(rate)
        is_alike = error <= _ROUNDING * self.largest / float(total) or (bounds is not None and value in bounds)
        whole = None if is_alike else math.hypot(error, shift_error)
        return Spread(value, whole, self.clusters, bounds, shift_error)

    def _squares(self) -> tuple[Exact, Exact, Exact]:
        return self.squares or _squares_of(np.array(self.cells, dtype=np.float64).reshape(-1, 3))


_ROUNDING = 1e-12
"""By how much clusters that are alike may differ: weighted counts such as 0.1 + 0.2 are rounded."""


def _tally_of(cells: Cells) -> RateTally:
    columns, times = cells.columns + 0.0, cells.multiplicities
    clusters = cells.clusters
    if not clusters:
        return RateTally()
    is_summed = clusters > MOST_DRAWS and DRAW_COST * len(columns) > MOST_DRAWS
    rows = np.column_stack([columns, times])
    ratios = columns[:, 0] / columns[:, 1]
    return RateTally(
        clusters=clusters,
        count=_products(columns[:, 0], rows[:, 2]),
        total=_products(columns[:, 1], rows[:, 2]),
        cells=None if is_summed else tuple((count, total, int(number)) for count, total, number in rows.tolist()),
        squares=_squares_of(rows) if is_summed else None,
        lowest=min(0.0, float(ratios.min())),
        highest=max(0.0, float(ratios.max())),
        largest=float(np.abs(columns).max()),
    )


def _squares_of(rows: NDArray[np.float64]) -> tuple[Exact, Exact, Exact]:
    """Exact sums of count², count times total, and total² over rows of count, total and how many have them."""
    counts, totals, times = rows.T
    weights = np.unique(times)

    def summed(first: NDArray[np.float64], second: NDArray[np.float64]) -> Exact:
        # The product of three numbers has no rest of one number, so rows of the same weight are added up first.
        sums = (_exact(_products(first[times == weight], second[times == weight])) * int(weight) for weight in weights)
        return _expanded(sum(sums, Fraction(0)))

    return summed(counts, counts), summed(counts, totals), summed(totals, totals)


def _expanded(total: Fraction) -> Exact:
    """A fraction that is a sum of floats, as `exact_sum` gives it."""
    parts = []
    while total:
        parts.append(float(total))
        total -= Fraction(parts[-1])
    return tuple(parts)


class BlockCounts(Struct, frozen=True):
    """Counts of each unit (a response, a question) in named columns; of blocks of units once there are many."""

    columns: dict[str, dict[int, int]] = {}
    """By column and by the stable hash of the unit, or by the number of the block."""
    is_blocked: bool = False

    @classmethod
    def of(cls, columns: Mapping[str, Mapping[int, int]]) -> BlockCounts:
        """Counts by column and by the hash of the unit; a count of 0 is as good as none.

        >>> BlockCounts.of({"asked": {7: 1, -3: 1}}).table(["asked"]).tolist()
        [[1], [1]]
        """
        return _blocked(columns, is_blocked=False)

    @classmethod
    def tally(
        cls,
        units: NDArray[np.int64],
        codes: NDArray[np.int64],
        *,
        hashes: NDArray[np.int64],
        names: Sequence[str],
    ) -> BlockCounts:
        """Count items by their unit (its place among the hashes) and by their column (its place among the names)."""
        is_blocked = len(hashes) > MOST_BLOCKS
        places = hashes % MOST_BLOCKS if is_blocked else np.arange(len(hashes))
        keys = np.arange(MOST_BLOCKS) if is_blocked else hashes
        counts = np.bincount(places[units] * len(names) + codes, minlength=len(keys) * len(names))
        table = counts.reshape(len(keys), len(names))
        columns = {
            name: {int(keys[place]): int(table[place, column]) for place in np.flatnonzero(table[:, column])}
            for column, name in enumerate(names)
        }
        return _blocked(columns, is_blocked=is_blocked)

    def merge(self, other: BlockCounts) -> BlockCounts:
        """Both together."""
        is_blocked = self.is_blocked or other.is_blocked
        columns: dict[str, dict[int, int]] = {}
        for part in (self, other):
            for name, counts in part.columns.items():
                column = columns.setdefault(name, {})
                for unit, number in counts.items():
                    place = unit % MOST_BLOCKS if is_blocked else unit
                    column[place] = column.get(place, 0) + number
        return _blocked(columns, is_blocked=is_blocked)

    def table(self, names: Sequence[str]) -> NDArray[np.int64]:
        """One row per unit or block and one column per name, rows sorted by what they hold.

        What units are called then says nothing about the order in which they are drawn.
        """
        units = {unit: row for row, unit in enumerate({unit for name in names for unit in self.columns.get(name, ())})}
        table = np.zeros((len(units), len(names)), dtype=np.int64)
        for place, name in enumerate(names):
            for unit, number in self.columns.get(name, {}).items():
                table[units[unit], place] = number
        return table[np.lexsort(table.T[::-1])] if len(names) else table


def _blocked(columns: Mapping[str, Mapping[int, int]], *, is_blocked: bool) -> BlockCounts:
    units = {unit for counts in columns.values() for unit in counts}
    if not is_blocked and len(units) > MOST_BLOCKS:
        return BlockCounts(is_blocked=True).merge(BlockCounts({name: dict(found) for name, found in columns.items()}))
    kept = {name: {unit: columns[name][unit] for unit in sorted(columns[name])} for name in sorted(columns)}
    return BlockCounts(kept, is_blocked)
