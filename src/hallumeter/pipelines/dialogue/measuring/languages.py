"""Whether an answer is in a language whose words can be read."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib import resources

from hallumeter.text.lexicon import load_lexicon

_OTHERS = resources.files("hallumeter.judges").joinpath("clinical", "words", "other_languages.toml")
_ENOUGH = 400
"""Characters that tell a language."""
_HANGUL = re.compile("[\u1100-\u11ff가-힣]")
_LETTER = re.compile(r"[^\W\d_]")
_LATIN_WORD = re.compile("[a-zß-öø-ɏḁ-ỿ]+(?:['’]t)?")
_ACCENTED = re.compile("[ß-öø-ɏḁ-ỿ]")
_LEAST_HANGUL = 0.1
"""Of all letters: Korean answers name drugs and units in Latin ones."""
_A_GLANCE, _LEAST_SYLLABLES = 100, 20
"""So many syllables among so many first characters are Korean without a closer look."""
_LEAST_LETTERS = 4
"""Of another script: fewer may be a name or a unit."""
_LEAST_SIGNS, _LEAST_ACCENTED = 2, 4
"""Words of another language, one of them a small one; words with accents alone may be names of syndromes."""
_LEAST_SHARE, _PLAIN_SHARE = 0.1, 0.2
"""Of all words: of those of another language, and of small words of English; running English has twice as many."""


@lru_cache(maxsize=64)
def is_unread_language(text: str) -> bool:
    """Whether a text is plainly neither in English nor in Korean; False when it is too short to tell.

    Latin letters are taken for English unless words of another language outnumber its small words: a list of drugs or
    of meals has none of either.

    >>> is_unread_language("걷기를 주 3회 하세요."), is_unread_language("Walk for 20 minutes, three times a week.")
    (False, False)
    >>> is_unread_language("Marchez trois fois par semaine pendant vingt minutes, sans forcer.")
    True
    """
    beginning = text[:_ENOUGH].lower()
    if len(_HANGUL.findall(beginning[:_A_GLANCE])) >= _LEAST_SYLLABLES or _is_plain_english(beginning.split()):
        return False
    words = _LATIN_WORD.findall(beginning)
    letters = sum(map(len, words)) if beginning.isascii() else len(_LETTER.findall(beginning))
    if sum(map(len, words)) >= letters / 2:
        return _is_foreign(words)
    return letters >= _LEAST_LETTERS and len(_HANGUL.findall(beginning)) < _LEAST_HANGUL * letters


def _is_plain_english(words: list[str]) -> bool:
    """Whether so many words are small ones of English that no closer look is needed."""
    return bool(words) and sum(map(_small_words()[0].__contains__, words)) >= _PLAIN_SHARE * len(words)


def _is_foreign(words: list[str]) -> bool:
    """Whether words in Latin letters are more of another language than of English."""
    english, others = _small_words()
    small = sum(map(others.__contains__, words))
    accented = sum(word not in others and _ACCENTED.search(word) is not None for word in words if not word.isascii())
    signs = small + accented
    if signs < _LEAST_SIGNS or signs < _LEAST_SHARE * len(words) or not (small or accented >= _LEAST_ACCENTED):
        return False
    return signs > sum(map(english.__contains__, words))


@cache
def _small_words() -> tuple[frozenset[str], frozenset[str]]:
    """Words of English that say nothing on their own, and words of other languages, without those that both have."""
    english = frozenset(load_lexicon("en").matching.stop_words)
    lists: dict[str, str] = tomllib.loads(_OTHERS.read_text(encoding="utf-8"))
    others = frozenset(word for words in lists.values() for word in words.split())
    return english - others, others - english
