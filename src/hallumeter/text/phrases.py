"""Phrases looked for as whole words, all at once and in linear time."""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

from .normalize import clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


# Many strings looked for at once.

_STEPS = (1, 3, 5, 8, 12)
"""Lengths of the beginnings by which the strings that may stand at a place are chosen, one after the other."""
WORD_STARTS = r"(?<![^\W_])"
"""Before a place: no letter or digit."""


class StringSet:
    """Finds every place of every string, those that overlap included.

    At nearly every place a few characters tell that no string begins there, so that the time grows with the text and
    hardly with the number of strings; it never exceeds the number of different lengths at a place.

    >>> list(StringSet(["he", "she", "hers"]).find("ushers"))
    [(1, 1, 4), (0, 2, 4), (2, 2, 6)]
    """

    def __init__(self, strings: Iterable[str], *, before: str = "") -> None:
        """With `before`, a regular expression of no width, only at the places after which it matches."""
        self._numbers = {string: number for number, string in enumerate(strings)}
        lengths: dict[str, set[int]] = {}
        for string in self._numbers:
            beginnings = [string[:step] for step in _STEPS if step <= len(string)]
            for beginning in beginnings:
                lengths.setdefault(beginning, set())
            lengths[beginnings[-1]].add(len(string))
        self._lengths = {beginning: tuple(sorted(found)) for beginning, found in lengths.items()}
        """By a beginning: the lengths of the strings that have it, but none of the longer beginnings."""
        firsts = "".join(map(re.escape, sorted({string[0] for string in self._numbers})))
        self._starts = re.compile(f"{before}[{firsts}]" if firsts else r"(?!)")

    def find(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Number, start and end of each, in the order of their starts."""
        lengths, second = self._lengths, _STEPS[1]
        for place in self._starts.finditer(text):
            start = place.start()
            # Most places are left after a second look.
            if text[start : start + second] not in lengths and not lengths[text[start]]:
                continue
            for end in self._ends(text, start):
                number = self._numbers.get(text[start:end])
                if number is not None:
                    yield number, start, end

    def _ends(self, text: str, start: int) -> Iterator[int]:
        """Where strings may end that begin at a place."""
        for step in _STEPS:
            found = self._lengths.get(text[start : start + step])
            if found is None or start + step > len(text):
                return
            for length in found:
                if start + length <= len(text):
                    yield start + length


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
    inner, _, after = rest.partition("}")
    name, _, ending = inner.partition("+")
    return tuple(f"{before}{with_ending(choice, ending)}{after}" for choice in sets[name]) if slot else (word,)


_FIRST_SYLLABLE, _FINALS = ord("가"), 28
_SINGLE_FINALS = {"ㄴ": 4, "ㄹ": 8, "ㅂ": 17}
_LIEUL = 8
_AFTER_CONSONANT = {"ㄴ": "은", "ㄹ": "을", "ㅂ": "습"}


def with_ending(stem: str, ending: str) -> str:
    """A Korean stem or noun with an ending, in the form that its last syllable asks for.

    An ending that begins with a single consonant joins an open syllable; of `이/가` the first stands after a
    consonant and the second after a vowel.

    >>> with_ending("드리", "ㄹ"), with_ending("읽", "ㄹ"), with_ending("알", "ㄹ"), with_ending("하", "ㅂ니다")
    ('드릴', '읽을', '알', '합니다')
    >>> with_ending("답변", "이/가"), with_ending("조회", "이/가"), with_ending("답하", "지")
    ('답변이', '조회가', '답하지')
    """
    if not stem or not ending:
        return stem + ending
    final = (ord(stem[-1]) - _FIRST_SYLLABLE) % _FINALS
    after_consonant, slash, after_vowel = ending.partition("/")
    if slash:
        return stem + (after_consonant if final else after_vowel)
    number = _SINGLE_FINALS.get(ending[0])
    if number is None:
        return stem + ending
    if final in {0, _LIEUL}:
        return stem[:-1] + chr(ord(stem[-1]) - final + number) + ending[1:]
    return stem + _AFTER_CONSONANT[ending[0]] + ending[1:]


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
        is_open = {spelling: any(entry[0] for entry in found) for spelling, found in entries.items()}
        self._open, self._whole = (
            (StringSet(spellings, before=before), [entries[spelling] for spelling in spellings])
            for spellings, before in (
                ([spelling for spelling in entries if is_open[spelling]], ""),
                ([spelling for spelling in entries if not is_open[spelling]], WORD_STARTS),
            )
        )

    def find(self, text: str) -> Iterator[tuple[int, int, Tag]]:
        """Start, end and tag of every phrase, those that overlap included, in no certain order."""
        for start, end, entries in self._candidates(text):
            is_inside = start > 0 and text[start - 1].isalnum()
            for opens_left, rest, tag in entries:
                if (opens_left or not is_inside) and (match := _compiled(rest).match(text, end)) is not None:
                    yield start, match.end(), tag

    def _candidates(self, text: str) -> Iterator[tuple[int, int, list[tuple[bool, str, Tag]]]]:
        """Where first words stand, and what they are the first words of."""
        for strings, entries in (self._open, self._whole):
            for index, start, end in strings.find(text):
                yield start, end, entries[index]


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
