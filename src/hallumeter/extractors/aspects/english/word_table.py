"""A vector for every word: learned ones, those of its pieces where it is not known, and what the lexicon says of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .model_files import Numbers, Weights
from .wording import Wording

_LONGEST = 30
"""Letters of the longest word that is cut into pieces."""
_NUMBER = "10"
"""Every number is read as this one."""
LEXICAL = 8
"""How many numbers the lexicon gives for a word."""
PLACED = 3
"""How many numbers depend on where a word stands: its weight there, and a capital at the start or elsewhere."""
WINDOW = 5
"""How many words a network reads at once, the word itself in the middle."""


def lexical_numbers(word: str, known: Wording) -> tuple[float, ...]:
    """What the lexicon says of a word: `LEXICAL` numbers."""
    return (
        float(word in known.aspect_nouns),
        known.weights.get(word, 0.0) / 1.5,
        float(word in known.negations),
        float(word in known.contrasts),
        float(not word[0].isalnum()),
        known.factors.get(word, 1.0) - 1.0,
        float(word in known.stop_words),
        float(word in known.prepositions or word in known.determiners),
    )


class PieceTable:
    """Vectors of words by their pieces, as they are before any are learned.

    A word that is not in the table has the mean of the longest pieces that it can be cut into from the left; when
    there is a rest that no piece fits, it has zeros.
    """

    def __init__(self, names: Sequence[str], vectors: Numbers) -> None:
        self.rows = {name: row for row, name in enumerate(names)}
        self.vectors = vectors

    def vector(self, word: str) -> Numbers:
        """The vector of any word."""
        if word.isdecimal():
            word = _NUMBER
        row = self.rows.get(word)
        if row is not None:
            return np.asarray(self.vectors[row], np.float32)
        rows = self._pieces(word)
        if not rows:
            return np.zeros(self.vectors.shape[1], np.float32)
        return np.asarray(self.vectors[rows].mean(axis=0), np.float32)

    def _pieces(self, word: str) -> list[int]:
        """The rows of the pieces of a word; none when it cannot be cut into known ones."""
        rows: list[int] = []
        start = 0
        while start < len(word) <= _LONGEST:
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                row = self.rows.get(mark + word[start:end])
                if row is not None:
                    break
            else:
                return []
            rows.append(row)
            start = end
        return rows


class WordTable:
    """What the networks read for a word: its vector with what training added to it, and what the lexicon says of it."""

    def __init__(self, weights: Weights, known: Wording) -> None:
        self._pieces = PieceTable(
            weights.words("pieces"), weights.numbers("vectors") * weights.numbers("vectors_scale")
        )
        self._known = known
        self._rows = {word: row for row, word in enumerate(weights.words("learned_words"))}
        self._learned = {
            network: (weights.arrays[f"{network}_words"], weights.numbers(f"{network}_words_scale"))
            for network in ("term", "polarity")
        }

    def inputs(self, word: str) -> tuple[Numbers, Numbers]:
        """What the network for terms and the network for polarities read, without the numbers of its place."""
        vector = self._pieces.vector(word)
        lexical = np.array(lexical_numbers(word, self._known), np.float32)
        none = np.zeros(PLACED, np.float32)
        return (
            np.concatenate([self._learned_vector("term", word, vector), lexical, none]),
            np.concatenate([lexical, none, self._learned_vector("polarity", word, vector)]),
        )

    def _learned_vector(self, network: str, word: str, vector: Numbers) -> Numbers:
        row = self._rows.get(word)
        if row is None:
            return vector
        numbers, scale = self._learned[network]
        return np.asarray(vector + numbers[row] * scale, np.float32)
