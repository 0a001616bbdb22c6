"""Texts of pages on disk, so that tables larger than memory can be joined page by page."""

from __future__ import annotations

import sqlite3
import tempfile
import unicodedata
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import TracebackType

    from hallumeter.records import FieldValue

_SCHEMA = """
CREATE TABLE page (number INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, reference TEXT) STRICT;
CREATE TABLE reading (
    page INTEGER NOT NULL, engine INTEGER NOT NULL, response TEXT NOT NULL, fields TEXT NOT NULL,
    PRIMARY KEY (page, engine)
) WITHOUT ROWID, STRICT;
"""


class ShelvedReading(NamedTuple):
    """What an engine wrote for a page."""

    engine: str
    response: str
    fields: dict[str, FieldValue]


class ShelvedPage(NamedTuple):
    """A page with all its readings, engines in the order in which they were first seen."""

    page: str
    reference: str | None
    """None when no row had one."""
    readings: tuple[ShelvedReading, ...]


class PageShelf:
    """A temporary database of references and responses; pages come back in the order in which they were first seen."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hallumeter-")
        self._database = sqlite3.connect(Path(self._folder.name) / "pages.sqlite")
        # Nothing here outlives the run, so nothing needs to survive a crash.
        self._database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_SCHEMA}")
        self._engines: dict[str, int] = {}

    def __enter__(self) -> PageShelf:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._database.close()
        self._folder.cleanup()

    @property
    def engines(self) -> tuple[str, ...]:
        """Names of the engines, in order of appearance."""
        return tuple(self._engines)

    def count_paired(self) -> int:
        """How many pages have a reference and a reading."""
        paired = "SELECT count(*) FROM page WHERE reference IS NOT NULL AND number IN (SELECT page FROM reading)"
        return int(self._database.execute(paired).fetchone()[0])

    def put_reference(self, page: str, reference: str) -> bool:
        """Keep the reference of a page; False when it has another one already, which is kept."""
        name, text = _page_name(page), _storable(reference)
        self._database.execute("INSERT OR IGNORE INTO page (name) VALUES (?)", (name,))
        self._database.execute("UPDATE page SET reference = ? WHERE name = ? AND reference IS NULL", (text, name))
        row = self._database.execute("SELECT reference FROM page WHERE name = ?", (name,)).fetchone()
        return bool(row[0] == text)

    def put_reading(self, page: str, reading: ShelvedReading) -> bool:
        """Keep what an engine wrote; False when it has a reading of that page already, which is kept."""
        name = _page_name(page)
        self._database.execute("INSERT OR IGNORE INTO page (name) VALUES (?)", (name,))
        engine = self._engines.setdefault(_storable(reading.engine), len(self._engines))
        fields = {
            _storable(key): _storable(value) if isinstance(value, str) else value
            for key, value in reading.fields.items()
        }
        cursor = self._database.execute(
            "INSERT OR IGNORE INTO reading SELECT number, ?, ?, ? FROM page WHERE name = ?",
            (engine, _storable(reading.response), msgspec.json.encode(fields).decode(), name),
        )
        return cursor.rowcount == 1

    def pages(self) -> Generator[ShelvedPage, None, None]:
        """Every page with its readings."""
        names = tuple(self._engines)
        with closing(self._database.execute("SELECT number, name, reference FROM page ORDER BY number")) as rows:
            for number, name, reference in rows:
                found = self._database.execute(
                    "SELECT engine, response, fields FROM reading WHERE page = ? ORDER BY engine", (number,)
                )
                readings = tuple(
                    ShelvedReading(names[engine], response, msgspec.json.decode(fields))
                    for engine, response, fields in found
                )
                yield ShelvedPage(name, reference, readings)


def _page_name(page: str) -> str:
    """Names in the form NFC: a Korean name is one name, whichever system wrote it."""
    return unicodedata.normalize("NFC", _storable(page))


def _storable(text: str) -> str:
    """A lone surrogate cannot be stored; it stands for a character that was broken before it came here."""
    return text.encode("utf-8", "replace").decode()
