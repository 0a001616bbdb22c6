"""The files of a run, written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Generic, Self, TypeVar

import msgspec

from hallumeter.errors import InputError, RecordError
from hallumeter.records.claim import Claim, Failure, Finding, Verdict
from hallumeter.records.manifest import Manifest
from hallumeter.records.measurement import Measurement, Summary
from hallumeter.records.response import Response

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
    _refuse_what_is_there(target, path)
    place = target if target.is_dir() else target.parent
    if not place.is_dir():
        raise InputError(f"{place}: no such folder; make it first")
    try:
        draft = place / tempfile.mkdtemp(prefix=".hallumeter-", dir=place)
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


class RunFolder:
    """A finished run on disk."""

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
        claims, verdicts = _Grouped(self.claims()), _Grouped(self.verdicts())
        for response in self.records():
            mine: dict[str, list[Verdict]] = {}
            for verdict in verdicts.take(response.record_id):
                mine.setdefault(verdict.claim_id, []).append(verdict)
            findings = [
                Finding(claim, tuple(mine.pop(claim.claim_id, ()))) for claim in claims.take(response.record_id)
            ]
            if mine:
                raise self._unmatched(VERDICTS, CLAIMS, f"claim {next(iter(mine))!r} of record {response.record_id!r}")
            yield response, tuple(findings)
        for name, rows in ((CLAIMS, claims), (VERDICTS, verdicts)):
            if rows.waiting is not None:
                raise self._unmatched(name, RECORDS, f"record {rows.waiting.record_id!r}")

    def _unmatched(self, name: str, other: str, what: str) -> InputError:
        return InputError(
            f"{self.path / name}: {what} is missing in {other}, or stands there in another order; make the run again"
        )

    def _one(self, name: str, kind: type[_Record]) -> _Record:
        try:
            return msgspec.json.decode((self.path / name).read_bytes(), type=kind)
        except (OSError, *_DAMAGE) as error:
            raise InputError(f"{self.path / name}: damaged or missing ({error}); make the run again") from error

    def lines(self, name: str, kind: type[_Record]) -> Iterator[_Record]:
        """The lines of a file as records."""
        path = self.path / name
        decoder = msgspec.json.Decoder(kind)
        number = 0
        try:
            with path.open("rb") as stream:
                for number, line in enumerate(stream, 1):  # noqa: B007 (the error names it)
                    yield decoder.decode(line)
        except _DAMAGE as error:
            raise InputError(f"{path}:{number}: damaged ({error}); make the run again") from error
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror}); make the run again") from error


class _Grouped(Generic[_Row]):
    """Rows that stand in the order of their records, handed out record by record."""

    def __init__(self, rows: Iterator[_Row]) -> None:
        self._rows: Iterator[_Row] = rows
        self.waiting: _Row | None = next(rows, None)
        """The first row that nobody took."""

    def take(self, record_id: str) -> list[_Row]:
        taken: list[_Row] = []
        while self.waiting is not None and self.waiting.record_id == record_id:
            taken.append(self.waiting)
            self.waiting = next(self._rows, None)
        return taken
