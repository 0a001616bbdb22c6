"""From files, or from events in Python, to patients with all their answers."""

from __future__ import annotations

import gzip
import hashlib
import shutil
import sqlite3
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple

import msgspec
from msgspec import Struct

from hallumeter.dialogue.records import EVENTS, Event
from hallumeter.errors import InputError, RecordError
from hallumeter.records.claim import Failure
from hallumeter.records.manifest import InputFile
from hallumeter.run.inputs import rereadable_files
from hallumeter.run.run_folder import is_sharded

from .events import event_key, script_of
from .patients import PatientTask, RawEvent

# Where the events of each patient stand in files, kept on disk, so that files larger than memory are read in order.

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


class StoredEvent(NamedTuple):
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


class EventTable:
    """A temporary database of places; patients come back in the order in which they were first seen."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hallumeter-")
        self._database = sqlite3.connect(Path(self._folder.name) / "events.sqlite")
        # Nothing here outlives the run, so nothing needs to survive a crash.
        self._database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_SCHEMA}")
        self._modes: dict[str, int] = {}
        self._waiting: list[tuple[str, StoredEvent]] = []
        self.events = 0

    def __enter__(self) -> EventTable:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._database.close()
        self._folder.cleanup()

    @property
    def folder(self) -> Path:
        """A place for files that are gone with the table."""
        return Path(self._folder.name)

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes in order of appearance."""
        return tuple(self._modes)

    def put(self, patient: str, event: StoredEvent) -> None:
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

    def patients(self) -> Generator[tuple[str, list[StoredEvent]], None, None]:
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
                yield name, [StoredEvent(names[mode], *rest) for mode, *rest in rows]

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


_LONGEST_LINE = 64 << 20
"""A longer line is hardly one answer, and must not fill the memory."""
_MARK = b"\xef\xbb\xbf"
_IN_PYTHON = "events"


class Dialogues(Struct):
    """The patients of a measurement, and what could not be read."""

    patients: Generator[PatientTask, None, None]
    """Read once, as they are measured."""
    count: int
    events: int
    """Lines that hold an event."""
    modes: tuple[str, ...]
    inputs: tuple[InputFile, ...]
    failures: list[Failure]
    notices: list[str]
    """What is known before anything is measured; more is added while patients are read."""
    scripts: Path | None = None
    """Where the facts and questions of patients come from, beside the events."""
    replaced: int = 0
    """Events that a later one of the same patient, mode, turn and question replaces."""


@contextmanager
def opened_files(paths: Sequence[Path], scripts: Path | None = None) -> Iterator[Dialogues]:
    """The dialogues in some files of events."""
    with rereadable_files(paths) as files, EventTable() as events_table, ExitStack() as stack:
        plain = [(name, _plain_file(path, events_table, number)) for number, (name, path) in enumerate(files)]
        failures: list[Failure] = []
        notices: list[str] = []
        inputs = [
            _fill(events_table, name, path, number=number, failures=failures)
            for number, (name, path) in enumerate(plain)
        ]
        if scripts is not None:
            inputs.append(_fill_scripts(events_table, scripts, failures=failures, notices=notices))
        streams = [(name, stack.enter_context(path.open("rb"))) for name, path in plain]
        found = _dialogues(events_table, streams, inputs=tuple(inputs), failures=failures, notices=notices)
        found.scripts = scripts
        yield found


@contextmanager
def opened_events(events: Iterable[Event | Mapping[str, object]]) -> Iterator[Dialogues]:
    """Dialogues given in Python, as events or as mappings like the lines of a file."""
    with EventTable() as events_table, ExitStack() as stack:
        path = events_table.folder / "events.jsonl"
        with path.open("wb") as stream:
            stream.writelines(msgspec.json.encode(event) + b"\n" for event in events)
        failures: list[Failure] = []
        _fill(events_table, _IN_PYTHON, path, number=0, failures=failures)
        if failures:
            raise RecordError(failures[0].message)
        streams = [(_IN_PYTHON, stack.enter_context(path.open("rb")))]
        yield _dialogues(events_table, streams, inputs=(), failures=failures, notices=[])


def _dialogues(
    events_table: EventTable,
    streams: Sequence[tuple[str, IO[bytes]]],
    *,
    inputs: tuple[InputFile, ...],
    failures: list[Failure],
    notices: list[str],
) -> Dialogues:
    patients, events, modes = events_table.count_patients(), events_table.events, events_table.modes
    found = Dialogues(iter(()), patients, events, modes, inputs, failures, notices)  # type: ignore[arg-type]
    found.patients = _patients(events_table, streams, found)
    return found


def _patients(
    events_table: EventTable, streams: Sequence[tuple[str, IO[bytes]]], found: Dialogues
) -> Generator[PatientTask, None, None]:
    for patient, events in events_table.patients():
        latest = {(event.mode, event.turn_id, event.question): event for event in events}
        found.replaced += len(events) - len(latest)
        yield PatientTask(
            patient_id=patient,
            events=tuple(_raw(event, *streams[event.file]) for event in latest.values()),
            script=events_table.script(patient),
        )


def _raw(event: StoredEvent, name: str, stream: IO[bytes]) -> RawEvent:
    stream.seek(event.start)
    return RawEvent(f"{name}:{event.line}", stream.read(event.size))


def _fill(events_table: EventTable, name: str, path: Path, *, number: int, failures: list[Failure]) -> InputFile:
    """Remember where every event of a file stands."""
    digest = hashlib.sha256()
    events = 0
    for line_number, start, line in _lines(path, name, failures):
        digest.update(line)
        content = line.removeprefix(_MARK) if line_number == 1 else line
        if not content.strip():
            continue
        try:
            key = event_key(content)
        except RecordError as error:
            failures.append(Failure(None, None, "read", None, "bad_line", f"{name}:{line_number}: {error}"))
            continue
        begins = start + len(line) - len(content)
        place = StoredEvent(key.mode, key.turn_id, key.question, key.stamp, number, line_number, begins, len(content))
        events_table.put(key.patient_id, place)
        events += 1
    return InputFile(name, digest.hexdigest(), events)


def _fill_scripts(events_table: EventTable, path: Path, *, failures: list[Failure], notices: list[str]) -> InputFile:
    """Keep the scripts of a file by patient."""
    digest = hashlib.sha256()

    def scripts() -> Iterator[tuple[str, bytes]]:
        for number, _, line in _lines(path, path.name, failures):
            digest.update(line)
            content = line.removeprefix(_MARK)
            if content.strip():
                try:
                    yield script_of(content).patient_id, content
                except RecordError as error:
                    failures.append(Failure(None, None, "read", None, "bad_line", f"{path.name}:{number}: {error}"))

    kept = 0

    def counted() -> Iterator[tuple[str, bytes]]:
        nonlocal kept
        for each in scripts():
            kept += 1
            yield each

    repeated = events_table.put_scripts(counted())
    if repeated:
        notices.append(f"{path.name}: scripts of patients that have one already, left out: {repeated:,}")
    return InputFile(path.name, digest.hexdigest(), kept)


def _lines(path: Path, name: str, failures: list[Failure]) -> Iterator[tuple[int, int, bytes]]:
    """Number, first byte and content of every line."""
    start = number = 0
    with _opened(path) as stream:
        while line := stream.readline(_LONGEST_LINE):
            number += 1
            if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                skipped = _skip_line(stream)
                message = f"{name}:{number}: line of more than {_LONGEST_LINE >> 20} MiB; left out"
                failures.append(Failure(None, None, "read", None, "line_too_long", message))
                start += len(line) + skipped
                continue
            yield number, start, line
            start += len(line)


def _skip_line(stream: IO[bytes]) -> int:
    """Read on to the end of the line; how many bytes that were."""
    skipped = 0
    while part := stream.readline(_LONGEST_LINE):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be opened ({error.strerror or error})") from error


def _events_of(run: Path, target: Path) -> Path:
    """The events of a run: its own file, or those of its shards, put in the order of the input."""
    from hallumeter.run.store_tables import merged_lines, run_folder_of, store_of

    folder = run_folder_of(f"s3://{run.as_posix()[4:].lstrip('/')}") if not run.is_dir() else run
    if not is_sharded(folder):
        if not (folder / EVENTS).is_file():
            raise InputError(f"{run}: is a folder without {EVENTS}; give a file of events, or a run of dialogues")
        return folder / EVENTS
    with target.open("wb") as stream:
        stream.writelines(line + b"\n" for _, _, line in merged_lines(store_of(folder), EVENTS.removesuffix(".jsonl")))
    return target


def _plain_file(path: Path, events_table: EventTable, number: int) -> Path:
    """The file itself, or what a compressed one or a run in shards holds, so that any line can be gone back to."""
    if path.is_dir() or str(path).startswith("s3:/"):
        return _events_of(path, events_table.folder / f"{number}.jsonl")
    if path.suffix.lower() != ".gz":
        return path
    target = events_table.folder / f"{number}.jsonl"
    try:
        with gzip.open(path, "rb") as source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy)
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be read to its end ({error}); is it a whole gzip file?") from error
    return target
