"""Phrases looked for as whole words, all at once and in linear time."""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Generic, TypeVar

from ahocorasick_rs import AhoCorasick
from msgspec import Struct

from .normalize import clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


Tag = TypeVar("Tag")

_MOST_WORDINGS = 300


class Phrase(Struct, frozen=True):
    """Words in which `{name}` stands for any of the words of a set; `*` at an end lets letters stand there."""

    first_wordings: tuple[str, ...]
    """Every wording of as many of the first words as keeps their number small; these are looked for at once."""
    rest: tuple[tuple[str, ...], ...]
    """The choices for each of the other words; an empty choice means that the word may be absent."""
    opens_left: bool = False
    """Whether a letter may stand before."""
    opens_right: bool = False
    """Whether a letter may follow."""


def parse_phrase(phrase: str, sets: Mapping[str, Sequence[str]]) -> Phrase:
    """Read a phrase of a lexicon.

    >>> parse_phrase("I {not} know", {"not": ["don't", "do not"]}).first_wordings
    ("I don't know", 'I do not know')
    """
    choices = [_choices(word, sets) for word in phrase.removeprefix("*").removesuffix("*").split()]
    taken, wordings = 1, len(choices[0])
    while taken < len(choices) and wordings * len(choices[taken]) <= _MOST_WORDINGS:
        wordings *= len(choices[taken])
        taken += 1
    spaced = [[" ".join(choice.split()) for choice in each] for each in choices[:taken]]
    # Lexicons have ten thousand wordings, read at every start: a word that may be absent is rare, and left out then.
    is_whole = all(map(all, spaced))
    firsts = tuple(" ".join(words if is_whole else filter(None, words)) for words in product(*spaced))
    return Phrase(firsts, tuple(choices[taken:]), phrase.startswith("*"), phrase.endswith("*"))


def _choices(word: str, sets: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    before, slot, rest = word.partition("{")
    name, _, after = rest.partition("}")
    return tuple(f"{before}{choice}{after}" for choice in sets[name]) if slot else (word,)


class PhraseFinder(Generic[Tag]):
    """Finds every place where one of many phrases stands as whole words in a text that `clean_text` has folded.

    The left neighbour of a phrase is no letter or digit; nor is the right one, unless it is Korean, where
    particles and endings follow without a space, or the phrase is open there. With `fold_case` the text must be
    in lower case; without, a phrase is found as written or with a capital at its start.

    >>> sets = {"not": ["not", "never"]}
    >>> phrases = [(parse_phrase("{not} sure", sets), "doubt"), (parse_phrase("apolog*", sets), "courtesy")]
    >>> list(PhraseFinder(phrases, fold_case=True).find("not surely, not sure; apologies"))
    [(12, 20, 'doubt'), (22, 28, 'courtesy')]
    """

    def __init__(self, phrases: Iterable[tuple[Phrase, Tag]], *, fold_case: bool) -> None:
        entries: dict[str, list[tuple[bool, str, Tag]]] = {}
        for phrase, tag in phrases:
            entry = phrase.opens_left, _rest_pattern(phrase, fold_case=fold_case), tag
            for wording in phrase.first_wordings:
                for spelling in _spellings(wording, fold_case=fold_case):
                    entries.setdefault(spelling, []).append(entry)
        self._entries = list(entries.values())
        self._automaton = AhoCorasick(list(entries))

    def find(self, text: str) -> Iterator[tuple[int, int, Tag]]:
        """Start, end and tag of every phrase, those that overlap included, in no certain order."""
        for index, start, end in self._automaton.find_matches_as_indexes(text, overlapping=True):
            is_inside = start > 0 and text[start - 1].isalnum()
            for opens_left, rest, tag in self._entries[index]:
                if (opens_left or not is_inside) and (match := _compiled(rest).match(text, end)) is not None:
                    yield start, match.end(), tag


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern is compiled when its phrase may stand in a text: all of a lexicon would take longer than most texts."""
    return re.compile(pattern)


def _rest_pattern(phrase: Phrase, *, fold_case: bool) -> str:
    """A pattern without repetition, so that a match costs no more than the length of the phrase."""
    pattern = ""
    for choices in phrase.rest:
        words = {clean_text(word).lower if fold_case else clean_text(word).text for word in choices if word}
        one = "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))
        pattern += f"(?: (?:{one}))" + ("?" if "" in choices else "")
    return pattern if phrase.opens_right else pattern + r"(?:(?![^\W_])|(?=[가-힣]))"


def _spellings(wording: str, *, fold_case: bool) -> Iterable[str]:
    clean = clean_text(wording)
    return (clean.lower,) if fold_case else {clean.text, clean.text[:1].upper() + clean.text[1:]}
