"""Comparisons of two runs: made in a thread of their own when first asked for, and kept while both are as they were."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from hallumeter.errors import HallumeterError
from hallumeter.pipelines.comparing import compare
from hallumeter.store import CLAIMS, MANIFEST, MEASUREMENTS, RECORDS, VERDICTS

from .runs import file_stamp

if TYPE_CHECKING:
    from pathlib import Path

    from hallumeter.records.decisions.comparison import Comparison

    Key = tuple[object, ...]

PATIENCE = 2.0
"""Seconds that a page waits for a comparison before it says that it takes longer."""
_KEPT = 16


class Work:
    """A comparison on its way, or at its end."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.result: Comparison | None = None
        self.fault: str | None = None
        """Why these runs cannot be compared."""


class Comparisons:
    """The comparisons that this server was asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._works: dict[Key, Work] = {}

    def of(self, first: Path, second: Path, *, patience: float | None = None) -> Work:
        """The comparison, begun if it was not; whether it is done says the event."""
        key = (first, second, _state(first), _state(second))
        with self._lock:
            work = self._works.get(key)
            if work is None:
                for older in [key for key, each in self._works.items() if each.done.is_set()][: 1 - _KEPT]:
                    del self._works[older]
                work = self._works[key] = Work()
                # It ends with the server, whatever it is doing.
                threading.Thread(target=self._compare, args=(work, first, second), daemon=True).start()
        work.done.wait(PATIENCE if patience is None else patience)
        return work

    def _compare(self, work: Work, first: Path, second: Path) -> None:
        """One after the other, so that the server keeps answering."""
        with self._turn:
            try:
                work.result = compare(first, second)
            except (HallumeterError, OSError) as error:
                work.fault = str(error)
            except Exception as error:  # the page says it; the server goes on
                work.fault = f"{type(error).__name__}: {error}"
            finally:
                work.done.set()


def _state(run: Path) -> Key:
    """What changes when a run is made anew."""
    return tuple(file_stamp(run / name) for name in (MANIFEST, RECORDS, CLAIMS, VERDICTS, MEASUREMENTS))
