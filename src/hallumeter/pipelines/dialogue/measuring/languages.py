"""Whether an answer is in a language whose words can be read."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from hallumeter.text.lexicon import load_lexicon

_ENOUGH = 400
"""Characters that tell a language."""
_LETTERS = re.compile(r"[^\W\d_]")
_HANGUL = re.compile("[\u1100-\u11ff가-힣]")
_LATIN_WORD = re.compile(r"[^\W\d_]+(?:['’][a-z]+)?")
_LEAST_WORDS = 8
"""Fewer words may be a list of names in any language."""
_LEAST_HANGUL = 0.1
_A_GLANCE, _LEAST_SYLLABLES = 100, 20
"""So many syllables among so many first characters are Korean without a closer look."""
_LEAST_SHARE = 0.1
"""Of small words of English; running English has four times as many."""

_SHORT = frozenset({"be", "by", "is", "it", "of", "or", "to"})


@lru_cache(maxsize=64)
def is_unread_language(text: str) -> bool:
    """Whether a text is plainly neither in English nor in Korean; False when it is too short to tell.

    >>> is_unread_language("걷기를 주 3회 하세요."), is_unread_language("Walk for 20 minutes, three times a week.")
    (False, False)
    >>> is_unread_language("Marchez trois fois par semaine pendant vingt minutes, sans forcer.")
    True
    """
    beginning = text[:_ENOUGH]
    if len(_HANGUL.findall(beginning[:_A_GLANCE])) >= _LEAST_SYLLABLES or _is_english(beginning.lower().split()):
        return False
    letters = len(_LETTERS.findall(beginning))
    if not letters or len(_HANGUL.findall(beginning)) >= _LEAST_HANGUL * letters:
        return False
    words = [word.lower() for word in _LATIN_WORD.findall(beginning) if word.isascii()]
    if sum(map(len, words)) < letters / 2:
        return letters >= _LEAST_WORDS
    return len(words) >= _LEAST_WORDS and not _is_english(words)


def _is_english(words: list[str]) -> bool:
    """Whether enough of some words are small words of English."""
    return bool(words) and sum(word in _small_words() for word in words) >= _LEAST_SHARE * len(words)


@cache
def _small_words() -> frozenset[str]:
    """Words of English that say nothing on their own; of two letters only those that few languages have."""
    return frozenset(word for word in load_lexicon("en").matching.stop_words if len(word) > 2 or word in _SHORT)
