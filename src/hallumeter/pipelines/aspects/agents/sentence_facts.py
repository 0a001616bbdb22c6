"""What a reader finds in one sentence, looked up once for all roles that ask."""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from hallumeter.extractors.aspects.protocol import AspectReader, FoundPolarity, FoundTerm, SentenceReading
from hallumeter.judges.aspects import CountedText, placement_of, target_words
from hallumeter.judges.aspects.targets import composed
from hallumeter.records.aspects import Polarity, TextSpan

from .reader_instructions import reader_instructions


class OfflineSettings(Struct, frozen=True, kw_only=True):
    """How sure a reader must be before an offline agent acts on it."""

    term_confidence: float = 0.5
    """Of a term, to be an aspect of stage 1."""
    add_confidence: float = 0.9
    """Of a term, to be added where stage 1 left it out; what is felt about it must be as sure as for a flip."""
    flip_confidence: float = 0.8
    """Of a polarity, to contradict the opposite that was stated."""
    neutral_confidence: float = 0.95
    """Of a polarity, to contradict a neutral that was stated, or of a neutral, to contradict any other."""
    support: float = 0.1
    """By how much these are lower where the debate or the stated evidence speaks for the reader too."""
    fill_confidence: float = 0.4
    """Of a polarity, to stand where none was stated."""
    doubtful_confidence: float = 0.5
    """Of a polarity, below which a risk that acts on it is left."""
    guess_confidence: float = 0.5
    """Of an aspect, as it was stated, at and below which it needs a reader who knows it."""

    def described(self) -> str:
        """All of them, in one line."""
        return ",".join(f"{name}={getattr(self, name)}" for name in self.__struct_fields__)


class SentenceFacts:
    """A sentence with what its reader makes of it."""

    def __init__(self, text: str, reader: AspectReader, settings: OfflineSettings) -> None:
        self.text = text
        self.settings = settings
        self._reader = reader
        self._counted = CountedText(text)
        self._polarities: dict[tuple[int, int], FoundPolarity] = {}

    @cached_property
    def reading(self) -> SentenceReading:
        """Terms and cues."""
        return self._reader.read(self.text)

    @cached_property
    def instructions(self) -> tuple[TextSpan, ...]:
        """Sentences that speak to whoever reads the review."""
        return tuple(TextSpan(start, end) for start, end in reader_instructions(self.text))

    @cached_property
    def _review(self) -> str:
        """The text with blanks for what speaks to its reader: a request for praise is no praise. Offsets stay."""
        blanked = self.text
        for span in self.instructions:
            blanked = blanked[: span.start] + " " * (span.end - span.start) + blanked[span.end :]
        return blanked if blanked.strip() else self.text

    @cached_property
    def sentence_polarity(self) -> FoundPolarity:
        """What is felt in the sentence as a whole."""
        return self._reader.sentence_polarity(self._review)

    def is_instructed(self, start: int, end: int) -> bool:
        """Whether a place lies in a sentence that speaks to its reader."""
        return any(span.start < end and start < span.end for span in self.instructions)

    def terms(self, confidence: float) -> list[FoundTerm]:
        """The terms of which the reader is at least that sure."""
        return [term for term in self.reading.terms if term.confidence >= confidence]

    def words(self, found: FoundTerm) -> str:
        """The words of a term."""
        return self.text[found.start : found.end]

    def polarity_at(self, start: int, end: int) -> FoundPolarity:
        """What is felt about a place."""
        if (start, end) not in self._polarities:
            text = self.text if self.is_instructed(start, end) else self._review
            self._polarities[start, end] = self._reader.polarity_of(text, start, end)
        return self._polarities[start, end]

    def evidence_of(self, found: FoundPolarity) -> str | None:
        """The words that show a polarity, as they stand in the text."""
        if found.start is None or found.end is None:
            return None
        return self.text[found.start : found.end] or None

    def felt_in(self, words: str) -> Polarity | None:
        """What a stretch of words says by itself; None when it says nothing."""
        felt = self._reader.sentence_polarity(words).polarity
        return None if felt == "neutral" else felt

    def stands_at(self, term: str, span: TextSpan | None) -> bool:
        """Whether a term stands exactly where it was said to."""
        return span is not None and bool(term) and span.is_within(self.text) and self._at(span) == term

    def place_of(self, term: str, span: TextSpan | None) -> TextSpan | None:
        """Where a term stands: at its span, else at the nearest place; None when it does not occur, in any case."""
        if self.stands_at(term, span):
            return span
        if not term:
            return None
        nearest = placement_of(self._counted, term, span).nearest
        return nearest or self._in_other_case(term)

    def is_known(self, place: TextSpan) -> bool:
        """Whether the reader sees a term there, however unsure of it."""
        return any(found.start < place.end and place.start < found.end for found in self.reading.terms)

    def is_target(self, term: str, place: TextSpan) -> bool:
        """Whether a term can be an aspect: the reader knows it, or it is no word that joins clauses or fills gaps."""
        if self.is_known(place):
            return True
        is_cue = any(cue.start <= place.start and place.end <= cue.end for cue in self.reading.cues)
        is_word = any(sign.isalnum() for sign in term)
        return is_word and not is_cue and composed(term) not in target_words().stop_terms

    def _at(self, span: TextSpan) -> str:
        return self.text[span.start : span.end]

    def _in_other_case(self, term: str) -> TextSpan | None:
        lower = self.text.lower()
        start = lower.find(term.lower()) if len(lower) == len(self.text) else -1
        return None if start < 0 else TextSpan(start, start + len(term))
