"""Brings a database up to date: numbered SQL files, run in order in one transaction."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from hallumeter.errors import InputError

# A transaction as a block of code.


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All that the block does to a database in autocommit mode, or on any error nothing of it.

    >>> import sqlite3
    >>> database = sqlite3.connect(":memory:", isolation_level=None)
    >>> with transaction(database):
    ...     cursor = database.execute("CREATE TABLE kept (number INTEGER)")
    >>> database.execute("SELECT count(*) FROM kept").fetchone()
    (0,)
    >>> database.close()
    """
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # a full disk rolls back by itself
            database.execute("ROLLBACK")
        raise


_FILE_NAME = re.compile(r"(\d{4})_[a-z_]+\.sql")
_MARKS = {
    "journal": int.from_bytes(b"hmJ1"),
    "verdict_cache": int.from_bytes(b"hmC1"),
    "ledger": int.from_bytes(b"hmP1"),
    "labels": int.from_bytes(b"hmL1"),
}


class Schema(NamedTuple):
    """How a kind of database came to be."""

    name: str
    """The folder under `schemas`."""
    mark: int
    """The file's `application_id`: it is of this kind and not a database of something else."""
    steps: tuple[str, ...]
    """SQL statements; each step leads from one version to the next, the first to version 1."""


def schema_named(name: str) -> Schema:
    """Read the steps of a kind of database.

    >>> schema_named("journal").steps[0].startswith("CREATE TABLE")
    True
    """
    scripts = {}
    for file in (resources.files(__package__) / "schemas" / name).iterdir():
        if found := _FILE_NAME.fullmatch(file.name):
            scripts[int(found[1])] = file.read_text(encoding="utf-8")
    return Schema(name, _MARKS[name], tuple(scripts[number] for number in range(1, len(scripts) + 1)))


def migrate(database: sqlite3.Connection, path: Path, *, schema: Schema) -> None:
    """Apply the steps that a database has not seen, all in one transaction or none.

    The connection must be in autocommit mode. Raises InputError for a file of a newer version and for a database of
    another kind; faults of SQLite pass through.
    """
    if _number(database, "user_version") == len(schema.steps) and _number(database, "application_id") == schema.mark:
        return
    with transaction(database):
        version = _number(database, "user_version")  # again: another process may have been faster
        _check(database, path, schema=schema)
        for script in schema.steps[version:]:
            for statement in _statements(script):
                database.execute(statement)
        database.execute(f"PRAGMA user_version = {len(schema.steps)}")
        database.execute(f"PRAGMA application_id = {schema.mark}")


def is_made(database: sqlite3.Connection) -> bool:
    """Whether a database has any version of its tables yet."""
    return _number(database, "user_version") > 0


def _check(database: sqlite3.Connection, path: Path, *, schema: Schema) -> None:
    version, newest = _number(database, "user_version"), len(schema.steps)
    is_blank = version == 0 and not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if not is_blank and _number(database, "application_id") != schema.mark:
        kind = schema.name.replace("_", " ")
        raise InputError(f"{path}: expected a {kind} of hallumeter, found another database; choose another file")
    if version > newest:
        raise InputError(
            f"{path}: written by a newer hallumeter (version {version} of the file; this one knows {newest}); "
            "update hallumeter, or choose another file"
        )


def _number(database: sqlite3.Connection, pragma: str) -> int:
    return int(database.execute(f"PRAGMA {pragma}").fetchone()[0])


def _statements(script: str) -> Iterator[str]:
    """The statements one by one: sqlite3's executescript would commit before it begins."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        raise ValueError(f"a statement does not end with a semicolon: {pending.strip()!r}")
