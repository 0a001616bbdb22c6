"""Sequences of words looked for at a place of a text, the longest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from .tokens import tokens_of

Value = TypeVar("Value")


class PhraseTable(Generic[Value]):
    """Phrases with a value each, cut into words as texts are.

    >>> PhraseTable([("not only", 1), ("not", 2)]).find(("it", "'s", "not", "only", "good"))
    [(2, 4, 1)]
    """

    def __init__(self, phrases: Iterable[tuple[str, Value]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], Value]]] = {}
        for phrase, value in phrases:
            words = tokens_of(phrase).words
            self._by_first.setdefault(words[0], []).append((words, value))
        for entries in self._by_first.values():
            entries.sort(key=lambda entry: -len(entry[0]))

    def find(self, words: Sequence[str]) -> list[tuple[int, int, Value]]:
        """First word, one past the last and value of the phrases of a text, none inside another."""
        found = []
        by_first = self._by_first
        place = 0
        for index, word in enumerate(words):
            if index < place or word not in by_first:
                continue
            for phrase, value in by_first[word]:
                length = len(phrase)
                if length == 1 or tuple(words[index : index + length]) == phrase:
                    found.append((index, index + length, value))
                    place = index + length
                    break
        return found
