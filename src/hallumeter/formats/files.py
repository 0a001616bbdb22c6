"""Choose a format from a file's name, and say clearly when a file cannot be used."""

from __future__ import annotations

import stat
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from hallumeter.errors import InputError

from .batch import Batch
from .delimited import read_delimited
from .jsonl import read_jsonl, read_jsonl_stream
from .parquet import read_parquet

STDIN = "-"
"""A path of one dash stands for the standard input."""
_JSONL = (".jsonl", ".ndjson", ".jl")
_DELIMITED = (".csv", ".tsv", ".tab")
_PARQUET = (".parquet", ".pq")


def read_rows(path: Path, fields: Collection[str] | None = ()) -> Iterator[Batch]:
    """Read the rows of a JSONL, CSV, TSV or Parquet file; a dash reads JSONL from the standard input.

    Of a Parquet file only the known columns are read, and the `fields` asked for; None asks for all. A field asked for
    by another tool's name is there under that name as well.
    """
    if str(path) == STDIN:
        return read_jsonl_stream(sys.stdin.buffer, "<stdin>", fields)
    check_readable(path)
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(_JSONL):
        return read_jsonl(path, fields)
    if name.endswith(_DELIMITED):
        return read_delimited(path, fields)
    if name.endswith(_PARQUET):
        return read_parquet(path, fields)
    known = ", ".join([*_JSONL, *_DELIMITED, *_PARQUET])
    raise InputError(f"{path}: unknown ending {path.suffix!r}; expected one of {known} (also with .gz)")


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
