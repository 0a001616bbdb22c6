"""Ages and sexes that a text states."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from .bounds import WordsAfter, WordsBefore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .cue_words import CueWords
    from .numbers import Number
    from .scopes import Span

_OLDEST = 120


class Age(Struct, frozen=True, gc=False):
    """An age, in the positions of the clean text."""

    start: int
    end: int
    years: float
    bound: Span | None = None
    is_past: bool = False
    """Whether it is an age at which something happened."""


class AgeFinder:
    """Finds ages."""

    def __init__(self, words: Sequence[CueWords]) -> None:
        ages = [each.ages for each in words]
        self._before = WordsBefore(age=[word for each in ages for word in each.before])
        self._past_before = WordsBefore(past=[word for each in ages for word in each.past_before])
        self._past_after = WordsAfter(past=[word for each in ages for word in each.past_after])
        self._bound_before = WordsBefore(bound=[word for each in words for word in each.thresholds.before])
        self._bound_after = WordsAfter(bound=[word for each in words for word in each.thresholds.after])

    def find(self, lower: str, numbers: Sequence[Number]) -> Iterator[Age]:
        """The ages of a text in order."""
        for number in numbers:
            if number.is_taken or number.value > _OLDEST:
                continue
            start, end = number.start, number.end
            is_bare = number.is_bare and number.second is None
            if number.is_age or (is_bare and self._before.find(lower, start) is not None):
                number.is_taken = True
                past = self._past_before.find(lower, start) or self._past_after.find(lower, end)
                bound = self._bound_after.find(lower, end) or self._bound_before.find(lower, start)
                yield Age(start, end, number.value, None if bound is None else bound[1:], past is not None)


class SexReader:
    """Tells whether a word for a sex speaks of the sex at large."""

    def __init__(self, words: Sequence[CueWords]) -> None:
        after = {word for each in words for word in each.sexes.general_after}
        self._after = re.compile("|".join(re.escape(word) for word in sorted(after, key=len, reverse=True)))

    def general(self, lower: str, end: int) -> Span | None:
        """The words after it that make it so."""
        match = self._after.match(lower, end)
        return None if match is None else match.span()
