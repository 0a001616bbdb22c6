"""The part of a claim that is marked as unsupported: from numbers of tokens to whole words and values."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_JOINTS = "'’-‐‑_&@."
"""Signs that make one word of what stands on both sides: l’eau, so-called, AT&T, U.S, file_name."""
_JOINTS_OF_DIGITS = ",:/–"
"""The same between two digits: 1,200, 9:30, 3/4, 1990–1995."""
_SIGNS = "%‰°"
"""Beside a number these belong to it, as signs of currencies do."""


def best_stretch(weights: NDArray[np.floating]) -> tuple[int, int] | None:
    """First and one past the last place of the stretch with the largest sum; None when no weight is above zero.

    >>> best_stretch(np.array([-1.0, 2.0, -0.5, 1.0, -3.0, 1.5]))
    (1, 4)
    """
    best = 0.0
    found: tuple[int, int] | None = None
    total, first = 0.0, 0
    for place, weight in enumerate(weights.tolist()):
        if total <= 0.0:
            total, first = 0.0, place
        total += weight
        if total > best:
            best, found = total, (first, place + 1)
    return found


def whole_words(text: str, start: int, end: int, *, values: Sequence[tuple[int, int]] = ()) -> tuple[int, int] | None:
    """The words and values that a part of a text touches, without marks and brackets at their ends.

    Args:
        text: The text.
        start: Where the part begins.
        end: Where it ends.
        values: Places that belong together, such as numbers with their units.

    Returns:
        Where the first of them begins and the last ends; None when the part touches none.

    >>> text = "Its (low) density. (It's 5-fold.)"
    >>> start, end = whole_words(text, 11, 20)
    >>> text[start:end]
    'density'
    >>> start, end = whole_words(text, 23, 26)
    >>> text[start:end]
    "It's 5-fold"
    """
    touched = [(first, last) for first, last in values if first < end and start < last]
    words = [place for place in range(start, end) if _is_written(text, place)]
    touched += [(words[0], words[-1] + 1)] if words else []
    if not touched:
        return None
    place = min(first for first, _ in touched), max(last for _, last in touched)
    return _to_words_and_values(text, place, values)


def _to_words_and_values(text: str, place: tuple[int, int], values: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Grow a place until no word and no value stands half in it: a value may reach into the next word."""
    start, end = _to_words(text, *place)
    for first, last in values:
        if first < end and start < last:
            start, end = min(start, first), max(end, last)
    return (start, end) if (start, end) == place else _to_words_and_values(text, (start, end), values)


def _to_words(text: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and _is_joined(text, start):
        start -= 1
    while end < len(text) and _is_joined(text, end):
        end += 1
    return start, end


def _is_joined(text: str, place: int) -> bool:
    """Whether the characters before and at a place are of one word."""
    before, after = text[place - 1], text[place]
    if _is_written(text, place - 1) and _is_written(text, place):
        return True
    if _is_letter(before):
        return place + 1 < len(text) and _is_joint(before, after, text[place + 1])
    return place > 1 and _is_joint(text[place - 2], before, after)


def _is_joint(before: str, sign: str, after: str) -> bool:
    if sign in _JOINTS:
        return _is_letter(before) and _is_letter(after)
    return sign in _JOINTS_OF_DIGITS and before.isdecimal() and after.isdecimal()


def _is_written(text: str, place: int) -> bool:
    """Whether a character is of a word: a letter, a digit, a mark on one, or a sign of a number beside a digit."""
    character = text[place]
    if _is_letter(character):
        return True
    if character not in _SIGNS and unicodedata.category(character) != "Sc":
        return False
    return text[max(0, place - 1) : place].isdecimal() or text[place + 1 : place + 2].isdecimal()


def _is_letter(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")
