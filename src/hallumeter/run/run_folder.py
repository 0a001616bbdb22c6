"""The files of a run, written whole or not at all."""

from __future__ import annotations

import csv
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, TYPE_CHECKING, Generic, NamedTuple, Self, TypeVar

import msgspec

from hallumeter.errors import InputError, RecordError
from hallumeter.records.claim import Claim, Failure, Finding, Verdict
from hallumeter.records.manifest import PLAN, Manifest
from hallumeter.records.measurement import Measurement, Summary
from hallumeter.records.response import Response

if TYPE_CHECKING:
    from hallumeter.records.instrument import Partial

if sys.platform != "win32":
    import fcntl

RECORDS, CLAIMS, VERDICTS = "records.jsonl", "claims.jsonl", "verdicts.jsonl"
FAILURES, MEASUREMENTS = "failures.jsonl", "measurements.jsonl"
SUMMARY, MANIFEST, REPORT = "summary.json", "manifest.json", "report.html"
BASELINES = "baselines.json"
"""Its judges beside null baselines, once somebody has asked for that."""
JOURNAL = "journal.sqlite"
"""Where a run is kept while it goes on."""
RUN_FILES = frozenset({RECORDS, CLAIMS, VERDICTS, FAILURES, MEASUREMENTS, SUMMARY, MANIFEST, REPORT})
"""What a run folder of any instrument holds; `Instrument.files` names what each adds."""

_DAMAGE = (msgspec.DecodeError, UnicodeDecodeError, RecordError, RecursionError)
"""What decoding a file raises that was changed since it was written."""

_Record = TypeVar("_Record")
_Row = TypeVar("_Row", Claim, Verdict)


@contextmanager
def new_run_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which takes its name only when the work inside has succeeded.

    Nothing is ever written over: a folder that exists and is not empty is refused before any work is done. An empty
    one is kept and filled, since a shell may stand in it or a disk be mounted there. A link is filled where it points.
    """
    target = Path(os.path.realpath(path))
    place = target if target.is_dir() else target.parent
    if not place.is_dir():
        _refuse_what_is_there(target, path)
        raise InputError(f"{place}: no such folder; make it first")
    _remove_left_drafts(place)
    _refuse_what_is_there(target, path)
    try:
        draft, lock = _new_draft(place)
    except OSError as error:
        raise InputError(f"{place}: cannot be written to ({error.strerror})") from error
    try:
        yield draft
        _refuse_what_is_there(target, path, but=draft)
        if place == target:
            for file in sorted(draft.iterdir(), key=_is_manifest):
                file.rename(target / file.name)
        else:
            draft.chmod(0o755)
            draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        _close(lock)


# A draft is locked by the command that fills it. The system opens the lock when the command ends, however it ends, so
# a draft that can be locked belongs to nobody. Where a folder cannot be locked (Windows, some network disks), drafts of
# killed commands stay.

_DRAFT = ".hallumeter-"
_DRAFT_NAME = re.compile(re.escape(_DRAFT) + "[a-z0-9_]{8}")
"""As `tempfile` makes names; a folder of another name is somebody else's."""


def _new_draft(place: Path) -> tuple[Path, int | None]:
    """A new folder and its lock; another one when a command that cleans up has taken it in between."""
    while True:
        draft = place / tempfile.mkdtemp(prefix=_DRAFT, dir=place)
        try:
            lock = _locked(draft)
        except (BlockingIOError, FileNotFoundError):
            continue
        except OSError:  # it cannot be locked here, and so nobody removes it
            lock = None
        if draft.is_dir():
            return draft, lock
        _close(lock)


def _remove_left_drafts(place: Path) -> None:
    """Remove drafts that this user's killed commands left behind."""
    left: list[Path] = []
    with suppress(OSError):  # a folder that can be written to, but not listed
        left = [entry for entry in place.iterdir() if _DRAFT_NAME.fullmatch(entry.name)]
    for draft in left:
        with suppress(OSError):  # it is in use, is no folder, is gone meanwhile, or cannot be locked
            _remove_left_draft(draft)


def _remove_left_draft(draft: Path) -> None:
    lock = _locked(draft)
    try:
        if lock is not None and os.fstat(lock).st_uid == os.geteuid():
            shutil.rmtree(draft, ignore_errors=True)
    finally:
        _close(lock)


def _locked(folder: Path) -> int | None:
    """The lock of a folder; None where the system has none.

    Raises:
        OSError: Somebody else holds it, or it cannot be locked.
    """
    if sys.platform == "win32":
        return None
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        raise
    return opened


def _close(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)


def _refuse_what_is_there(target: Path, path: Path, but: Path | None = None) -> None:
    """Refuse a file, a folder that holds more than the draft, and a link that leads in a circle."""
    is_taken = any(entry != but for entry in target.iterdir()) if target.is_dir() else os.path.lexists(target)
    if is_taken:
        raise InputError(f"{path}: exists already; choose another folder or remove it first")


def _is_manifest(path: Path) -> bool:
    """The manifest comes last: a folder without it is no run."""
    return path.name == MANIFEST


FIRST_FAILURES = 1000
"""Failures that are handed back to whoever asked for a run; the run folder has all."""


class RunFiles:
    """Opens the failures and some other files of a run, and counts nothing but the first failures."""

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        self._stack = ExitStack()
        self._encoder = msgspec.json.Encoder()
        self._streams: dict[str, IO[bytes]] = {
            name: self._stack.enter_context((folder / name).open("wb")) for name in (*names, FAILURES)
        }
        self.first_failures: list[Failure] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def write_line(self, name: str, record: msgspec.Struct | bytes) -> None:
        """Write a record, or one that is JSON already, as a line of a file."""
        line = record if isinstance(record, bytes) else self._encoder.encode(record)
        self._streams[name].write(line + b"\n")

    def fail(self, failure: Failure) -> None:
        """Write a failure."""
        if len(self.first_failures) < FIRST_FAILURES:
            self.first_failures.append(failure)
        self.write_line(FAILURES, failure)


def write_json(path: Path, record: msgspec.Struct) -> None:
    """Write one record as an indented JSON file."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


def is_sharded(folder: Path) -> bool:
    """Whether a folder holds a run in shards, or stands for one that is kept elsewhere."""
    return (folder / PLAN).is_file()


class RunFolder:
    """A finished run on disk, in files of lines or in shards."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not (path / MANIFEST).is_file():
            raise InputError(f"{path}: not a run folder (it has no {MANIFEST}); `--out` of a command makes one")

    @property
    def manifest(self) -> Manifest:
        """What the run was made from."""
        return self._one(MANIFEST, Manifest)

    @property
    def summary(self) -> Summary:
        """Everything measured, pooled."""
        return self._one(SUMMARY, Summary)

    def records(self) -> Iterator[Response]:
        """The responses."""
        return self.lines(RECORDS, Response)

    def claims(self) -> Iterator[Claim]:
        """The claims, in the order of the records."""
        return self.lines(CLAIMS, Claim)

    def verdicts(self) -> Iterator[Verdict]:
        """The verdicts, in the order of the records."""
        return self.lines(VERDICTS, Verdict)

    def failures(self) -> Iterator[Failure]:
        """What could not be done."""
        return self.lines(FAILURES, Failure)

    def measurements(self) -> Iterator[Measurement]:
        """The metrics of every response."""
        return self.lines(MEASUREMENTS, Measurement)

    def findings(self) -> Iterator[tuple[Response, tuple[Finding, ...]]]:
        """Every response with its claims and their verdicts, read side by side from files in the same order."""
        for placed in placed_records(self.path):
            yield placed.response, placed.findings

    def _one(self, name: str, kind: type[_Record]) -> _Record:
        try:
            return msgspec.json.decode((self.path / name).read_bytes(), type=kind)
        except (OSError, *_DAMAGE) as error:
            raise InputError(f"{self.path / name}: damaged or missing ({error}); make the run again") from error

    def lines(self, name: str, kind: type[_Record]) -> Iterator[_Record]:
        """The lines of a file as records."""
        for record, _, _ in _rows(self.path / name, kind):
            yield record


# Where each record of a run stands in its files, so that one of a hundred thousand is read without the others.


class RecordPlace(NamedTuple):
    """First byte and number of bytes of a record, of its claims and of its verdicts, each in its file."""

    record_at: int
    record_bytes: int
    claims_at: int
    claims_bytes: int
    verdicts_at: int
    verdicts_bytes: int


class PlacedRecord(NamedTuple):
    """A record with its findings, and where they stand."""

    response: Response
    findings: tuple[Finding, ...]
    place: RecordPlace


def placed_records(folder: Path) -> Iterator[PlacedRecord]:
    """Every record of a run with its place, read side by side from files in the same order.

    Raises:
        InputError: A file is damaged, or does not go with the others.
    """
    claims, verdicts = _Grouped(_rows(folder / CLAIMS, Claim)), _Grouped(_rows(folder / VERDICTS, Verdict))
    for response, start, end in _rows(folder / RECORDS, Response):
        own, *claims_place = claims.take(response.record_id)
        said, *verdicts_place = verdicts.take(response.record_id)
        place = RecordPlace(start, end - start, *claims_place, *verdicts_place)
        yield PlacedRecord(response, _joined(own, said, folder), place)
    left = {CLAIMS: claims.waiting, VERDICTS: verdicts.waiting}
    for name, waiting in left.items():
        if waiting is not None:
            raise _unmatched(folder / name, RECORDS, f"record {waiting[0].record_id!r}")


def record_at(folder: Path, place: RecordPlace) -> tuple[Response, tuple[Finding, ...]]:
    """One record with its findings, read from its place.

    Raises:
        InputError: The files were changed since the place was noted.
    """
    try:
        response = _part(folder / RECORDS, place[0:2], Response)[0]
        claims, verdicts = _part(folder / CLAIMS, place[2:4], Claim), _part(folder / VERDICTS, place[4:6], Verdict)
    except (IndexError, OSError, *_DAMAGE) as error:
        raise InputError(f"{folder}: its files were changed meanwhile ({error}); look at the run again") from error
    return response, _joined(claims, verdicts, folder)


def _part(path: Path, place: tuple[int, ...], kind: type[_Record]) -> list[_Record]:
    start, size = place
    if not size:
        return []
    if is_sharded(path.parent):
        from .store_tables import lines_at

        lines = lines_at(path.parent, path.name, start=start, size=size)
    else:
        with path.open("rb") as stream:
            stream.seek(start)
            lines = stream.read(size).splitlines()
    decoder = msgspec.json.Decoder(kind)
    return [decoder.decode(line) for line in lines]


def _joined(claims: list[Claim], verdicts: list[Verdict], folder: Path) -> tuple[Finding, ...]:
    mine: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        mine.setdefault(verdict.claim_id, []).append(verdict)
    findings = tuple([Finding(claim, tuple(mine.pop(claim.claim_id, ()))) for claim in claims])
    for name, (verdict, *_) in mine.items():
        raise _unmatched(folder / VERDICTS, CLAIMS, f"claim {name!r} of record {verdict.record_id!r}")
    return findings


def _unmatched(path: Path, other: str, what: str) -> InputError:
    return InputError(f"{path}: {what} is missing in {other}, or stands there in another order; make the run again")


def _rows(path: Path, kind: type[_Record]) -> Iterator[tuple[_Record, int, int]]:
    """Every row of a file with its first byte and the byte after its last; of a run in shards with its place there."""
    decoder = msgspec.json.Decoder(kind)
    number = 0
    try:
        for number, (line, start, end) in enumerate(_placed_lines(path), 1):  # noqa: B007 (the error names it)
            yield decoder.decode(line), start, end
    except _DAMAGE as error:
        raise InputError(f"{path}:{number}: damaged ({error}); make the run again") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); make the run again") from error


def _placed_lines(path: Path) -> Iterator[tuple[bytes, int, int]]:
    if is_sharded(path.parent):
        from .store_tables import stored_lines

        yield from stored_lines(path.parent, path.name)
        return
    start = 0
    with path.open("rb") as stream:
        for line in stream:
            end = start + len(line)
            yield line, start, end
            start = end


def has_lines(path: Path) -> bool:
    """Whether a run has a list of records, as a file or in its shards."""
    return path.is_file() or (is_sharded(path.parent) and next(_placed_lines(path), None) is not None)


def has_cells(path: Path) -> bool:
    """Whether a run has a table for spreadsheets, as a file or in its shards."""
    return path.is_file() or (is_sharded(path.parent) and bool(next(read_cells(path), None)))


def read_cells(path: Path) -> Iterator[list[str]]:
    """The rows of a table for spreadsheets as they were written, the names of its columns first; also of shards."""
    if not path.exists() and is_sharded(path.parent):
        from .store_tables import merged_cells, store_of

        yield from merged_cells(store_of(path.parent), path.name)
        return
    with path.open(encoding="utf-8", newline="") as stream:
        yield from csv.reader(stream)


class _Grouped(Generic[_Row]):
    """Rows that stand in the order of their records, handed out record by record."""

    def __init__(self, rows: Iterator[tuple[_Row, int, int]]) -> None:
        self._rows: Iterator[tuple[_Row, int, int]] = rows
        self.waiting: tuple[_Row, int, int] | None = next(rows, None)
        """The first row that nobody took."""

    def take(self, record_id: str) -> tuple[list[_Row], int, int]:
        """The rows of a record, their first byte and their number of bytes."""
        taken: list[_Row] = []
        start = end = self.waiting[1] if self.waiting is not None else 0
        while self.waiting is not None and self.waiting[0].record_id == record_id:
            taken.append(self.waiting[0])
            end = self.waiting[2]
            self.waiting = next(self._rows, None)
        return taken, start, end - start


# The partial of a run, kept in its folder when the run is a part of a larger one.

PARTIAL = "partial.json"
_IS_KEPT = ContextVar("is_kept", default=False)
_Partial = TypeVar("_Partial", bound=msgspec.Struct)


@contextmanager
def keeping_partials() -> Iterator[None]:
    """Runs that are written meanwhile keep their partials; they are parts of a larger run."""
    token = _IS_KEPT.set(True)
    try:
        yield
    finally:
        _IS_KEPT.reset(token)


def is_part() -> bool:
    """Whether what is measured now is part of a larger run, and may lack what the whole has."""
    return _IS_KEPT.get()


def keep_partial(folder: Path, partial: Partial) -> None:
    """Write the partial of a run into its folder, if it is a part of a larger one."""
    if _IS_KEPT.get():
        (folder / PARTIAL).write_bytes(partial.to_bytes())


def read_partial(folder: Path) -> bytes:
    """The partial that a run has kept."""
    try:
        return (folder / PARTIAL).read_bytes()
    except OSError as error:
        raise InputError(f"{folder}: the run has kept no partial ({error.strerror}); only parts of a run do") from error


def decoded_partial(data: bytes, kind: type[_Partial]) -> _Partial:
    """A partial from its bytes."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecordError) as error:
        raise InputError(f"not a partial of this version ({error})") from error
