"""Reads Korean sentences by morphology, a lexicon and rules; deterministic, and without any model of its own."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from hallumeter.aspects.readers.protocol import FoundCue, FoundPolarity, FoundTerm, SentenceReading
from hallumeter.aspects.records.aspect import POLARITIES

from .analyser import Morpheme, analyser_version
from .clauses import SLIGHT, Clause
from .parsing import Sentence, sentence_of
from .units import Nominal, Role, Tie
from .vocabulary import Vocabulary, lexicon_hash, vocabulary

# What is felt about a place of a text, from the words that are tied to it.

_SHARPNESS = 3.0
_STRONGEST = 1.5
_FAINT = 0.05
_SAME_CLAUSE = 0.5
_REASON = 0.5
_NEXT_CLAUSE = 0.35
_PREVIOUS_CLAUSE = 0.3
_ELSEWHERE = 0.2
_AFTER_CONTRAST = 1.4
_BEFORE_CONTRAST = 0.7


def polarity_at(sentence: Sentence, start: int, end: int, *, words: Vocabulary) -> FoundPolarity:
    """What is felt about a term; by the words of the clauses around where nothing is tied to it."""
    ties = _ties_at(sentence, start, end)
    if not _shows(ties):
        ties = _around(sentence.clauses, _clause_at(sentence.clauses, start), words)
    return found_polarity(ties, sentence.ironies)


def polarity_of_all(sentence: Sentence, words: Vocabulary) -> FoundPolarity:
    """What is felt in the whole text; what stands behind a contrast counts more."""
    opposing = words.contrasts - words.grammar.background_endings
    ties: list[Tie] = []
    for clause in sentence.clauses:
        weight = 1.0
        if clause.opens_with_contrast:
            weight = _AFTER_CONTRAST
        elif clause.predicate is not None and clause.predicate.ending in opposing:
            weight = _BEFORE_CONTRAST
        ties += [tie._replace(weight=tie.weight * weight) for tie in clause.opinions]
    return found_polarity(ties, sentence.ironies)


def strength(ties: Iterable[Tie]) -> float:
    """How favourable all ties are together."""
    return max(-_STRONGEST, min(_STRONGEST, sum(tie.value * tie.weight for tie in ties)))


def found_polarity(ties: Sequence[Tie], ironies: Sequence[FoundCue] = ()) -> FoundPolarity:
    """A polarity with its probabilities, and the words that show it most.

    >>> found_polarity([Tie(0.8, 1.0, 3, 7)]).polarity, found_polarity([]).polarity
    ('positive', 'neutral')
    """
    if ironies:
        # Praise that is meant as its opposite is turned.
        ties = [
            tie._replace(value=-abs(tie.value))
            if any(cue.scope_start <= tie.start < cue.scope_end for cue in ironies)
            else tie
            for tie in ties
        ]
    value = strength(ties)
    scores = {"positive": _SHARPNESS * value, "negative": -_SHARPNESS * value, "neutral": _SHARPNESS * SLIGHT}
    whole = sum(math.exp(score) for score in scores.values())
    shares = {str(name): math.exp(scores[name]) / whole for name in POLARITIES}
    polarity = max(POLARITIES, key=lambda name: (shares[name], name == "neutral"))
    shown = [tie for tie in ties if abs(tie.value * tie.weight) >= _FAINT]
    best = max(shown, key=lambda tie: tie.value * tie.weight * (1 if value >= 0 else -1), default=None)
    start, end = (best.start, best.end) if best is not None else (None, None)
    return FoundPolarity(polarity, shares[polarity], shares, start, end)


def _ties_at(sentence: Sentence, start: int, end: int) -> list[Tie]:
    """Of the noun phrase that a place shares most with, and of the predicates inside the place."""
    inside = [
        Tie(predicate.value, 1.0, predicate.start, predicate.end)
        for predicate in sentence.predicates
        if start <= predicate.start < end and predicate.shape in {"final", "joining"}
    ]
    touched = [nominal for nominal in sentence.nominals if nominal.start < end and start < nominal.end]
    if not touched:
        return inside

    def shared(nominal: Nominal) -> tuple[int, int]:
        return min(end, nominal.end) - max(start, nominal.start), nominal.start

    return max(touched, key=shared).ties + inside


def _shows(ties: Iterable[Tie]) -> bool:
    return any(abs(tie.value) >= SLIGHT for tie in ties)


def _clause_at(clauses: Sequence[Clause], place: int) -> int:
    for number, clause in enumerate(clauses):
        if place < clause.end:
            return number
    return max(0, len(clauses) - 1)


def _around(clauses: Sequence[Clause], number: int, words: Vocabulary) -> list[Tie]:
    """What is felt in the clause itself, in the next one, in the one before, or anywhere."""
    if not clauses:
        return []
    own = clauses[number]
    gives_reason = own.predicate is not None and own.predicate.ending in words.grammar.because_endings
    nearby = (
        (number, _SAME_CLAUSE),
        (number + 1, _REASON if gives_reason else _NEXT_CLAUSE),
        (number - 1, _PREVIOUS_CLAUSE),
    )
    for place, weight in nearby:
        if 0 <= place < len(clauses) and clauses[place].sentence == own.sentence and _shows(clauses[place].opinions):
            return [tie._replace(weight=tie.weight * weight) for tie in clauses[place].opinions]
    return [tie._replace(weight=tie.weight * _ELSEWHERE) for clause in clauses for tie in clause.opinions]


# Where a term ends when the particles behind it are left out, by morphology.


def end_without_particles(sentence: Sentence, start: int, end: int) -> int:
    """The end of the noun at a place; the end itself when no particle stands there.

    The copula counts as a particle, with its endings. A particle that shares a syllable with its noun stays.
    """
    morphemes = sentence.morphemes
    place = bisect_left(morphemes, end, key=lambda morpheme: morpheme.start) - 1
    first = place
    while first > 0 and _can_be_cut(morphemes[first], start):
        first -= 1
    follows_noun = 0 <= first < place and morphemes[first].end <= morphemes[first + 1].start
    return morphemes[first + 1].start if follows_noun and _is_noun(morphemes[first]) else end


def _can_be_cut(morpheme: Morpheme, start: int) -> bool:
    return (morpheme.tag[0] in "EJ" or morpheme.tag == "VCP") and morpheme.start > start


def _is_noun(morpheme: Morpheme) -> bool:
    return morpheme.tag[0] in "NSWX" or morpheme.tag in {"UN", "MAG"}


# Which noun phrases of a text are aspects: something is said about them.

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
_NO_TERMS = 0.05
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
    confidence = _FELT[nominal.role] if is_felt else _UNFELT.get(nominal.role, _NO_TERMS)
    if nominal.head in words.aspects:
        confidence += _KNOWN
    return round(confidence, 2)


_NAME = "korean@3"


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
