"""The words by which elements of an answer and statements of a question are found, per language as data."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

import re2
from msgspec import Struct, convert

LANGUAGES = ("en", "ko")
_FOLDER = resources.files("hallumeter.judges").joinpath("clinical", "words")
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
        found = [match.span() for match in self._pattern.finditer(text.content)]
        if found and self._unless is not None:
            refused = [match.span() for match in self._unless.finditer(text.content)]
            found = [place for place in found if not any(_overlap(place, other) for other in refused)]
        return [text.in_characters(start, end) for start, end in found]

    def first(self, text: EncodedText) -> tuple[int, int] | None:
        """The first place, in code points."""
        if self._unless is None:
            match = self._pattern.search(text.content)
            return text.in_characters(*match.span()) if match else None
        return next(iter(self.spans(text)), None)


class EncodedText:
    """A text as the patterns read it, and the way back to its code points."""

    def __init__(self, text: str) -> None:
        # RE2 takes only ASCII for white space; what takes its place must not move anything.
        plain = text.replace("\u00a0", " ").replace("\u202f", " ").replace("\u3000", " ")
        self.content = plain.encode("utf-8", "replace")
        self._is_ascii = len(self.content) == len(text)

    def in_characters(self, start: int, end: int) -> tuple[int, int]:
        """A place in bytes as a place in code points."""
        if self._is_ascii:
            return start, end
        first = len(self.content[:start].decode("utf-8", "replace"))
        return first, first + len(self.content[start:end].decode("utf-8", "replace"))


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


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]
