"""The words by which elements of an answer and statements of a question are found, per language as data."""

from __future__ import annotations

import tomllib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources

import re2
from msgspec import Struct, convert

Span = tuple[int, int]
LANGUAGES = ("en", "ko")
_FOLDER = resources.files("hallumeter.dialogue.judges").joinpath("words")
_IN_SENTENCE = r"[^.!?\n]"
_NEVER = r"[^\s\S]"


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
    """Finds the places of patterns in a text; linear in its length, whatever the patterns."""

    def __init__(self, patterns: tuple[str, ...], unless: tuple[str, ...] = ()) -> None:
        self._pattern = re2.compile(_together(patterns))
        self._unless = re2.compile(_together(unless)) if unless else None

    def spans(self, text: EncodedText) -> list[tuple[int, int]]:
        """All places, in code points."""
        return list(in_characters(self._places(text.content), text.content, is_ascii=text.is_ascii))

    def first(self, text: EncodedText) -> tuple[int, int] | None:
        """The first place, in code points."""
        return next(in_characters(self._places(text.content), text.content, is_ascii=text.is_ascii), None)

    def _places(self, content: bytes) -> Iterator[Span]:
        """Places in bytes, as they are asked for."""
        refused: list[Span] | None = None
        for match in self._pattern.finditer(content):
            if self._unless is not None and refused is None:
                refused = [other.span() for other in self._unless.finditer(content)]
            place = match.span()
            if not refused or not _touches(place, refused):
                yield place


class EncodedText:
    """A text as the patterns read it, and the way back to its code points."""

    def __init__(self, text: str) -> None:
        # RE2 takes only ASCII for white space; what takes its place must not move anything.
        plain = text.replace("\u00a0", " ").replace("\u202f", " ").replace("\u3000", " ")
        self.content = plain.encode("utf-8", "replace")
        self.is_ascii = len(self.content) == len(text)


def in_characters(places: Iterable[Span], content: bytes, *, is_ascii: bool) -> Iterator[Span]:
    """Ascending places in bytes as places in code points, in one pass over the text.

    >>> list(in_characters([(0, 3), (4, 7)], "걷 자".encode(), is_ascii=False))
    [(0, 1), (2, 3)]
    """
    if is_ascii:
        yield from places
        return
    done = characters = 0
    for start, end in places:
        characters += len(content[done:start].decode())
        done = start
        yield characters, characters + len(content[start:end].decode())


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
    return Finder(tuple(rf"(?:{word})[.\s]*$" for word in found) if kind == "endings" else found)


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
    return f"(?i){'|'.join(f'(?:{pattern})' for pattern in patterns) or _NEVER}"


def _touches(place: Span, others: list[Span]) -> bool:
    """Whether a place overlaps one of others, which follow each other without overlap."""
    before = bisect_left(others, place[1], key=_start)
    return before > 0 and others[before - 1][1] > place[0]


def _start(place: Span) -> int:
    return place[0]
