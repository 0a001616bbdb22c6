"""Where in answers, and in answers of what length, claims are unsupported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hallumeter.records.columns import DECIDED_LABELS
from hallumeter.report.verdicts.sections import LengthBin, TenthBin

from .cells import ResponseCells

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from .columns import Columns, IntArray

    BoolArray = NDArray[np.bool_]

TENTHS = 10
LENGTH_BINS = 5
_LEADING_BITS = 7


class PlaceTally:
    """Unsupported and decided claims by their place in the response and by its length."""

    def __init__(self, unsupported: Collection[int]) -> None:
        self._unsupported = list(unsupported)
        self._tenths, self._lengths = ResponseCells(), ResponseCells()
        self.without_text = 0
        """Decided claims of responses whose words are not known."""
        self.without_place = 0
        """Decided claims that could not be found in their response."""

    def add(self, columns: Columns) -> None:
        """Count a batch."""
        is_decided = columns.labels < DECIDED_LABELS
        is_unsupported = np.isin(columns.labels, self._unsupported)
        lengths = columns.lengths[columns.record_of_claim]
        self.without_text += int((is_decided & (lengths < 0)).sum())
        self.without_place += int((is_decided & (lengths >= 0) & (columns.starts < 0)).sum())
        self._add_tenths(columns, is_decided & (columns.starts >= 0), is_unsupported, lengths=lengths)
        decided = _by_response(columns, is_decided)
        unsupported = _by_response(columns, is_unsupported)
        has_text = columns.lengths >= 0
        self._lengths.add(shortened(columns.lengths[has_text]), unsupported[has_text], decided[has_text])

    def _add_tenths(self, columns: Columns, placed: BoolArray, is_unsupported: BoolArray, *, lengths: IntArray) -> None:
        middles = (columns.starts[placed] + columns.ends[placed]) * (TENTHS // 2)
        tenths = np.minimum(middles // lengths[placed], TENTHS - 1)
        keys = columns.record_of_claim[placed] * TENTHS + tenths
        size = columns.records * TENTHS
        counts = np.bincount(keys[is_unsupported[placed]], minlength=size)
        groups = np.tile(np.arange(TENTHS), columns.records)
        self._tenths.add(groups, counts, np.bincount(keys, minlength=size))

    def tenths(self, confidence: float) -> tuple[TenthBin, ...]:
        """The rate of every tenth of the responses; empty when no claim has a place."""
        if not self._tenths.groups():
            return ()
        rates = [self._tenths.rate([tenth], confidence=confidence) for tenth in range(TENTHS)]
        return tuple(TenthBin(tenth, rate.count, rate.total, rate.interval) for tenth, rate in enumerate(rates))

    def lengths(self, confidence: float) -> tuple[LengthBin, ...]:
        """The rate of responses that are alike in length, as many in each bin as their lengths allow.

        Empty when all are of about the same length.
        """
        groups = self._lengths.groups()
        bins = _cut(groups, [self._lengths.responses(group) for group in groups])
        if len(bins) < 2:
            return ()
        ends = [own[0] for own in bins[1:]]
        made = []
        for own, end in zip(bins, [*ends, None], strict=True):
            rate = self._lengths.rate(own, confidence=confidence)
            made.append(LengthBin(own[0], end, rate.responses, rate.count, rate.total, rate.interval))
        return tuple(made)


def shortened(lengths: IntArray) -> IntArray:
    """Lengths rounded down to their seven leading bits, so that there are few of them, less than 2 % apart.

    >>> shortened(np.array([0, 5, 127, 129, 1000])).tolist()
    [0, 5, 127, 128, 1000]
    """
    bits = np.floor(np.log2(np.maximum(lengths, 1))).astype(np.int64) + 1
    dropped = np.maximum(bits - _LEADING_BITS, 0)
    return lengths >> dropped << dropped


def _cut(groups: list[int], responses: list[int]) -> list[list[int]]:
    """Neighbours put together into bins of about equal numbers of responses."""
    bins: dict[int, list[int]] = {}
    seen, total = 0, sum(responses)
    for group, number in zip(groups, responses, strict=True):
        # Where the middle of a group stands among all responses decides where the group belongs.
        bins.setdefault(int((seen + number / 2) * LENGTH_BINS / total), []).append(group)
        seen += number
    return list(bins.values())


def _by_response(columns: Columns, chosen: BoolArray) -> IntArray:
    return np.bincount(columns.record_of_claim[chosen], minlength=columns.records)
