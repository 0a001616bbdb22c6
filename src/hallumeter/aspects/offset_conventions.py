"""Ways to count characters: agents whose spans are wrong often count in another way, and then all of them are right.

Offsets here are code points. Others count UTF-16 units (JavaScript, Java), bytes of UTF-8, or the code points of a text
that was taken apart (NFD) or put together (NFC) before.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cached_property

CODE_POINTS = "code_points"
PLACED = "placed"
"""Under this name stands how many spans could be right at all."""
CONVENTIONS = (CODE_POINTS, "utf16_units", "utf8_bytes", "nfd_code_points", "nfc_code_points")
_WORDS = {
    "utf16_units": "UTF-16 units",
    "utf8_bytes": "bytes of UTF-8",
    "nfd_code_points": "code points of the decomposed text (NFD)",
    "nfc_code_points": "code points of the composed text (NFC)",
}
_HIGHEST_SINGLE = "\uffff"
"""The last character that is one unit of UTF-16."""


class CountedText:
    """A text in which spans are looked up under every way of counting."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _is_ascii(self) -> bool:
        return self.text.isascii()

    @cached_property
    def composed(self) -> str:
        """The text in NFC."""
        return self.text if self._is_ascii else unicodedata.normalize("NFC", self.text)

    @cached_property
    def decomposed(self) -> str:
        """The text in NFD."""
        return unicodedata.normalize("NFD", self.text)

    @cached_property
    def _utf8(self) -> bytes:
        return _utf8(self.text)

    @cached_property
    def _utf16(self) -> bytes:
        return _utf16(self.text)

    @cached_property
    def _has_pairs(self) -> bool:
        """Whether a character takes two units of UTF-16."""
        return max(self.text) > _HIGHEST_SINGLE

    def right_under(self, term: str, start: int, end: int) -> tuple[str, ...]:
        """The ways of counting under which a term stands at a span.

        >>> CountedText("배터리는 좋다").right_under("좋다", 13, 19)
        ('utf8_bytes',)
        >>> CountedText("battery good").right_under("good", 8, 12) == CONVENTIONS
        True
        """
        if not term or start < 0 or end < start:
            return ()
        is_right = self.text[start:end] == term and end <= len(self.text)
        if self._is_ascii:
            return CONVENTIONS if is_right else ()
        found = [CODE_POINTS] if is_right else []
        if self._is_right_in_utf16(term, start, end) if self._has_pairs else is_right:
            found.append("utf16_units")
        if self._utf8[start:end] == _utf8(term) and end <= len(self._utf8):
            found.append("utf8_bytes")
        if self.decomposed[start:end] == unicodedata.normalize("NFD", term) and end <= len(self.decomposed):
            found.append("nfd_code_points")
        if self.composed[start:end] == unicodedata.normalize("NFC", term) and end <= len(self.composed):
            found.append("nfc_code_points")
        return tuple(found)

    def _is_right_in_utf16(self, term: str, start: int, end: int) -> bool:
        return self._utf16[2 * start : 2 * end] == _utf16(term) and 2 * end <= len(self._utf16)


def suggested_convention(right_under: Mapping[str, int]) -> str | None:
    """The way of counting that makes more spans right than code points do; None when there is none.

    >>> suggested_convention({"placed": 10, "code_points": 2, "utf8_bytes": 9, "utf16_units": 2})
    'utf8_bytes'
    >>> suggested_convention({"placed": 10, "code_points": 8, "utf16_units": 8}) is None
    True
    """
    best = max(CONVENTIONS, key=lambda name: (right_under.get(name, 0), -CONVENTIONS.index(name)))
    return None if right_under.get(best, 0) <= right_under.get(CODE_POINTS, 0) else best


def convention_words(name: str) -> str:
    """A way of counting, in words."""
    return _WORDS.get(name, "code points")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")
