"""A run cut into shards: which record is in which, what a worker hands back, and the parts of the input.

A row goes to the shard that a stable hash of its record id says, or of its cluster, so that names, duplicates and
clusters are local to a shard. A part keeps rows as they were read, with their 64-bit row numbers, so that results can
be put in the order of the input again.
"""

from __future__ import annotations

import heapq
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, groupby, islice
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec import Struct

from hallumeter.errors import InputError
from hallumeter.formats.batch import Batch, Fault
from hallumeter.formats.records import rows_of
from hallumeter.records.claim import Failure
from hallumeter.records.columns import stable_hash


class Shard(Struct, frozen=True):
    """One of the shards of a run."""

    number: int
    count: int
    """Shards of the run."""

    def __str__(self) -> str:
        return f"shard {self.number} of {self.count}"


class Receipt(Struct, frozen=True):
    """What one attempt at a shard has written."""

    shard: int
    attempt: str
    """Random name of this attempt, in every file name it wrote."""
    files: tuple[tuple[str, str], ...]
    """Table name, and path below the run's root."""
    digests: tuple[str, ...]
    """BLAKE2 of each file, same order."""
    records: int
    seconds: float
    """Work of this attempt, for estimates."""
    won: bool
    """False: another attempt had committed first."""
    failures: int = 0
    calls: int = 0
    spent_usd: float = 0.0
    unpriced_calls: int = 0
    """Calls of which nobody knows what they have cost."""
    notices: tuple[str, ...] = ()
    """What a user should know beside the numbers."""


def shard_number(key: str, count: int) -> int:
    """The shard of a record id, or of a cluster: the same on every machine.

    >>> [shard_number(name, 4) for name in ("a", "b", "c")]
    [0, 0, 3]
    """
    return (stable_hash(key) & 0xFFFF_FFFF_FFFF_FFFF) % count


# Row numbers: which source, and which line of it. They sort in the order of the input, and a place names its row.

_LINE_BITS = 40


def row_number(source: int, line: int) -> int:
    """A 64-bit number for a line of a source.

    >>> row_number(0, 7), row_number(1, 0) > row_number(0, 10**12)
    (7, True)
    """
    return source << _LINE_BITS | line


class InputRow(Struct, array_like=True, frozen=True):
    """A row of the input, or what was wrong with it."""

    row: int
    fields: dict[str, Any] | None
    code: str = ""
    message: str = ""

    @property
    def source(self) -> int:
        """The number of its source."""
        return self.row >> _LINE_BITS

    @property
    def line(self) -> int:
        """Its line there."""
        return self.row & ((1 << _LINE_BITS) - 1)


class Found(Struct, kw_only=True):
    """What splitting found in the whole input, which no shard could know alone."""

    sources: tuple[str, ...] = ()
    rows: int = 0
    fields: list[str] = []
    aliases: dict[str, str] = {}
    notices: dict[str, int] = {}
    parts: list[int] = []
    """Rows of each part."""
    names: list[str] = []
    """What the kind of the run asked for, each once, in the order of the input, such as judges."""

    fault: str = ""
    """The first thing that was wrong with the input, and where."""

    @property
    def first_fault(self) -> str:
        """How the refusal of an input ends of which nothing can be used."""
        return f"; the first fault: {self.fault}" if self.fault else ""

    def add(self, batch: Batch, source: str) -> None:
        """Take note of a batch."""
        self.fault = self.fault or _first_fault(batch, source)
        self.fields = sorted({*self.fields, *batch.columns})
        self.aliases |= batch.aliases
        for notice, number in batch.notices.items():
            self.notices[notice] = self.notices.get(notice, 0) + number


def _first_fault(batch: Batch, source: str) -> str:
    """What was wrong with a row, or the message of a failure that stands beside units."""
    if batch.faults:
        return f"{source}:{batch.faults[0].line}: {batch.faults[0].message}"
    row = next(rows_of(batch), None) if _FAILURE in batch.columns else None
    failure = None if row is None else row[1][_FAILURE]
    return str(failure.get("message", "")) if isinstance(failure, dict) else ""


_BUFFERED_BYTES = 32 << 20
"""Of rows that wait for their part, over all parts."""
_SIZE_BYTES = 4
PART = "inputs/part-{:05d}.msgpack.zst"


class _PartFiles:
    """Files that rows are appended to; none is held open, since there may be thousands."""

    def __init__(self, folder: Path, count: int) -> None:
        self._folder = folder
        self._waiting: list[bytearray] = [bytearray() for _ in range(count)]
        self._size = 0

    def add(self, number: int, body: bytes) -> None:
        self._waiting[number] += len(body).to_bytes(_SIZE_BYTES, "little") + body
        self._size += len(body)
        if self._size > _BUFFERED_BYTES:
            self.flush()

    def flush(self) -> None:
        for number, waiting in enumerate(self._waiting):
            if waiting:
                with self.path(number).open("ab") as stream:
                    stream.write(waiting)
                waiting.clear()
        self._size = 0

    def path(self, number: int) -> Path:
        return self._folder / f"{number:05d}"


def split_rows(
    sources: Iterable[tuple[str, Iterator[Batch]]],
    count: int,
    *,
    key: Callable[[Mapping[str, object], str], str],
    keep: Callable[[int, Path], None],
    name: Callable[[Mapping[str, object]], str | None] = lambda _: None,
    tell: Callable[[int], None] = lambda _: None,
) -> Found:
    """Split rows into parts with bounded memory and hand each part's file to `keep`, one after the other.

    Args:
        sources: Batches by the name of their source.
        count: Number of parts.
        key: What a row is sharded by, from its fields and its place.
        keep: Takes the number and the file of every part; the file is removed afterwards.
        name: What to keep of a row for all shards, such as its judge.
        tell: Is told how many rows were read.
    """
    found, sources_read = Found(), []
    named: dict[str | None, None] = {}
    encoder = msgspec.msgpack.Encoder(enc_hook=str)

    def read() -> Iterator[tuple[InputRow, str]]:
        for source, (source_name, batches) in enumerate(sources):
            sources_read.append(source_name)
            for batch in batches:
                found.add(batch, source_name)
                yield from ((row, f"{source_name}:{row.line}") for row in input_rows(batch, source))
                tell(len(batch.lines))

    with tempfile.TemporaryDirectory(prefix="hallumeter-parts-") as folder:
        parts = _PartFiles(Path(folder), count)
        sizes = [0] * count
        for row, place in read():
            number = shard_number(place if row.fields is None else key(row.fields, place), count)
            parts.add(number, _encoded(encoder, row, place))
            sizes[number] += 1
            named.setdefault(None if row.fields is None else name(row.fields))
        parts.flush()
        found.sources, found.rows, found.parts = tuple(sources_read), sum(sizes), sizes
        found.names = [each for each in named if each is not None]
        for number in range(count):
            path = parts.path(number)
            path.touch()
            keep(number, path)
            path.unlink()
    return found


def input_rows(batch: Batch, source: int) -> Iterator[InputRow]:
    """Rows and faults in the order of their lines."""
    faults = (InputRow(row_number(source, fault.line), None, fault.code, fault.message) for fault in batch.faults)
    rows = (
        InputRow(row_number(source, line), {name: value for name, value in fields.items() if value is not None})
        for line, fields in rows_of(batch)
    )
    return heapq.merge(rows, sorted(faults, key=_row), key=_row)


def _row(row: InputRow) -> int:
    return row.row


def write_rows(path: Path, rows: Iterable[InputRow]) -> None:
    """Write rows as the file of a part."""
    encoder = msgspec.msgpack.Encoder(enc_hook=str)
    with path.open("wb") as stream:
        for row in rows:
            body = encoder.encode(row)
            stream.write(len(body).to_bytes(_SIZE_BYTES, "little") + body)


def _encoded(encoder: msgspec.msgpack.Encoder, row: InputRow, place: str) -> bytes:
    try:
        return encoder.encode(row)
    except (OverflowError, ValueError) as error:
        raise InputError(f"{place}: a value cannot be kept in a part of the input ({error})") from error


class Part:
    """The rows of one shard, read as often as needed, as batches by the name of their source."""

    def __init__(self, path: Path, shard: Shard, found: Found) -> None:
        self._path, self.shard, self._found = path, shard, found

    @property
    def source_names(self) -> tuple[str, ...]:
        """All sources of the run, also those of which the shard has no row."""
        return self._found.sources

    @property
    def names(self) -> list[str]:
        """What the kind of the run asked for of all rows of the run."""
        return self._found.names

    def rows(self) -> Iterator[InputRow]:
        """Every row, source by source, each in the order of its lines."""
        decoder = msgspec.msgpack.Decoder(InputRow)
        with self._path.open("rb") as stream:
            yield from map(decoder.decode, _bodies(stream))

    def sources(self) -> Iterator[tuple[str, Iterator[Batch]]]:
        """Batches by source; the first batch of each knows every field of the whole input."""
        by_source = groupby(self.rows(), key=lambda row: row.source)
        waiting = next(by_source, None)
        for number, name in enumerate(self._found.sources):
            own: Iterator[InputRow] = iter(())
            if waiting is not None and waiting[0] == number:
                own = waiting[1]
            yield name, chain([self._opening(number)], _batches(own))
            if waiting is not None and waiting[0] == number:
                waiting = next(by_source, None)

    def _opening(self, source: int) -> Batch:
        """What the whole input has in common; counts of rows are said once, by the first shard."""
        found, is_first = self._found, self.shard.number == 0 and source == 0
        columns: dict[str, Any] = {name: [] for name in found.fields}
        return Batch(columns, (), aliases=found.aliases, notices=found.notices if is_first else {})


def _bodies(stream: IO[bytes]) -> Iterator[bytes]:
    while size := stream.read(_SIZE_BYTES):
        yield stream.read(int.from_bytes(size, "little"))


_ROWS_AT_A_TIME = 1024


def _batches(rows: Iterator[InputRow]) -> Iterator[Batch]:
    """Rows in batches of bounded size; a fault stands in the batch of the rows around it."""
    waiting: list[InputRow] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) == _ROWS_AT_A_TIME:
            yield _batch(waiting)
            waiting = []
    if waiting:
        yield _batch(waiting)


def _batch(rows: list[InputRow]) -> Batch:
    sound = [(row.line, row.fields) for row in rows if row.fields is not None]
    faults = tuple(Fault(row.line, row.code, row.message) for row in rows if row.fields is None)
    names = dict.fromkeys(name for _, fields in sound for name in fields)
    columns: dict[str, Any] = {name: [fields.get(name) for _, fields in sound] for name in names}
    return Batch(columns, [line for line, _ in sound], faults)


# Inputs that are pages, patients or the like: units with everything about them, and what stands beside them.

_FAILURE, _NOTICE = "failure", "notice"
_FAILURES = 1
"""The number of the source that holds what could not be read."""
_UNITS_AT_ONCE = 64


def unit_sources(
    name: str, units: Iterable[dict[str, Any]], *, failures: Iterable[Failure], notices: Iterable[str]
) -> Iterator[tuple[str, Iterator[Batch]]]:
    """Units, then what could not be read, then what must be said of the input: both may be known only at the end."""
    yield name, _unit_batches(units)
    yield "failures", _unit_batches({_FAILURE: msgspec.to_builtins(failure)} for failure in failures)
    yield "notices", _unit_batches({_NOTICE: notice} for notice in notices)


def _unit_batches(rows: Iterable[dict[str, Any]]) -> Iterator[Batch]:
    first, left = 1, iter(rows)
    while some := list(islice(left, _UNITS_AT_ONCE)):
        names = dict.fromkeys(chain.from_iterable(some))
        yield Batch({name: [row.get(name) for row in some] for name in names}, range(first, first + len(some)))
        first += len(some)


class PartUnits:
    """The units of a part, read as they are needed, and what stands beside them."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self.count = 0
        self.failures: list[Failure] = []
        self.notices: list[str] = []
        for row in part.rows():
            fields = row.fields or {}
            if _FAILURE in fields:
                self.failures.append(msgspec.convert(fields[_FAILURE], Failure))
            elif _NOTICE in fields:
                self.notices.append(fields[_NOTICE])
            else:
                self.count += 1

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (fields for _, fields in self._placed())

    def rows(self, names: Callable[[dict[str, Any]], Iterable[str]]) -> dict[str, int]:
        """The row of every unit by its names, and of everything that could not be read by its message."""
        found = {name: row for row, fields in self._placed() for name in names(fields)}
        for row in self._part.rows():
            if row.fields and _FAILURE in row.fields:
                found[row.fields[_FAILURE]["message"]] = row.row
        return found

    def _placed(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for row in self._part.rows():
            if row.fields is not None and row.fields.keys().isdisjoint((_FAILURE, _NOTICE)):
                yield row.row, row.fields


def is_of_unit(row: int) -> bool:
    """Whether a row is that of a unit, and not of something that could not be read."""
    return row >> _LINE_BITS != _FAILURES


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A place for the work on a shard, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="hallumeter-shard-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
