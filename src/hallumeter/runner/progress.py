"""What is told to whoever waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from hallumeter.store import PROGRESS, ProgressFile

if TYPE_CHECKING:
    from pathlib import Path

_SECONDS_BETWEEN_NOTES = 0.25
"""A file is replaced each time, and nobody reads faster."""


class Watch(Protocol):
    """Somebody who waits for a run."""

    def begin(self, what: str, *, total: int, done: int = 0, spent: Callable[[], float] | None = None) -> None:
        """A step begins; so much of it was done in an earlier run. `spent` tells the dollars spent so far."""
        ...

    def done(self, more: int, *, failures: int = 0, cached: int = 0) -> None:
        """Some more was done."""
        ...


class NoWatch:
    """Nobody waits."""

    def begin(self, what: str, *, total: int, done: int = 0, spent: Callable[[], float] | None = None) -> None:
        """Say nothing."""

    def done(self, more: int, *, failures: int = 0, cached: int = 0) -> None:
        """Say nothing."""


@contextmanager
def kept_progress(watch: Watch, folder: Path, *, instrument: str) -> Iterator[Watch]:
    """Tell somebody else as well: whoever reads the file of the progress in the run folder, for as long as it lasts."""
    file = ProgressFile(folder / PROGRESS, instrument=instrument)
    try:
        yield _KeptWatch(watch, file)
    finally:
        file.remove()


class _KeptWatch:
    """Passes on what it is told, and notes it a few times a second."""

    def __init__(self, watch: Watch, file: ProgressFile) -> None:
        self._watch, self._file = watch, file
        self._step = "starting"
        self._done = self._total = self._failures = 0
        self._note_at = 0.0
        self._note()

    def begin(self, what: str, *, total: int, done: int = 0, spent: Callable[[], float] | None = None) -> None:
        """Note a step."""
        self._watch.begin(what, total=total, done=done, spent=spent)
        self._step, self._done, self._total, self._failures = what, done, total, 0
        self._note()

    def done(self, more: int, *, failures: int = 0, cached: int = 0) -> None:
        """Note how far it is."""
        self._watch.done(more, failures=failures, cached=cached)
        self._done += more
        self._failures += failures
        if time.monotonic() >= self._note_at or self._done == self._total:
            self._note()

    def _note(self) -> None:
        self._file.write(self._step, done=self._done, total=self._total, failures=self._failures)
        self._note_at = time.monotonic() + _SECONDS_BETWEEN_NOTES
