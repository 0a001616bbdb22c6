"""Where a sentence can be cut into clauses: by rule, without a parser, and rather too seldom than too often."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from operator import itemgetter

from hallumeter.text.lexicon import ClauseWords, Lexicon, lexicons_with

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
# What opens and is never closed is not followed further than this.
_ENCLOSED = re.compile(
    r"\([^()]*\)|\[[^\[\]]*\]|\"[^\"]*\"|“[^”]{0,1000}”|«[^»]{0,1000}»|「[^」]{0,1000}」|『[^』]{0,1000}』|`[^`]*`"
)
# White space is entered at its first character only, for a long row of it would be read anew at each of them.
_SPACES = r"(?<!\s)\s+"
_SEMICOLON = re.compile(rf"(?:{_SPACES})?[;；]\s+")
_COLON = re.compile(rf"(?:{_SPACES})?:\s+")
_LIST = re.compile(r",|;|\s(?:and|or|et|ou)\s|및|와 |과 ")
_NEXT_MARK = re.compile(r"[,;:]")
_WORDS_TO_A_VERB = 8
"""How far behind a joiner the verb of its clause may stand."""
_CHARACTERS_TO_A_VERB = 160

Cut = tuple[int, int]
"""Where the clause before ends, and where the next one begins."""


class ClauseCutter:
    """Cuts sentences at semicolons, before lists, at joined and relative clauses, and at connective endings."""

    def __init__(self) -> None:
        self._languages = [_Language(lexicon) for lexicon in lexicons_with("statements")]

    def cut(self, text: str, start: int, end: int) -> list[tuple[int, int]]:
        """The clauses of a sentence, without the marks and joiners between them.

        >>> text = "It opened in 1889; it is 330 m high, while the other tower is low."
        >>> [text[slice(*span)] for span in ClauseCutter().cut(text, 0, len(text))]
        ['It opened in 1889', 'it is 330 m high', 'the other tower is low.']
        """
        sentence = text[start:end]
        places = {cut for language in self._languages for cut in language.cuts(sentence)}
        places.update(_at_marks(sentence, self._languages))
        words = [match.span() for match in _WORD.finditer(sentence)] if places else []
        spans: list[tuple[int, int]] = []
        begun = 0
        for last, following in _not_enclosed(sentence, sorted(places)):
            if last > begun and _has_two(words, begun, last) and _has_two(words, following, len(sentence)):
                spans.append((start + begun, start + last))
                begun = following
        return [*spans, (start + begun, end)]


class _Language:
    """The cuts of one language."""

    def __init__(self, lexicon: Lexicon) -> None:
        words = lexicon.statements.clauses
        self._verb = re.compile(rf"(?<!\w)(?:{_choice(words.verbs)})(?!\w)", re.IGNORECASE)
        self._subject = re.compile(rf"(?:{_choice(words.subjects)})(?!\w)|c['’]", re.IGNORECASE)
        self._open = re.compile(rf"(?<!\w)(?:{_choice(lexicon.statements.open_endings)})$", re.IGNORECASE)
        joiners, contrasts, relatives = map(_choice, (words.joiners, words.contrasts, words.relatives))
        self._joiner = re.compile(rf"(?:(?P<comma>,)\s+|{_SPACES})(?:{joiners})\s+", re.IGNORECASE)
        self._contrast = re.compile(rf",\s+(?:{contrasts})(?:\s+|(?<=['’]))(?!also\b|aussi\b)", re.IGNORECASE)
        self._relative = re.compile(rf",\s+(?=(?:{relatives})\s)", re.IGNORECASE)
        self._subordinate = re.compile(rf"\W*(?:{_choice(words.subordinators)})(?!\w)[^,]*", re.IGNORECASE)
        self._ending = _ending_pattern(words)
        self._false_endings = words.false_endings

    def cuts(self, sentence: str) -> Iterator[Cut]:
        """Places where clauses of this language meet."""
        if self._ending is not None:
            places = (match.span("mark") for match in self._ending.finditer(sentence))
            yield from (place for place in places if not sentence.endswith(self._false_endings, 0, place[0]))
        verb = self._verb.search(sentence)
        if verb is None:
            return
        for pattern in (self._contrast, self._relative):
            yield from (match.span() for match in pattern.finditer(sentence, verb.end()))
        subordinate = self._subordinate.match(sentence)
        first = verb.end() if subordinate is None else max(verb.end(), subordinate.end())
        for match in self._joiner.finditer(sentence, first):
            if self._begins_clause(sentence, match):
                yield match.span()

    def has_verb(self, part: str) -> bool:
        """Whether a part has a finite verb that is known."""
        return self._verb.search(part) is not None

    def is_open(self, part: str) -> bool:
        """Whether a part before a colon cannot stand alone."""
        return self._open.search(part) is not None

    def _begins_clause(self, sentence: str, joiner: re.Match[str]) -> bool:
        """Whether a clause of its own begins after a joiner: a subject, or a verb before the next mark."""
        if self._subject.match(sentence, joiner.end()) is not None:
            return True
        following = sentence[joiner.end() : joiner.end() + _CHARACTERS_TO_A_VERB]
        if (mark := _NEXT_MARK.search(following)) is not None:
            following = following[: mark.start()]
        verb = self._verb.search(following)
        if verb is None:
            return False
        words_before = sum(1 for _ in _WORD.finditer(following, 0, verb.start()))
        return words_before == 0 or (joiner["comma"] is not None and words_before <= _WORDS_TO_A_VERB)


@cache
def default_cutter() -> ClauseCutter:
    """The one cutter that all extractors share."""
    return ClauseCutter()


def _at_marks(sentence: str, languages: Sequence[_Language]) -> Iterator[Cut]:
    yield from (match.span() for match in _SEMICOLON.finditer(sentence))
    colon = _COLON.search(sentence)
    if colon is not None and _LIST.search(sentence, colon.end()) is not None:
        before = sentence[: colon.start()]
        is_open = any(language.is_open(before) for language in languages)
        if not is_open and any(language.has_verb(before) for language in languages):
            yield colon.span()


def _ending_pattern(words: ClauseWords) -> re.Pattern[str] | None:
    if not words.endings:
        return None
    bound = _choice(words.bound_words)
    return re.compile(rf"(?<=\w)(?:{_choice(words.endings)})(?P<mark>,?\s+)(?!{bound})")


def _not_enclosed(sentence: str, places: list[Cut]) -> Iterator[Cut]:
    """The places outside of parentheses, quotations and code."""
    enclosed = [match.span() for match in _ENCLOSED.finditer(sentence)]
    number = 0
    for place in places:
        while number < len(enclosed) and enclosed[number][1] <= place[0]:
            number += 1
        if number == len(enclosed) or place[0] <= enclosed[number][0]:
            yield place


def _has_two(words: list[Cut], start: int, end: int) -> bool:
    """Whether two words at least, or parts of them, stand in a part of a sentence."""
    first = bisect_right(words, start, key=itemgetter(1))
    return first + 1 < len(words) and words[first + 1][0] < end


def _choice(words: Iterable[str]) -> str:
    known = sorted({word.lower() for word in words}, key=lambda word: (-len(word), word))
    return "|".join(re.escape(word) for word in known) or "(?!)"
