"""One pass over all responses: count everything, keep the worst and a random few, in bounded memory."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .counting.tallies import Tallies
    from .document import RecordFindings

ROWS_KEPT = 6_000


class Limits(Struct, frozen=True):
    """How much of a run a document holds; what is beyond is counted, never silently dropped."""

    worst: int = 900
    """Responses with most unsupported claims."""
    random: int = 100
    """Further responses drawn at random."""
    bytes: int = 16_000_000
    """Size of all responses, findings and distinct passages as JSON; a page packs it and takes what fits."""
    pages: int = ROWS_KEPT
    """Rows of the table of pages, where there is one; more would make the page slow to open."""
    failures: int = 50
    seed: int = 0
    """Of the random draw."""


class Selection(Struct, frozen=True):
    """The responses to show, each group in its order, and what was counted over all of them."""

    worst: tuple[RecordFindings, ...]
    random: tuple[RecordFindings, ...]
    tallies: Tallies


def select(
    records: Iterable[RecordFindings],
    limits: Limits,
    *,
    tallies: Tallies,
    severity: Callable[[RecordFindings], tuple[float, float, float]] | None = None,
) -> Selection:
    """Keep the responses with most unsupported claims, and a uniform sample of the others; count all of them.

    Ties go to the higher unsupported share, then to more unmeasured claims, then to the earlier response; `severity`
    puts another order in their place. Memory holds `worst + random` responses, however many there are.
    """
    picking = _Picking(limits)
    for item in records:
        unsupported, decided, unmeasured = tallies.add(item)
        share = unsupported / decided if decided else 0.0
        picking.offer(item, severity(item) if severity else (unsupported, share, unmeasured))
    tallies.finish()
    return Selection(picking.worst(), picking.random(), tallies)


class _Picking:
    """The responses to keep, while more are being offered."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._rng = np.random.default_rng(limits.seed)
        self._heap: list[tuple[tuple[float, float, float, int], RecordFindings]] = []
        self._sample: list[tuple[int, RecordFindings]] = []
        self._offered = 0

    def offer(self, item: RecordFindings, weight: tuple[float, float, float]) -> None:
        entry = ((*weight, -self._offered), item)
        self._offered += 1
        if len(self._heap) < self._limits.worst:
            heapq.heappush(self._heap, entry)
            return
        # Whoever leaves the heap, or never enters it, is offered to the sample exactly once: it stays uniform.
        key, out = heapq.heappushpop(self._heap, entry)
        passed_over = self._offered - self._limits.worst
        is_room = len(self._sample) < self._limits.random
        slot = len(self._sample) if is_room else int(self._rng.random() * passed_over)
        if slot < self._limits.random:
            self._sample[slot : slot + 1] = [(-key[3], out)]

    def worst(self) -> tuple[RecordFindings, ...]:
        return tuple(item for _, item in sorted(self._heap, key=lambda entry: entry[0], reverse=True))

    def random(self) -> tuple[RecordFindings, ...]:
        return tuple(item for _, item in sorted(self._sample, key=lambda entry: entry[0]))
