"""Where each record of a run stands in its files, so that one of a hundred thousand is read without the others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Generic, NamedTuple, TypeVar

import msgspec

from hallumeter.errors import InputError, RecordError
from hallumeter.records.claim import Claim, Finding, Verdict
from hallumeter.records.response import Response

from .run_folder import CLAIMS, RECORDS, VERDICTS

_Row = TypeVar("_Row", Response, Claim, Verdict)
_Part = TypeVar("_Part", Claim, Verdict)
_DAMAGE = (msgspec.DecodeError, UnicodeDecodeError, RecordError, RecursionError)


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
    with (
        _opened(folder / RECORDS) as records,
        _opened(folder / CLAIMS) as first,
        _opened(folder / VERDICTS) as second,
    ):
        claims, verdicts = _Grouped(_rows(first, Claim)), _Grouped(_rows(second, Verdict))
        for response, start, end in _rows(records, Response):
            own, *claims_place = claims.take(response.record_id)
            said, *verdicts_place = verdicts.take(response.record_id)
            place = RecordPlace(start, end - start, *claims_place, *verdicts_place)
            yield PlacedRecord(response, _joined(own, said, folder), place)
        left = {CLAIMS: claims.waiting, VERDICTS: verdicts.waiting}
    for name, waiting in left.items():
        if waiting is not None:
            raise _unmatched(folder, name, f"record {waiting[0].record_id!r}")


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


def _part(path: Path, place: tuple[int, ...], kind: type[_Row]) -> list[_Row]:
    start, size = place
    if not size:
        return []
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
    if mine:
        raise _unmatched(folder, VERDICTS, f"claim {next(iter(mine))!r}")
    return findings


def _unmatched(folder: Path, name: str, what: str) -> InputError:
    return InputError(
        f"{folder / name}: {what} is missing in the other files, or stands there in another order; make the run again"
    )


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """A file of a run; whatever cannot be read of it is told with its name."""
    try:
        with path.open("rb") as stream:
            yield stream
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); make the run again") from error


def _rows(stream: BinaryIO, kind: type[_Row]) -> Iterator[tuple[_Row, int, int]]:
    """Every row of a file with its first byte and the byte after its last."""
    decoder = msgspec.json.Decoder(kind)
    start = number = 0
    try:
        for line in stream:
            number += 1
            end = start + len(line)
            yield decoder.decode(line), start, end
            start = end
    except _DAMAGE as error:
        raise InputError(f"{stream.name}:{number}: damaged ({error}); make the run again") from error


class _Grouped(Generic[_Part]):
    """Rows that stand in the order of their records, handed out record by record."""

    def __init__(self, rows: Iterator[tuple[_Part, int, int]]) -> None:
        self._rows: Iterator[tuple[_Part, int, int]] = rows
        self.waiting: tuple[_Part, int, int] | None = next(rows, None)
        """The first row that nobody took."""

    def take(self, record_id: str) -> tuple[list[_Part], int, int]:
        """The rows of a record, their first byte and their number of bytes."""
        taken: list[_Part] = []
        start = end = self.waiting[1] if self.waiting is not None else 0
        while self.waiting is not None and self.waiting[0].record_id == record_id:
            taken.append(self.waiting[0])
            end = self.waiting[2]
            self.waiting = next(self._rows, None)
        return taken, start, end - start
