"""``pages.csv``: every page of every engine in numbers, for a spreadsheet."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import msgspec

from hallumeter.errors import InputError
from hallumeter.records import PageRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_FIELDS = PageRow.__struct_fields__


def write_pages(path: Path, rows: Iterable[PageRow]) -> None:
    """Write the table; what could not be counted is an empty cell, never a 0."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        quoted = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
        table.writerow(_FIELDS)
        for row in rows:
            # The writer does not quote a carriage return by itself, though it ends a row for those who read.
            chosen = quoted if "\r" in row.page + row.engine else table
            chosen.writerow([_cell(getattr(row, name)) for name in _FIELDS])


def read_pages(path: Path) -> Iterator[PageRow]:
    """Read the table back."""
    number = 1
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            for number, cells in enumerate(csv.DictReader(stream), 2):  # noqa: B007 (the error names it)
                yield msgspec.convert({name: cell or None for name, cell in cells.items()}, PageRow, strict=False)
    except (msgspec.ValidationError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}:{number}: damaged ({error}); make the run again") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); make the run again") from error


def _cell(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value
