"""Where a run is kept: a folder that holds its journal from the beginning, and its files at the end."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import msgspec

from hallumeter.errors import InputError

from .identity import RunIdentity
from .journal import Journal
from .progress import PROGRESS
from .run_folder import JOURNAL, MANIFEST

_DRAFT = ".writing-"


def is_finished(folder: Path) -> bool:
    """Whether a folder holds a run to which nothing is left to do."""
    return (folder / MANIFEST).is_file() and not (folder / JOURNAL).exists()


def free_place(stem: str, *, is_resumed: bool = False, work: str = "audit") -> Path:
    """A folder for work whose user named none: the first that is free, or the last, to be resumed."""
    last = place = Path(f"{stem}-{work}")
    for number in count(2):
        if not os.path.lexists(place):
            break
        last, place = place, Path(f"{stem}-{work}-{number}")
    return last if is_resumed else place


@contextmanager
def opened_journal(folder: Path, identity: RunIdentity, *, is_resumed: bool = True) -> Iterator[Journal]:
    """The journal of a new run, or of one to resume; nothing that is there is ever written over.

    Raises:
        InputError: The folder holds something else, or a run that nobody asked to resume, or cannot be made.
        SettingsError: The run was begun with something else.
    """
    path, wording = folder / JOURNAL, identity.wording
    settings = msgspec.json.encode(identity)
    if path.exists():
        if not is_resumed:
            raise InputError(wording.unfinished.format(folder=folder))
        journal = Journal.begin_or_resume(path, settings=settings)
    else:
        if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(wording.taken.format(folder=folder))
        try:
            folder.mkdir(parents=identity.makes_parents, exist_ok=True)
        except OSError as error:
            raise InputError(wording.unmakable.format(folder=folder, cause=error.strerror)) from error
        journal = Journal.create(path, settings=settings)
    with journal:
        identity.check_resumable(journal.settings, folder)
        yield journal


def give_up(folder: Path, journal: Journal) -> None:
    """Leave no trace of a run that could not begin, so that the next finds its place free."""
    journal.remove()
    (folder / PROGRESS).unlink(missing_ok=True)
    with suppress(OSError):  # it was there before, and something is mounted on it or stands in it
        folder.rmdir()


@contextmanager
def written_together(folder: Path) -> Iterator[Path]:
    """A place for the files of a run; they move into the folder when all are there, the manifest last."""
    for left_over in folder.glob(f"{_DRAFT}*"):
        shutil.rmtree(left_over, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=folder))
    try:
        yield draft
        for file in sorted(draft.iterdir(), key=lambda file: file.name == MANIFEST):
            file.replace(folder / file.name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
