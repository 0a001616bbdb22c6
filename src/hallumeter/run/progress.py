"""How far a run has come, for whoever waits for it."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

# How far a run has come, in a small file beside its journal: others may read it while the journal is locked.

PROGRESS = "progress.json"
"""Written while a run goes on, and removed at its end."""
SILENT_SECONDS = 600.0
"""How long a process on another machine may say nothing before it counts as gone."""


class Progress(Struct, frozen=True):
    """A step of a run, and who takes it."""

    step: str
    done: int
    total: int
    """0 when nobody knows yet."""
    instrument: str
    failures: int = 0
    pid: int = 0
    host: str = ""
    born: str | None = None
    """When the process began, as the system tells it, and in which start of the system; another process may have the
    same number later."""
    noted: float = 0.0
    """Seconds since 1970."""


class ProgressFile:
    """The file, kept by the process that does the work; a disk that refuses it never stops the work."""

    def __init__(self, path: Path, *, instrument: str) -> None:
        self.path = path
        self._instrument = instrument
        self._pid = os.getpid()
        self._born = _birth(self._pid)
        self._host = platform.node()

    def write(self, step: str, *, done: int, total: int, failures: int = 0) -> None:
        """Replace what the file says, at once or not at all."""
        progress = Progress(
            step=step,
            done=done,
            total=total,
            instrument=self._instrument,
            failures=failures,
            pid=self._pid,
            host=self._host,
            born=self._born,
            noted=time.time(),
        )
        draft = self.path.with_name(f".{self.path.name}.{self._pid}")
        with suppress(OSError):
            draft.write_bytes(msgspec.json.encode(progress))
            draft.replace(self.path)

    def remove(self) -> None:
        """The work has ended."""
        for path in (self.path.with_name(f".{self.path.name}.{self._pid}"), self.path):
            with suppress(OSError):
                path.unlink(missing_ok=True)


def read_progress(path: Path) -> Progress | None:
    """What the file says; None when there is none, or when it says nothing that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Progress)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def is_alive(progress: Progress, now: float) -> bool:
    """Whether the process that wrote it is still at work; of another machine's only its silence tells."""
    is_recent = abs(now - progress.noted) < SILENT_SECONDS  # the clock may have been set back since
    # On Windows the signal 0 would end the process instead of asking for it.
    if progress.host != platform.node() or sys.platform == "win32":
        return is_recent
    try:
        os.kill(progress.pid, 0)
    except PermissionError:
        pass
    except (OSError, OverflowError):
        return False
    born = _birth(progress.pid)
    return is_recent if born is None or progress.born is None else born == progress.born


def holder(folder: Path) -> str:
    """Who works on the run of a folder, for a message; empty when nobody has said so."""
    progress = read_progress(folder / PROGRESS)
    return "" if progress is None else f" (process {progress.pid} on {progress.host or 'an unknown machine'})"


def _birth(pid: int) -> str | None:
    """When a process began, in ticks since a start of the system; None where the system does not tell."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        start = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None
    # The name of the program stands in brackets and may hold anything; a dead process that nobody buried is a Z.
    fields = stat.rpartition(")")[2].split()
    return None if len(fields) < 20 else f"{start} {fields[19]}{'-dead' if fields[0] == 'Z' else ''}"


_SECONDS_BETWEEN_NOTES = 0.25
"""A file is replaced each time, and nobody reads faster."""


class ProgressListener(Protocol):
    """Is called as a run goes on."""

    def begin(self, what: str, *, total: int, done: int = 0, spent: Callable[[], float] | None = None) -> None:
        """A step begins; so much of it was done in an earlier run. `spent` tells the dollars spent so far."""
        ...

    def done(self, more: int, *, failures: int = 0, cached: int = 0) -> None:
        """Some more was done."""
        ...


class NoProgress:
    """Shows nothing."""

    def begin(self, what: str, *, total: int, done: int = 0, spent: Callable[[], float] | None = None) -> None:
        """Say nothing."""

    def done(self, more: int, *, failures: int = 0, cached: int = 0) -> None:
        """Say nothing."""


@contextmanager
def kept_progress(listener: ProgressListener, folder: Path, *, instrument: str) -> Iterator[ProgressListener]:
    """Write the progress to a file in the run folder as well, for as long as the run lasts."""
    file = ProgressFile(folder / PROGRESS, instrument=instrument)
    try:
        yield _KeptProgress(listener, file)
    finally:
        file.remove()


class _KeptProgress:
    """Passes every call on, and writes the file a few times a second."""

    def __init__(self, listener: ProgressListener, file: ProgressFile) -> None:
        self._listener, self._file = listener, file
        self._step = "starting"
        self._done = self._total = self._failures = 0
        self._note_at = 0.0
        self._note()

    def begin(self, what: str, *, total: int, done: int = 0, spent: Callable[[], float] | None = None) -> None:
        """Note a step."""
        self._listener.begin(what, total=total, done=done, spent=spent)
        self._step, self._done, self._total, self._failures = what, done, total, 0
        self._note()

    def done(self, more: int, *, failures: int = 0, cached: int = 0) -> None:
        """Note how far it is."""
        self._listener.done(more, failures=failures, cached=cached)
        self._done += more
        self._failures += failures
        if time.monotonic() >= self._note_at or self._done == self._total:
            self._note()

    def _note(self) -> None:
        self._file.write(self._step, done=self._done, total=self._total, failures=self._failures)
        self._note_at = time.monotonic() + _SECONDS_BETWEEN_NOTES
