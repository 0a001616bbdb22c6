"""Words that stand directly before or after a number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 28
_FILLERS = (" a", " an", " the", " about")
_BETWEEN = frozenset(" \t\n-")


class Beside(NamedTuple):
    """Words beside a number: which list they are of, and where they stand."""

    list_name: str
    start: int
    end: int


class WordsBefore:
    """Finds the words of several lists that end right before a place; the longest counts.

    >>> WordsBefore(bounds=["below"]).find("keep it below a 7", 16)
    Beside(list_name='bounds', start=8, end=13)
    """

    def __init__(self, **lists: Iterable[str]) -> None:
        self._lists = _lists_of(lists)
        self._backwards = _any_of([word[::-1] for word in self._lists])

    def find(self, lower: str, place: int) -> Beside | None:
        """The words, and an article may come after them."""
        start = max(0, place - _LONGEST)
        head = lower[start:place].rstrip(" :")
        if head.endswith(_FILLERS):
            head = head[: head.rindex(" ")].rstrip()
        match = self._backwards.match(head[::-1])
        if match is None:
            return None
        begin = len(head) - match.end()
        return Beside(self._lists[head[begin:]], start + begin, start + len(head))


class WordsAfter:
    """Finds the words of several lists that begin right after a place; those in Latin letters do not go on.

    >>> WordsAfter(bounds=["or less"]).find("7% or less", 2)
    Beside(list_name='bounds', start=3, end=10)
    """

    def __init__(self, **lists: Iterable[str]) -> None:
        self._lists = _lists_of(lists)
        self._words = _any_of(self._lists)

    def find(self, lower: str, place: int) -> Beside | None:
        """The words, after a space or a hyphen or none."""
        if lower[place : place + 1] in _BETWEEN:
            place += 1
        match = self._words.match(lower, place)
        return None if match is None else Beside(self._lists[match.group()], place, match.end())


def _lists_of(lists: dict[str, Iterable[str]]) -> dict[str, str]:
    """The list of every word."""
    return {word: list_name for list_name, each in lists.items() for word in each}


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile(words_pattern(words) or "(?!)")


def words_pattern(words: Iterable[str]) -> str:
    """Any of the words, the longest first; one in Latin letters does not go on."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(
        re.escape(word) + ("(?![a-z])" if word[-1].isascii() and word[-1].isalpha() else "") for word in ordered
    )
