"""Files of other tools as they lie on disk: JSON, JSON lines, tables, archives, SQLite databases."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple

from msgspec import Struct, field

from hallumeter.errors import InputError
from hallumeter.formats.batch import Fault
from hallumeter.formats.files import check_readable
from hallumeter.formats.jsonl import BROKEN, LONGEST_LINE, open_binary

from .values import whole_characters

LARGEST_DOCUMENT = 512 << 20
"""A larger JSON document would fill the memory several times over; JSON lines have no such bound."""
_ARCHIVE = b"PK\x03\x04"
_PARQUET = b"PAR1"
_DATABASE = b"SQLi"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_TABLES = {".csv": ",", ".tsv": "\t"}
_LINES = (".jsonl", ".ndjson", ".jl")


class Row(NamedTuple):
    """One object of a file."""

    place: str
    """Where it stands, for messages: ``results.jsonl:3``."""
    values: Mapping[str, object]


class Document(Struct, frozen=True):
    """A file that was read."""

    path: Path
    name: str
    value: object = None
    """The whole of a JSON document; None for lines, tables and archives."""
    rows: list[Row] = field(default_factory=list)
    """The objects of a list, of lines or of a table."""
    faults: list[Fault] = field(default_factory=list)
    is_archive: bool = False
    tables: frozenset[str] = frozenset()
    """Names of the tables of a database."""

    def query(self, words: str) -> list[Mapping[str, object]]:
        """The rows that a database has, opened for reading only.

        Raises:
            InputError: It is damaged, or of another version than the query is for.
        """
        try:
            # What a program that is still running wrote last may stand in a log beside it, which immutable passes over.
            has_log = self.path.with_name(f"{self.path.name}-wal").exists()
            how = "mode=ro" if has_log else "mode=ro&immutable=1"
            connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?{how}", uri=True)
            connection.text_factory = lambda content: content.decode("utf-8", "replace")
            try:
                found = connection.execute(words)
                names = [column[0] for column in found.description]
                return [dict(zip(names, row, strict=True)) for row in found]
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise InputError(
                f"{self.name}: the database cannot be read ({error}); is it of a version we know?"
            ) from error

    @property
    def first(self) -> Mapping[str, object]:
        """The first object, by which a file is recognised."""
        if self.rows:
            return self.rows[0].values
        return self.value if isinstance(self.value, dict) else {}


def read_document(path: Path) -> Document:
    """Read a file of another tool whole; what is wrong with it is said in one line.

    Raises:
        InputError: It cannot be opened, is damaged, or is of a kind that no tool writes.
    """
    check_readable(path)
    name = path.name
    ending = Path(name.lower().removesuffix(".gz")).suffix
    with open_binary(path) as stream:
        start = _read(stream, name, 4)
        if start == _ARCHIVE:
            return Document(path, name, is_archive=True)
        if start == _DATABASE:
            named = Document(path, name).query("SELECT name FROM sqlite_master WHERE type = 'table'")
            return Document(path, name, tables=frozenset(str(row["name"]) for row in named))
        if start == _PARQUET:
            raise InputError(f"{name}: this is a Parquet file; save the table as CSV or JSON lines")
        if start.startswith(_UTF16):
            raise InputError(f"{name}: the text is encoded as UTF-16; save it as UTF-8")
    if ending in _TABLES:
        return _table(path, _TABLES[ending])
    return _lines(path) if ending in _LINES else _json(path)


def _read(stream: IO[bytes], name: str, size: int) -> bytes:
    try:
        return stream.read(size)
    except BROKEN as error:
        raise InputError(f"{name}: cannot be read to its end ({error}); is it a whole gzip file?") from error


def _json(path: Path) -> Document:
    """A JSON document; lines of JSON under the name of one are read as lines."""
    with open_binary(path) as stream:
        content = _read(stream, path.name, LARGEST_DOCUMENT + 1)
    if len(content) > LARGEST_DOCUMENT:
        raise InputError(f"{path.name}: larger than {LARGEST_DOCUMENT >> 20} MiB; export JSON lines (.jsonl) instead")
    try:
        value = decoded_json(content)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            return _lines(path)
        raise InputError(f"{path.name}:{error.lineno}: not valid JSON ({error.msg}); is the file whole?") from error
    except ValueError as error:
        raise InputError(f"{path.name}: {_why(error)}") from error
    entries = value if isinstance(value, list) else []
    rows = [
        Row(f"{path.name}, entry {number}", item) for number, item in enumerate(entries, 1) if isinstance(item, dict)
    ]
    faults = [
        Fault(number, "wrong_type", f"expected an object, found {type(item).__name__}")
        for number, item in enumerate(entries, 1)
        if not isinstance(item, dict)
    ]
    return Document(path, path.name, None if isinstance(value, list) else value, rows, faults)


def _lines(path: Path) -> Document:
    """One object per line."""
    rows: list[Row] = []
    faults: list[Fault] = []
    with open_binary(path) as stream:
        for number, line in enumerate(_short_lines(stream, path.name), 1):
            if line is None:
                faults.append(Fault(number, "line_too_long", f"line of more than {LONGEST_LINE >> 20} MiB; split it"))
                continue
            if not line.strip():
                continue
            try:
                value = decoded_json(line)
            except ValueError as error:
                faults.append(Fault(number, "bad_json", _why(error)))
                continue
            if isinstance(value, dict):
                rows.append(Row(f"{path.name}:{number}", value))
            else:
                faults.append(Fault(number, "wrong_type", f"expected an object, found {type(value).__name__}"))
    return Document(path, path.name, rows=rows, faults=faults)


def _short_lines(stream: IO[bytes], name: str) -> Iterator[bytes | None]:
    """Line by line; None for a line that is too long to keep."""
    try:
        while line := stream.readline(LONGEST_LINE + 1):
            if len(line) <= LONGEST_LINE:
                yield line
                continue
            while line and not line.endswith(b"\n"):
                line = stream.readline(LONGEST_LINE)
            yield None
    except BROKEN as error:
        raise InputError(f"{name}: cannot be read to its end ({error}); is it a whole gzip file?") from error


def decoded_json(content: bytes | bytearray) -> object:
    """What JSON says; NaN and Infinity, which tools in Python write, are taken as numbers.

    Half of a surrogate pair, which they write as well, can be stored nowhere and becomes a question mark.
    """
    text = content.decode("utf-8-sig")
    return whole_characters(json.loads(text), text)


def _why(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 (byte {error.start}); save the file as UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON ({error.msg})"
    return "a number has too many digits to be read"


def _table(path: Path, separator: str) -> Document:
    csv.field_size_limit(LONGEST_LINE)
    with open_binary(path) as stream:
        lines = (_as_text(line, number) for number, line in enumerate(_short_lines(stream, path.name), 1))
        reader = csv.DictReader(lines, delimiter=separator, strict=True)
        try:
            numbered = [(reader.line_num, values) for values in reader]
        except (csv.Error, ValueError) as error:
            raise InputError(f"{path.name}:{reader.line_num}: not a table ({error}); is the file whole?") from error
    # A row that is too long or too short has None among its names or its values.
    whole = [(line, values) for line, values in numbered if None not in values and None not in values.values()]
    faulty = {line for line, _ in numbered} - {line for line, _ in whole}
    message = f"expected {len(reader.fieldnames or ())} cells, as the first line has"
    return Document(
        path,
        path.name,
        rows=[Row(f"{path.name}:{line}", values) for line, values in whole],
        faults=[Fault(line, "wrong_width", message) for line in sorted(faulty)],
    )


def _as_text(line: bytes | None, number: int) -> str:
    if line is None:
        raise ValueError(f"line of more than {LONGEST_LINE >> 20} MiB")
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8; save the file as UTF-8") from error
