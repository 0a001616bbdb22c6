"""JSON lines, plain or compressed by gzip or zstd: one object per line."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, NamedTuple, cast, get_args

import msgspec
import numpy as np

from hallumeter.errors import InputError, MissingExtraError, RecordError

from .batch import Batch, Column, Fault, plain_message
from .fields import ALIASES, KNOWN_FIELDS, type_of
from .shapes import AS_NAMED, RowShape, shaped_batch

# A record type made for the keys of one file.
#
# The decoder is built for exactly the keys that a file has and is widened when new keys turn up, so that typed
# decoding stays as fast as a hand-written record type and yet no field is lost.

MOST_TYPED_KEYS = 256
"""A file with more keys is read as mappings: a record type takes longer to build and to fill the more fields it has."""
_UNNAMEABLE = re.compile(r'["\\\x00-\x1f]')
"""What the names of a record type's fields must not contain."""


class RowSchema:
    """A record type that grows with the keys seen in a file."""

    def __init__(self, keys: Iterable[str] = (), shape: RowShape = AS_NAMED) -> None:
        self._keys: dict[str, None] = {}
        self._shape = shape
        self.loose: set[str] = set()
        """Keys of texts in whose place some row has an object."""
        self.is_wide = False
        """Whether some keys have no place in the record type, so that rows are needed as mappings as well."""
        self._is_dense = True
        self._build()
        self.widen(keys)

    def widen(self, keys: Iterable[str]) -> None:
        """Add keys, and rebuild the record type if one of them is new to it."""
        added = {key: None for key in keys if key not in self._keys}
        if any(map(_UNNAMEABLE.search, added)) or len(self._keys) + len(added) > MOST_TYPED_KEYS:
            self.is_wide = True
        if self.is_wide:
            added = {key: None for key in added if key in KNOWN_FIELDS or key in ALIASES}
        if added or self.row_type.__struct_config__.forbid_unknown_fields == self.is_wide:
            self._keys.update(added)
            self._build()

    def loosen(self, rows: Iterable[Mapping[str, object]]) -> None:
        """Allow objects where some rows have them in place of a text, if the shape looks into them."""
        is_loose = self._shape.is_loose
        found = {key for row in rows for key, value in row.items() if is_loose(key, value)} - self.loose
        if found:
            self.loose |= found
            self._build()

    def _type_of(self, key: str) -> object:
        return object if key in self.loose or self._shape.is_untyped(key) else type_of(key, self._keys)

    def _build(self) -> None:
        attributes = {key: f"field_{number}" for number, key in enumerate(self._keys)}
        self.row_type = msgspec.defstruct(
            "Row",
            [(attributes[key], self._type_of(key), None) for key in self._keys],
            rename={attribute: key for key, attribute in attributes.items()},
            forbid_unknown_fields=not self.is_wide,
            gc=False,
        )
        self.list_decoder = msgspec.json.Decoder(list[self.row_type])  # type: ignore[name-defined]
        dense_type = msgspec.defstruct(
            "DenseRow",
            [(attributes[key], self._type_of(key)) for key in self._keys],
            rename={attribute: key for key, attribute in attributes.items()},
            forbid_unknown_fields=True,
            gc=False,
        )
        self._dense_decoder = msgspec.json.Decoder(list[dense_type])  # type: ignore[valid-type]
        self.nested = [key for key in self._keys if _may_nest(self._type_of(key))]
        """The keys whose values may be lists or objects."""
        self.getters: dict[str, Callable[[msgspec.Struct], object]] = {
            key: attrgetter(attribute) for key, attribute in attributes.items()
        }
        """How to get the value of each key out of a row."""

    def decode(self, content: bytes) -> tuple[list[msgspec.Struct], bool]:
        """Rows out of a JSON list, and whether each of them has every key.

        A row without some key makes the decoder of dense rows fail; from then on, the file counts as one with gaps.
        """
        if self._is_dense:
            try:
                return self._dense_decoder.decode(content), True
            except msgspec.ValidationError:
                rows = self.list_decoder.decode(content)
                self._is_dense = False
                return rows, False
        return self.list_decoder.decode(content), False

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def aliases(self) -> dict[str, str]:
        """The other tools' names among the keys that stand alone for their field, and what they stand for."""
        return {key: ALIASES[key] for key in self._keys if key in ALIASES and ALIASES[key] not in self._keys}

    def typed(self, rows: Sequence[Mapping[str, object]], *, strict: bool = True) -> list[msgspec.Struct]:
        """Mappings as rows of the record type."""
        kind = list[self.row_type]  # type: ignore[name-defined]
        return cast("list[msgspec.Struct]", msgspec.convert(rows, kind, strict=strict))

    def raw_columns(
        self, rows: Sequence[msgspec.Struct], mappings: Sequence[Mapping[str, object]] = ()
    ) -> dict[str, Column]:
        """Turn rows of the record type into columns by the keys of the file.

        The same rows as mappings are needed when the schema is wide.
        """
        columns: dict[str, Column] = {key: list(map(getter, rows)) for key, getter in self.getters.items()}
        if self.is_wide:
            others = dict.fromkeys(key for mapping in mappings for key in mapping if key not in self._keys)
            columns |= {key: [mapping.get(key) for mapping in mappings] for key in others}
        return columns

    def columns(self, rows: Sequence[msgspec.Struct]) -> dict[str, Column]:
        """Turn rows of the record type into columns under hallumeter's own names."""
        batch = shaped_batch(self.raw_columns(rows), range(1, len(rows) + 1))
        if batch.faults:
            raise RecordError(f"row {batch.faults[0].line}: {batch.faults[0].message}")
        return batch.columns


# Rows that are already mappings, in Python or out of a decoder, as batches.


def batch_of(
    rows: Sequence[Mapping[str, object]],
    first: int = 1,
    *,
    fields: Collection[str] | None = (),
    shape: RowShape = AS_NAMED,
    numbers: Sequence[int] | None = None,
) -> Batch:
    """Mappings as one batch, numbered from `first` or as given; a row that does not fit becomes a fault.

    >>> batch_of([{"id": "r1", "label": "REFUTED"}, {"id": 0.5}]).faults[0].message
    'id: expected a whole number or text, found a number'
    """
    named = [{str(key): value for key, value in row.items()} for row in rows]
    schema = RowSchema(dict.fromkeys(key for row in named for key in row), shape)
    schema.loosen(named)
    typed = typed_rows(named, range(first, first + len(rows)) if numbers is None else numbers, schema)
    columns = schema.raw_columns(typed.rows, typed.mappings)
    return shaped_batch(columns, typed.numbers, faults=typed.faults, fields=fields, shape=shape, loose=schema.loose)


class TypedRows(msgspec.Struct, frozen=True):
    """Rows of a record type, where they stand, and which rows did not fit."""

    rows: list[msgspec.Struct]
    numbers: Sequence[int]
    mappings: Sequence[Mapping[str, object]] = ()
    """The same rows as they were given; only needed when the schema is wide."""
    faults: Sequence[Fault] = ()
    columns: Mapping[str, list[object]] | None = None
    """The values of the rows by key, where they were gathered already."""


def typed_rows(rows: Sequence[Mapping[str, object]], numbers: Sequence[int], schema: RowSchema) -> TypedRows:
    """Mappings as rows of the schema's record type; those that do not fit become faults."""
    try:
        return TypedRows(schema.typed(rows), numbers, rows)
    except (msgspec.ValidationError, RecursionError):
        pass
    sound: list[Mapping[str, object]] = []
    typed: list[msgspec.Struct] = []
    lines: list[int] = []
    faults: list[Fault] = []
    for number, row in zip(numbers, rows, strict=True):
        try:
            typed.append(msgspec.convert(row, schema.row_type))
        except (msgspec.ValidationError, RecursionError) as error:
            faults.append(Fault(number, "wrong_type", plain_message(error)))
        else:
            sound.append(row)
            lines.append(number)
    return TypedRows(typed, lines, sound, faults)


CHUNK_BYTES = 1 << 16
"""Small enough for the rows of a chunk to stay in the processor's cache: measured twice as fast as 1 MiB."""
ROWS_AT_A_TIME = 1 << 11
WIDE_ROWS_AT_A_TIME = 1 << 8
LONGEST_LINE = 64 << 20
"""A longer line is skipped as a fault: it is hardly one record, and it must not fill the memory."""

LARGEST_UNPACKED = 512 << 20
"""A compressed document that holds more would fill the memory; JSON lines have no such bound."""

BROKEN = (OSError, EOFError, zlib.error)
"""What reading a damaged file, plain or compressed, may raise."""
NEWLINE = ord("\n")
_MAPPING = msgspec.json.Decoder(dict[str, object])
_MAPPINGS = msgspec.json.Decoder(list[dict[str, object]])
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"


def read_jsonl(path: Path, fields: Collection[str] | None = (), *, shape: RowShape = AS_NAMED) -> Iterator[Batch]:
    """Read a file of JSON lines; one whose name ends in .gz or .zst is uncompressed on the way.

    An alias among the `fields` is kept under its own name as well.
    """
    with open_binary(path) as stream:
        yield from read_jsonl_stream(stream, path.name, fields, shape=shape)


def uncompressed_name(name: str) -> str:
    """The name of a file in small letters, without the ending of its compression.

    >>> uncompressed_name("Answers.JSONL.gz")
    'answers.jsonl'
    """
    return name.lower().removesuffix(".gz").removesuffix(".zst")


def open_binary(path: Path) -> IO[bytes]:
    """Open a file for reading, plain or compressed by gzip or zstd."""
    try:
        if path.suffix.lower() == ".gz":
            return io.BufferedReader(gzip.open(path), buffer_size=CHUNK_BYTES)
        if path.suffix.lower() == ".zst":
            return io.BufferedReader(_ZstdStream(path), buffer_size=CHUNK_BYTES)
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be opened ({error.strerror or error})") from error


def read_whole(path: Path) -> bytes:
    """All that a file holds; a compressed one may hold `LARGEST_UNPACKED` bytes.

    Raises:
        InputError: It cannot be opened, is damaged, or holds more.
    """
    is_plain = path.suffix.lower() not in (".gz", ".zst")
    try:
        with open_binary(path) as stream:
            content = stream.read(-1 if is_plain else LARGEST_UNPACKED + 1)
    except BROKEN as error:
        raise InputError(damage(path.name, error)) from error
    if not is_plain and len(content) > LARGEST_UNPACKED:
        raise InputError(f"{path.name}: holds more than {LARGEST_UNPACKED >> 20} MiB; unpack it, or use JSON lines")
    return content


def damage(name: str, error: Exception) -> str:
    """What to say of a file that cannot be read to its end."""
    kind = "zstd" if name.lower().endswith(".zst") else "gzip"
    return f"{name}: cannot be read to its end ({error}); is it a whole {kind} file?"


class _ZstdStream(io.RawIOBase):
    """A file compressed by zstd; what is damaged in it is an `OSError`, as of any other file."""

    def __init__(self, path: Path) -> None:
        try:
            module = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
        except ImportError as error:
            raise MissingExtraError("zstd", f"{path.name}: reading .zst") from error
        self._damage = module.ZstdError
        self._file = module.ZstdFile(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return int(self._file.readinto(buffer))
        except self._damage as error:
            raise OSError(str(error)) from error

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def read_jsonl_stream(
    stream: IO[bytes], name: str, fields: Collection[str] | None = (), *, shape: RowShape = AS_NAMED
) -> Iterator[Batch]:
    """Read JSON lines from an open stream, in memory that does not grow with the file."""
    schema = RowSchema(shape=shape)
    gathered = _Gathered(schema, fields, shape)
    for lines in _chunks_of_lines(stream, name):
        decoded = _decode(lines, schema)
        if schema.is_wide or len(schema) != gathered.width or gathered.rows >= ROWS_AT_A_TIME:
            yield from gathered.batches()
            gathered = _Gathered(schema, fields, shape)
        if schema.is_wide:
            yield from _wide_batches(decoded, schema, fields, shape=shape)
        else:
            gathered.add(decoded)
    yield from gathered.batches()


def _wide_batches(
    decoded: TypedRows, schema: RowSchema, fields: Collection[str] | None, *, shape: RowShape
) -> Iterator[Batch]:
    """Batches of few rows, because each has a column for every key that one of its rows has."""
    faults = decoded.faults
    for first in range(0, max(len(decoded.rows), 1), WIDE_ROWS_AT_A_TIME):
        part = slice(first, first + WIDE_ROWS_AT_A_TIME)
        columns = schema.raw_columns(decoded.rows[part], decoded.mappings[part])
        yield shaped_batch(
            columns, decoded.numbers[part], faults=faults, fields=fields, shape=shape, loose=schema.loose
        )
        faults = ()


class _Gathered:
    """Rows of several chunks as columns, as long as the record type stays the same."""

    def __init__(self, schema: RowSchema, fields: Collection[str] | None, shape: RowShape) -> None:
        self._schema, self._fields, self._shape = schema, fields, shape
        self._columns: dict[str, tuple[Callable[[msgspec.Struct], object], list[object]]] = {
            key: (getter, []) for key, getter in schema.getters.items()
        }
        self._numbers: list[Sequence[int]] = []
        self._faults: list[Fault] = []
        self.width = len(schema)
        self.rows = 0

    def add(self, decoded: TypedRows) -> None:
        for key, (getter, values) in self._columns.items():
            values.extend(map(getter, decoded.rows) if decoded.columns is None else decoded.columns[key])
        self._numbers.append(decoded.numbers)
        self._faults.extend(decoded.faults)
        self.rows += len(decoded.rows)

    def batches(self) -> Iterator[Batch]:
        """One batch, or none when nothing was gathered."""
        if self.rows or self._faults:
            columns: dict[str, Column] = {key: values for key, (_, values) in self._columns.items()}
            yield shaped_batch(
                columns,
                self._lines(),
                faults=self._faults,
                fields=self._fields,
                shape=self._shape,
                loose=self._schema.loose,
            )

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
        raise InputError(damage(name, error)) from error


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
            rows, is_dense = schema.decode(_as_list(lines.content))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return _decode_closely(lines, schema)
        columns = {key: list(map(getter, rows)) for key, getter in schema.getters.items()}
        if len(rows) == lines.number and _names_each_key_once(lines.content, columns, schema, is_dense=is_dense):
            return TypedRows(rows, range(lines.first, lines.first + len(rows)), (), lines.faults, columns)
    return _decode_closely(lines, schema)


def _as_list(content: bytes) -> bytes:
    return b"[%b]" % content.replace(b"\n", b",")


def _decode_closely(lines: _Lines, schema: RowSchema) -> TypedRows:
    """Widen the record type by all the new keys of a chunk, and name each of its lines that cannot be read."""
    mappings, numbers, faults = _mappings(lines)
    schema.widen(dict.fromkeys(key for mapping in mappings for key in mapping))
    schema.loosen(mappings)
    typed = typed_rows(mappings, numbers, schema)
    return TypedRows(typed.rows, typed.numbers, typed.mappings, [*lines.faults, *faults, *typed.faults])


def _mappings(lines: _Lines) -> tuple[list[dict[str, object]], Sequence[int], list[Fault]]:
    """Each line that holds exactly one object, with its number, and what is wrong with the others."""
    try:
        rows = _MAPPINGS.decode(_as_list(lines.content))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _mappings_by_line(lines)
    if len(rows) == lines.number and _members(rows) == _keys_in(lines.content):
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
            row = _MAPPING.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            faults.append(_fault(number, line, error))
            continue
        repeated = repeated_key(line, row)
        if repeated is not None:
            faults.append(duplicate_key_fault(number, repeated))
            continue
        rows.append(row)
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


# Keys that stand twice in one object. A decoder keeps the last value without a word, so the keys written are counted
# and compared with the members decoded: an object that has lost a member names a key twice.

_KEY_END = int.from_bytes(b'":', "little")
_NULL = int.from_bytes(b"null", "little")
_QUOTE, _COLON, _SPACE, _BACKSLASH = b'": \\'


def _names_each_key_once(
    content: bytes, columns: Mapping[str, list[object]], schema: RowSchema, *, is_dense: bool
) -> bool:
    """Whether typed rows are known to have all that stands in their lines; a closer look decides where they are not.

    Where keys are missing, a row does not tell a missing value from null, so values that are null are left out of both
    counts: of two values under one key there, the second must not be null, or the first neither, to be noticed.
    """
    width = sum(map(len, columns.values()))
    if is_dense and not schema.nested and _occurrences(content, _KEY_END, 2) == width:
        return True
    nested = [value for key in schema.nested for value in columns[key]]
    if is_dense:
        return width + _members(nested) == _keys_in(content)
    nulls = _occurrences(content, _NULL, 4)
    absent = sum(column.count(None) for column in columns.values())
    return width - absent + _members(nested, with_null=not nulls) == _keys_in(content) - nulls


def duplicate_key_fault(line: int, key: str) -> Fault:
    """A line with an object that names a key twice."""
    return Fault(line, "duplicate_key", f"key {key!r} stands twice in an object; name it once")


def repeated_key(content: bytes | str, value: object) -> str | None:
    """A key that stands twice in an object of some JSON, of which the value was decoded.

    >>> repeated_key('{"a": 1, "b": {"c": 1, "c": 2}}', {"a": 1, "b": {"c": 2}})
    'c'
    """
    data = content.encode() if isinstance(content, str) else content
    members = _members(value)
    if data.count(b'":') == members or _keys_in(data) == members:
        return None
    found: list[str] = []

    def look(pairs: list[tuple[str, object]]) -> None:
        if not found and len(pairs) > len(dict(pairs)):
            found.append(next(key for key, number in Counter(key for key, _ in pairs).items() if number > 1))

    json.JSONDecoder(object_pairs_hook=look, parse_int=str, parse_float=str, strict=False).decode(data.decode())
    return found[0] if found else None


def _members(value: object, *, with_null: bool = True) -> int:
    """How many members the objects in a value have together."""
    number = 0
    level: list[object] = [value]
    while level:
        objects = [part for part in level if type(part) is dict]
        number += sum(map(len, objects))
        if not with_null:
            number -= sum(list(part.values()).count(None) for part in objects)
        lists = [part for part in level if type(part) is list]
        members = chain(*map(dict.values, objects), *lists)
        level = [member for member in members if type(member) is dict or type(member) is list]
    return number


def _keys_in(content: bytes) -> int:
    """How many keys stand in some JSON: quotes before a colon, but for those within a text, which are escaped."""
    data = np.frombuffer(b"  " + content, np.uint8)
    colons = np.flatnonzero(data == _COLON)
    before = data[colons - 1]
    ends = colons - 1 - (before == _SPACE)
    return int(np.count_nonzero((data[ends] == _QUOTE) & (data[ends - 1] != _BACKSLASH)))


def _occurrences(content: bytes, word: int, size: int) -> int:
    """How often a word of two or four bytes occurs; many times as fast as `bytes.count`."""
    number = 0
    for offset in range(size):
        if len(content) >= offset + size:
            words = np.frombuffer(content, f"<u{size}", (len(content) - offset) // size, offset)
            number += int(np.count_nonzero(words == word))
    return number


def _may_nest(kind: object) -> bool:
    return kind is object or any(getattr(part, "__origin__", None) in (list, dict) for part in get_args(kind))
