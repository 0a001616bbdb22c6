"""Tables as text: CSV, and TSV with tabs; the first row names the columns."""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING

import msgspec

from hallumeter.errors import InputError

from .batch import Batch, Fault
from .jsonl import LONGEST_LINE, open_binary
from .row_schema import RowSchema, plain_message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROWS_AT_A_TIME = 2048
_TAB_ENDINGS = (".tsv", ".tab")


def read_delimited(path: Path) -> Iterator[Batch]:
    """Read a CSV or TSV file; an empty cell is a value that is not known, a cell may hold a JSON list or object."""
    delimiter = "\t" if path.name.removesuffix(".gz").endswith(_TAB_ENDINGS) else ","
    with open_binary(path) as stream:
        yield from read_delimited_stream(stream, path.name, delimiter)


def read_delimited_stream(stream: IO[bytes], name: str, delimiter: str = ",") -> Iterator[Batch]:
    """Read a table from an open stream, in memory that does not grow with it."""
    csv.field_size_limit(LONGEST_LINE)
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="strict", newline="")
    reader = csv.reader(text, delimiter=delimiter)
    try:
        header = next(reader, [])
        _check_header(header, name)
        yield from _batches(reader, header)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name}: not UTF-8 near line {reader.line_num + 1} ({error.reason}); save it as UTF-8"
        ) from error
    except csv.Error as error:
        raise InputError(
            f"{name}:{reader.line_num}: not a readable table ({error}); check quotes and cell sizes"
        ) from error
    finally:
        text.detach()


def _check_header(header: list[str], name: str) -> None:
    repeated = sorted({column for column in header if header.count(column) > 1})
    if repeated:
        raise InputError(f"{name}: column {repeated[0]!r} stands twice in the first row; name each column once")


def _batches(reader: Iterator[list[str]], header: list[str]) -> Iterator[Batch]:
    schema = RowSchema(header)
    rows: list[msgspec.Struct] = []
    lines: list[int] = []
    faults: list[Fault] = []
    for cells in reader:
        line: int = reader.line_num  # type: ignore[attr-defined]
        if not cells:
            continue
        if len(cells) != len(header):
            faults.append(
                Fault(line, "ragged_row", f"expected {len(header)} cells as in the first row, found {len(cells)}")
            )
            continue
        try:
            rows.append(_typed(dict(zip(header, cells, strict=True)), schema))
            lines.append(line)
        except msgspec.ValidationError as error:
            faults.append(Fault(line, "wrong_type", plain_message(error)))
        if len(rows) == ROWS_AT_A_TIME:
            yield Batch(dict(schema.columns(rows)), lines, tuple(faults), schema.aliases)
            rows, lines, faults = [], [], []
    yield Batch(dict(schema.columns(rows)), lines, tuple(faults), schema.aliases)


def _typed(cells: dict[str, str], schema: RowSchema) -> msgspec.Struct:
    values: dict[str, object] = {name: _value(cell) for name, cell in cells.items() if cell != ""}
    return msgspec.convert(values, schema.row_type, strict=False)


def _value(cell: str) -> object:
    """A cell that holds a JSON list or object is one; any other is its text."""
    if cell.startswith(("[", "{")):
        try:
            return msgspec.json.decode(cell)
        except msgspec.DecodeError:
            return cell
    return cell
