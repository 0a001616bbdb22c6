"""A reader of sentences that finds what a test wrote down for it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hallumeter.aspects.readers.protocol import CueKind, FoundCue, FoundPolarity, FoundTerm, SentenceReading
from hallumeter.aspects.records.aspect import Polarity

Feeling = tuple[Polarity, float, str]
"""What is felt, how surely, and by which words; no words when nothing shows it."""


class TableReader:
    """Knows terms with their confidence, what is felt about each of them, and cues that act on the whole sentence."""

    language = "en"
    version = "table-1"

    def __init__(
        self,
        terms: Mapping[str, float],
        feelings: Mapping[str, Feeling] | None = None,
        *,
        cues: Mapping[str, CueKind] | None = None,
        words: Mapping[str, Polarity] | None = None,
        language: str = "en",
    ) -> None:
        self._terms = terms
        self._feelings = feelings or {}
        self._cues = cues or {}
        self._words = words or {}
        self.language = language
        self.read_texts: list[str] = []

    def read(self, text: str) -> SentenceReading:
        self.read_texts.append(text)
        terms = [
            FoundTerm(match.start(), match.end(), confidence, head=term.split()[-1])
            for term, confidence in self._terms.items()
            for match in re.finditer(re.escape(term), text)
        ]
        cues = [
            FoundCue(kind, match.start(), match.end(), 0, len(text))
            for word, kind in self._cues.items()
            for match in re.finditer(re.escape(word), text)
        ]
        return SentenceReading(
            text,
            tuple(sorted(terms, key=lambda term: term.start)),
            tuple(sorted(cues, key=lambda cue: cue.start)),
        )

    def polarity_of(self, text: str, start: int, end: int) -> FoundPolarity:
        polarity, confidence, words = self._feelings.get(text[start:end].lower(), ("neutral", 0.5, ""))
        place = text.find(words) if words else -1
        span = (place, place + len(words)) if place >= 0 else (None, None)
        return FoundPolarity(polarity, confidence, {polarity: confidence}, *span)

    def sentence_polarity(self, text: str) -> FoundPolarity:
        found = [(text.find(word), word, polarity) for word, polarity in self._words.items() if word in text]
        if not found:
            return FoundPolarity("neutral", 0.5)
        place, word, polarity = min(found)
        return FoundPolarity(polarity, 0.8, {polarity: 0.8}, place, place + len(word))

    def without_particle(self, text: str, start: int, end: int) -> int:
        return end

    def term_after(self, text: str, place: int) -> FoundTerm | None:
        return next((term for term in self.read(text).terms if term.start >= place), None)
