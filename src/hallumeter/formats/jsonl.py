"""JSON lines, plain or compressed by gzip: one object per line."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from hallumeter.errors import InputError

from .aliases import named_batch
from .batch import Batch, Fault
from .mappings import TypedRows, typed_rows
from .plain_words import plain_message
from .row_schema import RowSchema

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from .batch import Column

CHUNK_BYTES = 1 << 16
"""Small enough for the rows of a chunk to stay in the processor's cache: measured twice as fast as 1 MiB."""
ROWS_AT_A_TIME = 1 << 11
WIDE_ROWS_AT_A_TIME = 1 << 8
LONGEST_LINE = 64 << 20
"""A longer line is skipped as a fault: it is hardly one record, and it must not fill the memory."""

BROKEN = (OSError, EOFError, zlib.error)
"""What reading a damaged file, plain or compressed, may raise."""
NEWLINE = ord("\n")
_MAPPING = msgspec.json.Decoder(dict[str, object])
_MAPPINGS = msgspec.json.Decoder(list[dict[str, object]])
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"


def read_jsonl(path: Path, fields: Collection[str] | None = ()) -> Iterator[Batch]:
    """Read a file of JSON lines; a name that ends in .gz is uncompressed on the way.

    An alias among the `fields` is kept under its own name as well.
    """
    with open_binary(path) as stream:
        yield from read_jsonl_stream(stream, path.name, fields)


def open_binary(path: Path) -> IO[bytes]:
    """Open a plain or gzip-compressed file for reading."""
    try:
        if path.suffix.lower() == ".gz":
            return io.BufferedReader(gzip.open(path), buffer_size=CHUNK_BYTES)
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be opened ({error.strerror or error})") from error


def read_jsonl_stream(stream: IO[bytes], name: str, fields: Collection[str] | None = ()) -> Iterator[Batch]:
    """Read JSON lines from an open stream, in memory that does not grow with the file."""
    schema = RowSchema()
    gathered = _Gathered(schema, fields)
    for lines in _chunks_of_lines(stream, name):
        decoded = _decode(lines, schema)
        if schema.is_wide or len(schema) != gathered.width or gathered.rows >= ROWS_AT_A_TIME:
            yield from gathered.batches()
            gathered = _Gathered(schema, fields)
        if schema.is_wide:
            yield from _wide_batches(decoded, schema, fields)
        else:
            gathered.add(decoded)
    yield from gathered.batches()


def _wide_batches(decoded: TypedRows, schema: RowSchema, fields: Collection[str] | None) -> Iterator[Batch]:
    """Batches of few rows, because each has a column for every key that one of its rows has."""
    faults = decoded.faults
    for first in range(0, max(len(decoded.rows), 1), WIDE_ROWS_AT_A_TIME):
        part = slice(first, first + WIDE_ROWS_AT_A_TIME)
        columns = schema.raw_columns(decoded.rows[part], decoded.mappings[part])
        yield named_batch(columns, decoded.numbers[part], faults=faults, fields=fields)
        faults = ()


class _Gathered:
    """Rows of several chunks as columns, as long as the record type stays the same."""

    def __init__(self, schema: RowSchema, fields: Collection[str] | None) -> None:
        self._fields = fields
        self._columns: dict[str, tuple[Callable[[msgspec.Struct], object], list[object]]] = {
            key: (getter, []) for key, getter in schema.getters.items()
        }
        self._numbers: list[Sequence[int]] = []
        self._faults: list[Fault] = []
        self.width = len(schema)
        self.rows = 0

    def add(self, decoded: TypedRows) -> None:
        for getter, values in self._columns.values():
            values.extend(map(getter, decoded.rows))
        self._numbers.append(decoded.numbers)
        self._faults.extend(decoded.faults)
        self.rows += len(decoded.rows)

    def batches(self) -> Iterator[Batch]:
        """One batch, or none when nothing was gathered."""
        if self.rows or self._faults:
            columns: dict[str, Column] = {key: values for key, (_, values) in self._columns.items()}
            yield named_batch(columns, self._lines(), faults=self._faults, fields=self._fields)

    def _lines(self) -> Sequence[int]:
        """Line numbers as one range when nothing interrupts them, which costs nothing to carry along."""
        first = self._numbers[0] if self._numbers else ()
        last = self._numbers[-1] if self._numbers else ()
        if isinstance(first, range) and isinstance(last, range) and last.stop - first.start == self.rows:
            return range(first.start, last.stop)
        return [number for numbers in self._numbers for number in numbers]


def write_jsonl(path: Path, records: Iterable[msgspec.Struct]) -> int:
    """Write one record per line and return how many there were."""
    encoder = msgspec.json.Encoder()
    written = 0
    buffer = bytearray()
    with path.open("wb") as stream:
        for record in records:
            encoder.encode_into(record, buffer)
            buffer += b"\n"
            stream.write(buffer)
            written += 1
    return written


class _Lines(NamedTuple):
    """Whole lines of a file."""

    first: int
    """The number of the first line."""
    content: bytes
    """Without the end of the last line."""
    number: int
    """How many lines."""
    faults: tuple[Fault, ...] = ()


def _chunks_of_lines(stream: IO[bytes], name: str) -> Iterator[_Lines]:
    """Cut a stream into pieces of whole lines; a line too long to keep becomes a fault."""
    pending = bytearray()
    line = 1
    for block in _blocks(stream, name):
        cut = block.rfind(b"\n") + 1
        if cut:
            content = bytes(pending) + block[: cut - 1]
            count = _newlines(content) + 1
            yield _Lines(line, content, count)
            line += count
            pending.clear()
        pending += block[cut:]
        if len(pending) > LONGEST_LINE:
            fault = Fault(line, "line_too_long", f"line of more than {LONGEST_LINE >> 20} MiB; split it")
            yield _Lines(line, b"", 0, (fault,))
            pending = bytearray(_skip_line(stream, name))
            line += 1
    if pending:
        yield _Lines(line, bytes(pending), _newlines(pending) + 1)


def _newlines(content: bytes | bytearray) -> int:
    return int(np.count_nonzero(np.frombuffer(content, np.uint8) == NEWLINE))  # bytes.count takes six times as long


def _blocks(stream: IO[bytes], name: str) -> Iterator[bytes]:
    is_first = True
    while True:
        block = _block(stream, name)
        if is_first:
            block = _without_mark(block, name)
            is_first = False
        if not block:
            return
        yield block


def _block(stream: IO[bytes], name: str) -> bytes:
    try:
        return stream.read(CHUNK_BYTES)
    except BROKEN as error:
        raise InputError(f"{name}: cannot be read to its end ({error}); is it a whole gzip file?") from error


def _skip_line(stream: IO[bytes], name: str) -> bytes:
    """Read on to the end of the line and return what follows it."""
    while block := _block(stream, name):
        _, newline, rest = block.partition(b"\n")
        if newline:
            return rest
    return b""


def _without_mark(block: bytes, name: str) -> bytes:
    if block.startswith(_UTF16_MARKS):
        raise InputError(f"{name}: the text is encoded as UTF-16; save it as UTF-8")
    if block.startswith(b"PAR1"):
        raise InputError(f"{name}: this is a Parquet file; give it the ending .parquet")
    return block.removeprefix(_UTF8_MARK)


def _decode(lines: _Lines, schema: RowSchema) -> TypedRows:
    """Decode all lines at once, as one list; whatever is odd about them is left to a closer look.

    A comma for each end of a line makes two objects on one line, or none, malformed. An end of a line within an object
    may become a comma that is none, but then there are fewer rows than lines.
    """
    if not schema.is_wide:
        try:
            rows = schema.list_decoder.decode(_as_list(lines.content))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return _decode_closely(lines, schema)
        if len(rows) == lines.number:
            return TypedRows(rows, range(lines.first, lines.first + len(rows)), (), lines.faults)
    return _decode_closely(lines, schema)


def _as_list(content: bytes) -> bytes:
    return b"[%b]" % content.replace(b"\n", b",")


def _decode_closely(lines: _Lines, schema: RowSchema) -> TypedRows:
    """Widen the record type by all the new keys of a chunk, and name each of its lines that cannot be read."""
    mappings, numbers, faults = _mappings(lines)
    schema.widen(dict.fromkeys(key for mapping in mappings for key in mapping))
    typed = typed_rows(mappings, numbers, schema)
    return TypedRows(typed.rows, typed.numbers, typed.mappings, [*lines.faults, *faults, *typed.faults])


def _mappings(lines: _Lines) -> tuple[list[dict[str, object]], Sequence[int], list[Fault]]:
    """Each line that holds exactly one object, with its number, and what is wrong with the others."""
    try:
        rows = _MAPPINGS.decode(_as_list(lines.content))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _mappings_by_line(lines)
    if len(rows) == lines.number:
        return rows, range(lines.first, lines.first + len(rows)), []
    return _mappings_by_line(lines)


def _mappings_by_line(lines: _Lines) -> tuple[list[dict[str, object]], Sequence[int], list[Fault]]:
    rows: list[dict[str, object]] = []
    numbers: list[int] = []
    faults: list[Fault] = []
    for number, line in enumerate(lines.content.split(b"\n"), lines.first):
        if not line.strip():
            continue
        try:
            rows.append(_MAPPING.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            faults.append(_fault(number, line, error))
        else:
            numbers.append(number)
    return rows, numbers, faults


def _fault(number: int, line: bytes, error: Exception) -> Fault:
    if isinstance(error, UnicodeDecodeError):
        return Fault(number, "bad_encoding", f"not UTF-8 (byte {error.start}); save the file as UTF-8")
    if isinstance(error, msgspec.ValidationError):
        return Fault(number, "wrong_type", plain_message(error))
    if "truncated" in str(error) and _SURROGATE.search(_PAIR.sub(b"", line)):
        return Fault(number, "bad_json", "not valid JSON (half of a surrogate pair); write whole characters")
    return Fault(number, "bad_json", plain_message(error))
