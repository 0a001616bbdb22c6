"""The first layer of both networks, which is a sum over words: what each adds is computed once and remembered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from msgspec import Struct

from .model_files import Numbers, Weights
from .word_table import LEXICAL, PLACED, WINDOW, WordTable

_KEPT = 4_096
"""Words that are remembered, eight kilobytes each."""
_AT_ONCE = 256
"""Words whose contributions are laid out at a time."""
_ALONE = 262_144
"""Multiplications up to which the library for matrices stays on one core; more of them waste the others."""


class FirstSums(Struct, frozen=True):
    """Sums for each word of a text, before any bend."""

    term_near: Numbers
    """Of the word and its neighbours, for terms."""
    term_own: Numbers
    """Of the word alone, to the scores of its labels."""
    polarity_near: Numbers
    """Of the word and its neighbours, for polarities: what is said, then how far the gate opens."""
    as_term: Numbers
    """Of the word when it is asked about: to the gates of the others, then to the scores."""


class FirstLayer:
    """Adds up what words and their places contribute."""

    def __init__(self, weights: Weights, table: WordTable) -> None:
        self._table = table
        size = weights.numbers("term_first").shape[1]
        said = weights.numbers("polarity_said")
        both = np.concatenate([said, weights.numbers("polarity_gate")], axis=1)
        out = weights.numbers("polarity_out")[2 * said.shape[1] :]
        # One block of columns for each place in the window, then what the word does alone.
        self._for_terms = _by_word(weights.numbers("term_first"), weights.numbers("term_out")[size:])
        self._for_polarities = _by_word(both, np.concatenate([weights.numbers("polarity_term"), out], axis=1))
        self._term_size, self._polarity_size = size, both.shape[1]
        vector = len(self._for_terms) - LEXICAL - PLACED
        placed = (self._for_terms[vector + LEXICAL :], self._for_polarities[LEXICAL : LEXICAL + PLACED])
        self._for_places = np.concatenate(placed, axis=1)
        self._row = lru_cache(maxsize=_KEPT)(self._made)

    def sums(self, words: Sequence[str], placed: Numbers) -> FirstSums:
        """The sums of a text, some of its words at a time: what all of them add is large."""
        count, middle = len(words), self._for_terms.shape[1]
        near, far = WINDOW * self._term_size, middle + WINDOW * self._polarity_size
        term_own = np.empty((count, middle - near), np.float32)
        as_term = np.empty((count, len(self._for_places[0]) - far), np.float32)
        term_near = np.zeros((count, self._term_size), np.float32)
        polarity_near = np.zeros((count, self._polarity_size), np.float32)
        for first in range(0, count, _AT_ONCE):
            last = min(first + _AT_ONCE, count)
            rows = np.array([self._row(word) for word in words[first:last]], np.float32)
            rows += product(placed[first:last], self._for_places)
            term_own[first:last], as_term[first:last] = rows[:, near:middle], rows[:, far:]
            _add_to_neighbours(term_near, rows[:, :near], first)
            _add_to_neighbours(polarity_near, rows[:, middle:far], first)
        return FirstSums(term_near, term_own, polarity_near, as_term)

    def _made(self, word: str) -> Numbers:
        for_terms, for_polarities = self._table.inputs(word)
        return np.concatenate(
            [_row_product(for_terms, self._for_terms), _row_product(for_polarities, self._for_polarities)]
        )


def product(left: Numbers, right: Numbers) -> Numbers:
    """A product of matrices in parts that are each too small to be spread over several cores.

    Many small texts are read at once by many processes; cores that wait for each other made reading fifty times slower.
    """
    rows = max(_ALONE // right.size, 1)
    if len(left) <= rows:
        return np.asarray(left @ right, np.float32)
    return np.concatenate([left[first : first + rows] @ right for first in range(0, len(left), rows)])


def _row_product(row: Numbers, right: Numbers) -> Numbers:
    """A row times a matrix; with a second row beside it, since the library spreads single rows much earlier."""
    pair = np.stack([row, row])
    step = _ALONE // (2 * len(row))
    parts = [
        (pair @ np.ascontiguousarray(right[:, first : first + step]))[0] for first in range(0, right.shape[1], step)
    ]
    return np.concatenate(parts)


def _by_word(windows: Numbers, own: Numbers) -> Numbers:
    """Weights of a window, one place below the other, as blocks of columns side by side, with other columns behind."""
    width = len(windows) // WINDOW
    return np.concatenate([*(windows[place * width : (place + 1) * width] for place in range(WINDOW)), own], axis=1)


def _add_to_neighbours(total: Numbers, rows: Numbers, first: int) -> None:
    """Add what words, the first of them at a place, contribute to the windows that they stand in."""
    count, size = total.shape
    for place in range(WINDOW):
        # A word in the middle of a window adds to itself, one before the middle to the words behind it.
        start = first + WINDOW // 2 - place
        low, high = max(start, 0), min(start + len(rows), count)
        if low < high:
            total[low:high] += rows[low - start : high - start, place * size : (place + 1) * size]
