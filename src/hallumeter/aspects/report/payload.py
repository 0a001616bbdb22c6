"""The ways of sentences in the short form that the page's own script reads.

Aspects and strings of a sentence are kept once and pointed to; what stands in the sentence is written as its place. Of
lists the empty end is left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from hallumeter.records.summaries import STATUSES
from hallumeter.report.drawing import Json
from hallumeter.report.languages.speaking import say
from hallumeter.report.sections import ModeratorWord, Remark, SentenceTrace, TracedAspect, TracedError, TraceStep

from .tracing import ORDER
from .wording import ASK_WORDS, ERROR_WORDS, IGNORED_WORDS, POLARITY_WORDS, RULE_WORDS, STAGES, said, step_words

_ERRORS = tuple(ERROR_WORDS)
_POLARITIES = tuple(POLARITY_WORDS)
_OUTCOMES = (None, "applied", "ignored")


def vocabulary() -> dict[str, Json]:
    """The words for everything that has a code, in the language that is being spoken."""
    return {
        "by": [[step, step_words(step)] for step in ORDER],
        "stages": [[say(stage), list(steps)] for stage, steps in STAGES.items()],
        "errors": [[code, words] for code, words in said(ERROR_WORDS).items()],
        "polarities": [[code, words] for code, words in said(POLARITY_WORDS).items()],
        "asks": dict(said(ASK_WORDS)),
        "reasons": dict(said(IGNORED_WORDS)),
        "rules": dict(said(RULE_WORDS)),
    }


def trace_payload(trace: SentenceTrace, text: str) -> Json:
    """The way of one sentence, with everything that is needed to tell it but the words for codes."""
    writer = _Writer(text)
    found: dict[str, Json] = {
        "s": [writer.step(step) for step in trace.steps],
        "u": None if trace.errors is None else [writer.error(error) for error in trace.errors],
        "m": None if trace.moderator is None else writer.moderator(trace.moderator),
        "g": None if trace.gold is None else [writer.aspect(aspect) for aspect in trace.gold],
        "o": list(trace.notes) or None,
        "x": list(trace.untold) or None,
        "f": trace.failed,
    }
    found |= {"n": writer.names, "w": list(writer.words)}
    return {key: value for key, value in found.items() if value is not None}


class _Writer:
    """Writes one sentence."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.words: dict[str, int] = {}
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
        ignored: list[Json] = [[self._by(by), self._number(reason)] for by, reason in error.ignored_by]
        told: list[Json] = [_polarity(stated.polarity), _polarity(error.gold_polarity), changes]
        told += [[self._by(by) for by in error.flagged_by], ignored]
        return [_ERRORS.index(error.error), self._name(stated.term, (stated.start, stated.end)), *_trimmed(told)]

    def moderator(self, word: ModeratorWord) -> Json:
        rules: list[Json] = list(word.rules)
        return [
            _polarity(word.label),
            round(word.confidence, 2),
            rules,
            self._quoted(word.stage),
            self._quoted(word.why),
        ]

    def _remark(self, remark: Remark) -> Json:
        told: list[Json] = [
            [self._known(term) for term in remark.about],
            _polarity(remark.value),
            self._quoted(remark.why),
            self._quoted(remark.evidence),
            _OUTCOMES.index(remark.outcome),
            self._quoted(remark.reason),
        ]
        return [self._number(remark.asks), *_trimmed(told)]

    def _number(self, text: str) -> int:
        return self.words.setdefault(text, len(self.words))

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
        return [place, place + len(words)] if place >= 0 else self._number(words) + 1


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
