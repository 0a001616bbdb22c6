"""The network that says what is felt about a term: what the words around it say, let through by where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.records.aspects import Polarity

from .clauses import Clauses
from .first_layer import FirstSums
from .model_files import Numbers, Weights

REACH = 24
"""How many words before and behind a term are read."""
ORDER: tuple[Polarity, ...] = ("negative", "neutral", "positive")
_STEPS = (0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 8, 8, 8, 8, *(9,) * (REACH - 13))
"""The step of each distance; far words share one."""
_BEFORE, _BEHIND = 1, 11
_PARTS, _TURNS, _TERMS = (21, 5), (26, 3), (29, 3)
"""First row and number of rows in the table of places."""
PLACES = 32
"""Rows of the table of places: distances, clauses, turns and terms between."""


class Around(Struct, frozen=True):
    """Where the words of a text stand, for the places of all its terms."""

    parts: NDArray[np.int64]
    turns: NDArray[np.int64]
    begun: NDArray[np.int64]
    """For each place between words, how many terms begin before it."""


class Places(Struct, frozen=True):
    """The stretch of words that is read for a term, and where each of them stands."""

    low: int
    high: int
    before: int
    """How many of them stand before the term."""
    length: int
    """How many words the term has."""
    parts: NDArray[np.int64]
    """Clauses from that of the term, from 0 for two or more before it to 4."""
    turns: NDArray[np.int64]
    """Turns from the term, 0 to 2."""
    between: NDArray[np.int64]
    """Other terms between, 0 to 2."""

    @property
    def distances(self) -> NDArray[np.int64]:
        """Rows of the table of places for their distances."""
        start = REACH - self.before
        return distance_rows(self.length)[start : start + self.high - self.low]

    @property
    def rows(self) -> tuple[NDArray[np.int64], ...]:
        """All four rows of the table of places for each word."""
        return self.distances, self.parts + _PARTS[0], self.turns + _TURNS[0], self.between + _TERMS[0]


@cache
def distance_rows(length: int) -> NDArray[np.int64]:
    """Rows of the table for the words from `REACH` before a term of some length to `REACH` behind it."""
    before = [_BEFORE + _STEPS[step] for step in range(REACH, 0, -1)]
    behind = [_BEHIND + _STEPS[step] for step in range(1, REACH + 1)]
    return np.array([*before, *(0,) * length, *behind], np.int64)


def places_around(where: Around, first: int, last: int) -> Places:
    """The places of the words around a term."""
    low, high = max(0, first - REACH), min(len(where.parts), last + REACH)
    parts = where.parts[low:high] - (where.parts[first] - 2)
    turns = where.turns[low:high] - (where.turns[first] - 1)
    np.minimum(np.maximum(parts, 0, out=parts), 4, out=parts)
    np.minimum(np.maximum(turns, 0, out=turns), 2, out=turns)
    begun = where.begun
    between = np.zeros(high - low, np.int64)
    between[: first - low] = begun[first] - begun[low:first]
    between[last - low :] = begun[last + 1 : high + 1] - begun[last]
    np.minimum(between, 2, out=between)
    return Places(low, high, first - low, last - first, parts=parts, turns=turns, between=between)


def around(clauses: Clauses, terms: Sequence[tuple[int, int]]) -> Around:
    """Where the words of a text stand among its clauses and terms."""
    begun = np.zeros(len(clauses.parts) + 1, np.int64)
    for first, _ in terms:
        begun[first + 1] += 1
    return Around(np.array(clauses.parts, np.int64), np.array(clauses.turns, np.int64), np.cumsum(begun))


class PolarityNetwork:
    """Gives a term the three probabilities, and every word around it what it adds to each of them."""

    def __init__(self, weights: Weights) -> None:
        self._bias = np.concatenate([weights.numbers("polarity_said_bias"), weights.numbers("polarity_gate_bias")])
        self._size = len(self._bias) // 2
        self._places = weights.numbers("polarity_places")
        parts, turns, terms = (self._places[row : row + count] for row, count in (_PARTS, _TURNS, _TERMS))
        self._together = (parts[:, None, None] + turns[:, None] + terms).reshape(-1, self._size)
        """The rows of clauses, turns and terms between, added up."""
        out = weights.numbers("polarity_out")
        self._out_peaks, self._out_sums = out[: self._size], out[self._size : 2 * self._size] / np.float32(3.0)
        self._out_bias = weights.numbers("polarity_out_bias")
        self._filters = np.arange(self._size)

    def said(self, sums: FirstSums) -> tuple[Numbers, Numbers]:
        """What each word says, and how far its gate is open before it is known which term is asked about."""
        both = sums.polarity_near + self._bias
        return np.tanh(both[:, : self._size]), both[:, self._size :]

    def heard(self, said: tuple[Numbers, Numbers], as_term: Numbers, places: Places) -> Numbers:
        """What of the words around a term is heard through their gates."""
        contents, gates = said
        together = (places.parts * _TURNS[1] + places.turns) * _TERMS[1] + places.between
        opening: Numbers = self._together[together]
        opening += self._places[places.distances]
        opening += gates[places.low : places.high]
        opening += as_term[: self._size]
        opening *= 0.5
        # The logistic function, which is half a hyperbolic tangent and cannot overflow as one.
        np.tanh(opening, out=opening)
        opening += 1.0
        opening *= contents[places.low : places.high]
        opening *= 0.5
        return opening

    def scores(self, heard: Numbers, as_term: Numbers) -> Numbers:
        """Three scores of a term in the order of `ORDER`."""
        seen = np.asarray(heard.max(axis=0) @ self._out_peaks, np.float32)
        seen += heard.sum(axis=0) @ self._out_sums
        seen += as_term[self._size :]
        seen += self._out_bias
        return seen

    def added(self, heard: Numbers) -> Numbers:
        """What each of the words around a term adds to its three scores."""
        strongest = heard.argmax(axis=0)
        added = np.asarray(heard @ self._out_sums, np.float32)
        np.add.at(added, strongest, heard[strongest, self._filters][:, None] * self._out_peaks)
        return added
