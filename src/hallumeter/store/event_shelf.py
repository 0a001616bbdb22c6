"""Where the events of each patient stand in files, kept on disk, so that files larger than memory are read in order."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from types import TracebackType

_SCHEMA = """
CREATE TABLE patient (number INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL) STRICT;
CREATE TABLE event (
    number INTEGER PRIMARY KEY, patient INTEGER NOT NULL, mode INTEGER NOT NULL, turn INTEGER NOT NULL,
    question TEXT NOT NULL, stamp TEXT NOT NULL, file INTEGER NOT NULL, line INTEGER NOT NULL,
    start INTEGER NOT NULL, size INTEGER NOT NULL
) STRICT;
CREATE TABLE script (patient TEXT PRIMARY KEY, line BLOB NOT NULL) WITHOUT ROWID, STRICT;
"""
_AT_A_TIME = 4096


class ShelvedEvent(NamedTuple):
    """Where an event stands, and what tells it from others."""

    mode: str
    turn_id: int
    question: str
    """What names the question: its id, or its words."""
    stamp: str
    """When it was answered, in a form that sorts; empty when not known."""
    file: int
    line: int
    start: int
    """First byte of the line."""
    size: int


class EventShelf:
    """A temporary database of places; patients come back in the order in which they were first seen."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hallumeter-")
        self._database = sqlite3.connect(Path(self._folder.name) / "events.sqlite")
        # Nothing here outlives the run, so nothing needs to survive a crash.
        self._database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_SCHEMA}")
        self._modes: dict[str, int] = {}
        self._waiting: list[tuple[str, ShelvedEvent]] = []
        self.events = 0

    def __enter__(self) -> EventShelf:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._database.close()
        self._folder.cleanup()

    @property
    def folder(self) -> Path:
        """A place for files that are gone with the shelf."""
        return Path(self._folder.name)

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes in order of appearance."""
        return tuple(self._modes)

    def put(self, patient: str, event: ShelvedEvent) -> None:
        """Remember where an event stands."""
        self._waiting.append((patient, event))
        self.events += 1
        if len(self._waiting) >= _AT_A_TIME:
            self._write()

    def put_scripts(self, scripts: Iterable[tuple[str, bytes]]) -> int:
        """Keep the scripts of patients, of two for one patient the first; how many were left out."""
        before = self._database.total_changes
        given = 0
        for patient, line in scripts:
            given += 1
            self._database.execute("INSERT OR IGNORE INTO script VALUES (?, ?)", (_storable(patient), line))
        return given - (self._database.total_changes - before)

    def script(self, patient: str) -> bytes | None:
        """The script of a patient."""
        found = self._database.execute("SELECT line FROM script WHERE patient = ?", (_storable(patient),)).fetchone()
        return found[0] if found else None

    def count_patients(self) -> int:
        """How many patients there are."""
        self._write()
        return int(self._database.execute("SELECT count(*) FROM patient").fetchone()[0])

    def patients(self) -> Generator[tuple[str, list[ShelvedEvent]], None, None]:
        """Every patient with all events, by mode in order of appearance, then by turn; the latest of equals last."""
        self._write()
        self._database.execute("CREATE INDEX IF NOT EXISTS by_patient ON event (patient)")
        names = tuple(self._modes)
        with closing(self._database.execute("SELECT number, name FROM patient ORDER BY number")) as patients:
            for number, name in patients:
                rows = self._database.execute(
                    "SELECT mode, turn, question, stamp, file, line, start, size FROM event WHERE patient = ?"
                    " ORDER BY mode, turn, question, stamp, number",
                    (number,),
                )
                yield name, [ShelvedEvent(names[mode], *rest) for mode, *rest in rows]

    def _write(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        names = [(_storable(patient),) for patient in dict.fromkeys(patient for patient, _ in waiting)]
        self._database.executemany("INSERT OR IGNORE INTO patient (name) VALUES (?)", names)
        found = {
            name: self._database.execute("SELECT number FROM patient WHERE name = ?", (name,)).fetchone()[0]
            for (name,) in names
        }
        self._database.executemany(
            "INSERT INTO event (patient, mode, turn, question, stamp, file, line, start, size)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    found[_storable(patient)],
                    self._modes.setdefault(event.mode, len(self._modes)),
                    event.turn_id,
                    _storable(event.question),
                    *event[3:],
                )
                for patient, event in waiting
            ],
        )


def _storable(text: str) -> str:
    """A lone surrogate cannot be stored; it stands for a character that was broken before it came here."""
    return text.encode("utf-8", "replace").decode()
