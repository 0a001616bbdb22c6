"""What the evidence only plans or holds possible, and the claim tells as done or certain."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from hallumeter.text.lexicon import lexicons_with
from hallumeter.text.terms import Terms, fold, stem, terms_of

from .check_polarity import clause_bounds, denials, says_both
from .evidence import Sentence
from .statement import Finding, Statement

ALIKE = 0.75
"""Weighted share of the claim's words that a sentence must have before it can be what the claim tells as done."""
_REACH = 3
_MOST_PLANS = 10
_DONE_BEFORE = frozenset({"has", "have", "had", "was", "were", "did", "a", "ont", "est", "sont"})
_IS = frozenset({"is", "are", "be", "being", "to", "once", "when", "after", "until"})
_BE = frozenset({"be", "have", "been", "etre", "avoir"})
_HANGUL_DONE = (
    *("았다", "었다", "했다", "됐다", "켰다", "렸다", "졌다", "였다", "냈다", "났다"),
    *("았습니다", "었습니다", "했습니다"),
)
_HANGUL_PRESENT = ("한다", "합니다", "된다", "됩니다", "는다")


class _Plan(Struct, frozen=True):
    """A verb that is announced or held possible."""

    first: int
    """Where the words that announce it begin."""
    verb: int
    is_possibility: bool


def check_plans(statement: Statement) -> list[Finding]:
    """A verb that the claim tells as done or certain and the evidence does not; one finding at most."""
    if denials(statement.terms, (0, len(statement.terms))):
        return []
    for number, share in statement.best[:2]:
        sentence = statement.evidence.sentences[number]
        if sentence.block.leaf is not None or share < ALIKE - 0.25:
            continue
        terms = sentence.block.terms
        bounds = (sentence.first, sentence.last)
        plans = _korean_plans(terms, bounds) if statement.language == "ko" else _plans(terms, bounds)
        for plan in plans[:_MOST_PLANS]:
            here = _told(statement, sentence, plan)
            if here is not None and _is_same_statement(statement, sentence, plan, here=here):
                return [_finding(statement, sentence, plan, here=here)]
    return []


def _plans(terms: Terms, bounds: tuple[int, int]) -> list[_Plan]:
    found = []
    for place in range(*bounds):
        for size, is_possibility in _phrases().get(terms.folded[place], ()):
            words = tuple(terms.folded[place : place + len(size)])
            if words != size or place + len(size) >= bounds[1]:
                continue
            verb = _verb_after(terms, place + len(size), bounds[1])
            if verb is not None:
                found.append(_Plan(place, verb, is_possibility))
    return found


def _verb_after(terms: Terms, place: int, last: int) -> int | None:
    """The verb after the words that announce it, without "be", "have" and adverbs."""
    for each in range(place, min(last, place + _REACH)):
        if terms.folded[each] in _BE or terms.folded[each].endswith("ly"):
            continue
        return each if terms.keys[each] or terms.folded[each] in _forms() else None
    return None


def _korean_plans(terms: Terms, bounds: tuple[int, int]) -> list[_Plan]:
    """A verb before a word such as 계획 or 예정, with an ending of what is to come."""
    found = []
    for place in range(bounds[0] + 1, bounds[1]):
        word = terms.folded[place]
        for start, is_possibility in _korean_words():
            before = terms.folded[place - 1]
            if word.startswith(start) and len(before) > 1 and _is_to_come(before[-1]):
                found.append(_Plan(place - 1, place - 1, is_possibility))
                break
    return found


def _is_to_come(syllable: str) -> bool:
    """Whether a syllable ends in ㄹ, as in 할, 지을 and 통과시킬."""
    return "가" <= syllable <= "힣" and (ord(syllable) - ord("가")) % 28 == 8


def _told(statement: Statement, sentence: Sentence, plan: _Plan) -> int | None:
    """The place of the same verb in the claim, in a form that tells it as done, or as certain."""
    terms, other = statement.terms, sentence.block.terms
    if statement.language == "ko":
        return _korean_told(terms, other.folded[plan.verb], is_possibility=plan.is_possibility)
    forms = _forms_of(other.folded[plan.verb])
    key = other.keys[plan.verb]
    pairs = enumerate(zip(terms.folded, terms.keys, strict=True))
    places = [place for place, (word, own) in pairs if word in forms or (own and own == key)]
    for place in places[:_MOST_PLANS]:
        if not _is_finite(terms, place, is_possibility=plan.is_possibility):
            continue
        first, last = clause_bounds(terms, place, bounds=(0, len(terms)))
        around = terms.folded[first:place] + terms.folded[place + 1 : last + 1]
        if _hedges().isdisjoint(terms.folded) or _hedges().isdisjoint(around):
            return place
    return None


def _is_finite(terms: Terms, place: int, *, is_possibility: bool) -> bool:
    """Whether a verb is told as done: a past form, or after an auxiliary; of a possibility also the present."""
    word = terms.folded[place]
    before = terms.folded[max(0, place - 2) : place]
    if not _DONE_BEFORE.isdisjoint(before):
        return word.endswith(("ed", "e", "i", "u", "t")) or word in _forms()
    if not _IS.isdisjoint(before):
        return False
    is_past = word.endswith("ed") or (word in _forms() and word not in _table())
    is_present = (word.endswith("s") and not word.endswith("ss")) or word in _forms()
    return place > 0 and (is_past or (is_possibility and is_present))


def _korean_told(terms: Terms, planned: str, *, is_possibility: bool) -> int | None:
    endings = _HANGUL_DONE + (_HANGUL_PRESENT if is_possibility else ())
    begin = planned[:-1]
    for place, word in enumerate(terms.folded):
        if place + 1 == len(terms) and begin and word.startswith(begin) and word.endswith(endings):
            return place
    return None


def _is_same_statement(statement: Statement, sentence: Sentence, plan: _Plan, *, here: int) -> bool:
    """Whether all else of the claim is in the sentence, and no other sentence tells it as done."""
    terms, other = statement.terms, sentence.block.terms
    low, high = clause_bounds(other, plan.verb, bounds=(sentence.first, sentence.last))
    keys = set(other.keys[low : high + 1])
    first, last = clause_bounds(terms, here, bounds=(0, len(terms)))
    own = [terms.keys[place] for place in range(first, last + 1) if place != here and terms.keys[place]]
    shared = [key for key in own if key in keys]
    if not shared or len(shared) < ALIKE * len(own):
        return False
    verb, forms = other.keys[plan.verb], _forms_of(other.folded[plan.verb])
    words = zip(sentence.keys, other.folded[sentence.first : sentence.last], strict=True)
    if sum(key == verb or word in forms for key, word in words) > 1:
        return False
    return not any(key and says_both(statement, key, sentence=sentence) for key in {verb, terms.keys[here]})


def _finding(statement: Statement, sentence: Sentence, plan: _Plan, *, here: int) -> Finding:
    mine, terms = statement.terms, sentence.block.terms
    first = here
    while first > 0 and here - first < 2 and mine.folded[first - 1] in _DONE_BEFORE:
        first -= 1
    start, end = mine.starts[first], mine.ends[here]
    last = min(plan.verb + 1, sentence.last - 1) if statement.language == "ko" else plan.verb
    there = terms.starts[plan.first], terms.ends[last]
    note = f"response says “{mine.text[start:end]}”, evidence says “{terms.text[slice(*there)]}”"
    return Finding("plan_mismatch", start, end, note, (sentence.block.quote(*there),))


@cache
def _phrases() -> dict[str, tuple[tuple[tuple[str, ...], bool], ...]]:
    """Phrases that announce or hold possible, by their first word, the longest first."""
    found: dict[str, list[tuple[tuple[str, ...], bool]]] = {}
    for lexicon in lexicons_with("contradictions"):
        words = lexicon.contradictions
        for phrases, is_possibility in ((words.plans, False), (words.possibilities, True)):
            for phrase in phrases:
                folded = tuple(terms_of(phrase).folded)
                found.setdefault(folded[0], []).append((folded, is_possibility))
    return {word: tuple(sorted(phrases, key=lambda each: -len(each[0]))) for word, phrases in found.items()}


@cache
def _korean_words() -> tuple[tuple[str, bool], ...]:
    words = next(each for each in lexicons_with("contradictions") if each.language == "ko").contradictions
    return (*((word, False) for word in words.plans), *((word, True) for word in words.possibilities))


@cache
def _hedges() -> frozenset[str]:
    return frozenset(fold(word) for each in lexicons_with("contradictions") for word in each.contradictions.hedges)


@cache
def _table() -> dict[str, frozenset[str]]:
    return {
        fold(verb): frozenset(map(fold, forms))
        for each in lexicons_with("contradictions")
        for verb, forms in each.contradictions.verbs.items()
    }


@cache
def _forms() -> frozenset[str]:
    return frozenset().union(*_table().values())


def _forms_of(verb: str) -> frozenset[str]:
    """The past forms of a verb that are no regular ones; of a participle, those of its infinitive."""
    for infinitive, forms in _table().items():
        if verb == infinitive or verb in forms:
            return forms
    return frozenset({verb}) if verb != stem(verb) else frozenset()
