"""Text with composed letters, and where each of them stands in the text that was given."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Composed(NamedTuple):
    """A text for analysis."""

    text: str
    starts: tuple[int, ...] | None
    """Where each letter begins in the given text, and its length at last; None when both texts are alike."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the given text of a place in this one."""
        return (start, end) if self.starts is None else (self.starts[start], self.starts[end])


def composed(text: str) -> Composed:
    r"""Compose letters that were given in parts; what no analyser can read becomes a replacement character.

    >>> composed("가 나").text
    '가 나'
    >>> composed("\u1100\u1161\u11a8\ub098").span(1, 2)
    (3, 4)
    """
    readable = _LONE_SURROGATE.sub("\ufffd", text)
    if unicodedata.is_normalized("NFC", readable):
        return Composed(readable, None)
    parts: list[str] = []
    starts: list[int] = []
    first = 0
    for place in range(1, len(readable) + 1):
        if place < len(readable) and _continues(readable[place]):
            continue
        part = unicodedata.normalize("NFC", readable[first:place])
        parts.append(part)
        starts += [first] * len(part)
        first = place
    return Composed("".join(parts), (*starts, len(readable)))


def _continues(character: str) -> bool:
    """Whether it can only go on with the letter before: a mark, or a vowel or final consonant of Hangul."""
    return "\u1160" <= character <= "\u11ff" or unicodedata.combining(character) != 0
