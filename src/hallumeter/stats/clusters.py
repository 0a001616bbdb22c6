"""Clusters (a response with its claims) as distinct cells, and sums over clusters drawn again with replacement.

Most responses share their counts with many others: 100,000 of them show perhaps 60 different (count, total) cells.
Drawing how often each cell appears costs as much as those 60, however many responses there are.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LEAST_RESAMPLES = 100
"""With fewer, the spread of the resamples is itself too uncertain to be reported."""

_TABLE = 2**16
"""Longest table worth filling to save a sort."""

BLOCK = 2**17
"""Random numbers drawn at a time: few enough to stay in the processor's cache."""

DRAW_COST = 8
"""A binomial draw takes about as long as this many random integers with their look-up."""


class Cells(Struct, frozen=True, eq=False):
    """Distinct clusters in sorted order, so that the order in which they came cannot change a result."""

    columns: FloatArray
    """One row per distinct cluster; counts and totals of the first arm, then of the second if there is one."""
    multiplicities: IntArray
    """How many clusters show each row."""

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return int(self.multiplicities.sum())

    @property
    def sums(self) -> FloatArray:
        """Each column added up over all clusters."""
        return self.multiplicities @ self.columns

    @property
    def draws(self) -> int:
        """Work of one resample, in random integers: by cluster or by cell, whichever is less."""
        return min(self.clusters, DRAW_COST * len(self.columns))

    def resampled_sums(self, *, rng: np.random.Generator, resamples: int) -> FloatArray:
        """`sums` of as many clusters drawn with replacement; one row per resample."""
        check_resamples(resamples)
        rows = max(1, BLOCK // self.draws)
        sizes = [min(rows, resamples - start) for start in range(0, resamples, rows)]
        return np.concatenate([self._block_of_sums(rng, size) for size in sizes])

    def _block_of_sums(self, rng: np.random.Generator, size: int) -> FloatArray:
        clusters = self.clusters
        if clusters > self.draws:
            return rng.multinomial(clusters, self.multiplicities / clusters, size=size) @ self.columns
        members = np.repeat(self.columns, self.multiplicities, axis=0).T
        drawn = rng.integers(clusters, size=(size, clusters))
        return np.stack([column[drawn].sum(axis=1) for column in np.ascontiguousarray(members)], axis=1)


def distinct_cells(columns: FloatArray) -> Cells:
    """Count how many rows are alike.

    >>> cells = distinct_cells(np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0]]))
    >>> cells.columns.tolist(), cells.multiplicities.tolist()
    ([[0.0, 2.0], [1.0, 2.0]], [1, 2])
    """
    if not len(columns):
        return Cells(columns, np.empty(0, dtype=np.int64))
    keys, size = np.zeros(len(columns), dtype=np.int64), 1
    for column in columns.T:
        codes, span = _codes(column)
        if size > _TABLE:
            keys, size = _codes(keys)
        keys, size = keys * span + codes, size * span
    if size > _TABLE:
        keys, size = _codes(keys)
    multiplicities = np.bincount(keys, minlength=size)
    present = np.flatnonzero(multiplicities)
    example = np.empty(size, dtype=np.int64)
    example[keys] = np.arange(len(columns))
    return Cells(columns[example[present]], multiplicities[present])


def cluster_columns(counts: ArrayLike, totals: ArrayLike) -> FloatArray:
    """Counts and totals as two columns of finite numbers, one row per cluster.

    >>> cluster_columns([1, 0], [3, 2]).tolist()
    [[1.0, 3.0], [0.0, 2.0]]
    """
    count_column, total_column = _column(counts, "counts"), _column(totals, "totals")
    if len(count_column) != len(total_column):
        raise ValueError(
            f"counts and totals must have one entry per cluster, found {len(count_column)} counts "
            f"and {len(total_column)} totals"
        )
    negative = np.flatnonzero(total_column < 0)
    if len(negative):
        where = negative[0]
        raise ValueError(f"totals must not be negative, found {total_column[where]} at cluster {where}")
    orphans = np.flatnonzero((total_column == 0) & (count_column != 0))
    if len(orphans):
        where = orphans[0]
        raise ValueError(f"cluster {where} counts {count_column[where]} of a total of 0; its total is missing")
    return np.stack([count_column, total_column], axis=1)


def check_resamples(resamples: int) -> None:
    """Refuse a bootstrap that is too short to mean anything."""
    if resamples < LEAST_RESAMPLES:
        raise ValueError(f"at least {LEAST_RESAMPLES} resamples are needed, found {resamples}")


def _column(values: ArrayLike, name: str) -> FloatArray:
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1:
        raise ValueError(f"{name} must be one number per cluster, found an array of shape {column.shape}")
    unusable = np.flatnonzero(~np.isfinite(column))
    if len(unusable):
        where = unusable[0]
        raise ValueError(f"{name} must be finite, found {column[where]} at cluster {where}")
    return column


def _codes(values: FloatArray | IntArray) -> tuple[IntArray, int]:
    """Number the values in ascending order, and how many numbers there are; small whole numbers need no sort."""
    low = values.min()
    if values.max() - low < _TABLE and np.array_equal(values, np.floor(values)):
        codes = (values - low).astype(np.int64)
        return codes, int(codes.max()) + 1
    distinct, inverse = np.unique(values, return_inverse=True)
    return inverse.astype(np.int64, copy=False), len(distinct)
