"""The ways of sentences in the short form that the page's own script reads.

Aspects are kept once and pointed to; one that stands where it is said to stand is written as its place. Strings are
kept once for all sentences. Of lists the empty end is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.records.aspects.blame import STATUSES

from .tracing import ORDER
from .wording import ASK_WORDS, ERROR_WORDS, IGNORED_WORDS, POLARITY_WORDS, RULE_WORDS, STAGES, said, step_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hallumeter.report.drawing import Json

    from .trace import ModeratorWord, Remark, SentenceTrace, TracedAspect, TracedError, TraceStep

_ERRORS = tuple(ERROR_WORDS)
_POLARITIES = tuple(POLARITY_WORDS)
_OUTCOMES = (None, "applied", "ignored")


class TraceWords:
    """Strings of all sentences, each under a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a string."""
        return self._numbers.setdefault(text, len(self._numbers))

    def payload(self) -> dict[str, Json]:
        """The strings, and the words for everything that has a code, in the language that is being spoken."""
        stages: list[Json] = [[say_stage, list(steps)] for say_stage, steps in said_stages()]
        return {
            "words": list(self._numbers),
            "by": [[step, step_words(step)] for step in ORDER],
            "stages": stages,
            "errors": [[code, words] for code, words in said(ERROR_WORDS).items()],
            "polarities": [[code, words] for code, words in said(POLARITY_WORDS).items()],
            "asks": dict(said(ASK_WORDS)),
            "reasons": dict(said(IGNORED_WORDS)),
            "rules": dict(said(RULE_WORDS)),
        }


def said_stages() -> list[tuple[str, tuple[str, ...]]]:
    """The stages in the language that is being spoken, with their steps."""
    return [(words, STAGES[stage]) for stage, words in said({stage: stage for stage in STAGES}).items()]


def trace_payload(trace: SentenceTrace, text: str, *, words: TraceWords) -> Json:
    """The way of one sentence."""
    writer = _Writer(text, words)
    found: dict[str, Json] = {
        "s": [writer.step(step) for step in trace.steps],
        "u": None if trace.errors is None else [writer.error(error) for error in trace.errors],
        "m": None if trace.moderator is None else writer.moderator(trace.moderator),
        "g": None if trace.gold is None else [writer.aspect(aspect) for aspect in trace.gold],
        "o": [words.number(note) for note in trace.notes] or None,
        "x": [words.number(name) for name in trace.untold] or None,
        "f": trace.failed,
    }
    found["n"] = writer.names
    return {key: value for key, value in found.items() if value is not None}


class _Writer:
    """Writes one sentence."""

    def __init__(self, text: str, words: TraceWords) -> None:
        self._text = text
        self._words = words
        self._numbers: dict[tuple[str, int | None, int | None], int] = {}
        self.names: list[Json] = []

    def step(self, step: TraceStep) -> Json:
        by = self._by(step.by)
        if step.aspects is None and not step.remarks:
            return [by]
        aspects: Json = 0 if step.aspects is None else [self.aspect(aspect) for aspect in step.aspects]
        return [by, aspects, *(self._remark(remark) for remark in step.remarks)]

    def aspect(self, aspect: TracedAspect) -> Json:
        name = self._name(aspect.term, (aspect.start, aspect.end))
        if not aspect.is_judged:
            return name
        confidence = 0 if aspect.confidence is None else round(aspect.confidence, 2)
        return [name, *_trimmed([_polarity(aspect.polarity), confidence, self._quoted(aspect.evidence)])]

    def error(self, error: TracedError) -> Json:
        stated = error.aspect
        changes: list[Json] = [[self._by(step), STATUSES.index(became)] for step, became in error.changes]
        ignored: list[Json] = [[self._by(by), self._words.number(reason)] for by, reason in error.ignored_by]
        told: list[Json] = [_polarity(stated.polarity), _polarity(error.gold_polarity), changes]
        told += [[self._by(by) for by in error.flagged_by], ignored]
        return [_ERRORS.index(error.error), self._name(stated.term, (stated.start, stated.end)), *_trimmed(told)]

    def moderator(self, word: ModeratorWord) -> Json:
        stage = 0 if word.stage is None else self._words.number(word.stage)
        rules: list[Json] = list(word.rules)
        return [_polarity(word.label), round(word.confidence, 2), rules, stage, self._words.number(word.why)]

    def _remark(self, remark: Remark) -> Json:
        told: list[Json] = [
            [self._known(term) for term in remark.about],
            _polarity(remark.value),
            self._quoted(remark.why),
            self._quoted(remark.evidence),
            _OUTCOMES.index(remark.outcome),
            self._quoted(remark.reason),
        ]
        return [self._words.number(remark.asks), *_trimmed(told)]

    def _by(self, step: str) -> Json:
        return ORDER.index(step) if step in ORDER else step

    def _name(self, term: str, place: tuple[int | None, int | None] = (None, None)) -> int:
        key = (term, *place)
        if key not in self._numbers:
            self._numbers[key] = len(self.names)
            self.names.append(self._named(term, place))
        return self._numbers[key]

    def _named(self, term: str, place: tuple[int | None, int | None]) -> Json:
        start, end = place
        if start is None or end is None:
            return term
        is_there = 0 <= start <= end and self._text[start:end] == term
        return [start, end] if is_there else [term, start, end]

    def _known(self, term: str) -> int:
        """An aspect that somebody speaks of by its term alone."""
        found = (number for (known, _, _), number in self._numbers.items() if known == term)
        number = next(found, None)
        return self._name(term) if number is None else number

    def _quoted(self, words: str | None) -> Json:
        """Words of the sentence as their place, others by their number from 1 on; 0 for none."""
        if words is None:
            return 0
        place = self._text.find(words)
        return [place, place + len(words)] if place >= 0 else self._words.number(words) + 1


def _polarity(polarity: str | None) -> Json:
    """The number of a polarity from 1 on, 0 for none; a word that is no polarity is written as it is."""
    if polarity is None:
        return 0
    return _POLARITIES.index(polarity) + 1 if polarity in _POLARITIES else polarity


def _trimmed(values: Iterable[Json]) -> list[Json]:
    """A list without its empty end."""
    kept = list(values)
    while kept and kept[-1] in (0, [], None):
        kept.pop()
    return kept
