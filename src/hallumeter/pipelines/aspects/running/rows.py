"""Rows of a file of sentences, under the names that the file gives them: CSV, TSV, JSON, Parquet, or plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from hallumeter.errors import InputError
from hallumeter.formats import Batch, check_readable, plain_message, read_parquet, rows_of
from hallumeter.formats.delimited import read_delimited_stream
from hallumeter.formats.jsonl import open_binary
from hallumeter.pipelines.experiments import DAMAGE, lines_of
from hallumeter.records import Failure

from .experiment import InputFormat

_ENDINGS: dict[str, InputFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".txt": "text",
}
_ROW = msgspec.json.Decoder(dict[str, object])


class Row(NamedTuple):
    """A row and where it stands."""

    line: int
    values: dict[str, object]


class Rows(NamedTuple):
    """What a file holds."""

    rows: list[Row]
    failures: list[Failure]
    """Of lines that are no rows."""


def read_table(path: Path, form: InputFormat | None = None) -> Rows:
    """All rows of a file, in the form that is told, or that its name ends in.

    Raises:
        InputError: The file cannot be read, or its name tells no form.
    """
    check_readable(path)
    return _READERS[form or _form_of(path)](path)


def failure_of(
    path: Path, line: int | None, message: str, *, code: str = "bad_line", record_id: str | None = None
) -> Failure:
    """A row that cannot be used."""
    where = path.name if line is None else f"{path.name}:{line}"
    return Failure(record_id, None, "read", None, code, f"{where}: {message}")


def _form_of(path: Path) -> InputFormat:
    name = path.name.lower().removesuffix(".gz")
    found = next((form for ending, form in _ENDINGS.items() if name.endswith(ending)), None)
    if found is None:
        known = ", ".join(_ENDINGS)
        raise InputError(f"{path}: unknown ending {path.suffix!r}; expected one of {known}, or say data.input_format")
    return found


def _delimited(path: Path, delimiter: str) -> Rows:
    with open_binary(path) as stream:
        return _of_batches(path, read_delimited_stream(stream, path.name, delimiter, fields=None))


def _of_batches(path: Path, batches: Iterator[Batch]) -> Rows:
    rows: list[Row] = []
    failures: list[Failure] = []
    for batch in batches:
        failures += [failure_of(path, fault.line, fault.message) for fault in batch.faults]
        names = {own: alias for alias, own in batch.aliases.items()}
        rows += [Row(line, {names.get(key, key): value for key, value in row.items()}) for line, row in rows_of(batch)]
    return Rows([Row(line, _without_gaps(values)) for line, values in rows], failures)


def _without_gaps(values: dict[str, object]) -> dict[str, object]:
    """A table has a cell for every column; an empty one says nothing."""
    return {key: value for key, value in values.items() if value is not None}


def _json_lines(path: Path) -> Rows:
    rows: list[Row] = []
    failures: list[Failure] = []
    for number, line in lines_of(path):
        try:
            rows.append(Row(number, _ROW.decode(line)))
        except DAMAGE as error:
            failures.append(failure_of(path, number, plain_message(error)))
    return Rows(rows, failures)


def _json(path: Path) -> Rows:
    """One list of objects; a file that is none may still hold an object on every line."""
    with open_binary(path) as stream:
        body = stream.read()
    try:
        listed = msgspec.json.decode(body, type=list[dict[str, object]])
    except DAMAGE as error:
        if body.lstrip()[:1] == b"{":
            return _json_lines(path)
        raise InputError(f"{path}: expected a list of objects, or an object on every line ({error})") from error
    return Rows([Row(number, values) for number, values in enumerate(listed, 1)], [])


def _text(path: Path) -> Rows:
    """A sentence on every line; empty lines are passed over."""
    rows: list[Row] = []
    for number, line in lines_of(path):
        try:
            rows.append(Row(number, {"text": line.decode("utf-8")}))
        except UnicodeDecodeError as error:
            raise InputError(f"{path}:{number}: not UTF-8 text ({error.reason}); save it as UTF-8") from error
    return Rows(rows, [])


_READERS: dict[InputFormat, Callable[[Path], Rows]] = {
    "csv": lambda path: _delimited(path, ","),
    "tsv": lambda path: _delimited(path, "\t"),
    "jsonl": _json_lines,
    "json": _json,
    "parquet": lambda path: _of_batches(path, read_parquet(path, None)),
    "text": _text,
}
