"""Tables as text, read and written: CSV, and TSV with tabs; the first row names the columns."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import IO, TextIO

import msgspec
from msgspec import structs

from hallumeter.errors import InputError
from hallumeter.text.normalize import printable

from .batch import Batch, Fault, plain_message
from .fields import ALIASES, STRUCTURED_FIELDS
from .jsonl import (
    BROKEN,
    LONGEST_LINE,
    RowSchema,
    damage,
    duplicate_key_fault,
    open_binary,
    repeated_key,
    uncompressed_name,
)
from .literals import literal_of
from .shapes import AS_NAMED, RowShape, own_name, shaped_batch

ROWS_AT_A_TIME = 2048
_TAB_ENDINGS = (".tsv", ".tab")


def read_delimited(path: Path, fields: Collection[str] | None = (), *, shape: RowShape = AS_NAMED) -> Iterator[Batch]:
    """Read a CSV or TSV file; an empty cell is a value that is not known.

    A cell of a field that is a list or an object, such as `evidence`, may hold it as JSON or as Python prints it; any
    other cell is its text.

    An alias among the `fields` is kept under its own name as well.
    """
    delimiter = "\t" if uncompressed_name(path.name).endswith(_TAB_ENDINGS) else ","
    with open_binary(path) as stream:
        yield from read_delimited_stream(stream, path.name, delimiter, fields=fields, shape=shape)


def read_delimited_stream(
    stream: IO[bytes],
    name: str,
    delimiter: str = ",",
    *,
    fields: Collection[str] | None = (),
    shape: RowShape = AS_NAMED,
) -> Iterator[Batch]:
    """Read a table from an open stream, in memory that does not grow with it."""
    csv.field_size_limit(LONGEST_LINE)
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="strict", newline="")
    reader = csv.reader(text, delimiter=delimiter)
    try:
        header = formulas_restored(next(reader, []))
        _check_header(header, name)
        yield from _batches(reader, _Table(header, fields, structs.replace(shape, is_text=True)))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name}: not UTF-8 near line {reader.line_num + 1} ({error.reason}); save it as UTF-8"
        ) from error
    except csv.Error as error:
        raise InputError(
            f"{name}:{reader.line_num}: not a readable table ({error}); check quotes and cell sizes"
        ) from error
    except BROKEN as error:
        raise InputError(damage(name, error)) from error
    finally:
        text.detach()


def _check_header(header: list[str], name: str) -> None:
    repeated = [column for column, number in Counter(header).items() if number > 1]
    if repeated:
        raise InputError(f"{name}: column {min(repeated)!r} stands twice in the first row; name each column once")


def _batches(reader: Iterator[list[str]], table: _Table) -> Iterator[Batch]:
    for cells in reader:
        if cells:
            table.add(formulas_restored(cells), reader.line_num)  # type: ignore[attr-defined]
        if len(table.lines) == ROWS_AT_A_TIME:
            yield table.batch()
            table = table.emptied()
    yield table.batch()


class _Table:
    """Rows under the names of one header, until they are a batch."""

    def __init__(
        self, header: list[str], fields: Collection[str] | None, shape: RowShape, *, schema: RowSchema | None = None
    ) -> None:
        self.schema = schema or RowSchema(header, shape)
        self._shape = shape
        self.lines: list[int] = []
        self._header = header
        # A text may begin with a bracket: only where a list or an object is expected, a cell can be one.
        self._may_be_json = {name for name in header if _is_structured(name, shape)}
        self._fields = fields
        self._mappings: list[dict[str, object]] = []
        self._rows: list[msgspec.Struct] = []
        self._faults: list[Fault] = []

    def emptied(self) -> _Table:
        """A table for the next rows under the same header."""
        return _Table(self._header, self._fields, self._shape, schema=self.schema)

    def add(self, cells: list[str], line: int) -> None:
        expected = len(self._header)
        if len(cells) != expected:
            message = f"expected {expected} cells as in the first row, found {len(cells)}"
            self._faults.append(Fault(line, "ragged_row", message))
            return
        try:
            named = zip(self._header, cells, strict=True)
            values = {name: _value(cell) if name in self._may_be_json else cell for name, cell in named if cell != ""}
            row = msgspec.convert(values, self.schema.row_type, strict=False)
        except _RepeatedKeyError as error:
            self._faults.append(duplicate_key_fault(line, str(error)))
        except RecursionError as error:
            self._faults.append(Fault(line, "bad_json", plain_message(error)))
        except msgspec.ValidationError as error:
            self._faults.append(Fault(line, "wrong_type", plain_message(error)))
        else:
            self._rows.append(row)
            self._mappings.append(values)
            self.lines.append(line)

    def batch(self) -> Batch:
        columns = self.schema.raw_columns(self._rows, self._mappings)
        return shaped_batch(columns, self.lines, faults=self._faults, fields=self._fields, shape=self._shape, loose=())


def _is_structured(name: str, shape: RowShape) -> bool:
    """Whether the cells of a column may be lists or objects."""
    return ALIASES.get(name, name) in STRUCTURED_FIELDS or (shape.is_open and own_name(name) == "evidence")


class _RepeatedKeyError(Exception):
    """A cell holds an object that names a key twice."""


def _value(cell: str) -> object:
    """A cell that holds a list or an object, as JSON or as Python prints it, is one; any other is its text."""
    if not cell.startswith(("[", "{")):
        return cell
    try:
        value = msgspec.json.decode(cell)
    except msgspec.DecodeError:
        found = literal_of(cell)
        return cell if found is None or cell.startswith("{") else found
    if (key := repeated_key(cell, value)) is not None:
        raise _RepeatedKeyError(key)
    return value


CSV_FORMS = ("csv", "raw-csv")
"""Names of the ways to print a table as CSV: safe for spreadsheets, and as it is for programs."""
_FORMULA = "=+\\-@\t\r\n＝＋－＠"
"""What a spreadsheet takes for the beginning of a formula, or passes over before one."""
_LOOKS_LIKE_FORMULA = re.compile(f"'*[{_FORMULA}]")
_GUARDED = re.compile(f"'+[{_FORMULA}]")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def formula_safe(text: str) -> str:
    """A text that no spreadsheet takes for a formula: an apostrophe stands before one that looks like it.

    A number stays one, and a text that has the apostrophe already gets another, so that `formulas_restored` undoes it.

    >>> formula_safe("=1+1"), formula_safe("1+1"), formula_safe("-0.5"), formula_safe("'=1")
    ("'=1+1", '1+1', '-0.5', "''=1")
    """
    if _LOOKS_LIKE_FORMULA.match(text) is None or _NUMBER.fullmatch(text):
        return text
    return f"'{text}"


def formulas_restored(cells: list[str]) -> list[str]:
    """The cells of a row without the apostrophes that `formula_safe` put before them.

    >>> formulas_restored(["'=1+1", "'tis", "-0.5", "''=1"])
    ['=1+1', "'tis", '-0.5', "'=1"]
    """
    return [cell[1:] if cell[:1] == "'" and _GUARDED.match(cell) else cell for cell in cells]


def csv_text(rows: Iterable[Iterable[object]], *, is_printable: bool = False, is_raw: bool = False) -> str:
    r"""A table as the text of a CSV file; see `write_csv`.

    >>> csv_text([["name", "value", "is_known"], ["a, b", None, True]])
    'name,value,is_known\n"a, b",,true\n'
    """
    stream = io.StringIO()
    write_csv(stream, rows, is_printable=is_printable, is_raw=is_raw)
    return stream.getvalue()


def write_csv(
    stream: TextIO, rows: Iterable[Iterable[object]], *, is_printable: bool = False, is_raw: bool = False
) -> None:
    """Write a table, the names of its columns first: numbers unrounded, true and false in small letters, None empty.

    A text that a spreadsheet would take for a formula gets an apostrophe in front, unless `is_raw`; `read_delimited`
    takes it off again. `is_printable` makes texts safe for a terminal, which obeys some characters.
    """
    table = csv.writer(stream, lineterminator="\n")
    quoted = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        cells = [_cell(value, is_printable=is_printable, is_raw=is_raw) for value in row]
        # The writer does not quote a carriage return by itself, though it ends a row for those who read.
        has_return = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (quoted if has_return else table).writerow(cells)


def _cell(value: object, *, is_printable: bool, is_raw: bool) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = printable(value) if is_printable else value
    return text if is_raw else formula_safe(text)
