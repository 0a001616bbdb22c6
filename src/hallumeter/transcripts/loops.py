"""Repetition loops: the same items over and over, as a model writes that does not find its end."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from math import ceil

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.errors import SettingsError
from hallumeter.text.words import Words

FEWEST_COPIES = 3
SHORTEST_LOOP = 6


class Loop(Struct, frozen=True, order=True):
    """A stretch in which every item equals the one a period before it; it cannot be made longer."""

    start: int
    """Position of its first item."""
    end: int
    """Position after its last item."""
    period: int
    """Items that are repeated; never a repetition themselves."""

    @property
    def copies(self) -> float:
        """How often the period is there; the last copy may be a part."""
        return (self.end - self.start) / self.period


def find_loops(
    items: Sequence[Hashable], *, fewest_copies: int = FEWEST_COPIES, shortest: int = SHORTEST_LOOP
) -> list[Loop]:
    """All repetitions of at least so many copies and items, sorted by start.

    None is left out; loops may lie inside longer ones of a longer period. Time grows as n log² n at most. Repetitions
    of fewer than three copies are not looked for.

    >>> find_loops("the end and so on and so on and so on".split(), shortest=6)
    [Loop(start=2, end=11, period=3)]
    """
    if fewest_copies < FEWEST_COPIES:
        raise SettingsError(f"a loop has at least {FEWEST_COPIES} copies, found fewest_copies={fewest_copies}")
    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(item, len(numbers)) for item in items]
    shortest = max(shortest, fewest_copies)
    found = [
        loop
        for start, end in _candidates(codes, fewest_copies, shortest)
        for loop in _repetitions(np.asarray(codes[start:end]), start, fewest_copies)
        if loop.end - loop.start >= max(shortest, fewest_copies * loop.period)
    ]
    return _whole_loops(found)


def _candidates(codes: list[int], fewest_copies: int, shortest: int) -> Iterator[tuple[int, int]]:
    """Parts that hold every loop: after its first copy a loop has only items that were seen before."""
    fewest_seen = shortest - shortest // fewest_copies
    seen: set[int] = set()
    run = 0
    for place, code in enumerate([*codes, -1]):
        if code in seen:
            run += 1
            continue
        if run >= fewest_seen:
            # The first copy is no longer than the run that the others are.
            yield max(0, place - run - run // (fewest_copies - 1)), place
        run = 0
        seen.add(code)


def _repetitions(codes: NDArray[np.int64], offset: int, fewest_copies: int) -> Iterator[Loop]:
    """Stretches of a period, found by the distance of each window to its last occurrence.

    Inside a repetition of period p, a window of length g >= p was last seen exactly p before; with g doubled at each
    level, every period has a level with g / 2 < p <= g, where three copies hold a window and its double.
    """
    window = 1
    ranks, distances = _ranks_and_distances(codes)
    while window < 2 * (len(codes) // fewest_copies) and distances.any():
        edges = np.flatnonzero(np.diff(distances)) + 1
        starts = np.concatenate([[0], edges])
        lasts = np.concatenate([edges, [len(distances)]]) - 1
        periods = distances[starts]
        is_of_level = (2 * periods > window) & (periods <= window)
        for start, last, period in zip(
            starts[is_of_level].tolist(), lasts[is_of_level].tolist(), periods[is_of_level].tolist(), strict=True
        ):
            yield Loop(offset + start - period, offset + last + window, period)
        ranks, distances = _ranks_and_distances(ranks[:-window] * len(codes) + ranks[window:])
        window *= 2


def _ranks_and_distances(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Equal numbers for equal values, and how far back each value was last seen: 0 where it is new."""
    order = np.argsort(values, kind="stable")
    is_same = values[order[1:]] == values[order[:-1]]
    ranks = np.zeros(len(values), dtype=np.int64)
    ranks[order[1:]] = np.cumsum(~is_same)
    distances = np.zeros(len(values), dtype=np.int64)
    distances[order[1:][is_same]] = np.diff(order)[is_same]
    return ranks, distances


def _whole_loops(loops: Iterable[Loop]) -> list[Loop]:
    """Sorted, without the ends of loops that were found again where two parts that were searched overlap."""
    kept: list[Loop] = []
    # Few loops can lie over one place, so those that reach the current start stay few.
    open_loops: list[Loop] = []
    for loop in sorted(set(loops), key=lambda each: (each.start, -each.end, each.period)):
        open_loops = [other for other in open_loops if other.end > loop.start]
        if not any(other.end >= loop.end and other.period == loop.period for other in open_loops):
            kept.append(loop)
            open_loops.append(loop)
    return sorted(kept)


# Words of a response that repeat without end, also with a counter or a letter that changes from copy to copy.

CHANGING = 10
"""Copies from which words with a changing number or letter are a loop: "12 fr. 40 c., 15 fr. 20 c." is an account."""
COUNTING = 50
"""Copies from which mere counting (1 2 3 4, a b c d) is a loop: lists and tables have fewer."""
_DIGITS = re.compile(r"\d+")
_NUMBER, _LETTER = "0", "\0"


class Repeat(Struct, frozen=True):
    """Words in a loop."""

    start: int
    """Position of the first word."""
    end: int
    """Position after the last."""
    period: int
    """How many words are repeated."""
    copies: float


def repeated_words(keys: Sequence[str]) -> list[Repeat]:
    """Loops among words, numbers taken as one word and single letters as another.

    >>> repeated_words("it is void it is void it is void".split())
    [Repeat(start=0, end=9, period=3, copies=3.0)]
    """
    masked = [key if key.isalpha() and len(key) > 1 else _masked(key) for key in keys]
    loops = find_loops(keys)
    if masked != list(keys):
        loops += [loop for loop in find_loops(masked) if loop.copies >= _fewest_copies(loop, masked)]
    return [Repeat(loop.start, loop.end, loop.period, loop.copies) for loop in loops]


def _masked(key: str) -> str:
    # A letter of a script without case may be a whole word.
    return _LETTER if len(key) == 1 and key != key.upper() else _DIGITS.sub(_NUMBER, key)


def _fewest_copies(loop: Loop, items: Sequence[str]) -> int:
    """How often words with a number or a letter that changes must come: a ledger has such rows, and so has a list."""
    is_counting = {_NUMBER, _LETTER}.issuperset(items[loop.start : loop.start + loop.period])
    return COUNTING if is_counting else CHANGING


# Loops without a space: "villevilleville..." is one word to the eye of a program, and three hundred to a reader.

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
