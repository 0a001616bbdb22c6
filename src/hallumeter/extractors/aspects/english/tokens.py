"""The words and marks of an English text, and where they stand in it."""

from __future__ import annotations

import re
import unicodedata

from msgspec import Struct

# A word keeps its combining marks and inner apostrophes ("don't"), but a final 's is a word of its own.
_TOKEN = re.compile("[^\\W_](?:[^\\W_]|[\u0300-\u036f])*(?:['’](?!s\\b)[^\\W_]+)*|['’]s\\b|[^\\w\\s]|_", re.IGNORECASE)


class Tokens(Struct, frozen=True):
    """The words and marks of a text, in its order; every tuple has one entry for each."""

    starts: tuple[int, ...]
    """Where each begins, in code points of the text as it was given."""
    ends: tuple[int, ...]
    words: tuple[str, ...]
    """In lower case, without accents, with a straight apostrophe."""
    capitals: tuple[int, ...]
    """0 without a capital at the start, 1 with one at the beginning of the text, 2 with one elsewhere."""

    def __len__(self) -> int:
        return len(self.words)

    def covering(self, start: int, end: int) -> tuple[int, int]:
        """First and one past the last of the words that a stretch of text touches; equal when it touches none.

        >>> tokens_of("the wine list").covering(5, 10)
        (1, 3)
        """
        first = _first_after(self.ends, start)
        last = first
        while last < len(self.words) and self.starts[last] < end:
            last += 1
        return first, last


def tokens_of(text: str) -> Tokens:
    """Cut a text into words and marks.

    >>> tokens_of("The waiter's rude, don't go").words
    ('the', 'waiter', "'s", 'rude', ',', "don't", 'go')
    """
    spans = [match.span() for match in _TOKEN.finditer(text)]
    if text.isascii():
        lower = text.lower()
        words = tuple([lower[start:end] for start, end in spans])
    else:
        words = tuple([folded(text[start:end]) for start, end in spans])
    return Tokens(
        tuple([start for start, _ in spans]),
        tuple([end for _, end in spans]),
        words,
        tuple([(2 if start else 1) if text[start].isupper() else 0 for start, _ in spans]),
    )


def folded(word: str) -> str:
    """A word in the form in which it is looked for.

    >>> folded("CAFÉ"), folded("Don’t")
    ('cafe', "don't")
    """
    lower = word.lower()
    if lower.isascii():
        return lower
    plain = unicodedata.normalize("NFD", lower.replace("’", "'"))
    return "".join([letter for letter in plain if not unicodedata.combining(letter)]) or lower


def _first_after(ends: tuple[int, ...], place: int) -> int:
    """The first word that ends behind a place."""
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) // 2
        if ends[middle] <= place:
            low = middle + 1
        else:
            high = middle
    return low
