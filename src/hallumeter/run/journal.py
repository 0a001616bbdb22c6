"""The run journal: everything a run has done so far, in one SQLite file that survives the end of its process."""

from __future__ import annotations

import os
import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from hallumeter.errors import InputError

from .database import migrate, schema_named, transaction
from .progress import holder

_LOCK_SECONDS = 1.0
_PAGE_ROWS = 64
"""Few enough that pages of records with a megabyte of evidence each still fit into memory."""
_PART_BITS = 24
_LAST_PART = (1 << _PART_BITS) - 1
_BESIDE = ("", "-wal", "-shm", "-journal")
"""What SQLite appends to the name of a database for the files beside it."""


class Entry(NamedTuple):
    """One thing done: a record read, its claims, a verdict."""

    step: str
    record: int
    """The position of the record in the run, from 0."""
    part: int
    """The position of the part in the record, from 0; below 2^24."""
    body: bytes


_Body = TypeVar("_Body")
_ENCODER = msgspec.json.Encoder()


def entry_of(step: str, record: int, body: Struct, *, part: int = 0) -> Entry:
    """An entry with its body as JSON."""
    return Entry(step, record, part, _ENCODER.encode(body))


def decoded(bodies: Iterable[bytes], kind: type[_Body]) -> Iterator[_Body]:
    """Bodies as records of a type."""
    return map(msgspec.json.Decoder(kind).decode, bodies)


class Merged(Struct):
    """Entries of one step in the order of the records, taken record by record."""

    entries: Iterator[Entry]
    waiting: Entry | None = None
    is_started: bool = False

    def take(self, record: int) -> list[bytes]:
        """The bodies of a record; records must be asked for in order."""
        if not self.is_started:
            self.waiting, self.is_started = next(self.entries, None), True
        taken: list[bytes] = []
        while self.waiting is not None and self.waiting.record <= record:
            if self.waiting.record == record:
                taken.append(self.waiting.body)
            self.waiting = next(self.entries, None)
        return taken


class Done:
    """Which parts a step had done when the journal was asked; 8 bytes each.

    >>> done = Done([0, 3 << 24 | 2])
    >>> (3, 2) in done, (3, 1) in done, len(done)
    (True, False, 2)
    """

    def __init__(self, keys: Iterable[int]) -> None:
        self._keys = array("q", keys)  # in ascending order: record * 2^24 + part

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, place: tuple[int, int]) -> bool:
        record, part = place
        key = record << _PART_BITS | part
        at = bisect_left(self._keys, key)
        return at < len(self._keys) and self._keys[at] == key


class Journal:
    """An open journal, held by one process and used by one thread.

    What `add` and `note` were given is on disk when they return: it survives a kill of the process. Another process
    that opens the file meanwhile is refused; the lock is the operating system's and ends with the process.
    """

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        self.path = path
        self._database = database
        self.is_open = True
        self._steps: dict[str, int] = dict(database.execute("SELECT name, number FROM step"))

    @classmethod
    def create(cls, path: Path, *, settings: bytes) -> Journal:
        """Begin the journal of a run; one that was killed before it had begun is begun again."""
        with _mended(path):
            database = _opened(path, mode="rwc")
            if not _begun(database, settings):
                database.close()
                raise InputError(f"{path}: holds a run already; resume it, or choose another folder")
            return cls(path, database)

    @classmethod
    def begin_or_resume(cls, path: Path, *, settings: bytes) -> Journal:
        """Open the journal of a run; one that was killed before it had begun is begun with these settings."""
        _check_writable(path)
        with _mended(path):
            database = _opened(path, mode="rw")
            _begun(database, settings)
            return cls(path, database)

    @classmethod
    def resume(cls, path: Path) -> Journal:
        """Open the journal of a run that was begun."""
        _check_writable(path)
        with _mended(path):
            database = _opened(path, mode="rw")
            if database.execute("SELECT count(*) FROM run").fetchone()[0] == 0:
                database.close()
                raise InputError(f"{path}: the run was ended before it had begun; remove the folder and start again")
            return cls(path, database)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    @property
    def settings(self) -> bytes:
        """What `create` was given."""
        with _mended(self.path):
            return bytes(self._database.execute("SELECT settings FROM run").fetchone()[0])

    def note(self, name: str, value: bytes) -> None:
        """Keep a small fact under a name; a later value replaces it."""
        with _mended(self.path):
            self._database.execute("INSERT OR REPLACE INTO note VALUES (?, ?)", (name, value))

    def noted(self, name: str) -> bytes | None:
        """The fact kept under a name; None when there is none."""
        with _mended(self.path):
            row = self._database.execute("SELECT value FROM note WHERE name = ?", (name,)).fetchone()
        return None if row is None else bytes(row[0])

    def add(self, rows: Iterable[Entry]) -> None:
        """Keep all of these entries or, on any error, none; one with the place of an earlier entry replaces it."""
        known = dict(self._steps)
        try:
            with _mended(self.path), transaction(self._database):
                self._database.executemany(
                    "INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?)",
                    ((self._number_of(step), record, part, body) for step, record, part, body in rows),
                )
        except BaseException:
            self._steps = known  # steps first named in these rows were taken back with them
            raise

    def entries(self, step: str, *, after: int = -1) -> Iterator[Entry]:
        """The entries of a step in order of record and part, from the record that follows `after`.

        Read a few dozen at a time: entries may be added meanwhile, and are seen when their place is still ahead.
        """
        page = (
            "SELECT record, part, body FROM entry WHERE step = ? AND (record, part) > (?, ?) "
            "ORDER BY record, part LIMIT ?"
        )
        record, part = after, _LAST_PART
        while True:
            with _mended(self.path):
                rows = self._database.execute(page, (self._steps.get(step), record, part, _PAGE_ROWS)).fetchall()
            for record, part, body in rows:
                yield Entry(step, record, part, body)
            if len(rows) < _PAGE_ROWS:
                return

    def of_record(self, step: str, record: int) -> list[Entry]:
        """The entries of one record, in order of their parts."""
        query = "SELECT part, body FROM entry WHERE step = ? AND record = ? ORDER BY part"
        with _mended(self.path):
            rows = self._database.execute(query, (self._steps.get(step), record)).fetchall()
        return [Entry(step, record, part, body) for part, body in rows]

    def done(self, step: str) -> Done:
        """What the step has done by now; entries added later are not in it."""
        query = "SELECT record << 24 | part FROM entry WHERE step = ? ORDER BY record, part"
        with _mended(self.path):
            return Done(key for (key,) in self._database.execute(query, (self._steps.get(step),)))

    def count(self, step: str) -> int:
        """How many entries the step has."""
        query = "SELECT count(*) FROM entry WHERE step = ?"
        with _mended(self.path):
            return int(self._database.execute(query, (self._steps.get(step),)).fetchone()[0])

    def close(self) -> None:
        """Let go of the file; another process may open it then."""
        self.is_open = False
        self._database.close()

    def remove(self) -> None:
        """Close the journal and delete it."""
        self.close()
        for suffix in _BESIDE:
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _number_of(self, step: str) -> int:
        if step not in self._steps:
            cursor = self._database.execute("INSERT INTO step (name) VALUES (?) RETURNING number", (step,))
            self._steps[step] = int(cursor.fetchone()[0])
        return self._steps[step]


def _begun(database: sqlite3.Connection, settings: bytes) -> bool:
    """Begin a run, unless there is one."""
    return database.execute("INSERT OR IGNORE INTO run (number, settings) VALUES (1, ?)", (settings,)).rowcount > 0


def _check_writable(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"{path}: no such journal; there is no run to resume here")
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        raise InputError(f"{path}: cannot be written; check the rights of the file and its folder")


def _opened(path: Path, *, mode: str) -> sqlite3.Connection:
    """A connection that has the file for itself."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    database = sqlite3.connect(address, uri=True, timeout=_LOCK_SECONDS, isolation_level=None)
    try:
        # Set before the first access, this keeps the lock for as long as the connection lives and needs no shared
        # memory, so that it works on network file systems too.
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("PRAGMA page_size = 16384")  # records with their evidence are long: 3 times as fast as 4096
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        migrate(database, path, schema=schema_named("journal"))
    except BaseException:
        database.close()
        raise
    return database


@contextmanager
def _mended(path: Path) -> Iterator[None]:
    """Say in words of the user what SQLite says in its own."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise  # a fault of the caller, not of the file
    except sqlite3.DatabaseError as error:
        raise InputError(f"{path}: {_advice(error, path)}") from error


def _advice(error: sqlite3.DatabaseError, path: Path) -> str:
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"another hallumeter works on this run{holder(path.parent)}; wait for it to end"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return f"damaged ({error}); start the run again in another folder"
        case sqlite3.SQLITE_FULL:
            return "the disk is full; make room and resume the run"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return f"cannot be written ({error}); check the rights of the folder"
        case _:
            return f"cannot be used ({error}); resume the run when the disk is well"
