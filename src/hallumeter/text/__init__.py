"""Strings in, strings and positions out: the identity of a claim, sentences, phrases and the words of languages."""

from .lexicon import LANGUAGES, Lexicon, load_lexicon
from .normalize import CleanText, claim_key, clean_text
from .phrases import Phrase, PhraseFinder, parse_phrase
from .sentences import iterate_sentence_spans, sentence_spans
from .spelling import AS_WRITTEN, STEPS, Spelling, parse_spelling
from .words import Words, words_of

__all__ = [
    "AS_WRITTEN",
    "LANGUAGES",
    "STEPS",
    "CleanText",
    "Lexicon",
    "Phrase",
    "PhraseFinder",
    "Spelling",
    "Words",
    "claim_key",
    "clean_text",
    "iterate_sentence_spans",
    "load_lexicon",
    "parse_phrase",
    "parse_spelling",
    "sentence_spans",
    "words_of",
]
