"""Examples of what every engine did wrong, as tables: misread words, worst lines, invented names and numbers."""

from __future__ import annotations

import csv
import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import InputError
from hallumeter.formats.delimited import formulas_restored, write_csv
from hallumeter.records.page import InventedWord, WorstLine

from .records import ErrorClass, InventedToken, LineError, WordDifference, severity_of_line

MISREAD, LINES, INVENTED = "misread.csv", "lines.csv", "invented.csv"
EXAMPLES_KEPT = 20
"""Misread words of each engine and class, the first that differ from one another; and lines of each engine."""
TOKENS_KEPT = 200
"""Invented names and numbers of each engine: the first."""


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
            self.keep(MisreadWord(engine, kind, page, reference, response))

    def keep(self, word: MisreadWord) -> None:
        """Take one word."""
        own = self._kept.setdefault((word.engine, word.error), {})
        if len(own) < EXAMPLES_KEPT:
            own.setdefault((word.reference, word.response), word)

    def __iter__(self) -> Iterator[MisreadWord]:
        for own in self._kept.values():
            yield from own.values()


class WorstLines:
    """Takes the worst lines of page after page, and keeps the worst of every engine."""

    def __init__(self, engines: Iterable[str] = ()) -> None:
        self._kept: dict[str, list[tuple[tuple[bool, float, int], int, WorstLine]]] = {name: [] for name in engines}
        self._taken = 0

    def add(self, engine: str, page: str, lines: Iterable[LineError]) -> None:
        """Take the lines of one page."""
        for line in lines:
            kept = WorstLine(
                engine=engine,
                page=page,
                line=line.number,
                cer=line.cer,
                errors=line.errors,
                characters=line.characters,
                reference=line.reference,
                response=line.response,
                start=line.start,
                end=line.end,
            )
            self.keep(kept)

    def keep(self, line: WorstLine) -> None:
        """Take one line; of lines that are equally bad, the first stays."""
        self._taken += 1
        own = self._kept.setdefault(line.engine, [])
        heapq.heappush(own, (severity_of_line(line), -self._taken, line))
        if len(own) > EXAMPLES_KEPT:
            heapq.heappop(own)

    def __iter__(self) -> Iterator[WorstLine]:
        """Engine by engine, the worst first."""
        for own in self._kept.values():
            yield from (line for *_, line in sorted(own, key=lambda entry: entry[:2], reverse=True))


class InventedWords:
    """Takes the invented names and numbers of page after page, and keeps some of every engine."""

    def __init__(self, engines: Iterable[str] = ()) -> None:
        self._kept: dict[str, list[InventedWord]] = {name: [] for name in engines}

    def add(self, engine: str, page: str, tokens: Iterable[InventedToken]) -> None:
        """Take those of one page."""
        for kind, token, start, context in tokens:
            self.keep(InventedWord(engine, page, kind, token, context, start))

    def keep(self, word: InventedWord) -> None:
        """Take one."""
        own = self._kept.setdefault(word.engine, [])
        if len(own) < TOKENS_KEPT:
            own.append(word)

    def __iter__(self) -> Iterator[InventedWord]:
        for own in self._kept.values():
            yield from own


_Row = TypeVar("_Row", bound=Struct)


def write_table(path: Path, kind: type[_Row], rows: Iterable[_Row]) -> None:
    """Write a table with the fields of its rows as columns."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        write_csv(stream, [kind.__struct_fields__, *map(structs.astuple, rows)])


def merged_tables(folder: Path, parts: Callable[[str], Iterable[list[str]]], engines: Sequence[str]) -> None:
    """Write the tables of a run from those of its parts, given by name as cells in the order of the pages.

    A word or line that is kept of all pages is kept of those of its part as well, so nothing is missing.
    """
    misread, lines, invented = MisreadWords(), WorstLines(engines), InventedWords(engines)
    for word in _records(parts(MISREAD), MisreadWord):
        misread.keep(word)
    for line in _records(parts(LINES), WorstLine):
        lines.keep(line)
    for token in _records(parts(INVENTED), InventedWord):
        invented.keep(token)
    write_table(folder / MISREAD, MisreadWord, misread)
    write_table(folder / LINES, WorstLine, lines)
    write_table(folder / INVENTED, InventedWord, invented)


def read_table(path: Path, kind: type[_Row]) -> Iterator[_Row]:
    """Read a table back; nothing of a run that was made without it."""
    if not path.exists():
        return
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            yield from _records(csv.reader(stream), kind)
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: damaged ({error}); make the run again") from error


def _records(rows: Iterable[list[str]], kind: type[_Row]) -> Iterator[_Row]:
    restored = map(formulas_restored, rows)
    header = next(restored, [])
    for cells in restored:
        yield msgspec.convert(dict(zip(header, cells, strict=True)), kind, strict=False)


TABLES: dict[str, Callable[[Path], Iterator[Struct]]] = {
    MISREAD: partial(read_table, kind=MisreadWord),
    LINES: partial(read_table, kind=WorstLine),
    INVENTED: partial(read_table, kind=InventedWord),
}
"""How the files of a run are read back."""
