"""What the words of a sentence show by themselves: weights of the lexicon, turned by negation and scaled by degree."""

from __future__ import annotations

from collections.abc import Sequence, Set

from msgspec import Struct

from hallumeter.extractors.aspects.protocol import FoundPolarity
from hallumeter.records.aspects import Polarity

from .clauses import Clauses, clauses_of
from .tokens import Tokens, tokens_of
from .wording import Wording, wording

_REACH = 4
"""How many words a negation reaches forward."""
_TURNED = -0.75
"""What is left of a weight that is negated: "not great" says less than "bad"."""
_LATER = 1.5
"""How much more weighs what follows the last turn of a sentence than what was said before it."""
_UNDECIDED = 1.0
"""The weight of nothing being said, so that little evidence gives little confidence."""


class Feeling(Struct, frozen=True):
    """Words that weigh something."""

    first: int
    """The first word, with what negates and scales it."""
    core: int
    """The first word that itself weighs something."""
    last: int
    """One past the last word."""
    weight: float


def feelings_of(tokens: Tokens, clauses: Clauses, known: Wording) -> tuple[Feeling, ...]:
    """The words of a text that weigh something, in its order."""
    words, parts = tokens.words, clauses.parts
    weighed = known.feelings.find(words)
    negated = _negated(clauses, {core for core, last, _ in weighed if last > core + 1})
    found: list[Feeling] = []
    for core, last, weight in weighed:
        if not weight or (words[core] in known.factors and _is_degree(words, last, known)):
            continue
        start, factor = core, 1.0
        while start > 0 and core - start < 2 and words[start - 1] in known.factors and parts[start - 1] == parts[core]:
            start -= 1
            factor *= known.factors[words[start]]
        by = negated.get(core)
        if by is not None:
            start, factor = min(start, by), factor * _TURNED
        found.append(Feeling(start, core, last, weight * factor))
    return tuple(found)


def lexicon_polarity(text: str, start: int, end: int) -> Polarity:
    """The polarity of a term by the lexicon alone: the sign of what its clause weighs; the baseline of the reader.

    >>> text = "The food was great but the service was not good."
    >>> lexicon_polarity(text, 4, 8), lexicon_polarity(text, 27, 34), lexicon_polarity("We ate soup.", 7, 11)
    ('positive', 'negative', 'neutral')
    """
    tokens = tokens_of(text)
    known = wording()
    clauses = clauses_of(tokens, known)
    first, last = tokens.covering(start, end)
    if first == last:
        return "neutral"
    part = clauses.parts[first]
    weight = sum(
        feeling.weight for feeling in feelings_of(tokens, clauses, known) if clauses.parts[feeling.core] == part
    )
    return "positive" if weight > 0 else "negative" if weight < 0 else "neutral"


def whole_polarity(tokens: Tokens, clauses: Clauses, feelings: Sequence[Feeling]) -> FoundPolarity:
    """What is felt in a whole text by its words, clause by clause; what follows its last turn weighs more."""
    weights = {"positive": 0.0, "negative": 0.0}
    last_turn = clauses.turns[feelings[-1].core] if feelings else 0
    for feeling in feelings:
        is_later = clauses.turns[feeling.core] == last_turn
        weights["positive" if feeling.weight > 0 else "negative"] += abs(feeling.weight) * (_LATER if is_later else 1.0)
    total = weights["positive"] + weights["negative"] + _UNDECIDED
    distribution = {
        "positive": weights["positive"] / total,
        "negative": weights["negative"] / total,
        "neutral": _UNDECIDED / total,
    }
    difference = weights["positive"] - weights["negative"]
    polarity: Polarity = "positive" if difference > 0 else "negative" if difference < 0 else "neutral"
    shown = [feeling for feeling in feelings if (feeling.weight > 0) == (difference > 0)] if difference else []
    strongest = max(shown, key=lambda feeling: abs(feeling.weight), default=None)
    return FoundPolarity(
        polarity,
        distribution[polarity],
        distribution,
        start=None if strongest is None else tokens.starts[strongest.first],
        end=None if strongest is None else tokens.ends[strongest.last - 1],
    )


def _negated(clauses: Clauses, phrases: Set[int]) -> dict[int, int]:
    """The words that a negation reaches, and where it stands; one that begins a phrase is weighed with it."""
    reached: dict[int, int] = {}
    for first, last, kind in clauses.cues:
        if kind == "negation" and first not in phrases:
            end = min(last + _REACH, len(clauses.parts))
            reached |= {word: first for word in range(last, end) if clauses.parts[word] == clauses.parts[first]}
    return reached


def _is_degree(words: Sequence[str], after: int, known: Wording) -> bool:
    """Whether a word such as "pretty" only scales the word behind it."""
    return after < len(words) and words[after] in known.weights
