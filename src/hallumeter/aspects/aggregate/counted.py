"""Some scorecards at a time: their counts, what repeated runs compare, and their lines in tables and run files."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.aspects.metrics.counts import count_row
from hallumeter.aspects.metrics.rates import WHOLE, Repeated, breakdown_items, repeated
from hallumeter.aspects.metrics.tuples import match_tuples, pairs_of
from hallumeter.aspects.records.aspect import AspectTuple
from hallumeter.aspects.records.columns import ASPECT_COUNTS
from hallumeter.aspects.records.scorecard import Scorecard
from hallumeter.aspects.score.reading import Chunk
from hallumeter.aspects.score.scorecards import completed, scorecard_reader
from hallumeter.records.claim import Failure

from .record_lines import RecordLines, card_lines, joined_lines

# Stage 1, the result and gold of every sentence side by side: a table for people.

COLUMNS = (
    *("text_id", "run", "seed", "text", "label", "stage1", "stage2", "final", "gold"),
    *("f1_stage1", "f1_final", "status"),
)
HEAD = "\t".join(COLUMNS).encode() + b"\n"
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_FORMULA = ("=", "+", "-", "@")
"""With which a cell begins that a spreadsheet would calculate."""


def triptych_line(card: Scorecard) -> bytes:
    """The line of a sentence; what is not known is empty, and no aspect is a dash."""
    run, seed = card.run_key
    result = card.final_result
    gold = None if card.inputs is None else card.inputs.gold_tuples
    stage1, stage2, final = (
        (None, None, None) if result is None else (result.stage1_tuples, result.stage2_tuples, result.final_tuples)
    )
    cells = (
        safe_cell(card.case_id or ""),
        safe_cell(run),
        "" if seed is None else str(seed),
        safe_cell(card.text or ""),
        safe_cell(card.final_label or ""),
        *map(_shown, (stage1, stage2, final, gold)),
        _f1(stage1, gold),
        _f1(final, gold),
        "failed" if card.is_failed else "",
    )
    return "\t".join(cells).encode("utf-8", "replace") + b"\n"


def safe_cell(text: str) -> str:
    r"""A text that stays in its cell, and that no spreadsheet takes for a formula.

    >>> safe_cell("a\tb\nc"), safe_cell("=1+1")
    ('a\\tb\\nc', "'=1+1")
    """
    plain = text.translate(_ESCAPES)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain


def _shown(tuples: Sequence[AspectTuple] | None) -> str:
    if tuples is None:
        return ""
    told = "; ".join(f"{each.aspect_term or '(unnamed)'}: {each.polarity or '(missing)'}" for each in tuples)
    return safe_cell(told) if told else "–"


def _f1(tuples: Sequence[AspectTuple] | None, gold: Sequence[AspectTuple] | None) -> str:
    if tuples is None or gold is None:
        return ""
    return f"{match_tuples(tuples, pairs_of(gold)).f1:.4f}"


_ROW = struct.Struct(f"={len(ASPECT_COUNTS)}d")
RunKey = tuple[str, int | None]
"""The id of a run, and its seed."""


class CountTask(Struct, frozen=True):
    """What is wanted of scorecards."""

    profile: str | None = None
    is_kept: bool = False
    """Whether lines for tables and run files are wanted."""
    first_run: RunKey | None = None
    """The run whose sentences keep their ids as they are."""


class CountedCards(NamedTuple):
    """What some scorecards come to."""

    table: NDArray[np.float64]
    said: NDArray[np.int64]
    """What repeated runs compare."""
    cases: list[str | None]
    runs: list[RunKey]
    breakdowns: dict[RunKey, Counter[tuple[str, str]]]
    profiles: Counter[str]
    """Of all scorecards, those left out included."""
    triptych: bytes
    lines: RecordLines | None
    failures: list[Failure]


def counted_chunk(chunk: Chunk, task: CountTask) -> CountedCards:
    """Read some lines and count them."""
    failures: list[Failure] = []
    return counted_cards(map(completed, scorecard_reader().records(chunk, failures)), task, failures)


def counted_cards(cards: Iterable[Scorecard], task: CountTask, failures: list[Failure]) -> CountedCards:
    """Count scorecards, of the profile that is wanted, one after the other."""
    counting = _Counting(task)
    for card in cards:
        counting.add(card)
    return counting.counted(failures)


class _Counting:
    """Scorecards while they are counted."""

    def __init__(self, task: CountTask) -> None:
        self._task = task
        self._rows = bytearray()
        self._said: list[Repeated] = []
        self._cases: list[str | None] = []
        self._runs: list[RunKey] = []
        self._breakdowns: dict[RunKey, Counter[tuple[str, str]]] = {}
        self._profiles: Counter[str] = Counter()
        self._triptych: list[bytes] = []
        self._lines: list[RecordLines] = []

    def add(self, card: Scorecard) -> None:
        """Take one more."""
        task, named = self._task, card.chosen_profile or ""
        self._profiles[named] += 1
        if task.profile is not None and named != task.profile:
            return
        run = card.run_key
        self._rows += _ROW.pack(*count_row(card))
        self._said.append(repeated(card))
        self._cases.append(card.case_id)
        self._runs.append(run)
        mine = self._breakdowns.get(run)
        if mine is None:
            mine = self._breakdowns[run] = Counter()
        for name, part, number in breakdown_items(card):
            mine[name, part] += number
        if task.is_kept:
            self._triptych.append(triptych_line(card))
            self._lines.append(card_lines(card, task.first_run))

    def counted(self, failures: list[Failure]) -> CountedCards:
        """What they come to."""
        return CountedCards(
            np.frombuffer(self._rows, dtype=np.float64).reshape(-1, len(ASPECT_COUNTS)),
            np.array(self._said, dtype=np.int64).reshape(-1, len(Repeated._fields)),
            self._cases,
            self._runs,
            self._breakdowns,
            self._profiles,
            b"".join(self._triptych),
            joined_lines(self._lines) if self._task.is_kept else None,
            failures,
        )


# The counts of all scorecards, as they come in.

MOST_PARTS = 1_000
"""Different parts of breakdowns that are told apart; reasons come from files, and need not end."""
OTHERS = "others"
FIRST_FAILURES = 1_000
"""Failures that are kept in memory."""


class CardCounts:
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
