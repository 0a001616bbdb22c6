"""Readers of aspect terms, what is felt about them, and words that mislead, one for each language."""

from .by_language import reader_for
from .protocol import AspectReader, CueKind, FoundCue, FoundPolarity, FoundTerm, SentenceReading

__all__ = [
    "AspectReader",
    "CueKind",
    "FoundCue",
    "FoundPolarity",
    "FoundTerm",
    "SentenceReading",
    "reader_for",
]
