"""Which claim is asked for next.

The order is random and fixed by the seed: it does not depend on what was answered, nor on when one stopped. Every
annotator has an order of their own, so that two who sit at one run do not answer the same questions all the time; what
is asked of both is chosen on purpose, in an order that all share.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hallumeter.claims.labelled.run import OUTSIDE, LabelledRun, claim_strata
from hallumeter.stats.allocation import LabelTally, next_stratum

from .claims import AnnotateSettings

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


EVERYBODY = ""
"""Whose order it is when all annotators share it: no annotator has an empty name."""
_ROUNDING = 1e-9
"""A share of 0.2 of 5 questions is one, whatever the last binary digit says."""


def draw_rank(seed: int, annotator: str, *names: str) -> int:
    """A number as good as random, the same whenever it is asked for.

    >>> draw_rank(0, "kim", "r1", "c1") == draw_rank(0, "kim", "r1", "c1") != draw_rank(0, "lee", "r1", "c1")
    True
    """
    text = "\x1f".join([str(seed), annotator, *names])
    return int.from_bytes(hashlib.blake2b(text.encode(errors="replace"), digest_size=7).digest(), "big")


class ClaimOrder:
    """Claim by claim: from the stratum where a label says most, at random within it."""

    def __init__(self, columns: LabelledRun, settings: AnnotateSettings) -> None:
        self._columns, self._seed = columns, settings.seed
        strata = claim_strata(columns.codes, columns.probabilities)
        is_inside = strata != OUTSIDE
        names, numbers = np.unique(strata[is_inside], return_inverse=True)
        self._strata = np.full(len(strata), OUTSIDE, dtype=np.int64)
        self._strata[is_inside] = numbers
        self._sizes = np.bincount(numbers, minlength=len(names))
        # A judge that gives no probabilities is taken at its word.
        believed = np.where(np.isnan(columns.probabilities), columns.is_flagged, columns.probabilities)
        self._expected = np.bincount(numbers, believed[is_inside]) / self._sizes
        self._ranks = self._ranked(range(len(strata)), settings.annotator)

    def tally(self, fresh: BoolArray, truth: FloatArray) -> LabelTally:
        """What is known of each stratum: of some claims the truth, and which nobody has answered."""
        strata, size = self._strata, len(self._sizes)
        is_known = (strata != OUTSIDE) & ~np.isnan(truth)
        return LabelTally(
            sizes=self._sizes,
            labelled=np.bincount(strata[is_known], minlength=size),
            true=np.bincount(strata[is_known], truth[is_known], minlength=size).astype(np.float64),
            expected=self._expected,
            left=np.bincount(strata[fresh], minlength=size),
        )

    def fresh(self, pool: BoolArray, truth: FloatArray) -> int | None:
        """A claim that nobody has answered."""
        stratum = next_stratum(self.tally(pool, truth))
        if stratum is None:
            return None
        open_ones = np.flatnonzero(pool & (self._strata == stratum))
        return int(open_ones[self._ranks[open_ones].argmin()])

    def shared(self, pool: BoolArray) -> int | None:
        """A claim that another has answered."""
        found = np.flatnonzero(pool)
        return int(found[self._ranked(found.tolist(), EVERYBODY).argmin()]) if len(found) else None

    def done(self, own: BoolArray, _: BoolArray) -> int:
        """How many claims an annotator has answered."""
        return int(own.sum())

    def _ranked(self, claims: Iterable[int], annotator: str) -> IntArray:
        columns, seed = self._columns, self._seed
        owners, records, names = columns.owners.tolist(), columns.record_ids, columns.claim_ids
        return np.array([draw_rank(seed, annotator, records[owners[each]], names[each]) for each in claims])


class ResponseOrder:
    """Response by response, each as likely as any other; all claims of one are asked for, in order."""

    def __init__(self, columns: LabelledRun, settings: AnnotateSettings) -> None:
        self._columns, self._seed = columns, settings.seed
        self._ranks = self._ranked(range(len(columns.record_ids)), settings.annotator)

    def fresh(self, pool: BoolArray, _: FloatArray) -> int | None:
        """A claim that nobody has answered, of the first response in order that has one."""
        records = np.unique(self._columns.owners[pool])
        return self._first_claim(pool, records, self._ranks[records])

    def shared(self, pool: BoolArray) -> int | None:
        """A claim that another has answered."""
        records = np.unique(self._columns.owners[pool])
        return self._first_claim(pool, records, self._ranked(records.tolist(), EVERYBODY))

    def done(self, own: BoolArray, is_open: BoolArray) -> int:
        """How many responses an annotator is through with: every claim is answered, or was passed."""
        owners = self._columns.owners
        return len(np.setdiff1d(owners[own], owners[is_open & ~own]))

    def _first_claim(self, pool: BoolArray, records: IntArray, ranks: IntArray) -> int | None:
        if not len(records):
            return None
        return int(np.flatnonzero(pool & (self._columns.owners == records[ranks.argmin()]))[0])

    def _ranked(self, records: Iterable[int], annotator: str) -> IntArray:
        names = self._columns.record_ids
        return np.array([draw_rank(self._seed, annotator, names[each]) for each in records], dtype=np.int64)


class Answered(NamedTuple):
    """What has been answered; one row per claim."""

    truth: FloatArray
    """Whether it is unsupported, as annotators say; NaN where nobody could tell."""
    by_anybody: BoolArray
    by_oneself: BoolArray


def next_claim(
    drawing: ClaimOrder | ResponseOrder, answered: Answered, is_open: BoolArray, *, overlap: float
) -> int | None:
    """The number of the claim to ask for, of those that are open; None when nothing is left.

    Each so often it is one that another has answered; also when no other is left.
    """
    own = answered.by_oneself
    fresh, shared = is_open & ~answered.by_anybody, is_open & answered.by_anybody & ~own
    if not overlap:
        return drawing.fresh(fresh, answered.truth)
    if is_turn_to_share(drawing.done(own, is_open), overlap):
        found = drawing.shared(shared)
        return drawing.fresh(fresh, answered.truth) if found is None else found
    found = drawing.fresh(fresh, answered.truth)
    return drawing.shared(shared) if found is None else found


def is_turn_to_share(done: int, overlap: float) -> bool:
    """Whether the next question should be one that another has answered, so that the wanted share is.

    >>> [is_turn_to_share(done, 0.4) for done in range(5)]
    [False, False, True, False, True]
    """
    return int((done + 1) * overlap + _ROUNDING) > int(done * overlap + _ROUNDING)
