"""Whether a sentence states anything that can be true or false.

These do not: questions; courtesies, wishes, offers and discourse markers; what the speaker is or is sure of;
refusals; announcements and labels of what follows; addresses and marks without words. A hedged statement ("It is
possible that ...") does, and so does a sentence that turns to a statement ("I am not sure, but ..."). What the
sources lack ("The passages do not mention ...") can be checked as well, so it is told apart: in a response that
refuses as a whole it is part of the refusal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cache

from msgspec import Struct

from hallumeter.text.abstention import detect_abstention
from hallumeter.text.lexicon import Lexicon, lexicons_with
from hallumeter.text.normalize import clean_text
from hallumeter.text.phrases import Phrase, PhraseFinder, parse_phrase

from .clause_cuts import default_cutter

_WORD = re.compile(r"[^\W_]")
_WORDS = re.compile(r"[^\W_]+")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s)>\]]+")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_QUESTION = re.compile(r"(?<![?!？！؟‽])[?？؟‽][?!？！]*(?P<closing>[\"'”’»」』)\]*_\s]*)$")
_OPENING = re.compile("[\"'“‘«「『(\\[]")
_ASIDE = re.compile(r"\w \((?!passage|see )(?=\d{0,9}[^\W\d_])[^()]{1,200}\)")
_LONGEST_LABEL = 8
_LONGEST_ANNOUNCEMENT = 20
_SENTENCE_END = re.compile(r"[^\W\d_]{2}[.!]\s")
_NUMBERS = re.compile(r" \d+(?:(?:-|, ?)\d+)*(?!\w)")
_DIGIT = re.compile(r"\d")


class Force(Enum):
    """What a sentence does."""

    STATES = "states"
    """It says something that can be true or false."""
    DENIES = "denies"
    """It says that the sources lack something, or that something is not known to exist."""
    NOTHING = "nothing"
    """It says nothing that could be checked."""


class _Sense(Enum):
    """What words of a sentence are for; the fields of `StatementWords` in `text.lexicon`."""

    OFFER = "offers"
    SPEAKER = "speaker"
    ANNOUNCEMENT = "announcements"
    FRAME = "frames"


class _Use(Struct, frozen=True):
    """What a phrase does, and where it must stand to do so."""

    sense: _Sense
    is_first: bool = False
    is_last: bool = False


class _Hit(Struct, frozen=True):
    start: int
    end: int
    use: _Use


class StatementReader:
    """Tells sentences that state something from those that do not, in all known languages; made once, used often."""

    def __init__(self) -> None:
        lexicons = lexicons_with("statements")
        self._phrases = PhraseFinder((use for lexicon in lexicons for use in _uses(lexicon)), fold_case=True)
        self._fillers = _Fillers(word for lexicon in lexicons for word in lexicon.statements.fillers)
        refusals = [lexicon.refusals for lexicon in lexicons if lexicon.has("refusals")]
        turns = _choice(word for each in refusals for word in each.contrasts)
        endings = _choice(word for each in refusals for word in each.contrast_endings)
        self._turn = re.compile(rf"(?<!\w)(?:{turns})(?!\w)|(?:{endings})(?=[\s,])|;")
        words = [lexicon.statements for lexicon in lexicons]
        open_endings = _choice(word for each in words for word in each.open_endings)
        self._left_open = re.compile(rf"(?<!\w)(?:{open_endings})$")
        verbs = _choice(verb for each in words for verb in each.clauses.verbs)
        verb_endings = _choice(ending for each in words for ending in each.clauses.statement_endings)
        self._verb = re.compile(rf"(?<!\w)(?:{verbs})(?!\w)|(?:{verb_endings})$")
        inability = [parse_phrase(phrase, {}) for each in words for phrase in each.inability]
        self._inability = PhraseFinder(((phrase, True) for phrase in inability), fold_case=True)

    def force(self, sentence: str) -> Force:
        """What a sentence does.

        >>> reader = StatementReader()
        >>> reader.force("Sure! I hope this helps."), reader.force("It is possible that he died in 1950.")
        (<Force.NOTHING: 'nothing'>, <Force.STATES: 'states'>)
        """
        clean = clean_text(_without_addresses(sentence)).lower.strip()
        if _WORD.search(clean) is None or _is_question(clean):
            return Force.NOTHING
        hits = [_Hit(start, end, use) for start, end, use in self._phrases.find(clean)]
        first = self._fillers.skip(clean)
        if first == len(clean) or (hits and self._says_nothing(clean, hits, first=first)):
            return Force.NOTHING
        if sentence.rstrip("\"'*_ ").endswith(":") and self._leads_in(clean, hits):
            return Force.NOTHING
        found = detect_abstention(sentence)
        # Without a cue of a lexicon a sentence alone says too little: it is taken for a statement, and judged.
        if found.cue is None or found.language is None:
            return Force.STATES
        return self._force_of_refusal(sentence, found.cue)

    def _force_of_refusal(self, sentence: str, cue: str) -> Force:
        """What a sentence with a cue of refusal does: "..., so you need a thermometer" states something."""
        clauses = default_cutter().cut(sentence, 0, len(sentence))
        if len(clauses) > 1 and any(self.force(sentence[start:end]) is Force.STATES for start, end in clauses):
            return Force.STATES
        is_inability = any(self._inability.find(clean_text(cue).lower))
        return Force.NOTHING if is_inability else Force.DENIES

    def _leads_in(self, clean: str, hits: Sequence[_Hit]) -> bool:
        """Whether a sentence that ends with a colon has no statement of its own."""
        words = clean.rstrip("\"'*_ :")
        if _ASIDE.search(words) is not None:
            return False
        if any(hit.use.sense in {_Sense.ANNOUNCEMENT, _Sense.OFFER} for hit in hits):
            return True
        if self._left_open.search(words) is not None:
            return True
        return len(words.split()) <= _LONGEST_LABEL and self._verb.search(words) is None

    def _says_nothing(self, clean: str, hits: Sequence[_Hit], *, first: int) -> bool:
        """Whether a sentence offers, speaks of the speaker or announces, and does not turn to a statement."""
        places = {first, self._after_frame(clean, hits, first)}
        last = len(clean.rstrip("\"'*_ .:!"))
        last_turn = max((match.start() for match in self._turn.finditer(clean)), default=-1)
        for hit in hits:
            if (hit.use.is_first and hit.start not in places) or (hit.use.is_last and hit.end != last):
                continue
            if hit.use.sense in {_Sense.OFFER, _Sense.SPEAKER} and last_turn < hit.end:
                return True
            if hit.use.sense is _Sense.ANNOUNCEMENT and (hit.use.is_first or hit.use.is_last):
                return _only_announces(clean)
        return False

    def _after_frame(self, clean: str, hits: Sequence[_Hit], first: int) -> int:
        """Where the first word stands after a part that only names the sources."""
        if not any(hit.use.sense is _Sense.FRAME and hit.start == first for hit in hits):
            return first
        comma = clean.find(",", first)
        return first if comma < 0 else self._fillers.skip(clean, comma)


class _Fillers:
    """Courtesies and discourse markers at the start of a sentence."""

    def __init__(self, phrases: Iterable[str]) -> None:
        known = sorted({clean_text(phrase).lower for phrase in phrases})
        self._finder = PhraseFinder(((parse_phrase(phrase, {}), None) for phrase in known), fold_case=True)
        self._first_words = frozenset(_first_word(phrase) for phrase in known)

    def skip(self, clean: str, start: int = 0) -> int:
        """Where the first word stands that is no filler; the length when there is none.

        The number of a page or passage goes with its filler: "Passage 1".
        """
        word = _WORDS.search(clean, start)
        if word is None or word.group() not in self._first_words:
            return len(clean) if word is None else word.start()
        ends: dict[int, int] = {}
        for first, last, _ in self._finder.find(clean):
            if last == len(clean) or not clean[last].isalnum():
                ends[first] = max(last, ends.get(first, 0))
        done = start
        while word is not None:
            number = _NUMBERS.match(clean, done) if done > start else None
            if number is None and word.start() not in ends:
                return word.start()
            done = ends[word.start()] if number is None else number.end()
            word = _WORDS.search(clean, done)
        return len(clean)


@cache
def default_reader() -> StatementReader:
    """The one reader that all extractors share."""
    return StatementReader()


def _uses(lexicon: Lexicon) -> Iterator[tuple[Phrase, _Use]]:
    words = lexicon.statements
    sets = {**(lexicon.refusals.sets if lexicon.has("refusals") else {}), **words.sets}
    for sense in _Sense:
        for phrase in getattr(words, sense.value):
            use = _Use(sense, is_first=phrase.startswith("^"), is_last=phrase.endswith("$"))
            yield parse_phrase(phrase.removeprefix("^").removesuffix("$"), sets), use


def _first_word(phrase: str) -> str:
    word = _WORDS.search(phrase)
    return "" if word is None else word.group()


def _without_addresses(sentence: str) -> str:
    if "://" in sentence or "www." in sentence:
        sentence = _ADDRESS.sub(" ", sentence)
    return _TAG.sub(" ", sentence) if "<" in sentence else sentence


def _is_question(clean: str) -> bool:
    """Whether a sentence asks; one that ends with the question of someone else does not."""
    match = _QUESTION.search(clean)
    if match is None:
        return False
    if not match["closing"].strip("*_ "):
        return True
    opening = _OPENING.search(clean)
    if opening is not None and _WORD.search(clean, 0, opening.start()) is not None:
        return False
    return _SENTENCE_END.search(clean, 0, match.start()) is None


def _only_announces(clean: str) -> bool:
    before, colon, after = clean.rstrip(": ").partition(": ")
    if colon and _WORD.search(after) is not None:
        return False
    if clean.endswith(":"):
        return _ASIDE.search(clean) is None
    return _DIGIT.search(before) is None and len(before.split()) <= _LONGEST_ANNOUNCEMENT


def _choice(words: Iterable[str]) -> str:
    """A pattern for one of the words, the longest first; for nothing when there are none."""
    known = sorted({word.lower() for word in words}, key=lambda word: (-len(word), word))
    return "|".join(re.escape(word) for word in known) or "(?!)"
