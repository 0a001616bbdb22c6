"""Rates: two counts each, pooled before they are divided."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray


class Rate(Struct, frozen=True):
    """A ratio kept as its two counts, so that rates can be pooled before they are divided.

    >>> (Rate(1, 1) + Rate(0, 9)).value
    0.1
    >>> Rate(0, 0).value is None
    True
    """

    count: float
    total: float

    @property
    def value(self) -> float | None:
        """The ratio, or None when nothing was counted."""
        return self.count / self.total if self.total else None

    def __add__(self, other: Rate) -> Rate:
        return Rate(self.count + other.count, self.total + other.total)


class Rates(Struct, frozen=True, eq=False):
    """One rate per response, as two columns; pooled on demand.

    >>> rates = Rates(np.array([1.0, 0.0]), np.array([1.0, 9.0]))
    >>> rates.pooled
    Rate(count=1.0, total=10.0)
    """

    counts: NDArray[np.float64]
    totals: NDArray[np.float64]

    @property
    def pooled(self) -> Rate:
        """All counts added up over all totals added up."""
        return Rate(float(self.counts.sum()), float(self.totals.sum()))

    @property
    def value(self) -> float | None:
        """The pooled ratio, or None when nothing was counted."""
        return self.pooled.value

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> Rates:
        return Rates(self.counts[rows], self.totals[rows])

    def pooled_by(self, clusters: NDArray[np.intp]) -> Rates:
        """Add up the responses of each cluster (a document, a dialogue) into one rate.

        Each cluster is added up in the order of its numbers, so that the order of its responses cannot change a sum.
        """
        size = int(clusters.max()) + 1 if len(clusters) else 0
        order = np.lexsort((self.totals, self.counts, clusters))
        return Rates(
            np.bincount(clusters[order], self.counts[order], minlength=size).astype(np.float64),
            np.bincount(clusters[order], self.totals[order], minlength=size).astype(np.float64),
        )
