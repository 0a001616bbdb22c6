"""How far a run has come, in a small file beside its journal: others may read it while the journal is locked."""

from __future__ import annotations

import os
import platform
import sys
import time
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

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
    """When the process began, as the system tells it; another process may have the same number later."""
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
    is_recent = now - progress.noted < SILENT_SECONDS
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


def _birth(pid: int) -> str | None:
    """When a process began, in ticks since the system did; None where the system does not tell."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name of the program stands in brackets and may hold anything; a dead process that nobody buried is a Z.
    fields = told.rpartition(")")[2].split()
    return None if len(fields) < 20 else f"{fields[19]}{'-dead' if fields[0] == 'Z' else ''}"
