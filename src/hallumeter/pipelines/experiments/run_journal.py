"""The journal of a run in its folder, and whether a run to go on with is the one that is wanted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import InputError, SettingsError
from hallumeter.store import JOURNAL, Journal


def digest_of(identity: Struct) -> str:
    """Short, and another for every other identity."""
    return hashlib.sha256(msgspec.json.encode(identity)).hexdigest()[:12]


@contextmanager
def opened_journal(folder: Path, identity: Struct) -> Iterator[Journal]:
    """The journal of a new run, or of one to go on with; nothing that is there is ever written over.

    Raises:
        InputError: The folder holds something else, or cannot be made.
        SettingsError: The run was begun with something else.
    """
    path = folder / JOURNAL
    settings = msgspec.json.encode(identity)
    if path.exists():
        journal = Journal.begin_or_resume(path, settings=settings)
    else:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder}: exists already and holds no run; choose another run_id, or remove it first")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot be made ({error.strerror}); choose another output") from error
        journal = Journal.create(path, settings=settings)
    with journal:
        _check_same(_begun_with(journal, type(identity)), identity, folder)
        yield journal


def _begun_with(journal: Journal, kind: type[Struct]) -> Struct | None:
    try:
        return msgspec.json.decode(journal.settings, type=kind)
    except msgspec.DecodeError:
        return None


def _check_same(begun: Struct | None, wanted: Struct, folder: Path) -> None:
    """Refuse to go on with a run that was begun with something else."""
    advice = "give what it was begun with, or another run_id"
    if begun is None:
        raise SettingsError(f"{folder}: holds a run of another command, or of another version; choose another run_id")
    was, now = structs.asdict(begun), structs.asdict(wanted)
    changed = [
        f"{name.replace('_', ' ')} {value} (now {now[name]})" for name, value in was.items() if value != now[name]
    ]
    if changed:
        raise SettingsError(f"{folder}: holds a run that was begun with {', '.join(changed)}; {advice}")
