"""What an engine wrote for a page, and what was measured of it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple
from numpy.typing import NDArray

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
    """The counts of many pages, one column each."""

    columns: dict[str, NDArray[np.float64]]

    @classmethod
    def of(cls, pages: Iterable[PageCounts]) -> PageColumns:
        """Columns from pages.

        >>> from hallumeter.transcripts.records import PageCounts
        >>> len(PageColumns.of([]))
        0
        """
        return cls.of_numbers(np.array([astuple(page) for page in pages], dtype=np.float64))

    @classmethod
    def of_numbers(cls, numbers: NDArray[np.float64]) -> PageColumns:
        """Columns from the counts of all pages, one page after the other."""
        names = PageCounts.__struct_fields__
        return cls(dict(zip(names, numbers.reshape(-1, len(names)).T.copy(), strict=True)))

    def column(self, name: str) -> NDArray[np.float64]:
        """One count of all pages."""
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> PageColumns:
        return PageColumns({name: column[rows] for name, column in self.columns.items()})
