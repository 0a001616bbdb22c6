"""Aspects with their polarities, compared with gold.

A pair is a term and a polarity, both tidied; pairs are sets, so that what is said twice counts once. A pair of gold
without a term matches any one prediction of its polarity that nothing else has matched.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from hallumeter.aspects.records.aspect import AspectTuple

Pair = tuple[str, str]
"""A term, empty when it is not named, and a polarity, empty when it is missing."""
_POLARITIES = {
    "positive": "positive",
    "pos": "positive",
    "negative": "negative",
    "neg": "negative",
    "neutral": "neutral",
    "neu": "neutral",
}
VALID_POLARITIES = frozenset({"positive", "negative", "neutral", "mixed"})


class TupleMatch(NamedTuple):
    """How the pairs of a stage fit those of gold."""

    matched: int
    predicted: int
    gold: int

    @property
    def f1(self) -> float:
        """Twice the matched over all pairs of both; 1 when neither has one.

        >>> TupleMatch(1, 2, 1).f1, TupleMatch(0, 0, 0).f1, TupleMatch(0, 0, 1).f1
        (0.6666666666666666, 1.0, 0.0)
        """
        pairs = self.predicted + self.gold
        return 2 * self.matched / pairs if pairs else 1.0

    @property
    def is_perfect(self) -> bool:
        """Whether every pair has its match."""
        return self.matched == self.predicted == self.gold


@lru_cache(maxsize=1 << 16)
def tidy_term(term: str) -> str:
    """A term as it is compared: without case, outer punctuation and double spaces.

    >>> tidy_term("  The  Battery! "), tidy_term("배터리"), tidy_term("...")
    ('the battery', '배터리', '')
    """
    words = " ".join(unicodedata.normalize("NFC", term).lower().split())
    first, last = 0, len(words)
    while first < last and _is_outside(words[first]):
        first += 1
    while last > first and _is_outside(words[last - 1]):
        last -= 1
    return words[first:last]


def tidy_polarity(polarity: str | None) -> str:
    """A polarity as it is compared: whole words alone are understood, and a missing one is empty.

    >>> tidy_polarity("POS"), tidy_polarity(" positive"), tidy_polarity(None), tidy_polarity("posit")
    ('positive', 'positive', '', 'posit')
    """
    if polarity is None:
        return ""
    known = _POLARITIES.get(polarity)
    if known is None:
        plain = polarity.strip().lower()
        known = _POLARITIES.get(plain, plain)
    return known


class Stated(NamedTuple):
    """What a stage states: its different pairs, in order of appearance, and other names of their aspects."""

    pairs: tuple[Pair, ...]
    others: tuple[tuple[Pair, Pair], ...] = ()
    """Pairs beside what they would be under the other name of their aspect."""

    @property
    def is_all_named(self) -> bool:
        """Whether every pair names an aspect."""
        return all(pair[0] for pair in self.pairs)

    def some(self, *, is_named: bool) -> Stated:
        """Only the pairs that name an aspect, or only those that do not."""
        return Stated(
            tuple(pair for pair in self.pairs if bool(pair[0]) == is_named),
            tuple(each for each in self.others if bool(each[0][0]) == is_named),
        )


def stated_by(tuples: Iterable[AspectTuple]) -> Stated:
    """What tuples state, tidied."""
    pairs: dict[Pair, None] = {}
    others = []
    for each in tuples:
        pair = (tidy_term(each.aspect_term), tidy_polarity(each.polarity))
        pairs[pair] = None
        if each.aspect_ref:
            others.append((pair, (tidy_term(each.aspect_ref), pair[1])))
    return Stated(tuple(pairs), tuple(others))


def pairs_of(tuples: Iterable[AspectTuple]) -> tuple[Pair, ...]:
    """The different pairs, in order of appearance."""
    return stated_by(tuples).pairs


def match_tuples(predicted: Iterable[AspectTuple], gold: Sequence[Pair]) -> TupleMatch:
    """Match predictions one to one: by term and polarity, by another name of the aspect, last to gold without a term.

    >>> from hallumeter.aspects.records.aspect import AspectTuple
    >>> match_tuples([AspectTuple("food", "positive"), AspectTuple("", "negative")], [("food", "positive")])
    TupleMatch(matched=1, predicted=2, gold=1)
    """
    return match_stated(stated_by(predicted), gold)


def match_stated(stated: Stated, gold: Sequence[Pair]) -> TupleMatch:
    """The same for tuples that are tidied."""
    if stated.pairs == gold:
        return TupleMatch(len(gold), len(gold), len(gold))
    matched, unmatched, left = _exact(stated, gold)
    for _, polarity in [pair for pair in left if not pair[0]]:
        for pair in unmatched:
            if pair[1] == polarity:
                unmatched.remove(pair)
                matched += 1
                break
    return TupleMatch(matched, len(stated.pairs), len(gold))


def match_explicit(stated: Stated, gold: Sequence[Pair]) -> TupleMatch:
    """The same for named aspects alone, on both sides."""
    return match_stated(stated.some(is_named=True), tuple(pair for pair in gold if pair[0]))


def match_implicit(stated: Stated, gold: Sequence[Pair]) -> TupleMatch:
    """Polarities of gold without a term, against those of the predictions that match no named aspect of gold."""
    _, unmatched, _ = _exact(stated, [pair for pair in gold if pair[0]])
    wanted = {polarity for term, polarity in gold if not term}
    found = {polarity for _, polarity in unmatched}
    return TupleMatch(len(wanted & found), len(found), len(wanted))


def has_severe_error(stated: Stated, gold: Sequence[Pair]) -> bool:
    """Whether a named aspect of gold is predicted with a polarity that gold does not give it.

    >>> has_severe_error(Stated((("food", "negative"),)), (("food", "positive"),))
    True
    """
    if stated.pairs == gold:
        return False
    known: dict[str, set[str]] = {}
    for term, polarity in gold:
        if term:
            known.setdefault(term, set()).add(polarity)
    return any(polarity and polarity not in known.get(term, {polarity}) for term, polarity in stated.pairs)


def has_conflict(stated: Stated) -> bool:
    """Whether one named aspect has two polarities.

    >>> has_conflict(Stated((("food", "negative"), ("food", "positive"))))
    True
    """
    polarities: dict[str, str] = {}
    for term, polarity in stated.pairs:
        if term and polarity and polarities.setdefault(term, polarity) != polarity:
            return True
    return False


def _exact(stated: Stated, gold: Sequence[Pair]) -> tuple[int, list[Pair], list[Pair]]:
    """How many match by name and polarity; the predictions and the gold that are left."""
    left = dict.fromkeys(gold)
    unmatched = []
    for pair in stated.pairs:
        if pair[0] and pair in left:
            del left[pair]
        else:
            unmatched.append(pair)
    for pair, other in stated.others if unmatched else ():
        if other[0] and other in left and pair in unmatched:
            del left[other]
            unmatched.remove(pair)
    return len(stated.pairs) - len(unmatched), unmatched, list(left)


def _is_outside(character: str) -> bool:
    return not character.isalnum() and unicodedata.category(character)[0] in "PSZ"
