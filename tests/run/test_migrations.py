"""Databases grow from any older version to the present one, or are left exactly as they were."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from hallumeter.errors import InputError
from hallumeter.run.database import Schema, migrate, schema_named
from hallumeter.run.journal import Entry, Journal

FIRST = "CREATE TABLE verdict (key TEXT NOT NULL) STRICT;\nINSERT INTO verdict VALUES ('a;b');\n"
SECOND = "-- adds a column;\nALTER TABLE verdict ADD COLUMN judge TEXT;\n"
THIRD = "UPDATE verdict\n  SET judge = 'rules';\nCREATE INDEX by_judge ON verdict (judge);"
PLACE = Path("some.sqlite")


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    yield connection
    connection.close()


def schema(*steps: str) -> Schema:
    return Schema("journal", 77, steps)


def number(database: sqlite3.Connection, pragma: str) -> int:
    return int(database.execute(f"PRAGMA {pragma}").fetchone()[0])


def test_a_blank_file_and_every_older_version_arrive_at_the_same_place(database: sqlite3.Connection) -> None:
    for steps in ((FIRST,), (FIRST, SECOND), (FIRST, SECOND), (FIRST, SECOND, THIRD)):
        migrate(database, PLACE, schema=schema(*steps))
        assert (number(database, "user_version"), number(database, "application_id")) == (len(steps), 77)
    assert database.execute("SELECT * FROM verdict").fetchall() == [("a;b", "rules")]
    at_once = sqlite3.connect(":memory:", isolation_level=None)
    migrate(at_once, PLACE, schema=schema(FIRST, SECOND, THIRD))
    assert list(at_once.iterdump()) == list(database.iterdump())
    at_once.close()


@pytest.mark.parametrize("broken", ["UPDATE verdict SET missing = 1;", "DELETE FROM verdict"])
def test_a_step_that_fails_leaves_the_file_as_it_was(database: sqlite3.Connection, broken: str) -> None:
    migrate(database, PLACE, schema=schema(FIRST))
    before = list(database.iterdump())
    with pytest.raises((sqlite3.OperationalError, ValueError)):
        migrate(database, PLACE, schema=schema(FIRST, SECOND, broken))
    assert list(database.iterdump()) == before
    assert number(database, "user_version") == 1
    assert not database.in_transaction


def test_a_newer_file_is_refused_with_both_versions(database: sqlite3.Connection) -> None:
    migrate(database, PLACE, schema=schema(FIRST, SECOND, THIRD))
    with pytest.raises(InputError, match=r"^some.sqlite: written by a newer hallumeter \(version 3 .* knows 2\)"):
        migrate(database, PLACE, schema=schema(FIRST, SECOND))


def test_a_database_of_another_kind_or_program_is_refused_and_not_changed(database: sqlite3.Connection) -> None:
    database.execute("CREATE TABLE theirs (name TEXT)")
    before = list(database.iterdump())
    for version in (0, 1, 2):
        database.execute(f"PRAGMA user_version = {version}")
        with pytest.raises(InputError, match="expected a journal of hallumeter, found another database"):
            migrate(database, PLACE, schema=schema(FIRST))
    assert list(database.iterdump()) == before


@pytest.mark.parametrize("name", ["journal", "verdict_cache"])
def test_the_steps_of_the_package_are_numbered_without_gaps_and_make_strict_tables(
    name: str, database: sqlite3.Connection
) -> None:
    found = schema_named(name)
    assert found.steps
    migrate(database, PLACE, schema=found)
    tables = database.execute("SELECT name, strict FROM pragma_table_list WHERE name NOT LIKE 'sqlite_%'").fetchall()
    assert tables
    assert all(is_strict for _, is_strict in tables)


def test_a_journal_of_version_1_as_it_was_first_written_can_still_be_read(tmp_path: Path) -> None:
    # The tables as version 1 made them, written out here so that a change to a published step is noticed.
    path = tmp_path / "journal.sqlite"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.executescript("""
        CREATE TABLE run (number INTEGER PRIMARY KEY CHECK (number = 1), settings BLOB NOT NULL) STRICT;
        CREATE TABLE note (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID, STRICT;
        CREATE TABLE step (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE entry (step INTEGER NOT NULL, record INTEGER NOT NULL, part INTEGER NOT NULL,
            body BLOB NOT NULL, PRIMARY KEY (step, record, part)) WITHOUT ROWID, STRICT;
        INSERT INTO run VALUES (1, x'7b7d');
        INSERT INTO note VALUES ('read', x'31');
        INSERT INTO step VALUES (4, 'verdict');
        INSERT INTO entry VALUES (4, 2, 1, x'41');
        PRAGMA application_id = 0x686D4A31;
        PRAGMA user_version = 1;
    """)
    writer.close()
    with Journal.resume(path) as journal:
        assert journal.settings == b"{}"
        assert journal.noted("read") == b"1"
        assert list(journal.entries("verdict")) == [Entry("verdict", 2, 1, b"A")]
