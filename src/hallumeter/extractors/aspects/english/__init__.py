"""Reads aspects and what is felt about them in English sentences, offline."""

from .feelings import lexicon_polarity
from .reader import EnglishReader

__all__ = ["EnglishReader", "lexicon_polarity"]
