"""Words of a response that repeat without end, also with a counter or a letter that changes from copy to copy."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.metrics.loops import Loop, find_loops

if TYPE_CHECKING:
    from collections.abc import Sequence

LONG_WORD = 24
"""Letters beyond which a word is looked at letter by letter: "ooooo..." is one word, and a loop."""
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
    """How many words are repeated; letters, inside a word longer than `LONG_WORD`."""
    copies: float


def repeated_words(keys: Sequence[str]) -> list[Repeat]:
    """Loops among words, numbers taken as one word and single letters as another.

    >>> repeated_words("no 1 is void no 2 is void no 3 is void".split())
    [Repeat(start=0, end=12, period=4, copies=3.0)]
    """
    masked = [key if key.isalpha() and len(key) > 1 else _masked(key) for key in keys]
    if max(map(len, masked), default=0) <= LONG_WORD:
        loops = [loop for loop in find_loops(masked) if _is_no_list(loop, masked, keys)]
        return [Repeat(loop.start, loop.end, loop.period, loop.copies) for loop in loops]
    items: list[str] = []
    originals: list[str] = []
    starts = [0]
    for word, key in zip(masked, keys, strict=True):
        items += [word] if len(word) <= LONG_WORD else word
        originals += [key] if len(word) <= LONG_WORD else word
        starts.append(len(items))
    loops = [loop for loop in find_loops(items) if _is_no_list(loop, items, originals)]
    return [repeat for loop in loops if (repeat := _in_words(loop, starts)).start < repeat.end]


def _in_words(loop: Loop, starts: list[int]) -> Repeat:
    """A loop of letters in words: a word belongs to it when at least half of its letters do."""
    first = bisect_right(starts, loop.start) - 1
    last = bisect_left(starts, loop.end)
    is_first_cut = 2 * (loop.start - starts[first]) > starts[first + 1] - starts[first]
    is_last_cut = 2 * (starts[last] - loop.end) > starts[last] - starts[last - 1]
    return Repeat(first + is_first_cut, last - is_last_cut, loop.period, loop.copies)


def _masked(key: str) -> str:
    # A letter of a script without case may be a whole word.
    return _LETTER if len(key) == 1 and key != key.upper() else _DIGITS.sub(_NUMBER, key)


def _is_no_list(loop: Loop, items: Sequence[str], originals: Sequence[str]) -> bool:
    """Whether a loop repeats something other than a place for a number or a letter."""
    if loop.copies >= COUNTING or not {_NUMBER, _LETTER}.issuperset(items[loop.start : loop.start + loop.period]):
        return True
    return originals[loop.start : loop.end - loop.period] == originals[loop.start + loop.period : loop.end]
