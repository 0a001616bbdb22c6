"""Edits between a reference and a response: what error rates of words and of characters are made of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.records import Rate
from hallumeter.text.align import EXACT_CELLS, align, count_edits

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

_WORD = re.compile(r"\S+")


class EditCounts(Struct, frozen=True):
    """Words or characters that are right, replaced, missing and too many, in an alignment with few edits."""

    hits: int
    substituted: int
    deleted: int
    inserted: int

    @property
    def reference(self) -> int:
        """How many the reference has."""
        return self.hits + self.substituted + self.deleted

    @property
    def response(self) -> int:
        """How many the response has."""
        return self.hits + self.substituted + self.inserted

    @property
    def errors(self) -> int:
        """The edit distance."""
        return self.substituted + self.deleted + self.inserted

    @property
    def error_rate(self) -> Rate:
        """Errors for each word or character of the reference (WER, CER): may exceed 1; undefined if it has none."""
        return Rate(self.errors, self.reference)

    @property
    def match_error_rate(self) -> Rate:
        """Errors among all pairs of the alignment (MER): at most 1; undefined when both texts are empty."""
        return Rate(self.errors, self.hits + self.errors)

    @property
    def information_lost(self) -> float | None:
        """Word information lost (WIL): 1 - (hits / reference) * (hits / response); None when both texts are empty.

        >>> EditCounts(hits=3, substituted=1, deleted=0, inserted=0).information_lost
        0.4375
        """
        if not self.reference and not self.response:
            return None
        return 1 - self.hits * self.hits / (self.reference * self.response) if self.hits else 1.0


def count_word_edits(reference: str, response: str) -> tuple[EditCounts, bool]:
    """Edits between the words of two texts, split at white space; and whether they are surely the fewest.

    >>> count_word_edits("le roi de france", "le roy de france")[0].error_rate
    Rate(count=1, total=4)
    """
    return _counted(reference.split(), response.split())


def count_character_edits(reference: str, response: str) -> tuple[EditCounts, bool]:
    """Edits between the characters of two texts, white space around them left out; and whether they are the fewest.

    White space inside counts, line ends too. Texts too long for one comparison are compared between the words that
    they share.
    """
    reference, response = reference.strip(), response.strip()
    if len(reference) * len(response) <= EXACT_CELLS:
        return _counted(reference, response)
    replaced = deleted = inserted = 0
    for reference_part, response_part in _parts_between_shared_words(reference, response):
        if reference_part != response_part:
            counts = count_edits(reference_part, response_part)
            replaced, deleted, inserted = replaced + counts[0], deleted + counts[1], inserted + counts[2]
    return EditCounts(len(reference) - replaced - deleted, replaced, deleted, inserted), False


def _counted(reference: Sequence[Hashable], response: Sequence[Hashable]) -> tuple[EditCounts, bool]:
    replaced, deleted, inserted, is_exact = count_edits(reference, response)
    return EditCounts(len(reference) - replaced - deleted, replaced, deleted, inserted), is_exact


def _parts_between_shared_words(reference: str, response: str) -> Iterator[tuple[str, str]]:
    """What stands between shared words in both texts, in turn."""
    reference_spans = [match.span() for match in _WORD.finditer(reference)]
    response_spans = [match.span() for match in _WORD.finditer(response)]
    bottom = right = 0
    for kind, first, last, other_first, other_last in align(reference.split(), response.split()).steps:
        if kind == "equal":
            pairs = zip(reference_spans[first:last], response_spans[other_first:other_last], strict=True)
            for (top, next_bottom), (left, next_right) in pairs:
                yield reference[bottom:top], response[right:left]
                bottom, right = next_bottom, next_right
    yield reference[bottom:], response[right:]
