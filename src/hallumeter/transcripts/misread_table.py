"""Examples of misread words of every engine: in ``misread.csv`` for people, and in the report."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import InputError
from hallumeter.formats.delimited import formulas_restored, write_csv

from .error_classes import ErrorClass, WordDifference

MISREAD = "misread.csv"
EXAMPLES_KEPT = 20
"""Examples of each engine and class: the first that differ from one another."""


class MisreadWord(Struct, frozen=True):
    """A word that an engine read otherwise than it is spelled on the page."""

    engine: str
    error: ErrorClass
    page: str
    reference: str
    response: str


class MisreadWords:
    """Takes the misread words of page after page, and keeps a few of every engine and class."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, ErrorClass], dict[tuple[str, str], MisreadWord]] = {}

    def add(self, engine: str, page: str, differences: Iterable[WordDifference]) -> None:
        """Take the words of one page."""
        for kind, reference, response in differences:
            own = self._kept.setdefault((engine, kind), {})
            if len(own) < EXAMPLES_KEPT:
                own.setdefault((reference, response), MisreadWord(engine, kind, page, reference, response))

    def __iter__(self) -> Iterator[MisreadWord]:
        for own in self._kept.values():
            yield from own.values()


def write_misread(path: Path, words: Iterable[MisreadWord]) -> None:
    """Write the examples."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        write_csv(stream, [MisreadWord.__struct_fields__, *map(structs.astuple, words)])


def read_misread(path: Path) -> Iterator[MisreadWord]:
    """Read the examples back; none of a run that was made without them."""
    if not path.exists():
        return
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = map(formulas_restored, csv.reader(stream))
            header = next(rows, [])
            for cells in rows:
                yield msgspec.convert(dict(zip(header, cells, strict=True)), MisreadWord)
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: damaged ({error}); make the run again") from error
