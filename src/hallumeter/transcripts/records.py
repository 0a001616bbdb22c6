"""What an engine wrote for a page, and what was measured of it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple
from numpy.typing import NDArray

from hallumeter.records.page import PageRow, PageStatus, WorstLine
from hallumeter.records.response import FieldValue

# Pages as columns: what the arithmetic of the transcripts metrics works on.


class PageCounts(Struct, frozen=True, kw_only=True, array_like=True):
    """Everything that is counted on one page of one engine. Without an alignment its counts are all 0."""

    reference_words: int
    """Runs of what is not white space; the words of Picarones' metrics."""
    response_words: int
    unknown_words: int
    anchored_ngrams: int
    ngrams: int
    anchor_score: float
    """With Picarones' values for empty texts."""
    reference_characters: int
    response_characters: int
    length_ratio: float
    """Uncapped; infinite for text on an empty page."""
    picarones_badge: bool
    word_hits: int = 0
    word_errors: int = 0
    word_edits: int = 0
    """Hits and errors: the steps of the alignment."""
    strict_reference_words: int = 0
    strict_response_words: int = 0
    character_errors: int = 0
    strict_reference_characters: int = 0
    read_reference_words: int = 0
    """Words of the reference that can be read or left out: those with a letter or a digit."""
    read_response_words: int = 0
    inserted_words: int = 0
    block_words: int = 0
    loop_words: int = 0
    omitted_words: int = 0
    multiset_inserted: int = 0
    invented_numbers: int = 0
    numbers: int = 0
    invented_names: int = 0
    names: int = 0
    is_decided: bool = False
    """Whether the product's badge could be given."""
    is_hallucinating: bool = False
    is_empty_output: bool = False
    is_refused: bool = False
    """Whether the engine said that it cannot read the page, and wrote little else."""
    remark_words: int = 0
    has_refusal: bool = False
    has_apology: bool = False
    has_wrapper: bool = False
    has_note: bool = False
    has_description: bool = False


class PageColumns(Struct, frozen=True, eq=False):
    """The counts of many pages, one column each, in as few bytes as they need."""

    columns: dict[str, NDArray[Any]]

    @classmethod
    def of(cls, pages: Iterable[PageCounts]) -> PageColumns:
        """Columns from pages.

        >>> from hallumeter.transcripts.records import PageCounts
        >>> len(PageColumns.of([]))
        0
        """
        collected = CollectedCounts()
        for page in pages:
            collected.add(page)
        return collected.columns()

    def column(self, name: str) -> NDArray[np.float64]:
        """One count of all pages."""
        found: NDArray[np.float64] = self.columns[name].astype(np.float64, copy=False)
        return found

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> PageColumns:
        return PageColumns({name: column[rows] for name, column in self.columns.items()})


class CollectedCounts:
    """The counts of pages as they come, some at a time as rows and the others as columns."""

    _AT_ONCE = 1_024

    def __init__(self) -> None:
        self._last: list[PageCounts] = []
        self._columns: dict[str, array[Any]] = {}
        """The counts that were given; all others are 0 on every page."""
        self._pages = 0

    def add(self, page: PageCounts) -> None:
        """Take the counts of one page."""
        self._last.append(page)
        if len(self._last) == self._AT_ONCE:
            self._settle()

    def add_columns(self, columns: Mapping[str, NDArray[Any]], pages: int) -> None:
        """Take the counts of so many pages, by their names; those that are missing are 0."""
        self._settle()
        for name, values in columns.items():
            self._column(name).frombytes(values.astype(_CODES[name]).tobytes())
        self._pages += pages

    def columns(self) -> PageColumns:
        """The counts of all pages, in the order in which they came; nothing is copied, so no page can be added then."""
        self._settle()
        return PageColumns(
            {
                name: np.frombuffer(self._column(name), code)
                if name in self._columns and self._pages
                else np.broadcast_to(np.zeros(1, code), self._pages)
                for name, code in _CODES.items()
            }
        )

    def _column(self, name: str) -> array[Any]:
        """A count of the pages so far, with 0 for those of which it was not given."""
        column = self._columns.setdefault(name, array(_CODES[name]))
        if len(column) < self._pages:
            column.frombytes(bytes(column.itemsize * (self._pages - len(column))))
        return column

    def _settle(self) -> None:
        for name, values in zip(_CODES, zip(*map(astuple, self._last), strict=True), strict=False):
            # What no page has so far takes no room.
            if name in self._columns or any(values):
                self._column(name).extend(values)
        self._pages += len(self._last)
        self._last = []


_CODES = {name: {"int": "i", "float": "d", "bool": "b"}[kind] for name, kind in PageCounts.__annotations__.items()}
"""How each count is kept: a page has less than two thousand million of anything."""


# What was found on one page of one engine.

ALIGNMENT = "alignment"
"""The judge of a run with a ground truth."""
_SHORTEST_LINE = 20
"""Characters of a line below which its CER tells little: one word too many makes 1.0 of a heading."""
RemarkKind = Literal["refusal", "apology", "wrapper", "note", "description"]
REMARK_KINDS: tuple[RemarkKind, ...] = ("refusal", "apology", "wrapper", "note", "description")
ErrorClass = Literal[
    "punctuation",
    "hyphens",
    "spacing",
    "case",
    "accents",
    "ligatures",
    "numerals",
    "abbreviations",
    "modernised",
    "other",
]
"""Lightest first. A word that differs in several ways is in the gravest class that it needs."""


class WordDifference(NamedTuple):
    """A word of the page and what was read for it; several words where they are cut or joined otherwise."""

    kind: ErrorClass
    reference: str
    response: str


class LineError(NamedTuple):
    """A line of the ground truth and what was read for it."""

    number: int
    """From 1, lines without a letter left out."""
    start: int
    """Where it begins in the ground truth."""
    end: int
    errors: int
    """Edits of characters."""
    characters: int
    reference: str
    response: str

    @property
    def cer(self) -> float:
        """Edits for each character of the line."""
        return self.errors / self.characters


def severity_of_line(line: LineError | WorstLine) -> tuple[bool, float, int]:
    """How bad a line is: its CER, that of lines of a few characters last."""
    return line.characters >= _SHORTEST_LINE, line.cer, line.characters


class InventedToken(NamedTuple):
    """A name or a number of a response that the page does not have."""

    kind: str
    token: str
    start: int
    """Where it stands in the response."""
    context: str


class PageLines(Struct, frozen=True):
    """A page as lines of the run's files."""

    record: bytes
    claims: bytes
    verdicts: bytes


class MeasuredPage(Struct, frozen=True):
    """Everything measured on one page of one engine."""

    counts: PageCounts
    row: PageRow
    fields: dict[str, FieldValue]
    undecided: str | None
    """Why a witness could not tell; None when it could, and with a ground truth."""
    findings: int
    """Stretches of the response and of what it left out."""
    lines: PageLines | None
    misread: tuple[WordDifference, ...] = ()
    """Words that were misread, when the run's files are written; each once."""
    worst_lines: tuple[LineError, ...] = ()
    invented: tuple[InventedToken, ...] = ()
    """Names and numbers that are not on the page, when the run's files are written."""


def record_name(page: str, engine: str, *, has_one_engine: bool) -> str:
    """What a page of an engine is called in the run's files: no two pages and engines alike.

    >>> record_name("a@b", "c", has_one_engine=False)
    'a%40b@c'
    """
    if has_one_engine:
        return page
    return f"{page.replace('%', '%25').replace('@', '%40')}@{engine}"


def status_of(reference: str, response: str, *, is_refused: bool = False) -> PageStatus:
    """What there was to compare."""
    if is_refused:
        return "refused"
    has_response = bool(response and not response.isspace())
    if reference and not reference.isspace():
        return "ok" if has_response else "empty_output"
    return "empty_reference" if has_response else "both_empty"
