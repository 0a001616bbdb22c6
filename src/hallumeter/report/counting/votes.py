"""Who agrees with whom, and whether probabilities hold what they promise, while it is being counted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from hallumeter.records.columns import DECIDED_LABELS
from hallumeter.report.segmentation import CONSENSUS

from .cells import ResponseCells
from .columns import LABELS, NO_VOTE, decided_votes, majority

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .columns import Columns, FloatArray, IntArray

MOST_JUDGES = 40
"""Judges that are compared with each other: those that came first."""
BINS = 10
"""Of probabilities."""
_GOLD = re.compile(r"\b(human|gold)s?\b", re.IGNORECASE)
_LABELS = len(LABELS) - 1
_SUPPORTED = 0


def reference_judge(judges: Iterable[str]) -> str | None:
    """The judge that others are compared with: the first whose name says that it is human or gold.

    >>> reference_judge(["rules", "human:expert"]), reference_judge(["rules", "superhuman"])
    ('human:expert', None)
    """
    return next((judge for judge in judges if _GOLD.search(judge)), None)


class CalibrationTally:
    """The probabilities of one judge beside what the reference says."""

    def __init__(self) -> None:
        self.cells = ResponseCells()
        self.sums = np.zeros(BINS)
        """The probabilities of each bin added up."""
        self.without_reference = 0
        """Claims that have a probability and nothing to compare it with."""

    def add(self, records: IntArray, probabilities: FloatArray, reference: IntArray) -> None:
        """Count the claims of a batch that have a probability."""
        is_known = reference != NO_VOTE
        self.without_reference += int((~is_known).sum())
        if not is_known.any():
            return
        records, probabilities = records[is_known], probabilities[is_known]
        bins = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
        self.sums += np.bincount(bins, probabilities, minlength=BINS)
        keys = records * BINS + bins
        size = int(records.max() + 1) * BINS
        totals = np.bincount(keys, minlength=size)
        counts = np.bincount(keys[reference[is_known] != _SUPPORTED], minlength=size)
        self.cells.add(np.arange(size) % BINS, counts, totals)


class VoteTally:
    """The votes of judges on the same claims; the settled verdict of a panel is no judge of its own."""

    def __init__(self, reference: str | None) -> None:
        self.reference = reference
        self.judges: list[str] = []
        """Those that are compared."""
        self.together = np.zeros((0, 0), dtype=np.int64)
        """How often a judge gave a label where another gave one: rows and columns are judges times labels."""
        self.calibration: dict[str, CalibrationTally] = {}

    def add(self, columns: Columns) -> None:
        """Count a batch."""
        compared = {judge: number for judge, number in columns.judges.items() if judge != CONSENSUS}
        self.judges = list(compared)[:MOST_JUDGES]
        chosen = np.array([compared[judge] for judge in self.judges], dtype=np.int64)
        if not len(chosen):
            return
        table = columns.vote_table()[:, chosen]
        if len(chosen) > 1:
            self._add_pairs(table)
        if not np.isnan(columns.probabilities).all():
            self._add_probabilities(columns, table)

    def _add_pairs(self, table: IntArray) -> None:
        # One column for each judge and label; the product of the table with itself counts every pair at once.
        given = (table[:, :, np.newaxis] == np.arange(_LABELS)).reshape(len(table), -1).astype(np.float64)
        size = given.shape[1]
        counted = np.zeros((size, size), dtype=np.int64)
        known = len(self.together)
        counted[:known, :known] = self.together
        self.together = counted + (given.T @ given).astype(np.int64)

    def _add_probabilities(self, columns: Columns, table: IntArray) -> None:
        probabilities = columns.probabilities
        everybody = columns.judges.get(CONSENSUS, NO_VOTE) != columns.judge_of_verdict
        votes = decided_votes(
            columns.claim_of_verdict[everybody], columns.label_of_verdict[everybody], size=columns.claims
        )
        for place, judge in enumerate(self.judges):
            own = (columns.judge_of_verdict == columns.judges[judge]) & ~np.isnan(probabilities)
            if judge == self.reference or not own.any():
                continue
            claims = columns.claim_of_verdict[own]
            reference = self._reference(table, votes, place)[claims]
            tally = self.calibration.setdefault(judge, CalibrationTally())
            tally.add(columns.record_of_claim[claims], probabilities[own], reference)

    def _reference(self, table: IntArray, votes: IntArray, place: int) -> IntArray:
        """The decided label that a judge is compared with for each claim; NO_VOTE where there is none."""
        if self.reference is not None:
            known = (
                table[:, self.judges.index(self.reference)] if self.reference in self.judges else table[:, 0] * 0 - 1
            )
            return np.where(known < DECIDED_LABELS, known, NO_VOTE)
        own = table[:, place, np.newaxis] == np.arange(DECIDED_LABELS)
        return majority(votes - own)
