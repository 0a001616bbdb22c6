"""When two terms are the same, and when one holds the other, whatever spaces, marks, case and particles they have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate

from hallumeter.aspects.records.aspect import Polarity, TextSpan
from hallumeter.aspects.sentiment_words import repaired_polarity

# Polarities as others spell them, with a note of every one that was misspelt.

REPAIRED, INVALID = "polarity_repaired:", "polarity_invalid:"
"""With which the notes begin that tell of polarities."""
_SHOWN = 40
"""Characters of a word that a note repeats."""


def noted_polarity(value: object, notes: list[str]) -> Polarity | None:
    """A polarity; one that cannot be understood is missing, which is not neutral.

    >>> notes = []
    >>> noted_polarity("positve", notes), noted_polarity("great", notes), noted_polarity("NEG", notes), notes
    ('positive', None, 'negative', ['polarity_repaired:positve->positive', 'polarity_invalid:great'])
    """
    said = value if isinstance(value, str) else str(value)
    read = repaired_polarity(said)
    if read.is_invalid:
        notes.append(f"{INVALID}{said[:_SHOWN]}")
    elif read.was_repaired:
        notes.append(f"{REPAIRED}{said[:_SHOWN]}->{read.value}")
    return read.value


_WORD = re.compile(r"\w+")
_REMEMBERED = 4096
"""Terms whose keys are kept: the same ones are compared again and again within a sentence."""


@lru_cache(maxsize=_REMEMBERED)
def term_key(term: str) -> str:
    """What is compared of a term: small letters without spaces and marks.

    >>> term_key("Battery-Life "), term_key("배터리 수명"), term_key("?!")
    ('batterylife', '배터리수명', '')
    """
    return "".join(_words(term))


class SqueezedText:
    """A text without spaces and marks, which still knows where its words begin and end."""

    __slots__ = ("_ends", "_starts", "text")

    def __init__(self, text: str) -> None:
        words = _words(text)
        self.text = "".join(words)
        self._ends = frozenset(accumulate(map(len, words)))
        self._starts = self._ends | {0}

    def places(self, key: str) -> list[tuple[int, int]]:
        """Where a key stands as a term of its own.

        Korean is written without spaces before particles and inside compounds, so a Korean key may stand anywhere,
        unless it is a single syllable: that one begins a word. Other keys are whole words, or their plural.

        >>> SqueezedText("The battery life; prices").places("batterylife"), SqueezedText("prices").places("ice")
        ([(3, 14)], [])
        >>> SqueezedText("향이 좋다").places("향"), SqueezedText("영향이 크다").places("향")
        ([(0, 1)], [])
        """
        found: list[tuple[int, int]] = []
        start = self.text.find(key) if key else -1
        while start >= 0:
            end = start + len(key)
            if self._begins(start, key) and self._ends_at(end):
                found.append((start, end))
            start = self.text.find(key, start + 1)
        return found

    def _begins(self, start: int, key: str) -> bool:
        if start in self._starts:
            return True
        before, first = self.text[start - 1], self.text[start]
        return len(key) > 1 and (_is_glued(first) or _is_glued(before))

    def _ends_at(self, end: int) -> bool:
        if end in self._ends:
            return True
        last, after = self.text[end - 1], self.text[end]
        return _is_glued(last) or _is_glued(after) or (after == "s" and end + 1 in self._ends)


def holds_term(whole: str, part: str) -> bool:
    """Whether a term stands within another; an empty one stands within none.

    >>> holds_term("battery life", "Battery"), holds_term("price", "ice"), holds_term("battery", "")
    (True, False, False)
    """
    key = term_key(part)
    return bool(key) and key in term_key(whole) and bool(SqueezedText(whole).places(key))


def anchor_of(term: str, aspects: Iterable[str]) -> str | None:
    """The aspect that a term means: the same, else the same key, else the one that shares most with it; None if none.

    >>> anchor_of("battery", ["screen", "battery life", "battery"]), anchor_of("", ["screen"])
    ('battery', None)
    """
    key = term_key(term)
    known = [aspect for aspect in aspects if term_key(aspect)]
    if not key or not known:
        return None
    if term in known:
        return term
    same = next((aspect for aspect in known if term_key(aspect) == key), None)
    if same is not None:
        return same
    related = [aspect for aspect in known if holds_term(aspect, term) or holds_term(term, aspect)]
    return max(related, key=lambda aspect: min(len(term_key(aspect)), len(key)), default=None)


def place_of_term(text: str, term: str, near: TextSpan | None) -> tuple[int, int] | None:
    """Where a term stands in a text: at its span, else at the nearest place; None when it does not occur."""
    if not term:
        return None
    if near is not None and near.is_within(text) and text[near.start : near.end] == term:
        return near.start, near.end
    start = text.find(term)
    if start < 0:
        return None
    if near is not None:
        places = [match.start() for match in re.finditer(f"(?={re.escape(term)})", text)]
        start = min(places, key=lambda place: abs(place - near.start))
    return start, start + len(term)


def _words(text: str) -> list[str]:
    composed = text if text.isascii() else unicodedata.normalize("NFC", text)
    return _WORD.findall(composed.lower())


def _is_glued(sign: str) -> bool:
    """Whether a sign belongs to a script in which words are written together: Korean, Japanese, Chinese."""
    return "\u1100" <= sign <= "\u11ff" or "\u3040" <= sign <= "\u9fff" or "\uac00" <= sign <= "\ud7ff"
