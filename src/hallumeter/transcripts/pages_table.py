"""Every page of every engine in numbers: on disk while it is measured, and in ``pages.csv`` for a spreadsheet."""

from __future__ import annotations

import csv
import os
import tempfile
import weakref
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import structs

from hallumeter.errors import InputError
from hallumeter.formats.delimited import formulas_restored, write_csv
from hallumeter.records.page import PageRow
from hallumeter.run.run_folder import read_cells

PAGES = "pages.csv"
_FIELDS = PageRow.__struct_fields__
_ENCODER, _DECODER = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(list[PageRow])


class StoredRows(Collection[PageRow]):
    """Rows in the order in which they came, in a temporary file once they are many; read as often as needed."""

    _IN_MEMORY = 1 << 22
    """Bytes that are held before a file is made."""
    _AT_ONCE = 512

    def __init__(self) -> None:
        # Closed with the rows: nobody else knows of it.
        self._file = tempfile.SpooledTemporaryFile(max_size=self._IN_MEMORY)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._last: list[PageRow] = []
        self._places: list[tuple[int, int]] = []
        """Where some rows together begin in the file, and how many bytes they are."""
        self._count = 0

    def add(self, row: PageRow) -> None:
        """Keep a row."""
        self._last.append(row)
        self._count += 1
        if len(self._last) == self._AT_ONCE:
            self._settle()

    def add_encoded(self, rows: bytes, count: int) -> None:
        """Keep so many rows that another process has encoded."""
        self._settle()
        self._write(rows)
        self._count += count

    def _settle(self) -> None:
        if self._last:
            self._write(_ENCODER.encode(self._last))
            self._last = []

    def _write(self, rows: bytes) -> None:
        self._places.append((self._file.seek(0, os.SEEK_END), self._file.write(rows)))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[PageRow]:
        for place, size in self._places:
            self._file.seek(place)
            yield from _DECODER.decode(self._file.read(size))
        yield from self._last

    def __contains__(self, row: object) -> bool:
        return any(each == row for each in self)


def encoded_rows(rows: Iterable[PageRow | dict[str, object]]) -> bytes:
    """Rows, or what is not empty in them, as `StoredRows` keeps them."""
    return _ENCODER.encode(list(rows))


def write_pages(path: Path, rows: Iterable[PageRow]) -> None:
    """Write the table; what could not be counted is an empty cell, never a 0."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        write_csv(stream, chain([_FIELDS], map(structs.astuple, rows)))


def read_pages(path: Path) -> Iterator[PageRow]:
    """Read the table back."""
    number = 1
    try:
        rows = map(formulas_restored, read_cells(path))
        header = next(rows, [])
        for number, cells in enumerate(rows, 2):  # noqa: B007 (the error names it)
            row = {name: cell or None for name, cell in zip(header, cells, strict=True)}
            yield msgspec.convert(row, PageRow, strict=False)
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path}:{number}: damaged ({error}); make the run again") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); make the run again") from error
