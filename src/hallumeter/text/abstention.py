"""Whether a response refuses to answer, and with which words.

A response abstains when it says nothing about what was asked. `refusal_model` weighs each of its sentences: does it
refuse, does it answer? The response abstains when some sentence refuses and none answers: reasons, apologies, offers of
help and pointers elsewhere are no answers. It is a partial refusal when a sentence refuses and one answers: a refused
detail beside a real answer, and a hedge. "I'm not sure, but I think he was born in 1950" gives content that can be
wrong, and is no abstention.

Which words refuse is told by cues ("I could not find any record") where the refusing sentence has one, and otherwise
by the sentence as a whole. A cue does not count when it is quoted, only supposed ("if the record does not exist"),
somebody else's ("the clerk said that"), or part of a phrase that only looks like one ("I cannot say enough good
things"). Cues, and all else that belongs to a language, are in `text/lexicons/<language>/refusals.toml`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Literal

from msgspec import Struct

from hallumeter.errors import SettingsError

from .lexicon import Lexicon, RefusalWords, languages_with, load_lexicon
from .normalize import CleanText, clean_text
from .phrases import Phrase, PhraseFinder, parse_phrase
from .refusal_model import Leanings, Numbers, read_leanings
from .sentences import Quotations, iterate_sentence_spans

LEAST_PROBABILITY = 0.45
"""Of a refusal without an answer. Cross-validated: `python -m training.refusals --check` prints all thresholds."""
WEIGHED_LANGUAGES = ("de", "en", "fr", "ko")
"""What the weights were fitted to. In another language whose lexicon has cues, these decide alone."""

Spans = tuple[tuple[int, int], ...]
"""Where the sentences of a text with words begin and end."""

# The cues of refusal: the phrases of the lexicons, with the conditions under which they refuse.


class Cue(Struct, frozen=True):
    """A phrase that refuses, with the conditions under which it does; `text.lexicon` has the notation."""

    phrase: str
    language: str | None
    begins_clause: bool = False
    ends_clause: bool = False
    before_name: bool = False
    calls_fictional: bool = False
    asks_back: bool = False


class Hit(Struct, frozen=True):
    """A cue, or one end of a cue with a gap, as found in a text."""

    start: int
    end: int
    cue: Cue
    is_first: bool
    is_last: bool


class _Part(Struct, frozen=True):
    """What a phrase is: a whole cue, one end of a cue with a gap, or, without a cue, a blocker."""

    cue: Cue | None
    is_first: bool = True
    is_last: bool = True


class CueFinder:
    """Finds cues in a text that `clean_text` has folded, and drops those within a blocker."""

    def __init__(self, lexicons: Sequence[Lexicon], *, extra: Sequence[str], fold_case: bool) -> None:
        parts = [part for lexicon in lexicons for part in _lexicon_parts(lexicon)]
        parts += [(Phrase((phrase,), ()), _Part(Cue(phrase, None))) for phrase in extra]
        self._finder = PhraseFinder(parts, fold_case=fold_case)

    def find(self, text: str) -> list[Hit]:
        """Cues and ends of cues, sorted by their starts."""
        hits: list[Hit] = []
        blocked: list[tuple[int, int]] = []
        for start, end, part in self._finder.find(text):
            if part.cue is None:
                blocked.append((start, end))
            else:
                hits.append(Hit(start, end, part.cue, part.is_first, part.is_last))
        if not any(hit.is_first for hit in hits):
            return []
        hits.sort(key=lambda hit: (hit.start, -hit.end))
        return _not_within(hits, sorted(blocked)) if blocked else hits

    def knows(self, phrase: str) -> bool:
        """Whether words are a cue and nothing else."""
        text = clean_text(phrase).lower
        return any((hit.start, hit.end) == (0, len(text)) for hit in self.find(text))


def _not_within(hits: Iterable[Hit], blocked: Sequence[tuple[int, int]]) -> list[Hit]:
    starts = [start for start, _ in blocked]
    furthest_ends = [0, *accumulate((end for _, end in blocked), max)]
    return [
        hit
        for hit in hits
        # A cue with a gap says more than a blocker that stands at one of its ends.
        if not (hit.is_first and hit.is_last) or furthest_ends[bisect_right(starts, hit.start)] < hit.end
    ]


def _lexicon_parts(lexicon: Lexicon) -> Iterator[tuple[Phrase, _Part]]:
    for family, phrases in lexicon.refusals.cues.items():
        for phrase in phrases:
            yield from _cue_parts(phrase, family, lexicon)
    for phrase in lexicon.refusals.blockers:
        yield parse_phrase(phrase, lexicon.refusals.sets), _Part(None)


def _cue_parts(phrase: str, family: str, lexicon: Lexicon) -> Iterator[tuple[Phrase, _Part]]:
    words = phrase.removeprefix("^").removesuffix("$").removesuffix(" <Name>")
    first, _, last = words.partition(" ... ")
    cue = Cue(
        phrase,
        lexicon.language,
        begins_clause=phrase.startswith("^"),
        ends_clause=phrase.endswith("$"),
        before_name=phrase.endswith(" <Name>"),
        calls_fictional=family == "fictional",
        asks_back=family == "asks_back",
    )
    yield parse_phrase(first, lexicon.refusals.sets), _Part(cue, is_last=not last)
    if last:
        yield parse_phrase(last, lexicon.refusals.sets), _Part(cue, is_first=False)


def _whole_cues(hits: Sequence[Hit]) -> Iterator[Hit]:
    """Cues as they stand; then cues with a gap, from their first words to their last."""
    begun: dict[str, Hit] = {}
    with_gap: list[Hit] = []
    for hit in hits:
        if hit.is_first and hit.is_last:
            yield hit
        elif hit.is_first:
            begun.setdefault(hit.cue.phrase, hit)
        elif (begin := begun.get(hit.cue.phrase)) is not None and begin.end <= hit.start:
            with_gap.append(Hit(begin.start, hit.end, hit.cue, is_first=True, is_last=True))
    yield from with_gap


# The clauses of a response, within which a cue has its conditions.

_WORD = re.compile(r"[^\W_]")


class Clause(Struct, frozen=True):
    """A part of a sentence."""

    start: int
    end: int
    sentence_start: int


class ClauseReader:
    """Cuts sentences into clauses and sees what stands around a cue, in texts that `clean_text` put in lower case."""

    def __init__(self, lexicons: Sequence[Lexicon]) -> None:
        words = [lexicon.refusals for lexicon in lexicons]
        openers = _choice(word for each in words for word in each.openers)
        concessions = _choice(word for each in words for word in each.concessions)
        cancels = _choice(word for each in words for word in each.cancels)
        speakers = _choice(word for each in words for word in each.speakers)
        self._cut = _cuts(words)
        # By language: the German "falls" is no condition in "your question falls outside the scope".
        self._conditions = {
            lexicon.language: re.compile(
                rf"(?<!\w)(?:{_choice(lexicon.refusals.conditions)})(?!\w)(?P<between>[^,;:]*)$"
            )
            for lexicon in lexicons
        }
        self._cancel = re.compile(rf"\w{{0,3}}?(?:{cancels})")
        self._speaker = re.compile(rf"(?:{speakers})(?!\w)")
        self._openers = re.compile(rf"(?:\W*(?:{openers})(?!\w))*\W*")
        self._concession = re.compile(rf"\W*(?:{concessions})(?!\w)[^,]*,")
        self._works = PhraseFinder(
            (
                (parse_phrase(phrase, lexicon.refusals.sets), True)
                for lexicon in lexicons
                for phrase in lexicon.refusals.works
            ),
            fold_case=True,
        )

    def clauses(self, text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Clause]:
        """Cut sentences at marks, where a contrast turns them, and after a concession."""
        for sentence_start, sentence_end in spans:
            start = sentence_start
            concession = self._concession.match(text, sentence_start, sentence_end)
            if concession is not None:
                yield Clause(start, concession.end(), sentence_start)
                start = concession.end()
            for found in self._cut.finditer(text, start, sentence_end):
                cut = found.start() if found["end"] is None else found.end()
                if cut > start:
                    yield Clause(start, cut, sentence_start)
                start = cut
            yield Clause(start, sentence_end, sentence_start)

    def first_word(self, text: str, clause: Clause) -> int:
        """Where a clause begins when courtesies and interjections are left out."""
        openers = self._openers.match(text, clause.start, clause.end)
        return clause.start if openers is None else openers.end()

    def names_work(self, text: str, clause: Clause) -> bool:
        """Whether a clause speaks of the novel, the film or the legend that something comes from."""
        return any(self._works.find(text[clause.start : clause.end]))

    def supposes(self, text: str, clause: Clause, cue: Hit) -> bool:
        """Whether a cue stands in a condition: "if the record does not exist", and not "if so, I cannot say"."""
        if self._cancel.match(text, cue.end, clause.end) is not None:
            return True
        conditions = self._conditions
        patterns = conditions.values() if cue.cue.language is None else (conditions[cue.cue.language],)
        found = next(filter(None, (pattern.search(text, clause.start, cue.start) for pattern in patterns)), None)
        if found is None:
            return False
        return not found["between"].strip() or self._speaker.match(text, cue.start) is None


def _cuts(words: Sequence[RefusalWords]) -> re.Pattern[str]:
    """Where sentences are cut into clauses."""
    contrasts = _choice(word for each in words for word in each.contrasts)
    endings = _choice(word for each in words for word in each.contrast_endings)
    bound = _choice(word for each in words for word in each.bound_words)
    return re.compile(rf"(?<!\w)(?:{contrasts})(?!\w)|(?P<end>(?:{endings})(?=[\s,])(?! (?:{bound}))|[;:](?=\s))")


def _choice(words: Iterable[str]) -> str:
    """A pattern for one of the words, the longest first; for nothing when there are none."""
    known = sorted({word.lower() for word in words}, key=lambda word: (-len(word), word))
    return "|".join(re.escape(word) for word in known) or "(?!)"


class Abstention(Struct, frozen=True):
    """Whether a response refuses to answer, and the words that say so."""

    did_abstain: bool
    """Whether the response says nothing about what was asked."""
    cue: str | None
    """The first words that refuse, as they stand in the response; None when it answers or is empty."""
    start: int | None
    """Where the cue begins in the response, in code points."""
    end: int | None
    """Where the cue ends, exclusive."""
    language: str | None
    """The language whose lexicon has the cue; None for words that no lexicon has, and for no cue."""
    reason: Literal["cue", "empty", "none"]
    """`cue`: words refuse; `empty`: nothing was written; `none`: the response answers."""
    is_partial: bool = False
    """Whether the response refuses a part of what was asked and answers all the same; it then does not abstain."""
    partial_cue: str | None = None
    """The first words that refuse the part; None when the refusal is not partial."""


_EMPTY = Abstention(True, None, None, None, None, "empty")
_ANSWERED = Abstention(False, None, None, None, None, "none")
_SURE = 50.0
"""Log odds that leave no doubt."""


def _sentence_at(spans: Spans, place: int) -> int:
    """The number of the sentence that a place is in, or that stands before it."""
    return max(0, bisect_right(spans, place, key=_first) - 1)


def _first(span: tuple[int, int]) -> int:
    return span[0]


class AbstentionDetector:
    """Detects refusals; made once, it can be used for any number of responses.

    Args:
        languages: Whose cues are looked for, all at once. With fewer than all, only what has one of their cues refuses.
        extra_cues: Phrases that refuse as well, taken literally.
        removed_cues: Wordings that refuse no longer: `cue` of a detection, or a phrase of the lexicons.
        case_sensitive: Whether a cue must be written as in the lexicon, or so with a capital at its start; without one
            nothing then refuses.

    >>> AbstentionDetector(extra_cues=["ask my lawyer"]).detect("Ask my lawyer.").cue
    'Ask my lawyer'
    """

    def __init__(
        self,
        languages: Sequence[str] = languages_with("refusals"),
        extra_cues: Sequence[str] = (),
        *,
        removed_cues: Sequence[str] = (),
        case_sensitive: bool = False,
    ) -> None:
        for phrase in extra_cues:
            if _WORD.search(phrase) is None:
                raise SettingsError(f"extra cue {phrase!r} has no letter or digit; give words that refuse")
        lexicons = [load_lexicon(language) for language in languages]
        self._clauses = ClauseReader(lexicons)
        self._cues = CueFinder(lexicons, extra=extra_cues, fold_case=not case_sensitive)
        self._case_sensitive = case_sensitive
        self._needs_cue = case_sensitive or not set(languages_with("refusals")) <= set(languages)
        self._removed: frozenset[str] = frozenset()
        self._removed = frozenset(self._removable(phrase) for phrase in removed_cues)

    def detect(self, response: str) -> Abstention:
        """Tell whether a response as a whole refuses to answer; an empty one does."""
        clean = clean_text(response)
        if not clean.text or clean.text.isspace():
            return _EMPTY
        spans = sentence_spans_of(clean)
        hits = self._valid_cues(clean, spans)
        if not spans or (self._needs_cue and not hits):
            return _ANSWERED
        leanings = self._leanings(clean, spans, hits)
        did_abstain = leanings.refusal >= LEAST_PROBABILITY
        if not did_abstain and not (leanings.refuses > 0).any():
            return _ANSWERED
        start, end, language = _words_that_refuse(clean, spans, refuses=leanings.refuses, hits=hits)
        start, end = clean.original_span(start, end)
        if did_abstain:
            return Abstention(True, response[start:end], start, end, language, "cue")
        return Abstention(False, None, None, None, None, "none", is_partial=True, partial_cue=response[start:end])

    def refusals(self, text: str) -> list[tuple[int, int, str | None]]:
        """Where a text refuses, clause by clause, whatever else it says: the places of its cues, and their languages.

        >>> AbstentionDetector().refusals("Dear Sir. I cannot read the rest.")
        [(10, 18, 'en')]
        """
        # Cues alone: what a page says in the first person is its writer's, and not the engine's.
        clean = clean_text(text)
        hits = self._valid_cues(clean, sentence_spans_of(clean))
        return [(*clean.original_span(hit.start, hit.end), hit.cue.language) for hit in hits]

    def _removable(self, phrase: str) -> str:
        if not self.detect(phrase).did_abstain and not self._cues.knows(phrase):
            raise SettingsError(
                f"removed cue {phrase!r}: there is no such cue; give the words as `cue` of a detection has them"
            )
        return clean_text(phrase).lower

    def _valid_cues(self, clean: CleanText, spans: Spans) -> list[Hit]:
        """The first cue of every clause whose conditions are met."""
        hits = self._cues.find(clean.text if self._case_sensitive else clean.lower)
        if not hits:
            return []
        quotes = Quotations(clean.text)
        found, done = [], 0
        for clause in self._clauses.clauses(clean.lower, spans):
            seen, done = done, bisect_left(hits, clause.end, done, key=_start)
            if seen < done and (hit := self._cue_in(clean, clause, hits=hits[seen:done], quotes=quotes)) is not None:
                found.append(hit)
        return found

    def _cue_in(self, clean: CleanText, clause: Clause, *, hits: Sequence[Hit], quotes: Quotations) -> Hit | None:
        """The first cue of a clause whose conditions are met, in words that are the writer's own."""
        first_word = self._clauses.first_word(clean.lower, clause)
        text = clean.text
        for hit in _whole_cues(hits):
            if (
                hit.end <= clause.end
                and clean.lower[hit.start : hit.end] not in self._removed
                and not (hit.cue.begins_clause and hit.start > first_word)
                and not (hit.cue.ends_clause and _WORD.search(text, hit.end, clause.end) is not None)
                and not (hit.cue.before_name and not _is_name(text[hit.end : hit.end + 2].lstrip()))
                and not self._clauses.supposes(clean.lower, clause, hit)
                and not quotes.hold(hit.start, sentence_start=clause.sentence_start)
                and not (hit.cue.calls_fictional and self._clauses.names_work(clean.lower, clause))
            ):
                return hit
        return None

    def _leanings(self, clean: CleanText, spans: Spans, hits: Sequence[Hit]) -> Leanings:
        """What the sentences of a response lean to, by the weights and by what the user said of cues."""
        with_cue = sentences_with(spans, hits)
        leanings = read_leanings([clean.lower[start:end].strip() for start, end in spans], with_cue)
        for number, (start, end) in enumerate(spans):
            if number not in with_cue and any(phrase in clean.lower[start:end] for phrase in self._removed):
                leanings.refuses[number] = -_SURE
        # Cues alone speak for the user's own words, and for a language that the weights do not know.
        alone = [hit for hit in hits if hit.cue.language not in WEIGHED_LANGUAGES]
        if any(hit.cue.language is not None for hit in alone):
            leanings.answers[:] = _SURE
        for number in sentences_with(spans, alone):
            leanings.refuses[number], leanings.answers[number] = _SURE, -_SURE
        return leanings


def sentence_spans_of(clean: CleanText) -> Spans:
    """The sentences of a text that have a letter or a digit."""
    return tuple(span for span in iterate_sentence_spans(clean.text) if _WORD.search(clean.text, *span))


def sentences_with(spans: Spans, hits: Iterable[Hit]) -> set[int]:
    """The numbers of the sentences with a cue."""
    return {_sentence_at(spans, hit.start) for hit in hits}


def _words_that_refuse(
    clean: CleanText, spans: Spans, *, refuses: Numbers, hits: Sequence[Hit]
) -> tuple[int, int, str | None]:
    """The first cue of a sentence that refuses, or the sentence that refuses most."""
    most = int(refuses.argmax())
    own = [hit for hit in hits if refuses[place := _sentence_at(spans, hit.start)] > 0 or place == most]
    if own:
        # What says no comes before what only asks back.
        hit = next((hit for hit in own if not hit.cue.asks_back), own[0])
        return hit.start, hit.end, hit.cue.language
    words = [match.span() for match in _WORD.finditer(clean.text, *spans[most])]
    return words[0][0], words[-1][1], None


def _start(hit: Hit) -> int:
    return hit.start


def _is_name(following: str) -> bool:
    return following[:1].isupper() or following[:1] == '"'


@cache
def default_detector() -> AbstentionDetector:
    """The detector with the cues of all known languages; its lexicons are read at the first call."""
    return AbstentionDetector()


def detect_abstention(response: str) -> Abstention:
    """Tell whether a response refuses to answer, with the cues of all known languages.

    >>> detect_abstention("I’m sorry, but I couldn’t find anyone of that name.").cue
    'I couldn’t find'
    >>> detect_abstention("X was a French painter. I am not sure where he died.").did_abstain
    False
    """
    return default_detector().detect(response)
