"""Whether a response refuses to answer, and with which words.

A response abstains when it says nothing about what was asked. It is read clause by clause (sentences, cut again
where "but" or "however" turns them):

* a clause with a cue ("I could not find any record") refuses, unless the cue is quoted, is part of a phrase that
  only looks like one ("I cannot say enough good things"), or follows a statement in the same clause;
* a clause that greets, apologises, repeats the request or asks back says nothing; after a refusal neither does
  one that offers help, sends the reader elsewhere, or says why and what the sources hold instead;
* every other clause answers.

The response abstains when a clause refuses and none answers. So a refused detail after a real answer is no
abstention, and neither is a hedge: "I'm not sure, but I think he was born in 1950" gives content that can be wrong.
The cues, and all else that belongs to a language, are in `text/lexicons/`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.text.lexicon import LANGUAGES, load_lexicon
from hallumeter.text.normalize import clean_text
from hallumeter.text.sentences import iterate_sentence_spans

from .clauses import Clause, ClauseReader
from .cues import CueFinder, Hit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hallumeter.text.normalize import CleanText

_WORD = re.compile(r"[^\W_]")
_QUOTE = re.compile('"')


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
    """The language whose lexicon has the cue; None for a cue of the user's own, or no cue."""
    reason: Literal["cue", "empty", "none"]
    """`cue`: words refuse; `empty`: nothing was written; `none`: the response answers."""


_EMPTY = Abstention(True, None, None, None, None, "empty")
_ANSWERED = Abstention(False, None, None, None, None, "none")


class AbstentionDetector:
    """Detects refusals; made once, it can be used for any number of responses.

    Args:
        languages: Whose cues are looked for, all at once.
        extra_cues: Phrases that refuse as well, taken literally.
        removed_cues: Wordings of the lexicons that refuse no longer.
        case_sensitive: Whether a cue must be written as in the lexicon, or so with a capital at its start.

    >>> AbstentionDetector(extra_cues=["ask my lawyer"]).detect("Ask my lawyer.").cue
    'Ask my lawyer'
    """

    def __init__(
        self,
        languages: Sequence[str] = LANGUAGES,
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
        self._cues = CueFinder(lexicons, extra=extra_cues, removed=removed_cues, fold_case=not case_sensitive)
        self._case_sensitive = case_sensitive

    def detect(self, response: str) -> Abstention:
        """Tell whether a response as a whole refuses to answer; an empty one does."""
        clean = clean_text(response)
        if not clean.text or clean.text.isspace():
            return _EMPTY
        hits = self._cues.find(clean.text if self._case_sensitive else clean.lower)
        refusal = self._refusal(clean, hits) if hits else None
        if refusal is None:
            return _ANSWERED
        start, end = clean.original_span(refusal.start, refusal.end)
        return Abstention(True, response[start:end], start, end, refusal.cue.language, "cue")

    def _refusal(self, clean: CleanText, hits: Sequence[Hit]) -> Hit | None:
        """The first refusal of a response in which no clause answers."""
        first: Hit | None = None
        quotes = _quotes(clean.text)
        done = 0
        for clause in self._clauses.clauses(clean.lower, iterate_sentence_spans(clean.text)):
            seen, done = done, bisect_left(hits, clause.end, done, key=_start)
            refusal = self._refusal_in(clean, clause, hits=hits[seen:done], quotes=quotes) if seen < done else None
            if refusal is not None:
                if first is None and self._clauses.answers_before(clean.lower, clause, refusal.start):
                    return None
                first = first or refusal
            # What follows "there is no such person" is about something else, unless it takes the denial back.
            elif first is not None and first.cue.denies_existence and not clause.turns:
                continue
            elif self._clauses.answers(clean.lower, clause, after_refusal=first is not None):
                return None
        return first

    def _refusal_in(
        self, clean: CleanText, clause: Clause, *, hits: Sequence[Hit], quotes: Sequence[int]
    ) -> Hit | None:
        """The first cue of a clause whose conditions are met, in words that are the writer's own."""
        first_word = self._clauses.first_word(clean.lower, clause)
        text = clean.text
        for hit in _whole_cues(hits):
            if (
                hit.end <= clause.end
                and not (hit.cue.begins_clause and hit.start > first_word)
                and not (hit.cue.ends_clause and _WORD.search(text, hit.end, clause.end) is not None)
                and not (hit.cue.before_name and not _is_name(text[hit.end : hit.end + 2].lstrip()))
                and (bisect_left(quotes, hit.start) - bisect_left(quotes, clause.sentence_start)) % 2 == 0
            ):
                return hit
        return None


def _start(hit: Hit) -> int:
    return hit.start


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


def _is_name(following: str) -> bool:
    return following[:1].isupper() or following[:1] == '"'


def _quotes(text: str) -> list[int]:
    """Where quotations open and close; a response that is one quotation as a whole is the writer's own words."""
    quotes = [match.start() for match in _QUOTE.finditer(text)] if '"' in text else []
    whole = text.strip()
    return [] if len(quotes) == 2 and whole[0] == whole[-1] == '"' else quotes


@cache
def _default_detector() -> AbstentionDetector:
    return AbstentionDetector()


def detect_abstention(response: str) -> Abstention:
    """Tell whether a response refuses to answer, with the cues of all known languages.

    >>> detect_abstention("I’m sorry, but I couldn’t find anyone of that name.").cue
    'I couldn’t find'
    >>> detect_abstention("X was a French painter. I am not sure where he died.").did_abstain
    False
    """
    return _default_detector().detect(response)
