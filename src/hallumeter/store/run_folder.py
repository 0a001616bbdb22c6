"""The files of a run, written whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from hallumeter.errors import InputError
from hallumeter.records import Claim, Failure, Finding, Manifest, Measurement, Response, Summary, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RECORDS, CLAIMS, VERDICTS = "records.jsonl", "claims.jsonl", "verdicts.jsonl"
FAILURES, MEASUREMENTS = "failures.jsonl", "measurements.jsonl"
SUMMARY, MANIFEST, REPORT = "summary.json", "manifest.json", "report.html"

_Record = TypeVar("_Record")
_Row = TypeVar("_Row", Claim, Verdict)


@contextmanager
def new_run_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which takes its name only when the work inside has succeeded.

    Nothing is ever written over: a folder that exists and is not empty is refused before any work is done.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"{path}: exists already; choose another folder or remove it first")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InputError(f"{parent}: no such folder; make it first")
    try:
        draft = parent / tempfile.mkdtemp(prefix=f".{path.name}.", dir=parent)
    except OSError as error:
        raise InputError(f"{parent}: cannot be written to ({error.strerror})") from error
    try:
        yield draft
        draft.chmod(0o755)
        if path.exists():
            path.rmdir()
        draft.rename(path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


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
        return self._lines(RECORDS, Response)

    def claims(self) -> Iterator[Claim]:
        """The claims, in the order of the records."""
        return self._lines(CLAIMS, Claim)

    def verdicts(self) -> Iterator[Verdict]:
        """The verdicts, in the order of the records."""
        return self._lines(VERDICTS, Verdict)

    def failures(self) -> Iterator[Failure]:
        """What could not be done."""
        return self._lines(FAILURES, Failure)

    def measurements(self) -> Iterator[Measurement]:
        """The metrics of every response."""
        return self._lines(MEASUREMENTS, Measurement)

    def findings(self) -> Iterator[tuple[Response, tuple[Finding, ...]]]:
        """Every response with its claims and their verdicts, read side by side from files in the same order."""
        claims, verdicts = _Grouped(self.claims()), _Grouped(self.verdicts())
        for response in self.records():
            mine: dict[str, list[Verdict]] = {}
            for verdict in verdicts.take(response.record_id):
                mine.setdefault(verdict.claim_id, []).append(verdict)
            findings = [
                Finding(claim, tuple(mine.get(claim.claim_id, ()))) for claim in claims.take(response.record_id)
            ]
            yield response, tuple(findings)

    def _one(self, name: str, kind: type[_Record]) -> _Record:
        try:
            return msgspec.json.decode((self.path / name).read_bytes(), type=kind)
        except (OSError, msgspec.DecodeError) as error:
            raise InputError(f"{self.path / name}: damaged or missing ({error}); make the run again") from error

    def _lines(self, name: str, kind: type[_Record]) -> Iterator[_Record]:
        path = self.path / name
        decoder = msgspec.json.Decoder(kind)
        number = 0
        try:
            with path.open("rb") as stream:
                for number, line in enumerate(stream, 1):  # noqa: B007 (the error names it)
                    yield decoder.decode(line)
        except msgspec.DecodeError as error:
            raise InputError(f"{path}:{number}: damaged ({error}); make the run again") from error
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror}); make the run again") from error


class _Grouped(Generic[_Row]):
    """Rows that stand in the order of their records, handed out record by record."""

    def __init__(self, rows: Iterator[_Row]) -> None:
        self._rows: Iterator[_Row] = rows
        self._next: _Row | None = next(rows, None)

    def take(self, record_id: str) -> list[_Row]:
        taken: list[_Row] = []
        while self._next is not None and self._next.record_id == record_id:
            taken.append(self._next)
            self._next = next(self._rows, None)
        return taken
