"""Words of a claim whose opposite stands in their place in the evidence: fell for grew, before for after."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice

from hallumeter.text.lexicon import lexicons_with
from hallumeter.text.terms import Terms, fold, stem

from .check_polarity import denials, hidden_negations, same_clause, says_both
from .evidence import Sentence
from .statement import Finding, Statement

ALIKE = 0.6
"""Weighted share of the claim's words that a sentence must have before a word of it can be turned round."""
_MOST_OPPOSED = 50
"""How many words with an opposite in the evidence are looked at in one claim."""
_SIDES = 6


def check_comparison(statement: Statement) -> list[Finding]:
    """A word of the claim whose opposite stands in its place in the evidence."""
    if len(statement.keys) < 2:
        return []
    mine = comparable(statement.terms, (0, len(statement.terms)))
    if not any(word in opposites() for word in mine):
        return []
    for number, share in statement.best:
        sentence = statement.evidence.sentences[number]
        if share >= ALIKE and (found := _turned(statement, mine, sentence=sentence)) is not None:
            return [found]
    return []


def _turned(statement: Statement, mine: list[str], *, sentence: Sentence) -> Finding | None:
    terms = sentence.block.terms
    words = comparable(terms, (sentence.first, sentence.last))
    for index, opposite in islice(_opposed(mine, words), _MOST_OPPOSED):
        place = sentence.first + words.index(opposite)
        if not _stands_for(statement, index, sentence=sentence, place=place):
            continue
        start, end = statement.terms.starts[index], statement.terms.ends[index]
        first, last = terms.starts[place], terms.ends[place]
        note = f"response says “{statement.terms.text[start:end]}”, evidence says “{terms.text[first:last]}”"
        return Finding("comparison_mismatch", start, end, note, (sentence.block.quote(first, last),))
    return None


def _opposed(mine: list[str], words: list[str]) -> Iterator[tuple[int, str]]:
    """Places of words that only the first text has, with an opposite that only the second has."""
    own, others = frozenset(mine), frozenset(words)
    for index, word in enumerate(mine):
        opposed = opposites().get(word, frozenset())
        if not opposed or word in others or not alike(word).isdisjoint(others) or not opposed.isdisjoint(own):
            continue
        for opposite in sorted(opposed & others):
            yield index, opposite


def comparable(terms: Terms, bounds: tuple[int, int]) -> list[str]:
    """Words as opposites are listed: as they are written, but without particles and endings in Korean."""
    pairs = zip(terms.folded[bounds[0] : bounds[1]], terms.keys[bounds[0] : bounds[1]], strict=True)
    return [key if key and "가" <= word[0] <= "힣" and word not in opposites() else word for word, key in pairs]


def _stands_for(statement: Statement, index: int, *, sentence: Sentence, place: int) -> bool:
    """Whether a word of the claim stands where its opposite stands in the evidence, and is all that differs so."""
    mine, terms = statement.terms, sentence.block.terms
    if stem(mine.folded[index]) in sentence.keys or stem(terms.folded[place]) in mine.keys:
        return False
    if _is_turned_otherwise(statement, sentence):
        return False
    own = comparable(mine, (0, len(mine)))
    others = (frozenset(opposites()) & set(own)) - {own[index]}
    if others - set(comparable(terms, (sentence.first, sentence.last))):
        return False
    if not _on_same_side(statement, index, sentence=sentence, place=place):
        return False
    if mine.keys[index] and says_both(statement, mine.keys[index], sentence=sentence):
        return False
    return same_clause(statement, index, sentence=sentence, place=place)


def _is_turned_otherwise(statement: Statement, sentence: Sentence) -> bool:
    """Whether one of the two denies something and the other does not: "not cheaper" may be dearer."""
    mine, terms = statement.terms, sentence.block.terms
    bounds = (sentence.first, sentence.last)
    hidden = hidden_negations() - frozenset(opposites())
    own = bool(denials(mine, (0, len(mine)))), frozenset(mine.folded) & hidden
    return own != (bool(denials(terms, bounds)), frozenset(terms.folded[slice(*bounds)]) & hidden)


def _on_same_side(statement: Statement, index: int, *, sentence: Sentence, place: int) -> bool:
    """Whether words that both have stand before the word in both or after it in both.

    "Russia sold it to Spain" and "Spain bought it from Russia" say the same.
    """
    mine, terms = statement.terms, sentence.block.terms
    before = {key for key in mine.keys[max(0, index - _SIDES) : index] if key}
    after = {key for key in mine.keys[index + 1 : index + 1 + _SIDES] if key}
    low, high = max(sentence.first, place - _SIDES), min(sentence.last, place + 1 + _SIDES)
    other_before, other_after = set(terms.keys[low:place]), set(terms.keys[place + 1 : high])
    same = len(before & other_before) + len(after & other_after)
    moved = {key for key in (before & other_after) | (after & other_before) if not key[0].isdecimal()}
    moved -= (before & other_before) | (after & other_after)
    is_converse = not converses().isdisjoint((mine.folded[index], terms.folded[place]))
    return same > 0 and (not moved or (not is_converse and same > len(moved)))


@cache
def opposites() -> dict[str, frozenset[str]]:
    """Words with those of which one denies what the other says."""
    found: dict[str, set[str]] = {}
    for ones, others in _directions():
        for first, second in ((ones, others), (others, ones)):
            for word in first:
                found.setdefault(word, set()).update(second)
    return {word: frozenset(others) for word, others in found.items()}


@cache
def _directions() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Groups of words against groups of words; a pair of opposites is one of one word each."""
    pairs = [((one,), (other,)) for each in lexicons_with("matching") for one, other in each.matching.opposites]
    groups = [pair for each in lexicons_with("contradictions") for pair in each.contradictions.directions]
    return tuple((frozenset(map(fold, ones)), frozenset(map(fold, others))) for ones, others in (*pairs, *groups))


@cache
def _groups() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in (group for pair in _directions() for group in pair):
        for word in group:
            found.setdefault(word, set()).update(group)
    return {word: frozenset(others) for word, others in found.items()}


def alike(word: str) -> frozenset[str]:
    """Words that say the same direction."""
    return _groups().get(word, frozenset())


@cache
def converses() -> frozenset[str]:
    """Words whose opposite says the same when both sides change places: before, sold, older."""
    return frozenset(fold(word) for each in lexicons_with("contradictions") for word in each.contradictions.converses)
