"""The first layer of both networks, which is a sum over words: what each adds is computed once and remembered."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources
from threading import Lock

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.aspects.records.aspect import Polarity
from hallumeter.errors import SettingsError

from .words import Clauses, Wording

# The file of weights that ships with the reader, read once.

FILE = "model/reader.npz"
DIGEST = "model/reader.sha256"
"""As `sha256sum` writes it; training writes it beside the weights."""
_LOCK = Lock()
_loaded: dict[str, Weights] = {}

Numbers = NDArray[np.float32]


class Weights(Struct, frozen=True):
    """Arrays by name, and what they were made from."""

    arrays: dict[str, NDArray[np.generic]]
    digest: str
    """The first letters of the SHA-256 of the file."""

    def numbers(self, name: str) -> Numbers:
        """An array to calculate with."""
        return self.arrays[name].astype(np.float32)

    def words(self, name: str) -> list[str]:
        """A list of words, which is stored as one text."""
        return self.arrays[name].tobytes().decode("utf-8").split("\n")


def shipped_weights() -> Weights:
    """The weights of the package.

    Raises:
        SettingsError: The file is missing or damaged.
    """
    with _LOCK:
        if FILE not in _loaded:
            _loaded[FILE] = _read()
        return _loaded[FILE]


def weights_from(content: bytes) -> Weights:
    """Weights from the bytes of a file."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return Weights({key: arrays[key] for key in arrays.files}, hashlib.sha256(content).hexdigest()[:8])


def _read() -> Weights:
    folder = resources.files(__package__)
    try:
        content = folder.joinpath(FILE).read_bytes()
        digest = folder.joinpath(DIGEST).read_text(encoding="ascii").partition(" ")[0]
        if hashlib.sha256(content).hexdigest() != digest:
            raise ValueError("not as it was shipped")
        return weights_from(content)
    except (OSError, ValueError, EOFError) as error:
        raise SettingsError(
            f"the weights of the English reader ({FILE}) cannot be read; install hallumeter again ({error})"
        ) from error


# A vector for every word: learned ones, those of its pieces where it is not known, and what the lexicon says of it.

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


# The network that marks aspect terms: two layers over neighbouring words, then begin, inside or outside.

OUTSIDE, BEGIN, INSIDE = range(3)
LABELS = 3
_NEVER = -1e9


class TermNetwork:
    """Gives every word the probabilities of the three labels."""

    def __init__(self, weights: Weights) -> None:
        self._first_bias = weights.numbers("term_first_bias")
        self._second, self._second_bias = weights.numbers("term_second"), weights.numbers("term_second_bias")
        self._size = len(self._first_bias)
        self._out, self._out_bias = weights.numbers("term_out")[: self._size], weights.numbers("term_out_bias")

    def logarithms(self, sums: FirstSums) -> Numbers:
        """Logarithms of the probabilities of the labels, a row for each word."""
        count, size = sums.term_near.shape
        padded = np.zeros((count + 2, size), np.float32)
        near = padded[1:-1]
        np.maximum(sums.term_near + self._first_bias, 0.0, out=near)
        step = padded.itemsize
        beside = np.lib.stride_tricks.as_strided(padded, (count, 3 * size), (size * step, step), writeable=False)
        far = np.maximum(product(beside, self._second) + self._second_bias, 0.0)
        far += near
        scores = product(far, self._out) + sums.term_own + self._out_bias
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return np.asarray(scores, np.float32)


def best_spans(logarithms: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """First and one past the last word of the terms of the most probable labelling in which none begins inside.

    >>> best_spans([[-0.1, -3.0, -4.0], [-2.0, -0.2, -3.0], [-2.0, -3.0, -0.2], [-0.1, -3.0, -3.0]])
    [(1, 3)]
    """
    outside, begun, inside = 0.0, _NEVER, _NEVER
    sources: list[tuple[int, int, int]] = []
    for out, begin, within in logarithms:
        before, source = outside, OUTSIDE
        if begun > before:
            before, source = begun, BEGIN
        if inside > before:
            before, source = inside, INSIDE
        sources.append((source, source, BEGIN if begun >= inside else INSIDE))
        outside, begun, inside = before + out, before + begin, max(begun, inside) + within
    label = max((outside, -OUTSIDE), (begun, -BEGIN), (inside, -INSIDE))[1] * -1
    spans: list[tuple[int, int]] = []
    end = len(sources)
    for place in range(len(sources) - 1, -1, -1):
        if label == OUTSIDE:
            end = place
        elif label == BEGIN:
            spans.append((place, end))
            end = place
        label = sources[place][label]
    return spans[::-1]


def span_score(logarithms: Sequence[Sequence[float]], first: int, last: int) -> float:
    """The logit of the probability that exactly these words are a term, each word taken alone."""
    total = logarithms[first][BEGIN] + sum(row[INSIDE] for row in logarithms[first + 1 : last])
    if last < len(logarithms):
        total += math.log1p(-min(math.exp(logarithms[last][INSIDE]), 0.999))
    total = min(total, -1e-4)
    return total - math.log(-math.expm1(total))


# The network that says what is felt about a term: what the words around it say, let through by where they stand.

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
