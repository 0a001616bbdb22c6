"""Some scorecards at a time: their counts, what repeated runs compare, and their lines in tables and run files."""

from __future__ import annotations

import struct
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct

from hallumeter.metrics.aspects import Repeated, breakdown_items, count_row, repeated
from hallumeter.pipelines.aspects.scoring import completed, scorecard_reader
from hallumeter.records.aspects.columns import ASPECT_COUNTS

from .record_lines import RecordLines, card_lines, joined_lines
from .triptych import triptych_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from hallumeter.pipelines.aspects.scoring.reading import Chunk
    from hallumeter.records import Failure
    from hallumeter.records.aspects.scorecard import Scorecard

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
