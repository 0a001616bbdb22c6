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
        self._by_last = _grouped(lists, -1)

    def find(self, lower: str, place: int) -> Beside | None:
        """The words, and an article may come after them."""
        start = max(0, place - _LONGEST)
        head = lower[start:place].rstrip(" :")
        if head.endswith(_FILLERS):
            head = head[: head.rindex(" ")].rstrip()
        for word, list_name in self._by_last.get(head[-1:], ()):
            if head.endswith(word):
                begin = len(head) - len(word)
                is_inside = begin > 0 and _is_latin(word[0]) and head[begin - 1].isalpha()
                return None if is_inside else Beside(list_name, start + begin, start + len(head))
        return None


class WordsAfter:
    """Finds the words of several lists that begin right after a place; those in Latin letters do not go on.

    >>> WordsAfter(bounds=["or less"]).find("7% or less", 2)
    Beside(list_name='bounds', start=3, end=10)
    """

    def __init__(self, **lists: Iterable[str]) -> None:
        self._by_first = _grouped(lists, 0)

    def find(self, lower: str, place: int) -> Beside | None:
        """The words, after a space or a hyphen or none."""
        if lower[place : place + 1] in _BETWEEN:
            place += 1
        for word, list_name in self._by_first.get(lower[place : place + 1], ()):
            end = place + len(word)
            if lower.startswith(word, place) and not (_is_latin(word[-1]) and _is_latin(lower[end : end + 1])):
                return Beside(list_name, place, end)
        return None


def _grouped(lists: dict[str, Iterable[str]], place: int) -> dict[str, list[tuple[str, str]]]:
    """Words with their lists by their first or last letter, the longest first."""
    groups: dict[str, list[tuple[str, str]]] = {}
    words = {word: list_name for list_name, each in lists.items() for word in each}
    for word in sorted(words, key=lambda word: (-len(word), word)):
        groups.setdefault(word[place], []).append((word, words[word]))
    return groups


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalpha()


def words_pattern(words: Iterable[str]) -> str:
    """Any of the words, the longest first; one in Latin letters does not go on."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(
        re.escape(word) + ("(?![a-z])" if word[-1].isascii() and word[-1].isalpha() else "") for word in ordered
    )
