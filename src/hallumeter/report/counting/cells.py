"""Rates of groups while they are being counted, kept so that whole responses can be drawn again for an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from hallumeter.stats import cluster_bootstrap_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .columns import IntArray

RESAMPLES = 2_000
SEED = 0


class ResponseRate(Struct, frozen=True):
    """A rate over some responses."""

    count: int
    total: int
    responses: int
    """That have a part in the total."""
    interval: tuple[float, float] | None
    """Whole responses drawn again; None where they tell too little."""


class ResponseCells:
    """How many responses add which count to which total of a group.

    Most responses add the same few counts, so that this stays small, however many responses there are.
    """

    def __init__(self) -> None:
        self._cells: dict[int, dict[tuple[int, int], int]] = {}

    def add(self, groups: IntArray, counts: IntArray, totals: IntArray) -> None:
        """Add one response's part of a group in each row; rows without a total say nothing."""
        kept = totals > 0
        if not kept.any():
            return
        width = int(totals.max()) + 1
        keys, times = np.unique((groups[kept] * width + counts[kept]) * width + totals[kept], return_counts=True)
        for key, number in zip(keys.tolist(), times.tolist(), strict=True):
            rest, total = divmod(key, width)
            group, count = divmod(rest, width)
            own = self._cells.setdefault(group, {})
            own[count, total] = own.get((count, total), 0) + number

    def groups(self) -> list[int]:
        """The groups that have a total, in ascending order."""
        return sorted(self._cells)

    def responses(self, group: int) -> int:
        """How many responses have a part in a group."""
        return sum(self._cells[group].values())

    def rate(self, groups: Iterable[int], *, confidence: float) -> ResponseRate:
        """The rate of these groups together."""
        cells: dict[tuple[int, int], int] = {}
        for group in groups:
            for cell, times in self._cells.get(group, {}).items():
                cells[cell] = cells.get(cell, 0) + times
        if not cells:
            return ResponseRate(0, 0, 0, None)
        # In sorted order, so that the order of the responses cannot change the interval.
        counts, totals, times = np.array([(*cell, number) for cell, number in sorted(cells.items())]).T
        interval = cluster_bootstrap_interval(
            np.repeat(counts, times),
            np.repeat(totals, times),
            rng=np.random.default_rng(SEED),
            resamples=RESAMPLES,
            confidence=confidence,
        )
        pair = None if interval is None else (interval.low, interval.high)
        return ResponseRate(int(counts @ times), int(totals @ times), int(times.sum()), pair)
