"""From files, or from events in Python, to patients with all their answers."""

from __future__ import annotations

import gzip
import hashlib
import shutil
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec
from msgspec import Struct

from hallumeter.errors import InputError, RecordError
from hallumeter.pipelines.input_files import rereadable_files
from hallumeter.records import Event, Failure, InputFile
from hallumeter.store import EventShelf, ShelvedEvent

from .patients import PatientTask, RawEvent
from .reading import event_key, script_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

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
    with rereadable_files(paths) as files, EventShelf() as shelf, ExitStack() as stack:
        plain = [(name, _plain_file(path, shelf, number)) for number, (name, path) in enumerate(files)]
        failures: list[Failure] = []
        notices: list[str] = []
        inputs = [
            _fill(shelf, name, path, number=number, failures=failures) for number, (name, path) in enumerate(plain)
        ]
        if scripts is not None:
            inputs.append(_fill_scripts(shelf, scripts, failures=failures, notices=notices))
        streams = [(name, stack.enter_context(path.open("rb"))) for name, path in plain]
        found = _dialogues(shelf, streams, inputs=tuple(inputs), failures=failures, notices=notices)
        found.scripts = scripts
        yield found


@contextmanager
def opened_events(events: Iterable[Event | Mapping[str, object]]) -> Iterator[Dialogues]:
    """Dialogues given in Python, as events or as mappings like the lines of a file."""
    with EventShelf() as shelf, ExitStack() as stack:
        path = shelf.folder / "events.jsonl"
        with path.open("wb") as stream:
            stream.writelines(msgspec.json.encode(event) + b"\n" for event in events)
        failures: list[Failure] = []
        _fill(shelf, _IN_PYTHON, path, number=0, failures=failures)
        if failures:
            raise RecordError(failures[0].message)
        streams = [(_IN_PYTHON, stack.enter_context(path.open("rb")))]
        yield _dialogues(shelf, streams, inputs=(), failures=failures, notices=[])


def _dialogues(
    shelf: EventShelf,
    streams: Sequence[tuple[str, IO[bytes]]],
    *,
    inputs: tuple[InputFile, ...],
    failures: list[Failure],
    notices: list[str],
) -> Dialogues:
    found = Dialogues(iter(()), shelf.count_patients(), shelf.events, shelf.modes, inputs, failures, notices)  # type: ignore[arg-type]
    found.patients = _patients(shelf, streams, found)
    return found


def _patients(
    shelf: EventShelf, streams: Sequence[tuple[str, IO[bytes]]], found: Dialogues
) -> Generator[PatientTask, None, None]:
    for patient, events in shelf.patients():
        latest = {(event.mode, event.turn_id, event.question): event for event in events}
        found.replaced += len(events) - len(latest)
        yield PatientTask(
            patient_id=patient,
            events=tuple(_raw(event, *streams[event.file]) for event in latest.values()),
            script=shelf.script(patient),
        )


def _raw(event: ShelvedEvent, name: str, stream: IO[bytes]) -> RawEvent:
    stream.seek(event.start)
    return RawEvent(f"{name}:{event.line}", stream.read(event.size))


def _fill(shelf: EventShelf, name: str, path: Path, *, number: int, failures: list[Failure]) -> InputFile:
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
        place = ShelvedEvent(key.mode, key.turn_id, key.question, key.stamp, number, line_number, begins, len(content))
        shelf.put(key.patient_id, place)
        events += 1
    return InputFile(name, digest.hexdigest(), events)


def _fill_scripts(shelf: EventShelf, path: Path, *, failures: list[Failure], notices: list[str]) -> InputFile:
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

    repeated = shelf.put_scripts(counted())
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


def _plain_file(path: Path, shelf: EventShelf, number: int) -> Path:
    """The file itself, or what a compressed one holds, so that any line can be gone back to."""
    if path.suffix.lower() != ".gz":
        return path
    target = shelf.folder / f"{number}.jsonl"
    try:
        with gzip.open(path, "rb") as source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy)
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be read to its end ({error}); is it a whole gzip file?") from error
    return target
