"""Where an audit is kept: a folder that holds its journal from the beginning, and its files at the end."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from hallumeter.errors import InputError
from hallumeter.store import JOURNAL, MANIFEST, PROGRESS, Journal

from .identity import AuditIdentity

if TYPE_CHECKING:
    from collections.abc import Iterator

_DRAFT = ".writing-"


def is_finished(folder: Path) -> bool:
    """Whether a folder holds an audit to which nothing is left to do."""
    return (folder / MANIFEST).is_file() and not (folder / JOURNAL).exists()


def free_place(stem: str, *, is_resumed: bool = False, work: str = "audit") -> Path:
    """A folder for work whose user named none: the first that is free, or the last to go on with."""
    places = [Path(f"{stem}-{work}{f'-{number}' if number > 1 else ''}") for number in range(1, 10_000)]
    free = next(number for number, place in enumerate(places) if not os.path.lexists(place))
    return places[max(0, free - 1)] if is_resumed else places[free]


def opened_journal(folder: Path, identity: AuditIdentity, *, is_resumed: bool) -> Journal:
    """The journal of a new audit, or of one to go on with; nothing that is there is ever written over."""
    path = folder / JOURNAL
    settings = msgspec.json.encode(identity)
    if is_resumed and path.exists():
        journal = Journal.begin_or_resume(path, settings=settings)
        try:
            msgspec.json.decode(journal.settings, type=AuditIdentity).check_same(identity)
        except BaseException:
            journal.close()
            raise
        return journal
    if path.exists():
        raise InputError(f"{folder}: holds an audit that was not finished; go on with it by --resume")
    if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: exists already; choose another folder with --out, or remove it first")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}); choose another folder with --out") from error
    return Journal.create(path, settings=settings)


def give_up(folder: Path, journal: Journal) -> None:
    """Leave no trace of an audit that could not begin, so that the next finds its place free."""
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
