"""Comparisons of two runs: made in a thread of their own when first asked for, and kept while both are as they were."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from msgspec import Struct

from hallumeter.decide.compare.pipeline import compare
from hallumeter.errors import HallumeterError
from hallumeter.records.comparison import Comparison
from hallumeter.run.finished import load
from hallumeter.run.progress import Progress, ProgressFile, read_progress
from hallumeter.run.run_folder import CLAIMS, MANIFEST, MEASUREMENTS, RECORDS, VERDICTS, is_sharded

from .index.build import build_index, index_path
from .index.reading import Index
from .runs import file_stamp

Key = tuple[object, ...]


# Indexes of runs: made in a process of their own when first needed, and kept open while they are true.

_OPEN = 8
"""Indexes that are kept open."""
INDEXING = "indexing"
STARTED = Progress(step=INDEXING, done=0, total=0, instrument="")


_SMALL_BYTES = 2_000_000


class _Work(Struct, frozen=True):
    """An index on its way."""

    process: BaseProcess
    answers: Connection
    notes: Path


class Library:
    """The indexes that this server uses."""

    def __init__(self, *, verify: bool = True) -> None:
        self._is_verifying = verify
        self._lock = threading.Lock()
        self._open: dict[Path, Index] = {}
        self._works: dict[Path, _Work] = {}
        self._faults: dict[Path, str] = {}
        self._context = multiprocessing.get_context("spawn")

    def index(self, run: Path) -> Index | None:
        """The index of a run; None while there is none, which is then begun."""
        path = index_path(run)
        with self._lock:
            self._collect(path)
            if path in self._open:
                return self._open[path]
            for older in list(self._open)[: 1 - _OPEN]:
                self._open.pop(older).close()
            if path.exists():
                self._open[path] = Index(path)
                return self._open[path]
            if path in self._works or path in self._faults:
                return None
            if _is_small(run):
                return self._made_at_once(run, path)
            self._works[path] = self._begun(run, path)
        return None

    def _made_at_once(self, run: Path, path: Path) -> Index | None:
        """To begin a process would take longer than the work."""
        try:
            self._open[path] = Index(build_index(run, _say_nothing, verify=self._is_verifying))
        except (HallumeterError, OSError) as error:
            self._faults[path] = str(error)
        return self._open.get(path)

    def fault(self, run: Path) -> str | None:
        """Why the index of a run as it is now cannot be made; None when nothing speaks against it."""
        return self._faults.get(index_path(run))

    def progress(self, run: Path) -> Progress:
        """How far an index that was begun has come."""
        work = self._works.get(index_path(run))
        return (read_progress(work.notes) if work is not None else None) or STARTED

    def close(self) -> None:
        """End the work and let all files go."""
        with self._lock:
            for work in self._works.values():
                work.process.terminate()
                work.process.join()
                work.notes.unlink(missing_ok=True)
            for index in self._open.values():
                index.close()
            self._works, self._open = {}, {}

    def _begun(self, run: Path, path: Path) -> _Work:
        path.parent.mkdir(parents=True, exist_ok=True)
        answers, outcome = self._context.Pipe(duplex=False)
        notes = path.with_suffix(".progress")
        told = {"outcome": outcome, "is_verifying": self._is_verifying}
        process = self._context.Process(target=_work, args=(run, notes), kwargs=told, daemon=True)
        process.start()
        outcome.close()
        return _Work(process, answers, notes)

    def _collect(self, path: Path) -> None:
        """Take note of work that has ended."""
        work = self._works.get(path)
        if work is None or work.process.is_alive():
            return
        del self._works[path]
        try:
            fault = work.answers.recv() if work.answers.poll() else "the work on it was ended"
        except EOFError:
            fault = "the work on it was ended"
        work.answers.close()
        work.notes.unlink(missing_ok=True)
        if fault is not None:
            self._faults[path] = fault


def _say_nothing(_done: int, _total: int) -> None:
    """Nobody waits."""


def _is_small(run: Path) -> bool:
    if is_sharded(run):
        return False
    try:
        return sum((run / name).stat().st_size for name in (RECORDS, CLAIMS, VERDICTS)) <= _SMALL_BYTES
    except OSError:
        return True


def _work(run: Path, notes: Path, *, outcome: Connection, is_verifying: bool) -> None:
    """Make an index; runs in a process of its own, so that the server goes on answering meanwhile."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends it
    if hasattr(os, "nice"):
        os.nice(10)  # whoever waits for a page comes first
    file = ProgressFile(notes, instrument="")
    try:
        build_index(run, lambda done, total: file.write(INDEXING, done=done, total=total), verify=is_verifying)
        outcome.send(None)
    except (HallumeterError, OSError) as error:
        outcome.send(str(error))
    except Exception as error:
        outcome.send(f"{type(error).__name__}: {error}")
    finally:
        file.remove()


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

    def __init__(self, *, verify: bool = True) -> None:
        self._is_verifying = verify
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
                work.result = compare(*(load(run, verify=self._is_verifying) for run in (first, second)))
            except (HallumeterError, OSError) as error:
                work.fault = str(error)
            except Exception as error:  # the page says it; the server goes on
                work.fault = f"{type(error).__name__}: {error}"
            finally:
                work.done.set()


def _state(run: Path) -> Key:
    """What changes when a run is made anew."""
    return tuple(file_stamp(run / name) for name in (MANIFEST, RECORDS, CLAIMS, VERDICTS, MEASUREMENTS))
