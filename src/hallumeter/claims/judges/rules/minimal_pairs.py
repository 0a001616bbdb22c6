"""Claims that differ from their best evidence in one or two words: what may turn them round leaves them undecided."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from rapidfuzz import fuzz

from hallumeter.records.response import Quote
from hallumeter.text.lexicon import lexicons_with
from hallumeter.text.names import Name
from hallumeter.text.terms import Terms, fold

from .check_directions import comparable, opposites
from .check_polarity import clause_keys, hidden_negations, negation_cues
from .evidence import Sentence
from .statement import Finding, Statement

ALIKE = 0.65
"""Weighted share of the claim's words, without those that may differ, that a sentence must have."""
AS_GOOD = 0.05
"""How much less of the claim another sentence may have to be as good a support as the best one."""
AS_GOOD_A_QUOTE = 0.5
"""Share of the best sentence's words of the claim that another one needs to be quoted in its stead."""
CLAUSE_KNOWN = 0.6
"""Share of the words of a clause that denies which the other text must have too."""
SAME_WORDS = 0.5
"""Share of the words of the longer of claim and sentence that both must have before a word that differs tells."""
SPELLED_ALIKE = 75.0
"""Similarity, of 100, above which two words are taken to be forms of one."""
MOST_LOOKED_AT = 50
"""How many places of one kind are looked at in one text."""
MOST_REPLACED = 2
"""Words of a claim that may differ before it says something else altogether, which the overlap tells."""
_NEAR = 3
_REACH = 4


def check_minimal_pairs(statement: Statement) -> list[Finding]:
    """What may turn the claim round in every sentence that could support it; one finding at most."""
    renamed = _renamed(statement)
    if renamed is not None:
        return [renamed]
    top = statement.best[0][1] if statement.best else 0.0
    doubts = []
    for number, share in statement.best:
        if share < top - AS_GOOD:
            break
        doubt = doubt_about(statement, statement.evidence.sentences[number])
        if doubt is not None:
            doubts.append(doubt)
        elif share >= ALIKE:
            return []  # this one supports it; with fewer words it would clear nothing up
    return doubts[:1]


def doubt_about(statement: Statement, sentence: Sentence) -> Finding | None:
    """Why a sentence may not support the claim though most words are the same; None when nothing speaks against it."""
    if sentence.block.leaf is not None:
        return None
    checks = (_negated, _opposed, _replaced, _swapped)
    return next((found for check in checks if (found := check(statement, sentence)) is not None), None)


def supporting(statement: Statement) -> Sentence | None:
    """The sentence that says best what the claim says: without doubt, with most of its numbers, then of its words."""
    if not statement.best:
        return None
    evidence, top = statement.evidence, statement.best[0][1]
    numbers = [key for key in statement.keys if key[0].isdecimal()]
    near = [number for number, share in statement.best if share >= AS_GOOD_A_QUOTE * top]
    best = min(
        near,
        key=lambda number: (
            doubt_about(statement, evidence.sentences[number]) is not None,
            -sum(evidence.has(key, number) for key in numbers),
        ),
    )
    return evidence.sentences[best]


def supporting_quote(statement: Statement) -> tuple[Quote, ...]:
    """The same sentence as a place in the evidence; empty when there is none."""
    sentence = supporting(statement)
    return () if sentence is None else (sentence.quote(),)


def _share(statement: Statement, keys: set[str], *, without: set[str]) -> float:
    total = sum(weight for key, weight in statement.weights.items() if key not in without)
    found = sum(weight for key, weight in statement.weights.items() if key in keys and key not in without)
    return found / total if total else 0.0


def _negated(statement: Statement, sentence: Sentence) -> Finding | None:
    """One of the two denies a word that both have."""
    mine, other = statement.terms, sentence.block.terms
    keys = set(sentence.keys)
    if _share(statement, keys, without=set()) < ALIKE:
        return None
    bounds = (sentence.first, sentence.last)
    denied = _denied(mine, (0, len(mine)), known=keys)
    other_denied = _denied(other, bounds, known=set(statement.keys))
    if (denied is None) == (other_denied is None):
        return None
    words = frozenset(other.folded[slice(*bounds)])
    unsaid = words - statement.words if other_denied is None else statement.words - words
    if not hidden_negations().isdisjoint(unsaid):
        return None  # "avoid" says what "do not" says
    note = "only the response denies" if other_denied is None else "only the evidence denies"
    start, end = (mine.starts[denied], mine.ends[denied]) if denied is not None else (0, len(statement.text))
    return Finding("negation_unclear", start, end, note, (sentence.quote(),))


def _denied(terms: Terms, bounds: tuple[int, int], *, known: set[str]) -> int | None:
    """The place of the first word that denies with a known word beside it."""
    for place, is_after in negation_cues(terms, bounds)[:MOST_LOOKED_AT]:
        low, high = (place - _NEAR, place + 1) if is_after else (place + 1, place + 1 + _REACH)
        near = terms.keys[max(bounds[0], low) : min(bounds[1], high)]
        clause = clause_keys(terms, place, bounds=bounds) or set()
        if any(key in known for key in near if key) and len(clause & known) >= CLAUSE_KNOWN * len(clause):
            return place
    return None


def _opposed(statement: Statement, sentence: Sentence) -> Finding | None:
    """A word of the claim whose opposite, or one that weakens it, stands near the same words in the sentence."""
    mine, terms = statement.terms, sentence.block.terms
    own = comparable(mine, (0, len(mine)))
    words = comparable(terms, (sentence.first, sentence.last))
    keys = set(sentence.keys)
    said, written = frozenset(own), frozenset(words)
    paired = [index for index, word in enumerate(own) if word in opposites() or word in _contrasts()]
    for index in paired[:MOST_LOOKED_AT]:
        word = own[index]
        if word in written or (mine.keys[index] and mine.keys[index] in keys):
            continue
        for other in (*opposites().get(word, ()), *_contrasts().get(word, ())):
            if other not in written or other in said:
                continue
            place = sentence.first + words.index(other)
            is_near = _around(mine, index) & _around(terms, place)
            if is_near and _share(statement, keys, without={mine.keys[index]}) >= ALIKE:
                return _doubt(statement, (index, index), sentence=sentence, other=(place, place))
    return None


def _around(terms: Terms, place: int) -> set[str]:
    keys = terms.keys[max(0, place - _NEAR) : place] + terms.keys[place + 1 : place + 1 + _NEAR]
    return {key for key in keys if key}


def _replaced(statement: Statement, sentence: Sentence) -> Finding | None:
    """A word of the claim in whose place the sentence has another one, all others being the same."""
    mine, terms = statement.terms, sentence.block.terms
    keys = set(sentence.keys)
    missing = [key for key in statement.keys if key not in keys and not key[0].isdecimal()]
    shared = len(statement.keys) - len(missing)
    if not 0 < len(missing) <= min(MOST_REPLACED, shared):
        return None
    counted = {place for each in statement.quantities for place in range(each.first_term, each.last_term + 1)}
    known = set(statement.keys)
    free = [place for place in range(sentence.first, sentence.last) if _is_free(terms.keys[place], known)]
    for key in missing:
        index = mine.keys.index(key)
        if index in counted or any(_is_form(key, terms.keys[place]) for place in free):
            continue
        before, after = _before(mine, index, 0), _after(mine, index, len(mine))
        for place in free:
            sides = (
                before == _before(terms, place, sentence.first),
                after == _after(terms, place, sentence.last),
            )
            are_names = _is_name(mine, index) and _is_name(terms, place)
            is_there = any(sides) if are_names or "가" <= key[0] <= "힣" else all(sides)
            if is_there and (are_names or shared >= SAME_WORDS * max(len(known), len(keys - {""}))):
                return _doubt(statement, (index, index), sentence=sentence, other=(place, place))
    return None


def _swapped(statement: Statement, sentence: Sentence) -> Finding | None:
    """Two names that have changed places around the same words: "Alice sued Bob"."""
    mine, terms = statement.terms, sentence.block.terms
    words = terms.folded[sentence.first : sentence.last]
    for name, other in pairwise(statement.names[:MOST_LOOKED_AT]):
        between = slice(name.last_term + 1, other.first_term)
        if not any(mine.keys[between]):
            continue  # "Alice and Bob"
        first, second = (mine.folded[each.first_term : each.last_term + 1] for each in (name, other))
        row = [*second, *mine.folded[between], *first]
        for place in range(len(words) - len(row) + 1):
            if words[place] == row[0] and words[place : place + len(row)] == row:
                own = (name.first_term, other.last_term)
                there = (sentence.first + place, sentence.first + place + len(row) - 1)
                return _doubt(statement, own, sentence=sentence, other=there)
    return None


def _is_name(terms: Terms, place: int) -> bool:
    """Whether a word has a capital that no beginning of a sentence explains."""
    if not terms.text[terms.starts[place]].isupper() or not place:
        return False
    gap = terms.text[terms.ends[place - 1] : terms.starts[place]]
    return not any(mark in gap for mark in '.!?:;\n•*"“')


def _is_free(key: str, known: set[str]) -> bool:
    return bool(key) and key not in known and not key[0].isdecimal()


def _is_form(key: str, other: str) -> bool:
    """Whether two keys may be forms of one word, or parts of one compound."""
    if "가" <= key[0] <= "힣":
        return key[:2] == other[:2]
    return fuzz.ratio(key, other) > SPELLED_ALIKE


def _before(terms: Terms, index: int, first: int) -> tuple[str, ...]:
    """The last word before a place that says something, with the small words between; empty where the text begins."""
    for place in range(index - 1, max(first, index - _REACH) - 1, -1):
        if terms.keys[place]:
            return (terms.keys[place], *terms.folded[place + 1 : index])
    return ()


def _after(terms: Terms, index: int, last: int) -> tuple[str, ...]:
    for place in range(index + 1, min(last, index + 1 + _REACH)):
        if terms.keys[place]:
            return (*terms.folded[index + 1 : place], terms.keys[place])
    return ()


def _renamed(statement: Statement) -> Finding | None:
    """A name of several words of which the evidence has one part only, beside another: Jane Smith for John Smith."""
    evidence, terms = statement.evidence, statement.terms
    for name in statement.names[:MOST_LOOKED_AT]:
        parts = terms.keys[name.first_term : name.last_term + 1]
        unknown = [place for place, key in enumerate(parts) if key and not _is_heard(statement, key)]
        if not unknown or len(unknown) == len(parts):
            continue
        numbers = {number for key in parts for number in evidence.postings.get(key, ())}
        for each in evidence.names if numbers else ():
            sentence, other = evidence.sentences[each.sentence], each.name
            if each.sentence in numbers and _is_other(parts, _parts(sentence, other)):
                own = (name.first_term, name.last_term)
                return _doubt(statement, own, sentence=sentence, other=(other.first_term, other.last_term))
    return None


def _is_heard(statement: Statement, key: str) -> bool:
    return key in statement.evidence.postings or key in statement.given


def _parts(sentence: Sentence, name: Name) -> list[str]:
    return sentence.block.terms.keys[name.first_term : name.last_term + 1]


def _is_other(parts: list[str], others: list[str]) -> bool:
    """Whether two names are of the same length, alike in one place and different in another."""
    if len(parts) != len(others) or all(key != other for key, other in zip(parts, others, strict=True)):
        return False
    return any(fuzz.ratio(key, other) <= SPELLED_ALIKE for key, other in zip(parts, others, strict=True))


def _doubt(statement: Statement, own: tuple[int, int], *, sentence: Sentence, other: tuple[int, int]) -> Finding:
    mine, terms = statement.terms, sentence.block.terms
    start, end = mine.starts[own[0]], mine.ends[own[1]]
    first, last = terms.starts[other[0]], terms.ends[other[1]]
    note = f"response says “{mine.text[start:end]}”, evidence has “{terms.text[first:last]}” in its place"
    return Finding("uncertain", start, end, note, (sentence.quote(),))


@cache
def _contrasts() -> dict[str, tuple[str, ...]]:
    """Words that do not deny one another and still do not say the same."""
    found: dict[str, list[str]] = {}
    for lexicon in lexicons_with("matching"):
        for one, other in lexicon.matching.contrasts:
            for first, second in ((one, other), (other, one)):
                found.setdefault(fold(first), []).append(fold(second))
    return {word: tuple(others) for word, others in found.items()}
