"""What is felt about a place of a text, from the words that are tied to it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from hallumeter.extractors.aspects.protocol import FoundCue, FoundPolarity
from hallumeter.records.aspects import POLARITIES

from .clauses import Clause
from .sentence import Sentence
from .units import Nominal, Tie
from .values import SLIGHT
from .vocabulary import Vocabulary

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
        ties = _without_mockery(ties, ironies)
    value = strength(ties)
    scores = {"positive": _SHARPNESS * value, "negative": -_SHARPNESS * value, "neutral": _SHARPNESS * SLIGHT}
    whole = sum(math.exp(score) for score in scores.values())
    shares = {str(name): math.exp(scores[name]) / whole for name in POLARITIES}
    polarity = max(POLARITIES, key=lambda name: (shares[name], name == "neutral"))
    shown = [tie for tie in ties if abs(tie.value * tie.weight) >= _FAINT]
    best = max(shown, key=lambda tie: tie.value * tie.weight * (1 if value >= 0 else -1), default=None)
    start, end = (best.start, best.end) if best is not None else (None, None)
    return FoundPolarity(polarity, shares[polarity], shares, start, end)


def _without_mockery(ties: Sequence[Tie], ironies: Sequence[FoundCue]) -> list[Tie]:
    """Praise that is meant as its opposite is turned."""
    return [
        tie._replace(value=-abs(tie.value))
        if any(cue.scope_start <= tie.start < cue.scope_end for cue in ironies)
        else tie
        for tie in ties
    ]


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
