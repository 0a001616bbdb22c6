"""Negation and opposites: a claim that says the contrary of a sentence of the evidence in nearly the same words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from hallumeter.text.lexicon import lexicons_with
from hallumeter.text.terms import Terms, fold, stem

from .evidence import Sentence
from .statement import Finding, Statement

ALIKE = 0.75
"""Weighted share of the claim's words that a sentence must have before it can be its contrary."""
CLAUSES_ALIKE = 0.6
"""Weighted share of the words of two clauses together that both must have before one can deny the other."""
OTHERS_ALIKE = 0.5
"""Share from which another sentence speaks of the same thing too."""
_REACH = 4
_MOST_OPPOSED = 50
"""How many words with an opposite in the evidence are looked at in one claim."""
_BULLETS = frozenset("*-•·▪◦–—")
_HANGUL_NEGATIONS = ("불가", "금지")
_PARTLY = (["all"], ["always"], ["every"], ["enough"], ["toujours"])
_LISTING = frozenset({"or", "nor", "and", "ou", "ni", "et"})
_CONDITIONS = frozenset({"if", "unless", "when", "whether", "si", "quand"})
_CONJUNCTIONS = frozenset(
    {"but", "while", "whereas", "mais", "because", "although", "if", "unless", "so", "when", "car"}
)


def check_negation(statement: Statement) -> list[Finding]:
    """A word that is denied in the claim and not in the evidence, or the other way round, in clauses that are alike."""
    best = _alike(statement)
    if best is None or _is_fragment(statement.terms.text):
        return []
    mine, other = statement.terms, best.block.terms
    bounds, other_bounds = (0, len(mine)), (best.first, best.last)
    denied, other_denied = denied_places(mine, bounds), denied_places(other, other_bounds)
    if len(denied) + len(other_denied) != 1:
        return []
    if _may_deny(mine, bounds, known=denied) or _may_deny(other, other_bounds, known=other_denied):
        return []
    cue, place = (denied or other_denied)[0]
    key = (mine if denied else other).keys[place]
    if mine.keys.count(key) != 1 or best.keys.count(key) != 1 or _says_both(statement, key, sentence=best):
        return []
    here, there = mine.keys.index(key), best.first + best.keys.index(key)
    if not _same_clause(statement, here, sentence=best, place=there):
        return []
    span = _span(mine, (cue, here) if denied else (here, here))
    start, end = _span(other, (there, there) if denied else (cue, there))
    note = f"response says “{mine.text[span[0] : span[1]]}”, evidence says “{other.text[start:end]}”"
    return [Finding("negation_mismatch", *span, note, (best.block.quote(start, end),))]


def _is_fragment(text: str) -> bool:
    """Whether a text is a question, or an item of a list that may speak of something named above it."""
    return text.rstrip().endswith("?") or text.lstrip()[:1] in _BULLETS


def _span(terms: Terms, places: tuple[int, int]) -> tuple[int, int]:
    return terms.starts[min(places)], terms.ends[max(places)]


def _same_clause(statement: Statement, index: int, *, sentence: Sentence, place: int) -> bool:
    """Whether the clauses around two words have nearly the same words, each of the other's."""
    evidence, terms = statement.evidence, sentence.block.terms
    mine = clause_keys(statement.terms, index, bounds=(0, len(statement.terms)))
    theirs = clause_keys(terms, place, bounds=(sentence.first, sentence.last))
    if mine is None or theirs is None:
        return False
    weights = {key: evidence.weights.get(key, evidence.weight_of_unknown) for key in mine | theirs}
    shared, total = sum(weights[key] for key in mine & theirs), sum(weights.values())
    fewest = 2 if statement.language == "ko" else 3  # Korean says more in a word
    return len(mine & theirs) >= fewest and shared >= CLAUSES_ALIKE * total


def clause_keys(terms: Terms, index: int, *, bounds: tuple[int, int]) -> set[str] | None:
    """Keys of the words around a place up to the next comma or conjunction; None for a condition."""
    first = last = index
    while first > bounds[0] and not _parts(terms, first - 1):
        first -= 1
    while last + 1 < bounds[1] and not _parts(terms, last):
        last += 1
    if terms.folded[first] in _CONDITIONS:
        return None
    return {key for key in terms.keys[first : last + 1] if key and key not in _negation_keys()}


def _parts(terms: Terms, index: int) -> bool:
    """Whether a clause ends between a term and the next."""
    gap = terms.text[terms.ends[index] : terms.starts[index + 1]]
    return any(mark in gap for mark in ",;:.()–—\n") or terms.folded[index + 1] in _CONJUNCTIONS


def _may_deny(terms: Terms, bounds: tuple[int, int], *, known: list[tuple[int, int]]) -> bool:
    """Whether a text may deny something in a way that cannot be told by its words alone."""
    words = terms.folded[bounds[0] : bounds[1]]
    if any(word in hidden_negations() for word in words):
        return True
    return not known and any(word in _negations() or _has_negation_part(word) for word in words)


def _has_negation_part(word: str) -> bool:
    return "가" <= word[0] <= "힣" and any(part in word for part in _negation_parts())


def _says_both(statement: Statement, key: str, *, sentence: Sentence) -> bool:
    """Whether another sentence of the evidence that speaks of the same has the word too: it may say the contrary."""
    others = [statement.evidence.sentences[number] for number, share in statement.best[1:] if share >= OTHERS_ALIKE]
    return any(key in other.keys and other.quote() != sentence.quote() for other in others)


def check_comparison(statement: Statement) -> list[Finding]:
    """A word of the claim whose opposite stands in its place in the evidence."""
    best = _alike(statement)
    if best is None:
        return []
    terms = best.block.terms
    words = comparable(terms, (best.first, best.last))
    mine = comparable(statement.terms, (0, len(statement.terms)))
    for index, opposite in islice(_opposed(mine, words), _MOST_OPPOSED):
        place = best.first + words.index(opposite)
        if not _stands_for(statement, index, sentence=best, place=place):
            continue
        said = statement.terms.text[statement.terms.starts[index] : statement.terms.ends[index]]
        start, end = terms.starts[place], terms.ends[place]
        note = f"response says “{said}”, evidence says “{terms.text[start:end]}”"
        span = statement.terms.starts[index], statement.terms.ends[index]
        return [Finding("comparison_mismatch", *span, note, (best.block.quote(start, end),))]
    return []


def _opposed(mine: list[str], words: list[str]) -> Iterator[tuple[int, str]]:
    """Places of words that only the first text has, with an opposite that only the second has."""
    own, others = frozenset(mine), frozenset(words)
    for index, word in enumerate(mine):
        for opposite in opposites().get(word, ()):
            if opposite in others and word not in others and opposite not in own:
                yield index, opposite


def comparable(terms: Terms, bounds: tuple[int, int]) -> list[str]:
    """Words as opposites are listed: as they are written, but without particles and endings in Korean."""
    pairs = zip(terms.folded[bounds[0] : bounds[1]], terms.keys[bounds[0] : bounds[1]], strict=True)
    return [key if key and "가" <= word[0] <= "힣" and word not in opposites() else word for word, key in pairs]


def denied_places(terms: Terms, bounds: tuple[int, int]) -> list[tuple[int, int]]:
    """Places of the words that deny, each with the place of the word that it denies."""
    found: dict[int, int] = {}
    first, last = bounds
    for index in range(first, last):
        word = terms.folded[index]
        is_part = _has_negation_part(word)
        if not is_part and word not in _negations():
            continue
        if _is_harmless(terms, index):
            continue
        place = _denied_before(terms, index, first) if is_part else _denied_after(terms, index, last)
        if place is not None:
            found.setdefault(place, index)
    return [(index, place) for place, index in found.items()]


def negation_cues(terms: Terms, bounds: tuple[int, int]) -> list[tuple[int, bool]]:
    """Places of all words that may deny, each with whether it denies what stands before it, as in Korean."""
    found = []
    for index in range(*bounds):
        word = terms.folded[index]
        is_part = _has_negation_part(word) or word.startswith(_HANGUL_NEGATIONS)
        if (is_part or word in _negations()) and (_is_partial(terms, index) or not _is_harmless(terms, index)):
            found.append((index, is_part or word == "안"))
    return found


def _is_partial(terms: Terms, index: int) -> bool:
    """Whether a word denies after all though it stands in a phrase that only weakens: "not all", 안 된다."""
    return terms.folded[index] == "안" or terms.folded[index + 1 : index + 2] in _PARTLY


def places_after_negation(terms: Terms) -> frozenset[int]:
    """Places after a word that denies in the same clause: "there is no mention of Paris" needs no Paris."""
    found: set[int] = set()
    is_after = False
    for place, word in enumerate(terms.folded):
        is_after = is_after and not (place and _leaves_clause(terms, place - 1))
        if is_after:
            found.add(place)
        is_after = is_after or word in _negations()
    return frozenset(found)


def _leaves_clause(terms: Terms, index: int) -> bool:
    """Whether a clause ends between a term and the next; the commas of a list of names or numbers end none."""
    gap = terms.text[terms.ends[index] : terms.starts[index + 1]]
    if any(mark in gap for mark in ";:.–—\n") or terms.folded[index + 1] in _CONJUNCTIONS:
        return True
    return "," in gap and terms.text[terms.starts[index + 1]].islower() and terms.folded[index + 1] not in _LISTING


def is_denied(terms: Terms, place: int) -> bool:
    """Whether a word that denies stands closely before a place: "does not offer WiFi"."""
    return any(word in _negations() for word in terms.folded[max(0, place - _REACH) : place])


def _denied_after(terms: Terms, index: int, last: int) -> int | None:
    for place in range(index + 1, min(last, index + 1 + _REACH)):
        if _parts(terms, place - 1):
            return None
        if terms.keys[place] and terms.folded[place] not in _negations():
            return place
    return None


def _denied_before(terms: Terms, index: int, first: int) -> int | None:
    """In Korean the denied word stands before: in 먹지 않았다 it is 먹지."""
    for place in range(index - 1, max(first, index - 3) - 1, -1):
        if terms.keys[place]:
            return place
    return None


def _is_harmless(terms: Terms, index: int) -> bool:
    start = terms.starts[max(0, index - 2)]
    end = terms.ends[min(len(terms) - 1, index + 3)]
    around = fold(terms.text[start:end])
    return _not_negating().search(around) is not None


def _alike(statement: Statement) -> Sentence | None:
    if not statement.best or statement.best[0][1] < ALIKE or len(statement.keys) < 2:
        return None
    return statement.evidence.sentences[statement.best[0][0]]


def _stands_for(statement: Statement, index: int, *, sentence: Sentence, place: int) -> bool:
    """Whether a word of the claim stands where its opposite stands in the evidence, and is all that differs so."""
    mine, terms = statement.terms, sentence.block.terms
    near = {key for key in mine.keys[max(0, index - 2) : index + 3] if key}
    other_near = {key for key in terms.keys[max(0, place - 2) : place + 3] if key}
    if near.isdisjoint(other_near):
        return False
    if stem(mine.folded[index]) in sentence.keys or stem(terms.folded[place]) in mine.keys:
        return False
    own = comparable(mine, (0, len(mine)))
    others = (_pair_words() & set(own)) - {own[index]}
    if others - set(comparable(terms, (sentence.first, sentence.last))):
        return False
    return _same_clause(statement, index, sentence=sentence, place=place)


@cache
def _pair_words() -> frozenset[str]:
    return frozenset(opposites())


@cache
def _negations() -> frozenset[str]:
    return frozenset(fold(word) for each in lexicons_with("matching") for word in each.matching.negations)


@cache
def _negation_keys() -> frozenset[str]:
    return frozenset(stem(word) for word in _negations())


@cache
def hidden_negations() -> frozenset[str]:
    """Words that deny in their meaning."""
    return frozenset(fold(word) for each in lexicons_with("matching") for word in each.matching.hidden_negations)


@cache
def _negation_parts() -> tuple[str, ...]:
    return tuple(part for each in lexicons_with("matching") for part in each.matching.negation_parts)


@cache
def _not_negating() -> re.Pattern[str]:
    phrases = [fold(phrase) for each in lexicons_with("matching") for phrase in each.matching.not_negating]
    return re.compile(rf"(?:{'|'.join(map(re.escape, phrases))})(?![a-z])")  # "not all" is not in "not allowed"


@cache
def opposites() -> dict[str, tuple[str, ...]]:
    """Words with those of which one denies what the other says."""
    found: dict[str, list[str]] = {}
    for lexicon in lexicons_with("matching"):
        for one, other in lexicon.matching.opposites:
            for first, second in ((one, other), (other, one)):
                found.setdefault(fold(first), []).append(fold(second))
    return {word: tuple(others) for word, others in found.items()}
