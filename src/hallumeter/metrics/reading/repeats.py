"""Words of a response that repeat without end, also with a counter or a letter that changes from copy to copy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.metrics.loops import Loop, find_loops

if TYPE_CHECKING:
    from collections.abc import Sequence

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
