"""The verdict cache: what judges have said before, by the hash of everything they were asked."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Protocol

from hallumeter.errors import InputError

from .database import Schema, migrate, schema_named, transaction

# Where things are kept that outlive a run.

IMAGES = "images"
"""The folder in the cache with images of pages that were fetched."""
VIEWS = "views"
"""The folder in the cache with the indexes by which runs are shown."""


def cache_folder() -> Path:
    r"""The folder for what can be made again: `HALLUMETER_CACHE`, else a folder where the system keeps such things.

    That is `XDG_CACHE_HOME/hallumeter` or `~/.cache/hallumeter`, on Windows `%LOCALAPPDATA%\hallumeter\cache`, on
    macOS `~/Library/Caches/hallumeter`. The folder may not exist yet.
    """
    if chosen := os.environ.get("HALLUMETER_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else _home() / "AppData" / "Local") / "hallumeter" / "cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "hallumeter"
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification says that a relative path there is to be ignored.
    return (Path(chosen) if Path(chosen).is_absolute() else _home() / ".cache") / "hallumeter"


def _home() -> Path:
    """Path.home, which fails for a user without an entry in the system's list (as in a container)."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.sep)


FILE_NAME = "verdicts.sqlite"
_LOCK_SECONDS = 5.0
_CHUNK_SIZES = (1, 16, 256)
"""A chunk of keys is filled up to one of these sizes, so that few statements are prepared, and each once."""
_SELECTS = {
    size: f"SELECT key, body FROM verdict WHERE key IN ({', '.join('?' * size)})"  # noqa: S608 (question marks only)
    for size in _CHUNK_SIZES
}
_BESIDE = ("-wal", "-shm", "")
"""What SQLite appends to the name of a database; the database comes last, as it decides whether there is one."""


class Replies(Protocol):
    """What judges and models said before, by the hash of everything that they were asked."""

    @property
    def trouble(self) -> str | None:
        """One line for the user about what went wrong; None when all is well."""
        ...

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What is known, by key."""
        ...

    def put_many(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep rows by key; they are kept when this returns."""
        ...

    def __enter__(self) -> Replies: ...

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None: ...


class VerdictCache:
    """A cache that several processes may use at once, each from one thread.

    The state of the file never raises an error: the cache then says so in `trouble` and forgets, and the work goes on.
    A damaged file is set aside and a fresh one begun; any other trouble switches the cache off.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_folder() / FILE_NAME
        self.trouble: str | None = None
        """One line for the user about what went wrong; None when all is well."""
        self._database: sqlite3.Connection | None = None
        self._inode: int | None = None
        self._open()

    @classmethod
    def in_folder(cls, folder: Path) -> VerdictCache:
        """The cache of a folder, under its usual name."""
        return cls(folder / FILE_NAME)

    def __enter__(self) -> VerdictCache:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def __bool__(self) -> bool:
        return True  # an empty cache is a cache

    def __len__(self) -> int:
        """How many verdicts are kept; 0 when the cache is off."""
        with self._forgiving() as database:
            if database is not None:
                return int(database.execute("SELECT count(*) FROM verdict").fetchone()[0])
        return 0

    @property
    def is_on(self) -> bool:
        """False when trouble has switched the cache off, or it was closed: it then finds nothing and keeps nothing."""
        return self._database is not None

    @property
    def size_bytes(self) -> int:
        """Bytes on disk, with the files beside the database."""
        size = 0
        for suffix in _BESIDE:
            with suppress(OSError):
                size += self._beside(suffix).stat().st_size
        return size

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The verdicts that are known, by key."""
        found: dict[bytes, bytes] = {}
        with self._forgiving() as database:
            if database is not None:
                ordered = sorted(keys)  # neighbours share a page of the file
                for start in range(0, len(ordered), _CHUNK_SIZES[-1]):
                    chunk = ordered[start : start + _CHUNK_SIZES[-1]]
                    size = next(size for size in _CHUNK_SIZES if size >= len(chunk))
                    filling = [chunk[0]] * (size - len(chunk))
                    found.update(database.execute(_SELECTS[size], [*chunk, *filling]))
        return found

    def put_many(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep verdicts by key, in one transaction; a later one replaces an earlier one."""
        listed = list(rows)  # an error of the caller's iterator is the caller's, and comes before the transaction
        with self._forgiving() as database:
            if database is not None and listed:
                with transaction(database):
                    database.executemany("INSERT OR REPLACE INTO verdict (key, body) VALUES (?, ?)", listed)

    def clear(self) -> None:
        """Forget everything and give the space back; `trouble` says when that was not possible."""
        with self._forgiving() as database:
            if database is not None:
                database.execute("DELETE FROM verdict")
                database.execute("VACUUM")
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Let go of the file."""
        if self._database is not None:
            # Closing writes the log back into the database; where that fails, the next process does it.
            with suppress(sqlite3.Error):
                self._database.close()
            self._database = None

    @contextmanager
    def _forgiving(self) -> Iterator[sqlite3.Connection | None]:
        """The database, None when the cache is off; trouble with the file ends the block without an error."""
        try:
            yield self._database
        except (sqlite3.ProgrammingError, sqlite3.IntegrityError):
            raise  # a fault of the caller, not of the file
        except (sqlite3.Error, OSError) as error:
            self._react(error)

    def _open(self) -> None:
        schema = schema_named("verdict_cache")
        with self._forgiving():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._database = _opened(self.path, schema=schema)
                self._inode = self.path.stat().st_ino
            except InputError as error:
                self.trouble = f"the verdict cache is off: {error}"

    def _react(self, error: sqlite3.Error | OSError) -> None:
        is_damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
        self.close()
        if not is_damaged or self.trouble is not None:
            self.trouble = f"the verdict cache is off: {self.path}: {error}; verdicts are asked for again"
            return
        aside = f"{self.path.name}.damaged"
        self.trouble = f"the verdict cache was damaged ({error}); it was set aside as {aside} and a fresh one begun"
        try:
            self._set_aside(aside)
        except OSError as reason:
            self.trouble = f"the verdict cache is off: {self.path}: damaged ({error}), and cannot be moved: {reason}"
            return
        self._open()

    def _set_aside(self, name: str) -> None:
        if self._inode not in (None, self.path.stat().st_ino):
            return  # another process has set it aside already, and this is the fresh one
        for suffix in _BESIDE:
            with suppress(FileNotFoundError):
                self._beside(suffix).replace(self.path.with_name(name + suffix))

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)


def _opened(path: Path, *, schema: Schema) -> sqlite3.Connection:
    # isolation_level=None: transactions begin and end where this module says so.
    # Who uses it from several threads lets one in at a time.
    database = sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        use_log(database)
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute(
            "PRAGMA cache_size = -32768"
        )  # 32 MiB of pages: keys are hashes, so every lookup goes elsewhere
        migrate(database, path, schema=schema)
    except BaseException:
        database.close()
        raise
    return database


def use_log(database: sqlite3.Connection) -> None:
    """Write-ahead logging; SQLite does not wait by itself when two processes ask for it on a fresh file."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
