"""What both networks read: vectors of words with what is learned for them, numbers of the lexicon and of places."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from hallumeter.aspects.readers.english.networks import WINDOW, Numbers

from .descent import Weights, dropped, summed_by_row
from .examples import Batch, Lexis, Places

_HIDDEN = 0.25
_HIDDEN_WORDS = 0.08
_PLAIN = 0.3
"""How often a word is read without what was learned for it, as words that were never seen are."""
_PULL = 1e-4
"""Back to nothing learned."""


class WordsRead(Struct, frozen=True):
    """The rows of a batch with what is needed to go back."""

    values: Numbers
    windows: Numbers
    mask: Numbers | None
    learned: Places
    """Rows of the table of what is learned; 0 where nothing is."""


class WordLayer:
    """Turns the words of a batch into rows of numbers; `vector_first` says whether vectors come before the rest."""

    def __init__(self, lexis: Lexis, *, vector_first: bool) -> None:
        self._lexis = lexis
        self._vector_first = vector_first
        self.size = lexis.vectors.shape[1]

    def words_to_learn(self) -> Numbers:
        """What is learned for words, nothing yet."""
        return np.zeros((len(self._lexis.words) + 1, self.size), np.float32)

    def read(self, batch: Batch, weights: Weights, random: np.random.Generator | None) -> WordsRead:
        """The rows of a batch; with chance, some of them hidden."""
        rows = batch.rows
        learned = np.where(rows <= len(self._lexis.words), rows, 0)
        if random is not None:
            learned = np.where(random.random(rows.shape) < _PLAIN, 0, learned)
        vectors = self._lexis.vectors[rows] + weights["words"][learned]
        rest = [self._lexis.lexical[rows], batch.placed]
        values = np.concatenate([vectors, *rest] if self._vector_first else [*rest, vectors], axis=2)
        mask = None
        if random is not None:
            mask = dropped(random, values.shape, _HIDDEN)
            mask *= random.random((*rows.shape, 1), np.float32) >= _HIDDEN_WORDS
            values = values * mask
        return WordsRead(values, joined(values, WINDOW), mask, learned)

    def words_back(self, read: WordsRead, gradient: Numbers, weights: Weights) -> Numbers:
        """From the gradient of the rows to that of what is learned for words."""
        if read.mask is not None:
            gradient = gradient * read.mask
        own = gradient[:, :, : self.size] if self._vector_first else gradient[:, :, -self.size :]
        back = summed_by_row(read.learned, np.ascontiguousarray(own), len(weights["words"]))
        back[0] = 0
        return back + _PULL * weights["words"]


def joined(values: Numbers, width: int) -> Numbers:
    """Each row with its neighbours."""
    count = values.shape[1] - width + 1
    return np.concatenate([values[:, step : step + count] for step in range(width)], axis=2)


def joined_back(gradient: Numbers, width: int) -> Numbers:
    """From the gradient of `joined` to that of the rows."""
    sentences, count, size = gradient.shape
    size //= width
    back = np.zeros((sentences, count + width - 1, size), np.float32)
    for step in range(width):
        back[:, step : step + count] += gradient[:, :, step * size : (step + 1) * size]
    return back
