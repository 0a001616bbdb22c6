"""Who did what to whom: two names that have changed places between the claim and the evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product

from msgspec import Struct

from hallumeter.text.lexicon import lexicons_with
from hallumeter.text.names import Name
from hallumeter.text.terms import Terms, fold, stem

from .evidence import Sentence
from .statement import Finding, Statement

ALIKE = 0.6
"""Weighted share of the claim's words that a sentence must have before names in it can have changed places."""
_MOST_NAMES = 12
"""How many names are looked at in one text: their pairs are compared."""
_FARTHEST = 8
"""Words between two names that take part in one action."""
_BY = frozenset({"by", "par"})
_DIRECTIONS = frozenset({"to", "from", "for", "a", "de"})
_SPLITS = re.compile(r"[,;:()]")
_SPLIT_WORDS = frozenset({"and", "while", "whereas", "but", "et", "tandis", "mais"})
_SUBJECT = re.compile(r"^(.{2,}?)(?:이|가|은|는|께서)$")
_OBJECT = re.compile(r"^(.{2,}?)(?:을|를)$")


class Action(Struct, frozen=True):
    """What one name does to another."""

    agent: frozenset[str]
    """Keys of the name."""
    words: tuple[str, ...]
    """Keys of the words between, without auxiliaries."""
    patient: frozenset[str]
    first: int
    """The first and the last term of it all."""
    last: int


def check_roles(statement: Statement) -> list[Finding]:
    """Two names of the claim that stand the other way round in the evidence; one finding at most."""
    terms = statement.terms
    mine = list(_actions(terms, (0, len(terms)), statement.names[:_MOST_NAMES]))
    for number, share in statement.best:
        sentence = statement.evidence.sentences[number]
        if share < ALIKE or sentence.block.leaf is not None:
            continue
        names = statement.evidence.names_by_sentence.get(number, [])[:_MOST_NAMES]
        theirs = list(_actions(sentence.block.terms, (sentence.first, sentence.last), names))
        if any(_is_same(action, other) for action in mine for other in theirs):
            return []
        for action, other in product(mine, theirs):
            if _is_swapped(action, other):
                own, there = (action.first, action.last), (other.first, other.last)
                return [_finding(statement, own, sentence=sentence, other=there)]
    return _swapped_attributes(statement)


def _is_same(action: Action, other: Action) -> bool:
    is_alike = action.words == other.words
    return is_alike and bool(action.agent & other.agent) and bool(action.patient & other.patient)


def _is_swapped(action: Action, other: Action) -> bool:
    if action.words != other.words or action.agent & action.patient or other.agent & other.patient:
        return False
    return bool(action.agent & other.patient) and bool(action.patient & other.agent)


def _actions(terms: Terms, bounds: tuple[int, int], names: list[Name]) -> Iterator[Action]:
    """What names do to one another in a sentence, and in Korean what a subject does to an object."""
    yield from _korean_actions(terms, bounds)
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            action = _action(terms, first, second)
            if action is not None:
                yield action


def _action(terms: Terms, first: Name, second: Name) -> Action | None:
    between = range(first.last_term + 1, second.first_term)
    if not 0 < len(between) <= _FARTHEST:
        return None
    if _SPLITS.search(terms.text, terms.ends[first.last_term], terms.starts[second.first_term]) is not None:
        return None
    words = tuple(_verb(terms.keys[place]) for place in between if terms.keys[place])
    folded = [terms.folded[place] for place in between]
    if not words or not _symmetric().isdisjoint(folded):
        return None
    words += tuple(word for word in folded[-2:] if word in _DIRECTIONS)
    agent, patient = _keys(terms, first), _keys(terms, second)
    if not _BY.isdisjoint(folded):
        agent, patient = patient, agent
    return Action(agent, words, patient, first.first_term, second.last_term)


def _verb(key: str) -> str:
    """The infinitive of an irregular form, else the word as it is."""
    return _infinitives().get(key, key)


def _korean_actions(terms: Terms, bounds: tuple[int, int]) -> Iterator[Action]:
    """A subject, an object and the verb after both, told by their particles."""
    subject: tuple[int, str] | None = None
    thing: tuple[int, str] | None = None
    for place in range(*bounds):
        word = terms.folded[place]
        if not "가" <= word[0] <= "힣" and (subject is None or thing is None):
            continue
        if (match := _OBJECT.match(word)) is not None:
            thing = (place, match[1])
        elif (match := _SUBJECT.match(word)) is not None and subject is None:
            subject = (place, match[1])
        elif subject is not None and thing is not None and terms.keys[place]:
            first, last = sorted((subject[0], thing[0]))
            yield Action(frozenset({subject[1]}), (terms.keys[place],), frozenset({thing[1]}), first, last)
            return


def _keys(terms: Terms, name: Name) -> frozenset[str]:
    return frozenset(key for key in terms.keys[name.first_term : name.last_term + 1] if key)


# Attributes that have changed places: "Ann founded it and Bob leads it" against "Bob founded it. Ann leads it."


class _Part(Struct, frozen=True):
    """A part of a text with one name, and what is said of it."""

    name: frozenset[str]
    words: frozenset[str]
    first: int
    last: int
    sentence: int = -1


def _swapped_attributes(statement: Statement) -> list[Finding]:
    """Two names of the claim, each with what the evidence says of the other."""
    terms = statement.terms
    mine = _parts_of(terms, (0, len(terms)), statement.names[:_MOST_NAMES])
    if len(mine) != 2 or mine[0].name & mine[1].name or not (mine[0].words and mine[1].words):
        return []
    theirs = [
        part
        for number, share in statement.best
        if share >= ALIKE / 2 and statement.evidence.sentences[number].block.leaf is None
        for part in _parts_in(statement, number)
    ]
    one, two = mine
    if one.words == two.words:
        return []
    for part in theirs:
        if not (part.name & two.name and one.words <= part.words) or part.name & one.name:
            continue
        others = [each for each in theirs if each.name & one.name and not each.name & two.name]
        others = [each for each in others if each.words & (two.words - part.words) and not one.words <= each.words]
        if others and not any(each.name & one.name and one.words <= each.words for each in theirs):
            sentence = statement.evidence.sentences[part.sentence]
            own, there = (one.first, one.last), (part.first, part.last)
            return [_finding(statement, own, sentence=sentence, other=there)]
    return []


def _parts_in(statement: Statement, number: int) -> list[_Part]:
    sentence = statement.evidence.sentences[number]
    names = statement.evidence.names_by_sentence.get(number, [])[:_MOST_NAMES]
    found = _parts_of(sentence.block.terms, (sentence.first, sentence.last), names)
    return [_Part(part.name, part.words, part.first, part.last, number) for part in found]


def _parts_of(terms: Terms, bounds: tuple[int, int], names: list[Name]) -> list[_Part]:
    """The parts between commas and conjunctions that have one name each; none when a part has several."""
    names = names or _korean_subjects(terms, bounds)
    found: list[_Part] = []
    first = bounds[0]
    for place in range(*bounds):
        is_last = place + 1 == bounds[1]
        if not is_last and not _is_split(terms, place):
            continue
        inside = [name for name in names if first <= name.first_term and name.last_term <= place]
        if len(inside) > 1:
            return []
        if inside:
            own = set(range(inside[0].first_term, inside[0].last_term + 1))
            keys = (terms.keys[each] for each in range(first, place + 1) if each not in own)
            words = frozenset(_verb(key) for key in keys if key)
            found.append(_Part(_keys(terms, inside[0]), words, inside[0].first_term, inside[0].last_term))
        first = place + 1
    return found


def _korean_subjects(terms: Terms, bounds: tuple[int, int]) -> list[Name]:
    places = [place for place in range(*bounds) if _SUBJECT.match(terms.folded[place]) is not None]
    return [Name(terms.starts[place], terms.ends[place], place, place) for place in places][:_MOST_NAMES]


def _is_split(terms: Terms, place: int) -> bool:
    gap = terms.text[terms.ends[place] : terms.starts[place + 1]]
    is_word = terms.folded[place + 1] in _SPLIT_WORDS or terms.folded[place].endswith(("이고", "이며", "하고", "하며"))
    return is_word or _SPLITS.search(gap) is not None


def _finding(statement: Statement, own: tuple[int, int], *, sentence: Sentence, other: tuple[int, int]) -> Finding:
    mine, terms = statement.terms, sentence.block.terms
    start, end = mine.starts[own[0]], mine.ends[own[1]]
    first, last = terms.starts[other[0]], terms.ends[other[1]]
    note = f"response says “{mine.text[start:end]}”, evidence says “{terms.text[first:last]}”"
    return Finding("role_mismatch", start, end, note, (sentence.block.quote(first, last),))


@cache
def _symmetric() -> frozenset[str]:
    return frozenset(fold(word) for each in lexicons_with("contradictions") for word in each.contradictions.symmetric)


@cache
def _infinitives() -> dict[str, str]:
    return {
        stem(fold(form)): stem(fold(verb))
        for each in lexicons_with("contradictions")
        for verb, forms in each.contradictions.verbs.items()
        for form in forms
    }
