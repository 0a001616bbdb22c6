"""Which parts of one sequence stand in another, in time that grows nearly as their length."""

from __future__ import annotations

from bisect import bisect_left
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct
from rapidfuzz.distance import Levenshtein

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray


EXACT_CELLS = 1_000_000_000
"""Pairs of items up to which a smallest number of edits is searched: about a tenth of a second, and little memory."""
_PIECE_CELLS = 10_000_000
_ANCHOR_LENGTHS = (16, 4, 2, 1)
_MOST_CODES = 0x110000
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Step(NamedTuple):
    """A stretch of both sequences that is equal, or was replaced, deleted or inserted."""

    kind: str
    reference_start: int
    reference_end: int
    response_start: int
    response_end: int


class Steps(Struct, frozen=True):
    """The way from a reference to a response: steps in order that leave out nothing of either."""

    steps: tuple[Step, ...]
    is_exact: bool
    """Whether no way with fewer edits exists; otherwise the number of edits is an upper bound."""


class _Box(NamedTuple):
    """A part of the reference and the part of the response that it is aligned with."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def cells(self) -> int:
        return (self.bottom - self.top) * (self.right - self.left)


def align(reference: Sequence[Hashable], response: Sequence[Hashable]) -> Steps:
    """Find equal parts of two sequences, so that few items are replaced, deleted or inserted.

    Up to `EXACT_CELLS` pairs of items the number of edits is the smallest. Beyond, runs of items that occur once in
    each sequence are anchors (as in patience diff), and what stands between two anchors is aligned on its own; where
    there is no anchor, as in a long repetition, both parts are cut into as many pieces. Time and memory then grow
    nearly as the length.

    >>> [tuple(step) for step in align("le roi de france".split(), "roi du france".split()).steps]
    [('delete', 0, 1, 0, 0), ('equal', 1, 2, 0, 1), ('replace', 2, 3, 1, 2), ('equal', 3, 4, 2, 3)]
    """
    coded_reference, coded_response = _coded(reference, response)
    if len(reference) * len(response) <= EXACT_CELLS:
        opcodes = Levenshtein.opcodes(coded_reference, coded_response).as_list()
        return Steps(tuple(map(Step._make, opcodes)), is_exact=True)
    pair = _Pair(coded_reference, coded_response)
    whole = _Box(0, len(reference), 0, len(response))
    return Steps(tuple(_joined(_anchored_steps(pair, whole, _ANCHOR_LENGTHS))), is_exact=False)


def equal_parts(reference: str, response: str) -> list[tuple[int, int, int, int]]:
    """The equal steps of `align` alone: start and end in the reference, and in the response.

    >>> equal_parts("maison", "mai son")
    [(0, 3, 0, 3), (3, 6, 4, 7)]
    """
    if len(reference) * len(response) <= EXACT_CELLS:
        opcodes: list[tuple[str, int, int, int, int]] = Levenshtein.opcodes(reference, response).as_list()  # type: ignore[assignment]
        return [opcode[1:] for opcode in opcodes if opcode[0] == "equal"]
    return [step[1:] for step in align(reference, response).steps if step.kind == "equal"]


def count_edits(reference: Sequence[Hashable], response: Sequence[Hashable]) -> tuple[int, int, int, bool]:
    """How many items `align` replaces, deletes and inserts, and whether no fewer would do; quicker than its steps.

    >>> count_edits("le roi de france".split(), "le roy de la france".split())
    (1, 0, 1, True)
    """
    if len(reference) * len(response) <= EXACT_CELLS:
        kinds = [edit[0] for edit in Levenshtein.editops(*_coded(reference, response)).as_list()]
        replaced = kinds.count("replace")
        # What is not replaced is deleted or inserted, and the lengths differ by as much as these do.
        deleted = (len(kinds) - replaced + len(reference) - len(response)) // 2
        return replaced, deleted, len(kinds) - replaced - deleted, True
    counts = {"equal": 0, "replace": 0, "delete": 0, "insert": 0}
    for kind, top, bottom, left, right in align(reference, response).steps:
        counts[kind] += max(bottom - top, right - left)
    return counts["replace"], counts["delete"], counts["insert"], False


class _Pair:
    """Two sequences whose equal items have equal codes, as the matcher reads them and as arrays for anchors."""

    def __init__(self, reference: Sequence[int] | str, response: Sequence[int] | str) -> None:
        self.reference, self.response = reference, response
        self.reference_numbers, self.response_numbers = _numbers(reference), _numbers(response)

    def exact_steps(self, box: _Box) -> Iterator[Step]:
        reference, response = self.reference[box.top : box.bottom], self.response[box.left : box.right]
        for kind, top, bottom, left, right in map(Step._make, Levenshtein.opcodes(reference, response).as_list()):
            yield Step(kind, top + box.top, bottom + box.top, left + box.left, right + box.left)


def _coded(
    reference: Sequence[Hashable], response: Sequence[Hashable]
) -> tuple[Sequence[int] | str, Sequence[int] | str]:
    """Both as strings of one character per item, which the matcher reads fastest; as numbers if there are too many."""
    if isinstance(reference, str) and isinstance(response, str):
        return reference, response
    items = dict.fromkeys(chain(reference, response))
    if len(items) > _MOST_CODES:
        numbers = {item: number for number, item in enumerate(items)}
        return [numbers[item] for item in reference], [numbers[item] for item in response]
    codes = dict(zip(items, map(chr, range(len(items))), strict=True))
    return "".join(map(codes.__getitem__, reference)), "".join(map(codes.__getitem__, response))


def _numbers(items: Sequence[int] | str) -> NDArray[np.uint64]:
    if isinstance(items, str):
        return np.frombuffer(items.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    return np.asarray(items, dtype=np.uint64)


def _anchored_steps(pair: _Pair, box: _Box, lengths: tuple[int, ...]) -> Iterator[Step]:
    """The steps of a box; each level of anchors is shorter than the one before, which bounds the work."""
    if box.cells <= EXACT_CELLS:
        yield from pair.exact_steps(box)
        return
    if not lengths:
        yield from _piecewise_steps(pair, box)
        return
    done = _Box(box.top, box.top, box.left, box.left)
    for top, left, length in _anchors(pair, box, lengths[0]):
        gap = _Box(done.bottom, top, done.right, left)
        yield from _anchored_steps(pair, gap, lengths[1:])
        done = _Box(top, top + length, left, left + length)
        yield Step("equal", *done)
    yield from _anchored_steps(pair, _Box(done.bottom, box.bottom, done.right, box.right), lengths[1:])


def _piecewise_steps(pair: _Pair, box: _Box) -> Iterator[Step]:
    """Align the first part of the one with the first part of the other, and so on, in pieces that are small enough."""
    pieces = int((box.cells / _PIECE_CELLS) ** 0.5) + 1
    rows = [box.top + (box.bottom - box.top) * piece // pieces for piece in range(pieces + 1)]
    columns = [box.left + (box.right - box.left) * piece // pieces for piece in range(pieces + 1)]
    for piece in range(pieces):
        yield from pair.exact_steps(_Box(rows[piece], rows[piece + 1], columns[piece], columns[piece + 1]))


def _anchors(pair: _Pair, box: _Box, length: int) -> list[tuple[int, int, int]]:
    """Equal parts of both: what begins and ends both, and runs of `length` items that occur once in each, in order."""
    reference = pair.reference_numbers[box.top : box.bottom]
    response = pair.response_numbers[box.left : box.right]
    first = _common_start(reference, response)
    last = _common_start(reference[first:][::-1], response[first:][::-1])
    reference, response = reference[first : len(reference) - last], response[first : len(response) - last]
    blocks = [(box.top, box.left, first)] if first else []
    if length <= len(reference) and length <= len(response):
        tops, lefts = _unique_in_both(reference, response, length)
        chain = _longest_increasing(lefts)
        blocks += _blocks(tops[chain] + box.top + first, lefts[chain] + box.left + first, length)
    if last:
        blocks.append((box.bottom - last, box.right - last, last))
    return blocks


def _common_start(reference: NDArray[np.uint64], response: NDArray[np.uint64]) -> int:
    shorter = min(len(reference), len(response))
    differs = reference[:shorter] != response[:shorter]
    return int(differs.argmax()) if differs.any() else shorter


def _unique_in_both(
    reference: NDArray[np.uint64], response: NDArray[np.uint64], length: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the runs of a length stand that occur once in each, in the order of the reference."""
    reference_keys, tops = _occurring_once(_run_keys(reference, length))
    response_keys, lefts = _occurring_once(_run_keys(response, length))
    _, in_reference, in_response = np.intersect1d(
        reference_keys, response_keys, assume_unique=True, return_indices=True
    )
    tops, lefts = tops[in_reference], lefts[in_response]
    # Keys are hashes: two runs with one key may differ.
    is_equal = np.ones(len(tops), dtype=bool)
    for offset in range(length):
        is_equal &= reference[tops + offset] == response[lefts + offset]
    tops, lefts = tops[is_equal], lefts[is_equal]
    order = np.argsort(tops)
    return tops[order], lefts[order]


def _run_keys(items: NDArray[np.uint64], length: int) -> NDArray[np.uint64]:
    """A hash of every run of a length."""
    keys = np.zeros(len(items) - length + 1, dtype=np.uint64)
    for offset in range(length):
        keys = (keys ^ (keys >> np.uint64(29))) * _FACTOR + items[offset : offset + len(keys)]
    return keys


def _occurring_once(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    values, places, counts = np.unique(keys, return_index=True, return_counts=True)
    return values[counts == 1], places[counts == 1].astype(np.int64)


def _longest_increasing(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of a longest strictly increasing chain of distinct values."""
    if bool((np.diff(values) > 0).all()):
        return np.arange(len(values))
    tails: list[int] = []
    tail_places: list[int] = []
    before: list[int] = []
    for place, value in enumerate(values.tolist()):
        length = bisect_left(tails, value)
        before.append(tail_places[length - 1] if length else -1)
        tails[length : length + 1] = [value]
        tail_places[length : length + 1] = [place]
    chain = []
    place = tail_places[-1]
    while place >= 0:
        chain.append(place)
        place = before[place]
    return np.asarray(chain[::-1], dtype=np.int64)


def _blocks(tops: NDArray[np.int64], lefts: NDArray[np.int64], length: int) -> list[tuple[int, int, int]]:
    """Anchors joined where they overlap or touch on one diagonal; one that would cross the last is left out."""
    blocks: list[tuple[int, int, int]] = []
    bottom = right = -1
    for top, left in zip(tops.tolist(), lefts.tolist(), strict=True):
        if blocks and top - left == bottom - right and top <= bottom:
            first_top, first_left, _ = blocks[-1]
            blocks[-1] = (first_top, first_left, top + length - first_top)
        elif top >= bottom and left >= right:
            blocks.append((top, left, length))
        else:
            continue
        bottom, right = top + length, left + length
    return blocks


def _joined(steps: Iterable[Step]) -> list[Step]:
    """Neighbours of one kind as one step."""
    joined: list[Step] = []
    for step in steps:
        if joined and joined[-1].kind == step.kind:
            joined[-1] = joined[-1]._replace(reference_end=step.reference_end, response_end=step.response_end)
        else:
            joined.append(step)
    return joined
