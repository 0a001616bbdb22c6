"""The English words that the reader knows, in the form in which it looks for them."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from hallumeter.text.sentiment_words import SentimentWords, sentiment_words

from .phrase_table import PhraseTable
from .tokens import folded, tokens_of

LANGUAGE = "en"


class Wording(Struct, frozen=True):
    """Tables for the passes over a text."""

    weights: dict[str, float]
    """Of single words."""
    feelings: PhraseTable[float]
    """Weights of words and phrases."""
    cues: PhraseTable[str]
    """Words of negation, contrast and irony with their kind; an idiom that only looks like one has no kind."""
    factors: dict[str, float]
    """Of intensifiers and diminishers."""
    negations: frozenset[str]
    contrasts: frozenset[str]
    """Single words."""
    stop_words: frozenset[str]
    aspect_nouns: frozenset[str]
    clause_starts: frozenset[str]
    subjects: frozenset[str]
    linking: frozenset[str]
    determiners: frozenset[str]
    prepositions: frozenset[str]


@cache
def wording() -> Wording:
    """The words, read once."""
    source = sentiment_words(LANGUAGE)
    single = {folded(word): weight for word, weight in source.words.items() if len(tokens_of(word)) == 1}
    aspects = [word for name in sorted(source.extra) if name.startswith("aspects_") for word in source.extra[name]]
    return Wording(
        weights=single,
        feelings=PhraseTable([*source.words.items(), *source.phrases.items()]),
        cues=PhraseTable(_cues(source)),
        factors={**source.intensifiers, **source.diminishers},
        negations=frozenset(source.negations),
        contrasts=frozenset(word for word in source.contrasts if " " not in word),
        stop_words=frozenset(source.stop_terms),
        aspect_nouns=frozenset(aspects),
        clause_starts=frozenset(source.extra["clause_starts"]),
        subjects=frozenset(source.extra["subjects"]),
        linking=frozenset(source.extra["linking"]),
        determiners=frozenset(source.extra["determiners"]),
        prepositions=frozenset(source.extra["prepositions"]),
    )


def _cues(source: SentimentWords) -> list[tuple[str, str]]:
    kinds = {"negation": source.negations, "contrast": source.contrasts, "irony": source.irony}
    cues = [(phrase, kind) for kind, phrases in kinds.items() for phrase in phrases]
    idioms = [*source.extra["no_contrast"], *source.extra["no_negation"]]
    return [*cues, *((phrase, "") for phrase in idioms)]
