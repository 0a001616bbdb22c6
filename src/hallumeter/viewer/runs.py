"""The runs in a folder: found by looking, addressed by a name that is looked up, never by a path."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from hallumeter.errors import InputError
from hallumeter.formats.paths import path_below
from hallumeter.instruments import own_files
from hallumeter.records.manifest import Manifest
from hallumeter.records.measurement import Summary
from hallumeter.run.digests import check_files
from hallumeter.run.labels import LABELS
from hallumeter.run.progress import PROGRESS, Progress, is_alive, read_progress
from hallumeter.run.run_folder import BASELINES, JOURNAL, MANIFEST, RUN_FILES, RunFolder

Status = Literal["finished", "running", "stopped", "damaged"]
DEPTH = 6
"""Folders below the one that is shown; runs lie nearer."""
FOLDERS = 20_000
"""Folders that are looked into at most."""
_FRESH_SECONDS = 1.0
"""A list so young is not made again."""
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages"})
_OURS = (JOURNAL, PROGRESS, LABELS, BASELINES)


class FoundRun(Struct, frozen=True):
    """A run folder, as far as it can be read."""

    run_id: str
    """What addresses name it by; the same for the same place under the same folder."""
    name: str
    """Its place under the folder that is shown."""
    path: Path
    status: Status
    reason: str | None = None
    """Why it is damaged."""
    manifest: Manifest | None = None
    summary: Summary | None = None
    progress: Progress | None = None
    """How far a run that goes on has come, or had come when it was stopped."""

    @property
    def instrument(self) -> str | None:
        """What it measures; None when nobody can tell."""
        if self.summary is not None:
            return self.summary.instrument
        return self.progress.instrument if self.progress is not None else None

    @property
    def started(self) -> str:
        """When it began, as ISO 8601; empty when it does not tell."""
        return self.manifest.started if self.manifest is not None else ""


class RunList:
    """The runs of a folder; the list is made again when somebody asks."""

    def __init__(self, root: Path, warn: Callable[[str], None], *, verify: bool = True) -> None:
        self.root = Path(os.path.realpath(root))
        self._warn = warn
        self.is_verifying = verify
        self._warned: set[str] = set()
        self._lock = threading.Lock()
        self._found: dict[str, FoundRun] = {}
        self._found_at = -_FRESH_SECONDS
        self._read: dict[Path, tuple[object, Manifest, Summary]] = {}

    def runs(self) -> list[FoundRun]:
        """All runs, in the order of their names."""
        with self._lock:
            if time.monotonic() - self._found_at >= _FRESH_SECONDS:
                found = [self._run(path) for path in sorted(self._folders())]
                self._found = {run.run_id: run for run in found}
                self._found_at = time.monotonic()
            return list(self._found.values())

    def run(self, run_id: str) -> FoundRun | None:
        """A run as it is now; None when the list has no such name."""
        self.runs()
        with self._lock:
            known = self._found.get(run_id)
            return None if known is None else self._run(known.path)

    def _folders(self) -> Iterator[Path]:
        waiting = [(self.root, 0)]
        seen = 0
        while waiting:
            folder, depth = waiting.pop()
            seen += 1
            if seen > FOLDERS:
                self._say(f"{self.root}: holds more than {FOLDERS:,} folders; only some were looked into")
                return
            names, below = self._entries(folder)
            if _is_run(names):
                yield folder
            elif depth < DEPTH:
                waiting += [(path, depth + 1) for path in below]

    def _entries(self, folder: Path) -> tuple[set[str], list[Path]]:
        """Names of the files in a folder, and the folders in it that may be looked into."""
        names: set[str] = set()
        below: list[Path] = []
        for entry in self._shown(folder):
            if entry.is_symlink() and entry.is_dir():
                self._refuse_link(Path(entry.path))
            elif entry.is_dir(follow_symlinks=False):
                below.append(Path(entry.path))
            else:
                names.add(entry.name)
        return names, below

    def _shown(self, folder: Path) -> list[os.DirEntry[str]]:
        """What is in a folder, but for what is hidden and what is never a run."""
        try:
            with os.scandir(folder) as entries:
                return [entry for entry in entries if not entry.name.startswith(".") and entry.name not in _SKIPPED]
        except OSError as error:
            self._say(f"{folder}: cannot be looked into ({error.strerror})")
            return []

    def _refuse_link(self, path: Path) -> None:
        """A link inside the folder leads to what is found anyway; one that leads outside is said."""
        if path_below(self.root, path) is None:
            self._say(f"{path}: a link that leads outside {self.root}; it is not followed")

    def _say(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self._warn(text)

    def _run(self, path: Path) -> FoundRun:
        name = "." if path == self.root else path.relative_to(self.root).as_posix()
        run_id = hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:16]
        shown = self.root.name if name == "." else name
        shown = shown.encode(errors="replace").decode()
        outside = _leading_outside(path, self.root)
        if outside is not None:
            self._say(f"{outside}: a link that leads outside {self.root}; it is not followed")
            reason = f"{outside.name} is a link that leads outside the folder; it is not followed"
            return FoundRun(run_id, shown, path, "damaged", reason)
        progress = read_progress(path / PROGRESS)
        is_running = progress is not None and is_alive(progress, time.time())
        try:
            manifest, summary = self._facts(path)
            if self.is_verifying:
                # Sizes alone: the list is made again and again. Digests are compared when the run is opened.
                check_files(path, manifest, by_size=True)
        except InputError as error:
            if (path / MANIFEST).exists() and not is_running:
                return FoundRun(run_id, shown, path, "damaged", str(error), progress=progress)
            return FoundRun(run_id, shown, path, "running" if is_running else "stopped", progress=progress)
        status: Status = "running" if is_running else "finished"
        return FoundRun(run_id, shown, path, status, None, manifest, summary, progress if is_running else None)

    def _facts(self, path: Path) -> tuple[Manifest, Summary]:
        """Manifest and summary; read again only when one of them has changed."""
        folder = RunFolder(path)
        stamp = tuple(file_stamp(path / name) for name in (MANIFEST, "summary.json"))
        known = self._read.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, folder.manifest, folder.summary)
            self._read[path] = known
        return known[1], known[2]


def _is_run(names: set[str]) -> bool:
    """A manifest alone may be anything: web pages have files of that name."""
    return JOURNAL in names or (MANIFEST in names and not names.isdisjoint((RUN_FILES | own_files()) - {MANIFEST}))


def file_stamp(path: Path) -> tuple[int, int] | None:
    """The size of a file and when it was changed; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _leading_outside(folder: Path, root: Path) -> Path | None:
    """A file of a run that is a link to somewhere else; None when all are where they seem to be."""
    for name in (*RUN_FILES, *own_files(), *_OURS):
        path = folder / name
        if path.is_symlink() and path_below(root, path) is None:
            return path
    return None
