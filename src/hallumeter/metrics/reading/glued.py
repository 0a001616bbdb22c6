"""Loops without a space: "villevilleville..." is one word to the eye of a program, and three hundred to a reader."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from hallumeter.metrics.loops import find_loops
from hallumeter.text.words import Words

if TYPE_CHECKING:
    from collections.abc import Iterator

LONG_WORD = 24
"""Letters beyond which a word is looked at letter by letter."""
_SHORTEST_PIECE = 3


def cut_glued_loops(words: Words) -> Words:
    """Words with every copy of a loop inside a long one as a word of its own.

    >>> from hallumeter.text.words import words_of
    >>> cut_glued_loops(words_of("la " + "ville" * 6)).texts[:3]
    ('la', 'ville', 'ville')
    """
    if max(map(len, words.texts), default=0) <= LONG_WORD:
        return words
    texts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for text, first, last in zip(words.texts, words.starts, words.ends, strict=True):
        # A word whose length the spelling has changed cannot be cut at places of the original.
        is_cut = len(text) == last - first > LONG_WORD
        for start, end in _pieces(text) if is_cut else [(0, last - first)]:
            texts.append(text[start:end] if is_cut else text)
            starts.append(first + start)
            ends.append(first + end)
    return Words(tuple(texts), tuple(starts), tuple(ends))


def _pieces(word: str) -> Iterator[tuple[int, int]]:
    """Where the copies of each loop in a word stand, and what is between."""
    done = 0
    for loop in find_loops(word):
        # Two loops may share some letters; the first has them.
        first = max(done, loop.start)
        if done < first:
            yield done, first
        step = loop.period * ceil(_SHORTEST_PIECE / loop.period)
        for start in range(first, loop.end, step):
            yield start, min(start + step, loop.end)
        done = max(done, loop.end)
    if done < len(word):
        yield done, len(word)
