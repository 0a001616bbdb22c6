"""Lists of a claim against those of the evidence: an item that the evidence's list lacks."""

from __future__ import annotations

import re

from msgspec import Struct

from hallumeter.text.terms import Terms

from .evidence import Sentence
from .statement import Finding, Statement

ALIKE = 0.5
"""Weighted share of the claim's words that the sentence with the list must have."""
_LONGEST_ITEM = 4
_JOINERS = frozenset({"and", "or", "et", "ou", "및", "그리고"})
_COMMA = re.compile(r"\s*[,、]\s*")
_OPEN_ENDS = frozenset({"among", "etc", "including", "such", "as", "with", "which", "who", "making", "notamment", "등"})
_SETTINGS = frozenset(
    {"in", "on", "at", "with", "for", "from", "after", "before", "to", "by", "as", "if", "when", "dans"}
)
"""First words of a part that sets the scene and is no item: "In a small bowl, combine flour and salt"."""
_DETERMINERS = frozenset({"a", "an", "the", "un", "une", "le", "la", "les", "des", "du", "de", "l", "some", "two"})


class _Item(Struct, frozen=True):
    first: int
    last: int


def check_lists(statement: Statement) -> list[Finding]:
    """An item of a list whose other items stand in one list of the evidence, which lacks it; one finding at most."""
    items = list_items(statement.terms, (0, len(statement.terms)))
    if len(items) < 3:
        return []
    lacking = [item for item in items if not _is_known(statement, item)]
    if len(lacking) != 1:
        return []
    for number, share in statement.best[:2]:
        sentence = statement.evidence.sentences[number]
        if share < ALIKE or sentence.block.leaf is not None:
            continue
        there = list_items(sentence.block.terms, (sentence.first, sentence.last), is_open=True)
        if len(there) >= 3 and _are_listed(statement, items, lacking[0], sentence=sentence, there=there):
            return [_finding(statement, sentence, lacking[0], there=there)]
    return []


def list_items(terms: Terms, bounds: tuple[int, int], *, is_open: bool = False) -> list[_Item]:
    """The items of the list with which a text ends; with `is_open` a text may go on after it.

    They are short parts between commas, without small words but "a" and "the", and a last one after "and".

    >>> from hallumeter.text.terms import terms_of
    >>> terms = terms_of("It has soup, salad and roast duck.")
    >>> [terms.folded[item.first : item.last + 1] for item in list_items(terms, (0, len(terms)))]
    [['soup'], ['salad'], ['roast', 'duck']]
    """
    commas = [place for place in range(bounds[0], bounds[1] - 1) if _is_comma(terms, place)]
    if not commas:
        return []
    tail = _last_items(terms, commas[-1] + 1, bounds[1], is_open=is_open)
    if not tail:
        return []
    items: list[_Item] = []
    for place in range(len(commas) - 1, -1, -1):
        before = commas[place - 1] + 1 if place else bounds[0]
        item = _item_before(terms, commas[place], before)
        if item is None or (not place and terms.folded[bounds[0]] in _SETTINGS):
            break
        items.insert(0, item)
        if item.first > before:
            break  # words before it do not belong to the list
    return [*items, *tail]


def _is_comma(terms: Terms, place: int) -> bool:
    gap = terms.text[terms.ends[place] : terms.starts[place + 1]]
    return _COMMA.fullmatch(gap) is not None


def _item_before(terms: Terms, last: int, low: int) -> _Item | None:
    """The item that ends at a comma: back to a small word, at most three words that say something."""
    if not terms.keys[last] or last < low:
        return None
    if last - low >= _LONGEST_ITEM:
        return _Item(last, last)
    first = low
    while first < last and not terms.keys[first]:
        first += 1
    inside = [place for place in range(first, last + 1) if not terms.keys[place]]
    if any(terms.folded[place] not in _DETERMINERS for place in range(low, first)):
        return _Item(last, last)
    return _Item(last, last) if inside else _Item(low, last)


def _last_items(terms: Terms, first: int, high: int, *, is_open: bool) -> list[_Item]:
    """The items after the last comma: "salad and roast duck", "and duck"; in Korean one."""
    if "가" <= terms.folded[first][0] <= "힣":
        return [_Item(first, first)]
    joiners = [place for place in range(first, min(high, first + _LONGEST_ITEM + 1)) if terms.folded[place] in _JOINERS]
    if not joiners:
        return [_Item(first, high - 1)] if is_open and high - first <= _LONGEST_ITEM else []
    joiner = joiners[0]
    last = joiner + 1
    while last + 1 < high and not _ends(terms, last) and last - joiner < _LONGEST_ITEM:
        last += 1
    is_ended = last + 1 >= high or (last < high and _ends(terms, last))
    if joiner + 1 >= high or not (is_ended or is_open) or not _is_item(terms, joiner + 1, last, is_open=is_open):
        return []
    parts = [_Item(first, joiner - 1)] if joiner > first else []
    if any(not _is_item(terms, part.first, part.last, is_open=False) for part in parts):
        return []
    return [*parts, _Item(joiner + 1, last)]


def _is_item(terms: Terms, first: int, last: int, *, is_open: bool) -> bool:
    """Whether words may be an item: none that joins sentences, but an article before them."""
    small = [place for place in range(first, last + 1) if not terms.keys[place]]
    return is_open or all(terms.folded[place] in _DETERMINERS for place in small)


def _ends(terms: Terms, place: int) -> bool:
    gap = terms.text[terms.ends[place] : terms.starts[place + 1]]
    return any(mark in gap for mark in ".;:()\n,")


def _is_known(statement: Statement, item: _Item) -> bool:
    """Whether any word of an item stands in the evidence, in any form, or nothing in it tells."""
    terms, evidence = statement.terms, statement.evidence
    places = [place for place in range(item.first, item.last + 1) if terms.keys[place]]
    if not places or terms.folded[item.first] in _OPEN_ENDS:
        return True
    for place in places:
        key, word = terms.keys[place], terms.folded[place]
        if key in evidence.postings or key in statement.given or word in evidence.glued or word in evidence.words:
            return True
        is_long = len(key) >= _SAME_LETTERS
        if is_long and any(known.startswith(key[:_SAME_LETTERS]) or key in known for known in evidence.postings):
            return True
    return False


_SAME_LETTERS = 4
"""Letters that two words begin with before they are taken to be forms of one."""


def _are_listed(
    statement: Statement, items: list[_Item], lacking: _Item, *, sentence: Sentence, there: list[_Item]
) -> bool:
    """Whether every other item has a word in the list of the sentence."""
    terms = sentence.block.terms
    keys = set(terms.keys[there[0].first : there[-1].last + 1]) - {""}
    others = [item for item in items if item != lacking]
    return all(keys & set(statement.terms.keys[item.first : item.last + 1]) for item in others)


def _finding(statement: Statement, sentence: Sentence, item: _Item, *, there: list[_Item]) -> Finding:
    mine, terms = statement.terms, sentence.block.terms
    first = item.first
    while first < item.last and mine.folded[first] in _DETERMINERS:
        first += 1
    start, end = mine.starts[first], mine.ends[item.last]
    low, high = terms.starts[there[0].first], terms.ends[there[-1].last]
    note = f"response lists “{mine.text[start:end]}”, evidence lists “{terms.text[low:high]}”"
    return Finding("list_mismatch", start, end, note, (sentence.block.quote(low, high),))
