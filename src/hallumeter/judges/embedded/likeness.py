"""How well the evidence has something like each word of a claim, by the table of words."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import pairwise

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from .tokens import Tokens, tokens_of
from .units import Units
from .word_table import directions

_REMEMBERED = 8


class EvidenceWords(Struct, frozen=True):
    """The distinct tokens of the evidence."""

    known: frozenset[int]
    directions: NDArray[np.float32]
    """One row for each."""
    pairs: frozenset[tuple[int, int]]
    """Tokens that stand one after the other."""


@lru_cache(maxsize=_REMEMBERED)
def evidence_words(units: Units) -> EvidenceWords:
    """The tokens of all units."""
    lines = [tokens_of(unit.text).ids for unit in units.units]
    known = frozenset(token for line in lines for token in line)
    pairs = frozenset(pair for line in lines for pair in pairwise(line))
    return EvidenceWords(known, directions(np.asarray(sorted(known), np.int64)), pairs)


class Likeness(Struct, frozen=True):
    """For each token of a claim how much the evidence has something like it."""

    best: NDArray[np.float32]
    """The largest cosine with a token of the evidence; 1 when it has the token itself."""
    rarity: NDArray[np.float32]
    """How rare the token is in English text at large, by its place in the table, which is ordered by frequency."""
    is_known_pair: NDArray[np.bool_]
    """Whether it stands after the same token in the evidence."""


def likeness_of(tokens: Tokens, words: EvidenceWords) -> Likeness:
    """Compare the tokens of a claim with those of the evidence."""
    ids = np.asarray(tokens.ids, np.int64)
    best = np.zeros(len(ids), np.float32)
    if words.known and tokens.ids:
        # The product is small: more threads would take longer, and disturb the other processes.
        with _libraries().limit(limits=1, user_api="blas"):
            best = (directions(ids) @ words.directions.T).max(axis=1)
        best[[token in words.known for token in tokens.ids]] = 1.0
    pairs = [False, *(pair in words.pairs for pair in pairwise(tokens.ids))]
    rarity = np.log1p(np.maximum(0, ids - 998)).astype(np.float32)
    return Likeness(best, rarity, np.asarray(pairs[: len(ids)], np.bool_))


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
