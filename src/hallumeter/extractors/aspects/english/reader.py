"""Reads English sentences: aspect terms, what is felt about them, and words that mislead."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import msgspec

from hallumeter.extractors.aspects.protocol import FoundPolarity, FoundTerm, SentenceReading
from hallumeter.text.sentiment_words import sentiment_words

from .analysis import Analysis, Instruments
from .feelings import whole_polarity
from .model_files import shipped_weights
from .wording import LANGUAGE

_KEPT = 64
"""How many texts are remembered; several agents ask about the same one."""
_SHORT = 2_000
"""Characters of the longest text of which many are remembered; of longer ones only the last is."""
_RULES = 1
"""Counts up when the code reads differently with the same weights and words."""


class EnglishReader:
    """Reads English sentences offline with the weights of the package.

    Made once, it can be used from several threads; the weights are read when they are first needed.

    >>> reader = EnglishReader()
    >>> text = "The food was delicious but the waiter was rude."
    >>> terms = reader.read(text).terms
    >>> [(text[term.start : term.end], reader.polarity_of(text, term.start, term.end).polarity) for term in terms]
    [('food', 'positive'), ('waiter', 'negative')]
    """

    def __init__(self) -> None:
        self._short = lru_cache(maxsize=_KEPT)(_analysis)
        self._long = lru_cache(maxsize=1)(_analysis)

    @property
    def language(self) -> str:
        """``en``."""
        return LANGUAGE

    @property
    def version(self) -> str:
        """Rules, and a digest of the weights and the lexicon."""
        return _version()

    def read(self, text: str) -> SentenceReading:
        """Terms and cues of a text, in its order."""
        return self._analysed(text).reading

    def polarity_of(self, text: str, start: int, end: int) -> FoundPolarity:
        """What is felt about the words that a stretch of text touches; of the whole text when it touches none."""
        analysis = self._analysed(text)
        first, last = analysis.sentence.tokens.covering(max(start, 0), end)
        return self.sentence_polarity(text) if first >= last else analysis.polarity(first, last)

    def sentence_polarity(self, text: str) -> FoundPolarity:
        """What is felt in a text as a whole, by the words of the lexicon."""
        sentence = self._analysed(text).sentence
        return whole_polarity(sentence.tokens, sentence.clauses, sentence.feelings)

    def without_particle(self, text: str, start: int, end: int) -> int:  # noqa: ARG002 - the protocol of all languages
        """English has no particles: `end` itself."""
        return end

    def term_after(self, text: str, place: int) -> FoundTerm | None:
        """The first term or likely word at or behind a place, else the first word there that can name an aspect."""
        return self._analysed(text).term_after(place)

    def _analysed(self, text: str) -> Analysis:
        return self._short(text) if len(text) <= _SHORT else self._long(text)


@lru_cache(maxsize=1)
def _instruments() -> Instruments:
    return Instruments.of(shipped_weights())


def _analysis(text: str) -> Analysis:
    return Analysis(text, _instruments())


@lru_cache(maxsize=1)
def _version() -> str:
    words = msgspec.json.encode(sentiment_words(LANGUAGE), order="deterministic")
    digest = hashlib.sha256(words + shipped_weights().digest.encode()).hexdigest()[:8]
    return f"english@{_RULES}-{digest}"
