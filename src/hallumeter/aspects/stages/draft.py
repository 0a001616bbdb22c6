"""The aspects and sentiments of a sentence while steps work on them, and what a step left behind."""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from hallumeter.aspects.readers.protocol import AspectReader, FoundCue, SentenceReading
from hallumeter.aspects.records.aspect import Aspect, AspectSentiment, Polarity, TextSpan
from hallumeter.aspects.records.outputs import AspectState

from .terms import place_of_term

# A sentence beside its reader: asked only where a step needs to know, and each question once.


class ReadSentence:
    """What steps may ask about the words of a sentence."""

    def __init__(self, text: str, reader: AspectReader) -> None:
        self.text = text
        self.reader = reader
        self._bare: dict[str, str] = {}

    @cached_property
    def contrasts(self) -> tuple[FoundCue, ...]:
        """The places where the sentence turns against what it said before."""
        return self._reading.cues_of("contrast")

    @cached_property
    def has_negation(self) -> bool:
        """Whether anything is negated."""
        return bool(self._reading.cues_of("negation"))

    def bare_end(self, start: int, end: int) -> int:
        """Where the words at a place end when their particles are left out; something is always left."""
        bare = self.reader.without_particle(self.text, start, end)
        return bare if start < bare < end else end

    def bare(self, term: str) -> str:
        """A term without its particles, read where it stands in the text, or by itself when it does not occur."""
        if term not in self._bare:
            place = place_of_term(self.text, term, None)
            if place is not None:
                self._bare[term] = self.text[place[0] : self.bare_end(*place)]
            else:
                end = self.reader.without_particle(term, 0, len(term)) if term else 0
                self._bare[term] = term[:end] or term
        return self._bare[term]

    def held_span(self, term: str, span: TextSpan) -> TextSpan | None:
        """The span of a term that really stands there, particles left out; None where it does not."""
        if not term or not span.is_within(self.text):
            return None
        if self.text[span.start : span.end] == term:
            return span
        end = self.bare_end(span.start, span.end)
        return TextSpan(span.start, end) if self.text[span.start : end] == term else None

    def felt_at(self, span: TextSpan) -> Polarity | None:
        """What the words beside a place feel about it, as the reader of the language has it; None outside the text."""
        return self.reader.polarity_of(self.text, span.start, span.end).polarity if span.is_within(self.text) else None

    @cached_property
    def _reading(self) -> SentenceReading:
        return self.reader.read(self.text)


class Draft(Struct, frozen=True, dict=True):
    """Aspects and what is felt about them; steps make new ones."""

    aspects: tuple[Aspect, ...] = ()
    sentiments: tuple[AspectSentiment, ...] = ()

    @cached_property
    def aspect_terms(self) -> tuple[str, ...]:
        """The terms of the aspects that are named, each once, in their order."""
        return tuple(dict.fromkeys(aspect.term for aspect in self.aspects if aspect.term))

    @cached_property
    def sentiment_terms(self) -> tuple[str, ...]:
        """The terms that something is felt about, each once, in their order."""
        return tuple(dict.fromkeys(sentiment.term for sentiment in self.sentiments if sentiment.term))

    def aspect_of(self, sentiment: AspectSentiment) -> int | None:
        """Which aspect a sentiment is about: the same term at the same place, else the first with the term."""
        if sentiment.aspect_term is None or not sentiment.term:
            return None
        numbers = self._by_term.get(sentiment.term)
        if numbers is None:
            return None
        span = sentiment.aspect_term.span
        return next((number for number in numbers if self.aspects[number].span == span), numbers[0])

    @cached_property
    def _by_term(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {}
        for number, aspect in enumerate(self.aspects):
            numbers.setdefault(aspect.term, []).append(number)
        return numbers


def states_of(draft: Draft) -> tuple[AspectState, ...]:
    """One line for each aspect and sentiment; an aspect with several sentiments has several lines.

    Sentiments that belong to no aspect come last. Of aspects with the same term, one that has no sentiment of its
    own shares that of the others.

    >>> states_of(Draft((Aspect("screen"),), ()))
    (AspectState(term='screen', span=None, polarity=None, has_sentiment=False),)
    """
    owned: dict[int | None, list[AspectSentiment]] = {}
    by_term: dict[str, AspectSentiment] = {}
    for sentiment in draft.sentiments:
        owned.setdefault(draft.aspect_of(sentiment), []).append(sentiment)
        by_term.setdefault(sentiment.term, sentiment)
    states: list[AspectState] = []
    for number, aspect in enumerate(draft.aspects):
        shared = by_term.get(aspect.term) if aspect.term else None
        sentiments = owned.get(number) or ([] if shared is None else [shared])
        states += [AspectState(aspect.term, aspect.span, sentiment.polarity) for sentiment in sentiments]
        if not sentiments:
            states.append(AspectState(aspect.term, aspect.span, None, has_sentiment=False))
    for sentiment in owned.get(None, ()):
        span = None if sentiment.aspect_term is None else sentiment.aspect_term.span
        states.append(AspectState(sentiment.term, span, sentiment.polarity))
    return tuple(states)
