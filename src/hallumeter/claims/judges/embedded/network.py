"""The network of the full tier: it reads chunks and says four numbers of every token of the claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.text.terms import terms_of

from .encoder import engine
from .model_files import load_arrays
from .units import Units
from .word_pieces import CLS, SEP, Tokens, tokens_of

# The table of words of the model: a vector for each token, whatever stands around it.


@cache
def table() -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Whole numbers, and one scale for each row."""
    arrays = load_arrays("words.npz")
    return arrays["numbers"], arrays["scales"]


def vectors(ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """The vectors of some tokens, as the encoder reads them."""
    numbers, scales = table()
    return numbers[ids].astype(np.float32) * scales[ids][..., None]


def directions(ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """The vectors of some tokens, each of length 1, so that a product is a cosine.

    In double precision: single precision sums up differently on other processors, by enough to cross a threshold.
    """
    numbers, _ = table()
    rows = numbers[ids] - mean()
    return np.asarray(rows / np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1e-6)[:, None])


@cache
def mean() -> NDArray[np.float64]:
    """What all vectors have in common; without it every two words look alike."""
    return np.asarray(table()[0].mean(axis=0, dtype=np.float64))


# What the model reads at once: the question, the units of evidence that say most, and a few claims.
#
# Every token comes with its kind: whether it is of the evidence or of a claim, and what was found of it by comparing
# the claim with all of the evidence, of which only a part may stand beside it.

OTHER, SHARED, KNOWN, ALIKE, UNKNOWN, DOUBTED = range(6)
"""Kinds of tokens: of the evidence; of the evidence and the claims; of a claim and known to the evidence; like one of
the evidence; unlike all; of a part of a claim that a rule found wrong."""
KINDS = 6
CLAIM_TOKENS = 128
"""Claims are read together up to this many tokens; one that is longer is read in parts of this length."""
QUESTION_TOKENS = 32
LENGTH = 256
"""Tokens that are read at once."""
_FIRST_RARE = 2200
"""Tokens are ordered by frequency: those before are marks, letters and words that nearly every text has."""
_LEAST_ROOM = 8
_MOST_MISSES = 12
"""Units too long for the room that is left, after which no shorter one is looked for."""
_JOINT = 1025  # a semicolon, between two units


class MarkedClaim(Struct, frozen=True):
    """A claim, and the kind of each of its tokens."""

    text: str
    tokens: Tokens
    kinds: tuple[int, ...]


class Part(Struct, frozen=True):
    """A claim in a chunk, or a part of a long one."""

    claim: int
    """Its number among the claims."""
    first: int
    """Its first token among the claim's."""
    count: int
    at: int
    """Where it begins in the chunk."""


class Chunk(Struct, frozen=True):
    """One reading."""

    ids: tuple[int, ...]
    kinds: tuple[int, ...]
    claims_at: int
    """Where the claims begin; before it stand the question and the evidence."""
    parts: tuple[Part, ...]


def chunks_of(claims: Sequence[MarkedClaim], units: Units, *, question: str = "", length: int = LENGTH) -> list[Chunk]:
    """Cut the claims of a response into readings, each with the evidence that says most about it."""
    asked = tokens_of(question).ids[:QUESTION_TOKENS] if question else ()
    return [_chunk(group, units, asked, length=length) for group in _groups(claims)]


class _Piece(Struct, frozen=True):
    """Tokens of a claim that are read together."""

    claim: int
    first: int
    ids: tuple[int, ...]
    kinds: tuple[int, ...]
    text: str


def _groups(claims: Sequence[MarkedClaim]) -> Iterator[list[_Piece]]:
    group: list[_Piece] = []
    for piece in _cut(claims):
        if group and sum(len(each.ids) for each in group) + len(piece.ids) > CLAIM_TOKENS:
            yield group
            group = []
        group.append(piece)
    if group:
        yield group


def _cut(claims: Sequence[MarkedClaim]) -> Iterator[_Piece]:
    for number, claim in enumerate(claims):
        for first in range(0, len(claim.tokens), CLAIM_TOKENS):
            part = slice(first, first + CLAIM_TOKENS)
            spans = claim.tokens.spans[part]
            text = claim.text[spans[0][0] : spans[-1][1]]
            yield _Piece(number, first, claim.tokens.ids[part], claim.kinds[part], text)


def _chunk(group: list[_Piece], units: Units, asked: tuple[int, ...], *, length: int) -> Chunk:
    count = sum(len(piece.ids) for piece in group)
    head = (CLS, *asked, SEP) if asked else (CLS,)
    evidence = _evidence(group, units, room=length - len(head) - count - 2)
    ids = [*head, *evidence, SEP]
    claimed = {token for piece in group for token in piece.ids if token >= _FIRST_RARE}
    kinds = [SHARED if token in claimed else OTHER for token in ids]
    claims_at = len(ids)
    parts = []
    for piece in group:
        parts.append(Part(piece.claim, piece.first, len(piece.ids), len(ids)))
        ids += piece.ids
        kinds += piece.kinds
    return Chunk((*ids, SEP), (*kinds, OTHER), claims_at, tuple(parts))


def _evidence(group: list[_Piece], units: Units, *, room: int) -> list[int]:
    """Tokens of the chosen units in the order of the evidence; the claims choose in turns, the best first."""
    chosen: dict[int, tuple[int, ...]] = {}
    misses = 0
    for number in _turns([units.ranked(filter(None, terms_of(piece.text).keys)) for piece in group], len(units.units)):
        ids = tokens_of(units.units[number].text).ids
        if not chosen:
            ids = ids[: max(0, room - 1)]  # a unit of many tokens, such as one of long numbers
        if len(ids) < room:
            chosen[number] = ids
            room -= len(ids) + 1
        else:
            misses += 1
        if room < _LEAST_ROOM or misses > _MOST_MISSES:
            break
    return [token for number in sorted(chosen) for token in (*chosen[number], _JOINT)]


def _turns(rankings: list[list[int]], count: int) -> Iterator[int]:
    """Numbers of units: the best of each ranking, the second of each, and so on; at last the rest in order."""
    seen: set[int] = set()
    longest = max(map(len, rankings), default=0)
    for number in [ranking[place] for place in range(longest) for ranking in rankings if place < len(ranking)]:
        if number not in seen:
            seen.add(number)
            yield number
    yield from (number for number in range(count) if number not in seen)


UNSUPPORTED, CONFLICT, ATTENTION, VOTE = range(4)


class ReadClaim(Struct, frozen=True):
    """What the network says of a claim."""

    unsupported: NDArray[np.float32]
    """For each token how much speaks for its being unsupported, as a logit."""
    conflict: NDArray[np.float32]
    """For each token how much speaks for a conflict if it is unsupported."""
    vote: float
    """How much speaks for the claim's being unsupported."""


def read_claims(chunks: Sequence[Chunk], count: int) -> list[ReadClaim]:
    """Read all chunks of a response, whose claims all have a token.

    Each is read alone: numbers in eight bits are scaled by what is read together, so that a batch would change them.
    """
    said: list[list[NDArray[np.float32]]] = [[] for _ in range(count)]
    for chunk in chunks:
        rows = _read(chunk)
        for part in chunk.parts:
            said[part.claim].append(rows[part.at : part.at + part.count])
    return [_claim(np.concatenate(parts)) for parts in said]


def _read(chunk: Chunk) -> NDArray[np.float32]:
    ids = np.asarray(chunk.ids, np.int64)
    kinds = np.asarray(chunk.kinds, np.int64)
    return engine()(vectors(ids), kinds)


def _claim(rows: NDArray[np.float32]) -> ReadClaim:
    # In double precision, so that all processors say the same.
    weights = np.exp(np.clip(rows[:, ATTENTION].astype(np.float64), -15.0, 15.0))
    vote = float((weights * rows[:, VOTE]).sum() / weights.sum())
    return ReadClaim(rows[:, UNSUPPORTED], rows[:, CONFLICT], vote)
