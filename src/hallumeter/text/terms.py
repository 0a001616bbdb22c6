"""The terms of a text: words and numbers with their places, in the form in which two texts are compared."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

from msgspec import Struct

from .lexicon import everyday_words, lexicons_with, load_lexicon

_MARKS = "\u0300-\u036f"
_SYLLABLES = "\u1100-\u11ff가-힣"
_TERM = re.compile(
    rf"\d+(?:[.,\u00a0\u202f]\d+)*|[{_SYLLABLES}]+"
    rf"|[^\W\d_{_SYLLABLES}](?:[^\W\d_{_SYLLABLES}]|[{_MARKS}])*(?:['’](?:t|s|re|ve|ll|m|d)(?![^\W_]))?"
)
_BETWEEN_SPACES = re.compile(r"[^ \t\r\n]+")
_HANGUL = re.compile(f"[{_SYLLABLES}]")
_POSSESSIVE = re.compile(r"'(?:s|re|ve|ll|m|d)$")
_SHORTEST_LATIN = 4
_SHORTEST_HANGUL = 2
_ONE_SYLLABLE_ENDINGS = frozenset("은는을를의에와과도")
_LEAST_EVERYDAY = 2
"""Everyday words that name a language; one alone may be a name or a loan."""
# Enough for the vocabulary of many records; memory stays flat whatever passes through.
_REMEMBERED = 1 << 16


class Terms(Struct, frozen=True):
    """Words and numbers of a text, in order."""

    text: str
    """The text as it was."""
    starts: list[int]
    """Where each term begins, in code points."""
    ends: list[int]
    folded: list[str]
    """The terms without case, accents and the shape of apostrophes."""
    keys: list[str]
    """The same without endings, for comparison; empty for words that say nothing on their own."""

    def __len__(self) -> int:
        return len(self.starts)


def terms_of(text: str) -> Terms:
    """Cut a text into words and numbers.

    An apostrophe cuts a word as in "l'eau", but for English endings; digits, Hangul and other
    letters are kept apart.

    >>> terms = terms_of("L’Érable, it’s 1,234.5km of roads")
    >>> terms.folded
    ['l', 'erable', "it's", '1,234.5', 'km', 'of', 'roads']
    >>> terms.keys
    ['', 'erabl', '', '1,234.5', 'km', '', 'road']
    """
    matches = list(_TERM.finditer(text))
    forms = [_forms(match.group()) for match in matches]
    return Terms(
        text=text,
        starts=[match.start() for match in matches],
        ends=[match.end() for match in matches],
        folded=[folded for folded, _ in forms],
        keys=[key for _, key in forms],
    )


def content_words(text: str) -> frozenset[str]:
    """The distinct words and numbers of a text that say something on their own, without their endings.

    >>> sorted(content_words("The roads of the town: 12 km of road"))
    ['12', 'km', 'road', 'town']
    """
    # No term goes beyond a plain space, and texts repeat what stands between them.
    return frozenset().union(*map(_keys_between, set(_BETWEEN_SPACES.findall(text))))


def fold(word: str) -> str:
    """A word without case, accents and the shape of apostrophes.

    >>> fold("D’Été")
    "d'ete"
    """
    if word.isascii():
        return word.lower()
    bare = "".join(part for part in unicodedata.normalize("NFKD", word) if not unicodedata.combining(part))
    folded = unicodedata.normalize("NFC", bare).casefold().replace("’", "'")
    # A raised or circled digit is no number of its own, and a lone mark is not nothing.
    return word if folded[:1].isdecimal() > word[0].isdecimal() else folded or word


def stem(word: str) -> str:
    """A folded word without its endings, so that forms of one word are equal; not a word that could be printed.

    >>> stem("reporting") == stem("reported") == stem("reports")
    True
    >>> stem("도서관에서") == stem("도서관은")
    True
    """
    if _HANGUL.search(word) is not None:
        return _korean_stem(word)
    word = _POSSESSIVE.sub("", word)
    for _ in range(2):  # a plural may follow another ending
        word = _latin_stem(word)
    return word


def is_stop_word(folded: str) -> bool:
    """Whether a folded word says nothing on its own, in any of the known languages."""
    return folded in _stop_words()


def language_of(terms: Terms) -> str:
    """The language of a text: Korean by its letters, French or English by their small words; English when unclear.

    >>> language_of(terms_of("La tour est dans le centre"))
    'fr'
    """
    if sum(1 for word in terms.folded if "가" <= word[0] <= "힣") * 3 >= len(terms) > 0:
        return "ko"
    english, french = _telling_words()
    is_french = sum(1 for word in terms.folded if word in french) > sum(1 for word in terms.folded if word in english)
    return "fr" if is_french else "en"


def everyday_language(terms: Terms) -> str | None:
    """The language whose everyday words a text has most of, English and Korean aside; None when that is unclear.

    `language_of` decides how a text is read, and knows three languages; this only gives a language its name.

    >>> everyday_language(terms_of("La torre está en el centro y es muy alta"))
    'es'
    """
    found = {language: sum(1 for word in terms.folded if word in words) for language, words in _everyday().items()}
    most = max(found.values())
    named = [language for language, times in found.items() if times == most]
    return named[0] if most >= _LEAST_EVERYDAY and len(named) == 1 else None


@lru_cache(maxsize=_REMEMBERED)
def _keys_between(chunk: str) -> frozenset[str]:
    """The keys of the terms of a text without a plain space."""
    return frozenset(_forms(word)[1] for word in _TERM.findall(chunk)) - {""}


@lru_cache(maxsize=_REMEMBERED)
def _forms(word: str) -> tuple[str, str]:
    folded = fold(word)
    return folded, "" if folded in _stop_words() else stem(folded)


def _latin_stem(word: str) -> str:
    for length in range(min(_longest_ending(), len(word) - _SHORTEST_LATIN + 1), 0, -1):
        if word[-length:] in _endings("latin"):
            word = word[:-length]
            break
    # "stopped" and "stop", but not "pass" and "pas".
    if len(word) > _SHORTEST_LATIN and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word


def _korean_stem(word: str) -> str:
    for length in range(min(_longest_ending(), len(word) - _SHORTEST_HANGUL), 0, -1):
        if word[-length:] in _endings("ko"):
            return word[:-length]
    if len(word) == _SHORTEST_HANGUL and word[-1] in _ONE_SYLLABLE_ENDINGS:
        return word[:-1]
    return word


@cache
def _endings(script: str) -> frozenset[str]:
    lexicons = [each for each in lexicons_with("matching") if (each.language == "ko") == (script == "ko")]
    return frozenset(fold(ending) for each in lexicons for ending in each.matching.endings)


@cache
def _longest_ending() -> int:
    return max(map(len, _endings("latin") | _endings("ko")))


@cache
def _stop_words() -> frozenset[str]:
    words = [each.matching for each in lexicons_with("matching")]
    return frozenset(fold(word) for each in words for word in (*each.stop_words, *each.discourse))


@cache
def _telling_words() -> tuple[frozenset[str], frozenset[str]]:
    """Small words that only English has, and that only French has."""
    english, french = (frozenset(map(fold, load_lexicon(each).matching.stop_words)) for each in ("en", "fr"))
    return english - french, french - english


@cache
def _everyday() -> dict[str, frozenset[str]]:
    return {language: frozenset(map(fold, words)) for language, words in everyday_words().items()}
