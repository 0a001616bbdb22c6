"""Whether two places, one in a claim and one in the evidence, speak of the same thing."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from hallumeter.text.terms import Terms, terms_of

from .evidence import Sentence
from .statement import Statement

_NEAR = 6
_FAR = 9
_SAME = 0.8
_OTHER = 0.6
_NOTHING = 1e-9


class Place(Struct, frozen=True):
    """Terms of a text, from the first to the last of them, inclusive."""

    first: int
    last: int


class Alignment(Struct, frozen=True):
    """How much the surroundings of two places have in common."""

    shared: int
    """Words near the place in the claim that stand near the place in the evidence."""
    share: float
    """Their weighted share among the words near the place in the claim."""
    whole: float
    """The weighted share of the claim's words that the sentence of the evidence has."""
    has_same_head: bool
    """The next word is the same, or the word before where none follows."""


def neighbours(terms: Terms, place: Place, *, reach: int, bounds: tuple[int, int] | None = None) -> list[str]:
    """Keys of words within reach of a place, without numbers and without those that say nothing."""
    low, high = bounds or (0, len(terms))
    keys = (
        terms.keys[max(low, place.first - reach) : place.first]
        + terms.keys[place.last + 1 : min(high, place.last + 1 + reach)]
    )
    return [key for key in keys if key and not key[0].isdecimal()]


def head_of(terms: Terms, place: Place) -> str:
    """The key of the first word after a place that says something, when it follows closely; else empty."""
    for index in range(place.last + 1, min(len(terms), place.last + 3)):
        gap = terms.text[terms.ends[index - 1] : terms.starts[index]]
        if any(mark in gap for mark in ",.;:()\n"):
            return ""
        if terms.keys[index]:
            return terms.keys[index]
    return ""


def aligned(statement: Statement, place: Place, *, number: int, other: Place) -> Alignment:
    """Compare the surroundings of a place in a claim with those of a place in a sentence of the evidence."""
    sentence: Sentence = statement.evidence.sentences[number]
    terms = sentence.block.terms
    near = dict.fromkeys(neighbours(statement.terms, place, reach=_NEAR))
    far = {*neighbours(terms, other, reach=_FAR, bounds=(sentence.first, sentence.last)), *sentence.block.keys}
    shared = [key for key in near if key in far]
    total = sum(statement.weights[key] for key in near)
    head, other_head = head_of(statement.terms, place), head_of(terms, other)
    if is_named_value(statement, sentence) and (head in sentence.block.keys or _names_field(near, sentence)):
        return Alignment(shared=2, share=1.0, whole=1.0, has_same_head=True)
    return Alignment(
        shared=len(shared),
        share=sum(statement.weights[key] for key in shared) / total if total else 0.0,
        whole=statement.share_in(number),
        has_same_head=head == other_head if head or other_head else True,
    )


def may_align(statement: Statement, number: int, *, whole: float) -> bool:
    """Whether an alignment with a place in this sentence can have so large a `whole`: asked first, for it is cheap."""
    return statement.share_in(number) >= whole or is_named_value(statement, statement.evidence.sentences[number])


class Displaced(Struct, frozen=True):
    """A value of a claim that the evidence has, but not where it speaks of the same thing."""

    sentence: int
    """The sentence that has nearly all other words of the claim."""
    held: float
    """The largest share of those words that a sentence with the value has."""


def displaced(statement: Statement, place: Place, *, holders: Iterable[int]) -> Displaced | None:
    """Where else than in the sentences that hold a value the evidence speaks of the same; None when it does not."""
    own = {key for key in statement.terms.keys[place.first : place.last + 1] if key}
    if len(own) == len(statement.keys) or not statement.best:
        return None
    shares = {number: _share_without(statement, own, number) for number, _ in statement.best}
    number = max(shares, key=lambda each: shares[each])
    held_by = set(holders)
    if shares[number] < _SAME or number in held_by or statement.evidence.sentences[number].block.leaf is not None:
        return None
    held = max((_share_without(statement, own, each) for each in held_by), default=0.0)
    return Displaced(number, held) if held <= _OTHER * shares[number] else None


def _share_without(statement: Statement, own: set[str], number: int) -> float:
    """The weighted share of the claim's words but these that a sentence has."""
    total = statement.total - sum(statement.weights[key] for key in own)
    lost = sum(statement.weights[key] for key in own if statement.evidence.has(key, number))
    share = (statement.share_in(number) * statement.total - lost) / total
    return share if share > _NOTHING else 0.0


def is_named_value(statement: Statement, sentence: Sentence) -> bool:
    """Whether a sentence is a JSON value whose path no other value has, so that its key says what it speaks of."""
    leaf = sentence.block.leaf
    return leaf is not None and statement.evidence.leaf_counts[leaf.path] == 1


def field_keys(sentence: Sentence) -> list[str]:
    """Keys of the words of the last key of a JSON value's path."""
    leaf = sentence.block.leaf
    return [key for key in terms_of(leaf.path[-1]).keys if key] if leaf is not None and leaf.path else []


def _names_field(near: dict[str, str | None], sentence: Sentence) -> bool:
    keys = field_keys(sentence)
    return bool(keys) and all(key in near for key in keys)
