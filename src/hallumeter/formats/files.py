"""Choose a format from a file's name, and say clearly when a file cannot be used."""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from hallumeter.errors import InputError

from .batch import Batch
from .delimited import read_delimited
from .json_document import read_json
from .jsonl import BROKEN, open_binary, read_jsonl, read_jsonl_stream, uncompressed_name
from .parquet import read_parquet
from .shapes import AS_NAMED, RowShape

_TRACES_IN_JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"resource_?[sS]pans"\s*:')
_TRACES_IN_PROTOBUF = (".pb", ".binpb", ".otlp")
_HEAD = 256
STDIN = "-"
"""A path of one dash stands for the standard input."""
_READERS = (
    ((".jsonl", ".ndjson", ".jl"), read_jsonl),
    ((".json",), read_json),
    ((".csv", ".tsv", ".tab"), read_delimited),
    ((".parquet", ".pq"), read_parquet),
)


def read_rows(path: Path, fields: Collection[str] | None = (), *, shape: RowShape = AS_NAMED) -> Iterator[Batch]:
    """Read the rows of a JSONL, JSON, CSV, TSV or Parquet file, or of traces; a dash reads JSONL from standard input.

    Of a Parquet file only the known columns are read, and the `fields` asked for; None asks for all. A field asked for
    by another tool's name is there under that name as well.
    """
    if str(path) == STDIN:
        return read_jsonl_stream(sys.stdin.buffer, "<stdin>", fields, shape=shape)
    check_readable(path)
    name = uncompressed_name(path.name)
    if is_trace_file(path):
        from .traces import read_traces

        return read_traces(path, fields, shape=shape)
    for endings, read in _READERS:
        if name.endswith(endings):
            return read(path, fields, shape=shape)
    known = ", ".join(ending for endings, _ in _READERS for ending in endings)
    raise InputError(f"{path}: unknown ending {path.suffix!r}; expected one of {known} (also with .gz or .zst)")


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
