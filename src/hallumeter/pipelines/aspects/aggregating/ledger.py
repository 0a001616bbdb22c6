"""The counts of all scorecards, as they come in."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from hallumeter.metrics.aspects import WHOLE
from hallumeter.records.aspects.columns import ASPECT_COUNTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hallumeter.records import Failure

    from .counted import CountedCards, RunKey

MOST_PARTS = 1_000
"""Different parts of breakdowns that are told apart; reasons come from files, and need not end."""
OTHERS = "others"
FIRST_FAILURES = 1_000
"""Failures that are kept in memory."""


class Ledger:
    """Counts of scorecards, with the sentence and the run of each."""

    def __init__(self) -> None:
        self._tables: list[NDArray[np.float64]] = []
        self._said: list[NDArray[np.int64]] = []
        self._case_codes: list[int] = []
        self._run_codes: list[int] = []
        self._cases: dict[str, int] = {}
        self._unnamed = 0
        self.runs: dict[RunKey, int] = {}
        self.breakdowns: dict[RunKey, Counter[tuple[str, str]]] = {}
        self.profiles: Counter[str] = Counter()
        self.claims = self.failures_total = 0
        self.failures: list[Failure] = []

    def add(self, found: CountedCards) -> None:
        """Take some more scorecards."""
        self._tables.append(found.table)
        self._said.append(found.said)
        self._case_codes += [self._case_code(case) for case in found.cases]
        self._run_codes += [self.runs.setdefault(run, len(self.runs)) for run in found.runs]
        for run, counted in found.breakdowns.items():
            mine = self.breakdowns.setdefault(run, Counter())
            for (name, part), number in counted.items():
                is_known = part == WHOLE or (name, part) in mine or len(mine) < MOST_PARTS
                mine[(name, part) if is_known else (name, OTHERS)] += number
        self.profiles.update(found.profiles)
        if found.lines is not None:
            self.claims += found.lines.claim_count
        self.failures_total += len(found.failures)
        self.failures += found.failures[: max(0, FIRST_FAILURES - len(self.failures))]

    def column(self, name: str) -> NDArray[np.float64]:
        """One count of all scorecards. They are never put together as a whole: that would take twice the memory."""
        place = ASPECT_COUNTS.index(name)
        return np.concatenate([np.empty(0), *(table[:, place] for table in self._tables)])

    def total(self, name: str) -> float:
        """One count added up over all scorecards."""
        return float(self.column(name).sum())

    @property
    def said(self) -> NDArray[np.int64]:
        """What repeated runs compare; a sentence without an id is compared with nothing."""
        return np.concatenate([np.empty((0, 3), dtype=np.int64), *self._said])

    @property
    def cases(self) -> NDArray[np.int64]:
        """Which sentence each scorecard is of."""
        return np.array(self._case_codes, dtype=np.int64)

    @property
    def run_codes(self) -> NDArray[np.int64]:
        """Which run each scorecard is of."""
        return np.array(self._run_codes, dtype=np.int64)

    @property
    def repeated_in_a_run(self) -> int:
        """Scorecards of a sentence that its run has one of already."""
        places = self.cases * max(1, len(self.runs)) + self.run_codes
        return len(places) - len(np.unique(places))

    def __len__(self) -> int:
        return len(self._case_codes)

    def _case_code(self, case: str | None) -> int:
        """A number for each sentence; every one without an id is another."""
        if case is None:
            self._unnamed += 1
            case = f"\0{self._unnamed}"
        return self._cases.setdefault(case, len(self._cases))
