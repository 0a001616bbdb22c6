"""Choose a format from a file's name, read documents of JSON, and say clearly when a file cannot be used."""

from __future__ import annotations

import io
import json
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec
from msgspec import structs

from hallumeter.errors import InputError

from .batch import TOO_DEEP, Batch, Fault
from .delimited import read_delimited, read_delimited_stream
from .jsonl import (
    BROKEN,
    batch_of,
    open_binary,
    read_jsonl,
    read_jsonl_stream,
    read_whole,
    repeated_key,
    uncompressed_name,
)
from .parquet import read_parquet
from .shapes import AS_NAMED, RowShape

ROWS_AT_A_TIME = 4096
_PREFERRED = ("results", "rows", "records", "data", "examples", "samples", "answers", "responses", "items")
_CASES = ("test_cases", "testCases", "questions", "evaluations", "predictions", "output", "outputs")
_DEEPEST = 3
_MARK = b"\xef\xbb\xbf"


class FoundRows(NamedTuple):
    """The rows of a document, and under which key they stand; no key when the document is the list."""

    rows: list[object]
    key: str = ""


def read_json(path: Path, fields: Collection[str] | None = (), *, shape: RowShape = AS_NAMED) -> Iterator[Batch]:
    """Read a JSON file whole; a row is numbered by its place in the list, from 1.

    A file of JSON lines under this ending is read as such.
    """
    document = _decoded(path)
    if document is None:
        yield from read_jsonl(path, fields, shape=shape)
        return
    found = rows_in(document[0], path.name)
    for first in range(0, len(found.rows), ROWS_AT_A_TIME):
        part = found.rows[first : first + ROWS_AT_A_TIME]
        rows, unusable = [], []
        for number, row in enumerate(part, first + 1):
            if not isinstance(row, dict):
                unusable.append(Fault(number, "wrong_type", f"row: expected an object, found {_kind(row)}"))
            elif _has_broken_name(row):
                unusable.append(Fault(number, "bad_json", _BROKEN_NAME))
            else:
                rows.append((number, row))
        batch = batch_of([row for _, row in rows], fields=fields, shape=shape, numbers=[number for number, _ in rows])
        faults = tuple(sorted((*batch.faults, *unusable), key=lambda fault: fault.line))
        notices = {f"rows were taken from the list under {found.key!r}": len(part)} if found.key else {}
        yield structs.replace(batch, faults=faults, notices=batch.notices | notices)


_BROKEN_NAME = "the name of a field is not valid JSON (half of a surrogate pair); write whole characters"


def _has_broken_name(row: dict[str, object]) -> bool:
    try:
        "".join(row).encode()
    except UnicodeEncodeError:
        return True
    return False


def _decoded(path: Path) -> tuple[object] | None:
    """What a file holds; None when it holds several documents, one per line."""
    content = read_whole(path).removeprefix(_MARK)
    try:
        value: object = msgspec.json.decode(content)
    except RecursionError as error:
        raise InputError(f"{path.name}: {TOO_DEEP}") from error
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _decoded_leniently(content, path.name)
    if (key := repeated_key(content, value)) is not None:
        raise InputError(f"{path.name}: key {key!r} stands twice in an object; name it once")
    return (value,)


def _decoded_leniently(content: bytes, name: str) -> tuple[object] | None:
    """What Python's own writer writes beyond JSON: NaN and infinity, which are not known here."""
    try:
        return (json.loads(content, parse_constant=lambda _: None),)
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not UTF-8 (byte {error.start}); save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        first = content.lstrip().partition(b"\n")[0]
        try:
            is_line = isinstance(msgspec.json.decode(first), dict)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            is_line = False
        if is_line:
            return None
        raise InputError(f"{name}: not valid JSON ({error}); write a list of objects") from error


def rows_in(document: object, name: str) -> FoundRows:
    """The rows of a document: itself, the only list of objects in it, a table by columns, or a single row.

    >>> rows_in({"version": 3, "results": [{"answer": "a"}]}, "x.json")
    FoundRows(rows=[{'answer': 'a'}], key='results')
    """
    if isinstance(document, list):
        return FoundRows(document)
    if not isinstance(document, dict):
        raise InputError(f"{name}: expected a list of objects, found {_kind(document)}")
    by_columns = _rows_by_columns(document)
    if by_columns:
        return FoundRows(by_columns)
    found = dict(_lists_in(document, 1))
    shallow = {key: rows for key, rows in found.items() if "." not in key} or found
    preferred = [key for word in (*_PREFERRED, *_CASES) for key in shallow if key.rpartition(".")[2] == word]
    if _is_row(document) or not shallow:
        return FoundRows([document])
    if len(shallow) > 1 and not preferred:
        raise InputError(f"{name}: several lists of objects ({', '.join(shallow)}); keep one of them")
    key = preferred[0] if preferred else next(iter(shallow))
    return FoundRows(shallow[key], key)


def _lists_in(document: Mapping[str, object], depth: int) -> Iterator[tuple[str, list[object]]]:
    for key, value in document.items():
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            yield key, value
        elif isinstance(value, dict) and depth < _DEEPEST:
            yield from ((f"{key}.{inner}", rows) for inner, rows in _lists_in(value, depth + 1))


def _is_row(document: Mapping[str, object]) -> bool:
    """Whether an object has an answer of its own, so that lists in it are its evidence or its conversation."""
    names = ("response", "answer", "output", "actual_output", "actualOutput", "result", "outputs", "completion")
    return "messages" in document or any(isinstance(document.get(name), str) for name in names)


def _rows_by_columns(document: dict[str, object]) -> list[object]:
    """Rows of a table that was written by columns, as pandas does: lists, or objects by the number of the row."""
    columns = list(document.values())
    if document.keys() == {"columns", "index", "data"} and all(isinstance(value, list) for value in columns):
        names = [str(name) for name in document["columns"]]  # type: ignore[attr-defined]
        return [dict(zip(names, values, strict=False)) for values in document["data"]]  # type: ignore[attr-defined]
    if len(columns) > 1 and all(isinstance(value, list) for value in columns):
        has_text = any(value and all(isinstance(item, str) for item in value) for value in columns)  # type: ignore[attr-defined]
        if has_text and len({len(value) for value in columns}) == 1:  # type: ignore[arg-type]
            return [dict(zip(document, values, strict=True)) for values in zip(*columns, strict=True)]
    if columns and all(isinstance(value, dict) and value and all(map(str.isdigit, value)) for value in columns):
        numbers = dict.fromkeys(number for value in columns for number in value)  # type: ignore[attr-defined]
        return [{key: value.get(number) for key, value in document.items()} for number in numbers]  # type: ignore[attr-defined]
    return []


def _kind(value: object) -> str:
    kinds = {str: "text", int: "a number", float: "a number", bool: "true or false", list: "a list", dict: "an object"}
    return kinds.get(type(value), "null")


_TRACES_IN_JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"resource_?[sS]pans"\s*:')
_TRACES_IN_PROTOBUF = (".pb", ".binpb", ".otlp")
_HEAD = 256
STDIN = "-"
"""A path of one dash stands for the standard input."""
STDIN_NAME = "<stdin>"
_JSON_DOCUMENT = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[|\{[ \t]*\r?\n)")
"""A list, or an object that goes on in the next line; any other object is the first of JSON lines."""
_OBJECT = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]*\{", re.MULTILINE)
_FIRST_LINE = 1 << 16
_READERS = (
    ((".jsonl", ".ndjson", ".jl"), read_jsonl),
    ((".json",), read_json),
    ((".csv", ".tsv", ".tab"), read_delimited),
    ((".parquet", ".pq"), read_parquet),
)


def read_rows(path: Path, fields: Collection[str] | None = (), *, shape: RowShape = AS_NAMED) -> Iterator[Batch]:
    """Read the rows of a JSONL, JSON, CSV, TSV or Parquet file, or of traces; a dash reads standard input.

    Of a Parquet file only the known columns are read, and the `fields` asked for; None asks for all. A field asked for
    by another tool's name is there under that name as well.
    """
    if str(path) == STDIN:
        return _read_stdin(fields, shape)
    check_readable(path)
    name = uncompressed_name(path.name)
    if shape.is_traces or is_trace_file(path):
        from .traces import read_traces

        return read_traces(path, fields, shape=shape)
    for endings, read in _READERS:
        if name.endswith(endings):
            return read(path, fields, shape=shape)
    known = ", ".join(ending for endings, _ in _READERS for ending in endings)
    raise InputError(f"{path}: unknown ending {path.suffix!r}; expected one of {known} (also with .gz or .zst)")


def ending_of(head: bytes) -> str:
    """The ending that a file which begins so should have; JSON lines if nothing speaks against it.

    >>> ending_of(b'{"id": 1}'), ending_of(b'[{"id": 1}'), ending_of(b"id,answer")
    ('.jsonl', '.json', '.csv')
    """
    if head.startswith(b"PAR1"):
        return ".parquet"
    if _JSON_DOCUMENT.match(head):
        return ".json"
    first = head.lstrip().partition(b"\n")[0]
    if _OBJECT.search(head) or not (b"\t" in first or b"," in first):
        return ".jsonl"
    return ".tsv" if b"\t" in first else ".csv"


@contextmanager
def kept_stdin(stream: IO[bytes] | None = None) -> Iterator[Path]:
    """The standard input, or a stream, as a temporary file whose name ends as its content asks for."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "stdin"
        with kept.open("w+b") as written:
            shutil.copyfileobj(sys.stdin.buffer if stream is None else stream, written)
            written.seek(0)
            ending = ending_of(written.read(_FIRST_LINE))
        yield kept.rename(kept.with_suffix(ending))


def _read_stdin(fields: Collection[str] | None, shape: RowShape) -> Iterator[Batch]:
    """The rows that come in; lines are read as they come, a document or a file of columns is kept meanwhile."""
    head = sys.stdin.buffer.read(_FIRST_LINE)
    stream = io.BufferedReader(_Joined(head, sys.stdin.buffer))
    ending = ending_of(head)
    if ending == ".jsonl" and not shape.is_traces and not _TRACES_IN_JSON.match(head):
        yield from read_jsonl_stream(stream, STDIN_NAME, fields, shape=shape)
    elif ending in (".csv", ".tsv") and not shape.is_traces:
        mark = "," if ending == ".csv" else "\t"
        yield from read_delimited_stream(stream, STDIN_NAME, mark, fields=fields, shape=shape)
    else:
        with kept_stdin(stream) as path:
            yield from read_rows(path, fields, shape=shape)


class _Joined(io.RawIOBase):
    """What was read of a stream already, then its rest."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        """It is only read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as there is something."""
        taken = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)


def is_trace_file(path: Path) -> bool:
    """Whether a file holds traces of OpenTelemetry: protobuf by its ending, JSON by how it begins."""
    name = uncompressed_name(path.name)
    if name.endswith(_TRACES_IN_PROTOBUF):
        return True
    # What is no regular file, such as a pipe, can be read once only.
    if not name.endswith((".json", ".jsonl", ".ndjson", ".jl")) or not path.is_file():
        return False
    try:
        with open_binary(path) as stream:
            return _TRACES_IN_JSON.match(stream.read(_HEAD)) is not None
    except BROKEN:
        return False  # whoever reads it says what is wrong with it


def check_readable(path: Path) -> None:
    """Refuse what is missing, a folder, or empty, before anything is read."""
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be opened ({error.strerror or error})") from error
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path}: is a folder; give the file inside it")
    if stat.S_ISREG(status.st_mode) and status.st_size == 0:
        raise InputError(f"{path}: the file is empty; expected one record per line")
