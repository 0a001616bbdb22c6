"""How much a sentence refuses, and how much it answers: linear models over its letters and words.

A sentence is read as the set of its runs of one to five letters within words, and of one to three words. A hash gives
each run its place in a table. Rare runs weigh more, and the weights of a sentence are brought to one length, letters
and words apart. Two linear models look at these and at a few facts, such as whether the sentence stands last. They were
fitted to labelled answers as a whole: an answer refuses when any of its sentences does, and answers when any does. So
they know of reasons, apologies and pointers elsewhere what no list of phrases does.

`training/refusals.py` fits the weights.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt
from msgspec import Struct

LETTER_BITS, WORD_BITS = 18, 16
PLACES = (1 << LETTER_BITS) + (1 << WORD_BITS)
"""Of the table: those of letters, then those of words."""
MOST_LETTERS, MOST_WORDS = 5, 3
FACTS = 10
"""About a sentence, beside its words."""
TRUST = 0.6
"""How far the cues of the lexicons are believed, from 0 to 1: the weights were fitted with and without them."""
SCALE = 0.05
"""Of rarities, which are kept as whole numbers."""

_WEIGHTS = resources.files("hallumeter.text").joinpath("weights", "refusals.bin")
_SPREAD, _STEP, _MASK = 0x9E3779B97F4A7C15, 0x100000001B3, (1 << 64) - 1
_WORD = re.compile(r"[\w']+")
_DIGIT = re.compile(r"\d")
_ITEM = re.compile(r"[-*•\d]")
_LONG = 200
"""Characters of a sentence that is long."""

Places = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


class Leanings(Struct, frozen=True):
    """What the sentences of a text lean to, as log odds."""

    refuses: Numbers
    answers: Numbers

    @property
    def refusal(self) -> float:
        """The probability that some sentence refuses and none answers."""
        refused, answered = (1 - np.exp(-np.logaddexp(0, each).sum()) for each in (self.refuses, self.answers))
        return float(refused * (1 - answered))


class Weights(Struct, frozen=True):
    """What was fitted: for every place of the table its rarity and its weight in both models, then facts, then bias."""

    rarity: Numbers
    refuses: Numbers
    answers: Numbers

    def packed(self) -> bytes:
        """As they are kept: rarities and weights in eight bits each, facts and biases whole."""
        parts = [np.round(self.rarity / SCALE).astype(np.uint8).tobytes()]
        for weights in (self.refuses, self.answers):
            scale = float(np.abs(weights[:PLACES]).max()) / 127
            parts.append(np.round(weights[:PLACES] / scale).astype(np.int8).tobytes())
            parts.append(np.append(weights[PLACES:], scale).astype("<f8").tobytes())
        return zlib.compress(b"".join(parts), 9)


def unpacked(data: bytes) -> Weights:
    """Weights as `packed` gives them."""
    raw = zlib.decompress(data)
    rarity = np.frombuffer(raw, np.uint8, PLACES).astype(np.float64) * SCALE
    start, models = PLACES, []
    for _ in range(2):
        small = np.frombuffer(raw, np.int8, PLACES, start)
        whole = np.frombuffer(raw, "<f8", FACTS + 2, start + PLACES)
        models.append(np.concatenate([small * whole[-1], whole[:-1]]))
        start += PLACES + 8 * (FACTS + 2)
    return Weights(rarity, models[0], models[1])


@cache
def _shipped() -> Weights:
    return unpacked(_WEIGHTS.read_bytes())


def read_leanings(sentences: Sequence[str], with_cue: Collection[int] = ()) -> Leanings:
    """What the sentences of a text, in lower case and in order, lean to; some have a cue of a lexicon.

    >>> found = read_leanings(["i could not find him.", "he was born in 1950."])
    >>> (found.refuses > 0).tolist(), (found.answers > 0).tolist()
    ([True, False], [False, True])
    """
    weights = _shipped()
    facts = facts_of(sentences, with_cue)
    refuses, answers = (facts @ each[PLACES:-1] + each[-1] for each in (weights.refuses, weights.answers))
    for number, sentence in enumerate(sentences):
        for places in runs_of(sentence):
            rarity = weights.rarity[places]
            if length := float(np.sqrt(rarity @ rarity)):
                refuses[number] += rarity @ weights.refuses[places] / length
                answers[number] += rarity @ weights.answers[places] / length
    return Leanings(refuses, answers)


def facts_of(sentences: Sequence[str], with_cue: Collection[int], trust: float = TRUST) -> Numbers:
    """What is known of each sentence beside its words."""
    last = len(sentences) - 1
    rows = [
        (
            number == 0,
            number == last,
            last == 0,
            text.endswith("?"),
            _ITEM.match(text) is not None,
            _DIGIT.search(text) is not None,
            len(text) / _LONG,
            text.endswith(":"),
            trust * (number in with_cue),
            1 - trust,
        )
        for number, text in enumerate(sentences)
    ]
    return np.array(rows, dtype=float).reshape(len(sentences), FACTS)


def runs_of(sentence: str) -> tuple[Places, Places]:
    """The places of the runs of letters and of the runs of words of a sentence, each once."""
    letters = np.concatenate([*_letter_runs(sentence), np.empty(0, np.uint64)])
    words = sorted({run >> (64 - WORD_BITS) for run in _word_runs(sentence)})
    return (
        np.unique(letters >> np.uint64(64 - LETTER_BITS)).astype(np.int64),
        np.array(words, np.int64) + (1 << LETTER_BITS),
    )


def _letter_runs(sentence: str) -> Iterator[npt.NDArray[np.uint64]]:
    """Hashes of the runs of each length within words; the spaces around a word belong to it."""
    spaced = f" {' '.join(sentence.split())} "
    codes = np.frombuffer(spaced.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    is_space = codes == ord(" ")
    spaces = np.concatenate([[0], np.cumsum(is_space)])
    runs = codes
    for length in range(1, min(MOST_LETTERS, len(codes)) + 1):
        if length == 1:
            kept = ~is_space
        else:
            runs = runs[:-1] * np.uint64(_STEP) + codes[length - 1 :]
            starts = np.arange(len(runs))
            kept = spaces[starts + length - 1] == spaces[starts + 1]
            if length == 2:
                kept[:] = True  # nothing stands between two letters
        yield (runs[kept] + np.uint64(length)) * np.uint64(_SPREAD)


def _word_runs(sentence: str) -> Iterator[int]:
    """Hashes of the runs of words."""
    words = []
    for word in _WORD.findall(sentence):
        value = 0
        for letter in map(ord, word):
            value = (value * _STEP + letter) & _MASK
        words.append(value)
    for length in range(1, MOST_WORDS + 1):
        for start in range(len(words) - length + 1):
            value = length
            for word_value in words[start : start + length]:
                value = (value * _SPREAD + word_value) & _MASK
            yield (value * _SPREAD) & _MASK
