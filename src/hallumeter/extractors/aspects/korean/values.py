"""How favourable a predicate or a noun phrase is in its place: word, phrase, degree, negation, amount, mood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .units import NO_PLACE, Adverb, Content, Nominal, Predicate
from .vocabulary import Vocabulary

SLIGHT = 0.15
"""Below this, words show nothing."""
WISHED = -0.45
"""What one wishes for is not there."""
_STRONGEST = 1.5
_TURNED_GOOD = -0.85
_TURNED_BAD = -0.55
"""Not good is bad; not bad is only fair."""
_TWICE_TURNED = 0.6
_QUESTIONED = 0.15
_IMAGINED = 0.4
_PASSED_ON = 0.9
_EXCESSIVE = -0.45
_SHY = -0.6
_OUT_OF_ORDER = -0.6
_UNABLE = -0.4
_UNDONE = -0.2
_NEEDED = -0.35
_URGED = 0.5
_COSTLY = -0.5
_CHEAP = 0.45
_UNSURPASSED = 1.0
_WEAK_NOUN = 0.35


class FoundPhrase(NamedTuple):
    """Several content words that are known together."""

    weight: float
    start: int
    words: tuple[str, ...]


class Valuer:
    """Values the units of one text."""

    def __init__(self, words: Vocabulary, content: Sequence[Content]) -> None:
        self._words = words
        self._grammar = words.grammar
        self._content = content

    def phrase_at(self, place: int) -> FoundPhrase | None:
        """The longest known phrase that ends with a content word."""
        if place == NO_PLACE or self._content[place].lemma not in self._words.phrase_words:
            return None
        for length in range(min(self._words.longest_phrase, place + 1), 1, -1):
            found = self._content[place + 1 - length : place + 1]
            words = tuple(word.lemma for word in found)
            weight = self._words.phrases.get(words)
            if weight is not None:
                return FoundPhrase(weight, found[0].start, words)
        return None

    def nominal(self, nominal: Nominal) -> float:
        """Of a noun phrase with what stands before it."""
        own = self.nominal_alone(nominal)
        before = _within(sum(predicate.value for predicate in nominal.modifiers))
        if own and any(predicate.lemma in self._words.reversers for predicate in nominal.modifiers):
            return _turned(own)
        if abs(own) >= _WEAK_NOUN or not before:
            return own
        return before * _PASSED_ON

    def nominal_alone(self, nominal: Nominal) -> float:
        """Of the words of a noun phrase, or of the phrase that ends with it."""
        phrase = self.phrase_at(nominal.place)
        return nominal.weight if phrase is None else phrase.weight

    def predicate(self, predicate: Predicate, arguments: Sequence[Nominal], adverbs: Sequence[Adverb]) -> float:
        """Of a predicate with what belongs to it; negation, degree and mood are counted in."""
        lemmas = [adverb.lemma for adverb in adverbs]
        negations = predicate.negations + sum(lemma in self._grammar.negating_adverbs for lemma in lemmas)
        phrase = self.phrase_at(predicate.last_place) or self.phrase_at(predicate.place)
        if phrase is not None:
            negations -= sum(word in self._words.negations for word in phrase.words if word != predicate.lemma)
            predicate.start = min(predicate.start, phrase.start)
            self._use_up(phrase, arguments)
            value = phrase.weight
        else:
            value = self._plain(predicate, arguments)
            value = self._with_adverbs(value, predicate, adverbs)
            if not negations and value > -SLIGHT and self._is_shy(predicate, lemmas):
                value = _SHY
        if negations > 0:
            value = self._negated(value, negations, predicate=predicate, lemmas=lemmas)
        return _within(self._in_mood(value, predicate, lemmas))

    def _use_up(self, phrase: FoundPhrase, arguments: Sequence[Nominal]) -> None:
        """Nouns of a phrase are no things of their own, unless one often speaks about them."""
        for nominal in arguments:
            if nominal.start >= phrase.start and nominal.head not in self._words.aspects:
                nominal.is_thing = False

    def _plain(self, predicate: Predicate, arguments: Sequence[Nominal]) -> float:
        """By the word, and by what it is said of where the word leaves that open."""
        turns = predicate.lemma in self._words.reversers
        takes_part = turns or predicate.lemma in self._words.amounts
        if takes_part or not predicate.weight:
            for nominal in reversed(arguments):
                passed = 0.0 if nominal.role in {"genitive", "than", "basis", "list"} else self.nominal(nominal)
                if abs(passed) >= SLIGHT:
                    predicate.start = min(predicate.start, nominal.start)
                    return _turned(passed) if turns else passed * _PASSED_ON
        if takes_part and predicate.is_adjective and self._is_about_cost(arguments):
            return _CHEAP if turns else _COSTLY
        return predicate.weight

    def _is_about_cost(self, arguments: Sequence[Nominal]) -> bool:
        return any(
            nominal.head in self._words.bad_when_much and nominal.role not in {"genitive", "adverbial"}
            for nominal in arguments
        )

    def _with_adverbs(self, value: float, predicate: Predicate, adverbs: Sequence[Adverb]) -> float:
        shown = sum(adverb.weight for adverb in adverbs if adverb.lemma not in self._grammar.polarity_shy)
        is_weak = abs(value) <= 2 * SLIGHT
        if abs(value) < SLIGHT <= abs(shown):
            value = shown
        elif shown * value > 0:
            value = max(value, shown, key=abs)
        if is_weak and predicate.is_adjective and any(adverb.lemma in self._grammar.excess for adverb in adverbs):
            return _EXCESSIVE
        for adverb in adverbs:
            value *= self._words.degrees.get(adverb.lemma, 1.0)
        return _within(value)

    def _is_shy(self, predicate: Predicate, lemmas: Sequence[str]) -> bool:
        """Whether 별로 stands there without the negation that it asks for, and so is one itself."""
        return predicate.lemma not in self._words.reversers and any(
            lemma in self._grammar.polarity_shy for lemma in lemmas
        )

    def _negated(self, value: float, negations: int, *, predicate: Predicate, lemmas: Sequence[str]) -> float:
        if negations % 2 == 0:
            return value * _TWICE_TURNED
        if predicate.is_unable and value > 0 and any(lemma in self._grammar.more_adverbs for lemma in lemmas):
            return _UNSURPASSED
        if abs(value) >= SLIGHT:
            is_passed_on = not predicate.weight and value < 0 and predicate.lemma not in self._words.amounts
            return value * _IMAGINED if is_passed_on else _turned(value)
        if predicate.lemma in self._words.functions:
            return _OUT_OF_ORDER
        is_unable = predicate.is_unable or any(lemma in self._grammar.unable_adverbs for lemma in lemmas)
        return _UNABLE if is_unable else _UNDONE

    def _in_mood(self, value: float, predicate: Predicate, lemmas: Sequence[str]) -> float:
        """Wishes, needs, conditions and questions do not say how something is."""
        if predicate.is_wish:
            return 0.0 if predicate.is_honorific else WISHED
        if predicate.is_needed or (predicate.lemma in self._words.needs and predicate.shape != "adnominal"):
            is_urged = any(lemma in self._grammar.urging_adverbs for lemma in lemmas)
            return _URGED if is_urged else min(value, _NEEDED)
        if predicate.ending in self._grammar.wish_endings:
            return value * _IMAGINED
        return value * _QUESTIONED if predicate.is_question else value


def _turned(value: float) -> float:
    return value * (_TURNED_GOOD if value > 0 else _TURNED_BAD)


def _within(value: float) -> float:
    return max(-_STRONGEST, min(_STRONGEST, value))
