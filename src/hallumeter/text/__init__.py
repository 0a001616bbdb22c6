"""Strings in, strings and positions out: the identity of a claim, sentences, phrases and the words of languages."""

from .lexicon import LANGUAGES, Lexicon, load_lexicon
from .normalize import CleanText, claim_key, clean_text
from .phrases import Phrase, PhraseFinder, parse_phrase
from .sentences import iterate_sentence_spans, sentence_spans

__all__ = [
    "LANGUAGES",
    "CleanText",
    "Lexicon",
    "Phrase",
    "PhraseFinder",
    "claim_key",
    "clean_text",
    "iterate_sentence_spans",
    "load_lexicon",
    "parse_phrase",
    "sentence_spans",
]
