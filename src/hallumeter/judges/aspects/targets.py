"""Which words can be targets of a sentiment."""

from __future__ import annotations

import tomllib
import unicodedata
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from msgspec import Struct, convert

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST = 2
"""Characters of a target that stands in no list."""
_FILE = resources.files("hallumeter.judges.aspects").joinpath("words", "targets.toml")


class TargetWords(Struct, frozen=True):
    """Terms that are targets although they are short, and terms that are none although they are long."""

    allowlist: frozenset[str]
    stop_terms: frozenset[str]

    def is_target(self, term: str) -> bool:
        """Whether a term, in NFC, can be a target.

        >>> words = target_words()
        >>> words.is_target("뷰"), words.is_target("가"), words.is_target("하지만"), words.is_target("배터리")
        (True, False, False, True)
        """
        return term in self.allowlist or (len(term) >= SHORTEST and term not in self.stop_terms)


def target_words(allowlist: Iterable[str] = (), stop_terms: Iterable[str] = ()) -> TargetWords:
    """The lists that ship, extended by these; nothing that ships is ever left out.

    >>> target_words(["맛"]).is_target("맛"), target_words(["맛"]).is_target("뷰")
    (True, True)
    """
    shipped = _shipped()
    more, others = (frozenset(map(composed, words)) for words in (allowlist, stop_terms))
    if not more and not others:
        return shipped
    return TargetWords(shipped.allowlist | more, shipped.stop_terms | others)


def composed(text: str) -> str:
    """The text in NFC, in which a Korean syllable is one character."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


@cache
def _shipped() -> TargetWords:
    words = convert(tomllib.loads(_FILE.read_text(encoding="utf-8")), dict[str, list[str]])
    return TargetWords(frozenset(words["allowlist"]), frozenset(words["stop_terms"]))
