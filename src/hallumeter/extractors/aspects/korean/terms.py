"""Which noun phrases of a text are aspects: something is said about them."""

from __future__ import annotations

from collections.abc import Iterator

from hallumeter.extractors.aspects.protocol import FoundTerm

from .polarity import strength
from .sentence import Sentence
from .units import Nominal, Role
from .values import SLIGHT
from .vocabulary import Vocabulary

LEAST_CONFIDENCE = 0.4
"""Below this, a noun phrase is rarely marked."""
_UNFELT: dict[Role, float] = {"topic": 0.2, "subject": 0.15, "focus": 0.15, "bare": 0.1, "list": 0.1}
_FELT: dict[Role, float] = {
    "topic": 0.5,
    "subject": 0.4,
    "focus": 0.4,
    "bare": 0.4,
    "list": 0.4,
    "complement": 0.4,
    "object": 0.2,
    "copula": 0.2,
    "adverbial": 0.15,
    "genitive": 0.1,
    "than": 0.0,
    "basis": 0.05,
}
"""How probable an aspect is where something is felt about it; people mark subjects more than circumstances."""
_ELSEWHERE = 0.05
_KNOWN = 0.3
"""So much more when reviews often speak about it."""
_LONGEST = 5
_AFTER = 0.5


def terms_of(sentence: Sentence, words: Vocabulary) -> Iterator[FoundTerm]:
    """Aspect terms in their order, with how probable each is."""
    for nominal in sentence.nominals if sentence.is_korean else ():
        if can_be_aspect(nominal, words):
            confidence = _confidence(nominal, words)
            if confidence >= LEAST_CONFIDENCE:
                yield FoundTerm(nominal.start, nominal.end, confidence, nominal.head)


def first_term_after(sentence: Sentence, place: int, words: Vocabulary) -> FoundTerm | None:
    """The first noun phrase behind a place that can be an aspect."""
    for nominal in sentence.nominals:
        if nominal.start >= place and can_be_aspect(nominal, words):
            return FoundTerm(nominal.start, nominal.end, _AFTER, nominal.head)
    return None


def can_be_aspect(nominal: Nominal, words: Vocabulary) -> bool:
    """Whether a noun phrase names something that one can speak about."""
    if not nominal.is_thing or len(nominal.nouns) > _LONGEST:
        return False
    if all(noun in words.stop_terms and noun not in words.aspects for noun in nominal.nouns):
        return False
    if nominal.weight and not nominal.can_join:
        return False
    return nominal.end - nominal.start > 1 or nominal.head in words.short_aspects


def _confidence(nominal: Nominal, words: Vocabulary) -> float:
    is_felt = abs(strength(nominal.ties)) >= SLIGHT
    confidence = _FELT[nominal.role] if is_felt else _UNFELT.get(nominal.role, _ELSEWHERE)
    if nominal.head in words.aspects:
        confidence += _KNOWN
    return round(confidence, 2)
