"""Reads Korean sentences by morphology, a lexicon and rules; deterministic, and without any model of its own."""

from __future__ import annotations

from hallumeter.extractors.aspects.protocol import FoundPolarity, FoundTerm, SentenceReading

from .analyser import analyser_version
from .particles import end_without_particles
from .polarity import polarity_at, polarity_of_all
from .sentence import sentence_of
from .terms import first_term_after, terms_of
from .vocabulary import lexicon_hash, vocabulary

_NAME = "korean@2"


class KoreanReader:
    """An `AspectReader` of Korean; the analyser is loaded with the first sentence.

    Offsets count code points of the text as it was given, composed or not. A place outside the text, or without a
    noun, is read by what is felt around it.
    """

    @property
    def language(self) -> str:
        """``ko``."""
        return "ko"

    @property
    def version(self) -> str:
        """Of the rules, the lexicon and the analyser."""
        return f"{_NAME}-{lexicon_hash()}+{analyser_version()}"

    def read(self, text: str) -> SentenceReading:
        """Terms and cues of a sentence."""
        sentence = sentence_of(text)
        return SentenceReading(text, tuple(terms_of(sentence, vocabulary())), sentence.cues)

    def polarity_of(self, text: str, start: int, end: int) -> FoundPolarity:
        """What is felt about the term at a place."""
        return polarity_at(sentence_of(text), start, end, words=vocabulary())

    def sentence_polarity(self, text: str) -> FoundPolarity:
        """What is felt in the sentence as a whole, by its words alone."""
        return polarity_of_all(sentence_of(text), vocabulary())

    def without_particle(self, text: str, start: int, end: int) -> int:
        """Where a term ends when the particles behind it are left out; `end` itself when there are none."""
        return end_without_particles(sentence_of(text), start, end)

    def term_after(self, text: str, place: int) -> FoundTerm | None:
        """The first word behind a place that can be an aspect."""
        return first_term_after(sentence_of(text), place, vocabulary())
