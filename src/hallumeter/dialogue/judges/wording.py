"""The words by which elements of an answer and statements of a question are found, per language as data."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from importlib import resources
from string import ascii_lowercase, ascii_uppercase

from msgspec import Struct, convert

Span = tuple[int, int]
LANGUAGES = ("en", "ko")
_FOLDER = resources.files("hallumeter.dialogue.judges").joinpath("words")
_IN_SENTENCE = r"[^.!?\n]"
_NEVER = r"[^\s\S]"
_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)
_NUMBER = re.compile(r"\\d\+")
_ENDLESS = re.compile(r"(\\[swW]|\[[^]]+\])([*+])")


class Near(Struct, frozen=True, forbid_unknown_fields=True):
    """Words that must stand near each other, in either order."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    within: int


class ElementWords(Struct, frozen=True, forbid_unknown_fields=True):
    """How one element is worded."""

    any: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    near: tuple[Near, ...] = ()


class ListWords(Struct, frozen=True, forbid_unknown_fields=True):
    """How lists are announced, counted off and joined."""

    announced: tuple[str, ...]
    ordinals: tuple[tuple[str, ...], ...]
    priorities: tuple[str, ...]
    joints: tuple[str, ...]


class QuestionWords(Struct, frozen=True, forbid_unknown_fields=True):
    """How a question is told from what is stated in it."""

    openings: tuple[str, ...]
    endings: tuple[str, ...]
    borders: tuple[str, ...]
    stated: tuple[str, ...]
    unsure: tuple[str, ...]


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one language."""

    elements: dict[str, ElementWords]
    lists: ListWords
    questions: QuestionWords


class Finder:
    """Finds the places of patterns in a text that `plain` has prepared.

    What repeats without end takes all it can and gives nothing back, and a number has at most nine digits. So the time
    is linear in the text, which a test measures for every bundled pattern.
    """

    def __init__(self, patterns: tuple[str, ...], unless: tuple[str, ...] = ()) -> None:
        self._pattern = re.compile(_together(patterns), re.ASCII)
        self._unless = re.compile(_together(unless), re.ASCII) if unless else None

    def spans(self, text: str) -> list[Span]:
        """All places."""
        return list(self._places(text))

    def first(self, text: str) -> Span | None:
        """The first place."""
        return next(self._places(text), None)

    def _places(self, text: str) -> Iterator[Span]:
        """Places as they are asked for."""
        refused: list[Span] | None = None
        for match in self._pattern.finditer(text):
            if self._unless is not None and refused is None:
                refused = [other.span() for other in self._unless.finditer(text)]
            place = match.span()
            if not refused or not _touches(place, refused):
                yield place


def plain(text: str) -> str:
    """A text as the patterns read it: small letters and plain spaces, each character in its place.

    >>> plain("Walk\u00a0daily")
    'walk daily'
    """
    # The patterns take only ASCII for white space.
    spaced = text.replace("\u00a0", " ").replace("\u202f", " ").replace("\u3000", " ")
    lower = spaced.lower()
    return lower if len(lower) == len(text) else spaced.translate(_SMALL)


@cache
def element_finders() -> dict[str, Finder]:
    """By element, a finder of its words in all languages."""
    names = dict.fromkeys(name for language in LANGUAGES for name in words_of(language).elements)
    return {name: _element_finder(name) for name in names}


@cache
def list_finder(kind: str) -> Finder:
    """A finder of the words of lists: ``announced``, ``priorities`` or ``joints``."""
    return Finder(tuple(each for language in LANGUAGES for each in getattr(words_of(language).lists, kind)))


@cache
def ordinal_finders() -> tuple[Finder, ...]:
    """Finders of first, second and so on."""
    rows = zip(*(words_of(language).lists.ordinals for language in LANGUAGES), strict=True)
    return tuple(Finder(tuple(each for row in languages for each in row)) for languages in rows)


@cache
def question_finder(kind: str) -> Finder:
    """A finder of the words of questions: ``openings``, ``endings``, ``borders``, ``stated`` or ``unsure``."""
    found = tuple(each for language in LANGUAGES for each in getattr(words_of(language).questions, kind))
    if kind == "openings":
        return Finder(tuple(rf"^\W*(?:{word})\b" for word in found))
    return Finder(tuple(rf"(?:{word})[.\s]*\Z" for word in found) if kind == "endings" else found)


@cache
def words_of(language: str) -> Words:
    """The words of a language."""
    text = _FOLDER.joinpath(f"{language}.toml").read_text(encoding="utf-8")
    words: Words = convert(tomllib.loads(text), Words)
    return words


def _element_finder(name: str) -> Finder:
    own = [words for language in LANGUAGES if (words := words_of(language).elements.get(name))]
    plain = [pattern for words in own for pattern in words.any]
    near = [pattern for words in own for each in words.near for pattern in _near_patterns(each)]
    return Finder((*plain, *near), tuple(pattern for words in own for pattern in words.unless))


def _near_patterns(near: Near) -> list[str]:
    """Both orders of two sets of words, with nothing between them that ends a sentence."""
    first, second = (f"(?:{'|'.join(words)})" for words in (near.first, near.second))
    between = f"{_IN_SENTENCE}{{0,{near.within}}}?"
    return [f"{one}{between}{other}" for one, other in ((first, second), (second, first))]


def _together(patterns: tuple[str, ...]) -> str:
    joined = "|".join(f"(?:{pattern})" for pattern in patterns) or _NEVER
    return _ENDLESS.sub(r"\1\2+", _NUMBER.sub(r"\\d{1,9}+", joined))


def _touches(place: Span, others: list[Span]) -> bool:
    """Whether a place overlaps one of others, which follow each other without overlap."""
    before = bisect_left(others, place[1], key=_start)
    return before > 0 and others[before - 1][1] > place[0]


def _start(place: Span) -> int:
    return place[0]
