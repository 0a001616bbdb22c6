"""A sentence beside its reader: asked only where a step needs to know, and each question once."""

from __future__ import annotations

from functools import cached_property

from hallumeter.extractors.aspects.protocol import AspectReader, FoundCue, SentenceReading
from hallumeter.records.aspects import TextSpan

from .terms import place_of_term


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

    @cached_property
    def _reading(self) -> SentenceReading:
        return self.reader.read(self.text)
