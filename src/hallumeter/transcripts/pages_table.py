"""``pages.csv``: every page of every engine in numbers, for a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import structs

from hallumeter.errors import InputError
from hallumeter.formats.delimited import write_csv
from hallumeter.records.page import PageRow

PAGES = "pages.csv"
_FIELDS = PageRow.__struct_fields__


def write_pages(path: Path, rows: Iterable[PageRow]) -> None:
    """Write the table; what could not be counted is an empty cell, never a 0."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        write_csv(stream, chain([_FIELDS], map(structs.astuple, rows)))


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
