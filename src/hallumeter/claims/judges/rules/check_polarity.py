"""Negation: which words of a text are denied, and claims that deny what the evidence says or the other way round."""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from hallumeter.text.lexicon import lexicons_with
from hallumeter.text.terms import Terms, fold, stem

from .evidence import Sentence
from .statement import Finding, Statement

ALIKE = 0.6
"""Weighted share of the claim's words that a sentence must have before it can be its contrary."""
CLAUSES_ALIKE = 0.55
"""Weighted share of the words of two clauses together that both must have before one can deny the other."""
COVERED = 0.75
"""Weighted share of the words of the claim's clause that the clause of the evidence must have."""
OTHERS_ALIKE = 0.5
"""Share from which another sentence speaks of the same thing too."""
_REACH = 4
_FARTHEST = 60
"""Words that a negation reaches at most: without a limit a long row of them would be read anew for each."""
_MOST_CUES = 20
"""How many words that deny are looked at in one text."""
_BULLETS = frozenset("*-•·▪◦–—")
_HANGUL_NEGATIONS = ("불가", "금지")
_HANGUL_VERB = re.compile("[았었는은을던고며다습기면려]")
"""How a verb goes on whose stem is one or two syllables."""
_FORMERLY = frozenset({"used", "formerly", "former", "once", "previously", "until", "originally"})
_HANGUL_CONDITIONS = ("면", "나", "지만", "더라도", "라도", "아도", "어도")
_HANGUL_FINITE = re.compile(r"(?:다|요|고|며|으며|까|음|함|됨)$")
_HANGUL_COMPARISONS = ("보다", "만큼")
_PARTLY = (["all"], ["always"], ["every"], ["enough"], ["toujours"])
_LISTING = frozenset({"or", "nor", "and", "ou", "ni", "et"})
_CONDITIONS = frozenset({"if", "unless", "when", "whether", "si", "quand"})
_CONJUNCTIONS = frozenset(
    {"but", "while", "whereas", "mais", "because", "although", "though", "if", "unless", "so", "when", "car"}
)
_AGREEING = frozenset({"nor", "neither", "ne", "n", "pas", "jamais", "aucun", "aucune", "ni", "rien", "plus"})
"""Words that deny together with the one before them: "neither … nor", "ne … pas"."""
_FORWARD = frozenset({"without", "sans"})
"""Words that deny nothing before them."""
_AFTER_HEAD = frozenset({"or", "nor", "and", "ni", "ou", "et", "despite", "malgre"})
_SMALL = frozenset(
    {"a", "an", "any", "the", "be", "been", "to", "de", "d", "des", "du", "la", "le", "les", "un", "une"}
)


class Denial(Struct, frozen=True):
    """A word that denies, and what it denies."""

    cue: int
    """Number of the term that denies."""
    head: int
    """The word that it denies: the first after it that says something; the last before it in Korean."""
    first: int
    """The words that it reaches, from the first to the last, inclusive."""
    last: int


def denials(terms: Terms, bounds: tuple[int, int]) -> list[Denial]:
    """What the words that deny reach. Two that cancel out, as in "not without", deny nothing.

    >>> from hallumeter.text.terms import terms_of
    >>> terms = terms_of("Despite not providing garage parking, it has a lot")
    >>> [(terms.folded[each.cue], terms.folded[each.head]) for each in denials(terms, (0, len(terms)))]
    [('not', 'providing')]
    """
    found: list[Denial] = []
    for index in range(*bounds):
        denial = _denial_at(terms, index, bounds)
        if denial is None:
            continue
        if not found or not found[-1].first <= index <= found[-1].last:
            found.append(denial)
        elif terms.folded[index] not in _AGREEING:
            before = found.pop()
            is_cancelled = before.head >= index or before.head == denial.head
            found += [] if is_cancelled else [Denial(before.cue, before.head, before.first, index - 1)]
    return found


def _denial_at(terms: Terms, index: int, bounds: tuple[int, int]) -> Denial | None:
    word = terms.folded[index]
    is_part = _has_negation_part(word) or word.startswith(_HANGUL_NEGATIONS)
    if not (is_part or word in _negations()) or _is_harmless(terms, index) or _is_restrictive(terms, index):
        return None
    if is_part:
        head = None if word.endswith(_HANGUL_CONDITIONS) else _denied_before(terms, index, bounds[0])
        return None if head is None else Denial(index, head, head, index)
    last = index
    while last + 1 < min(bounds[1], index + _FARTHEST) and not leaves_clause(terms, last):
        last += 1
    near = range(index + 1, min(last, index + _REACH) + 1)
    head = next((place for place in near if _can_be_denied(terms, place)), None)
    return None if head is None else Denial(index, head, index + 1, last)


def _can_be_denied(terms: Terms, place: int) -> bool:
    return bool(terms.keys[place]) and terms.folded[place] not in _negations() and terms.folded[place] != "longer"


def _is_restrictive(terms: Terms, index: int) -> bool:
    """Whether "ne … que" says "only"."""
    if terms.folded[index] not in {"ne", "n"}:
        return False
    following = terms.folded[index + 1 : index + 6]
    return any(word in {"que", "qu"} for word in following) and _AGREEING.isdisjoint(following)


def is_denied(terms: Terms, place: int, *, is_item: bool = False) -> bool | None:
    """Whether a word is denied; None when it cannot be told, as after "lacks" or in a list after "no".

    What is denied after it counts: "WiFi is not available". An item of a list is also denied by words beyond commas.
    """
    first = last = place
    while first > 0 and not _ends_statement(terms, first - 1):
        first -= 1
    while last + 1 < len(terms) and not _ends_statement(terms, last):
        last += 1
    clause = (first, last) if is_item else clause_bounds(terms, place, bounds=(first, last + 1))
    around = terms.folded[clause[0] : place] + terms.folded[place + 1 : clause[1] + 1]
    if any(word in hidden_negations() or word in _CONDITIONS for word in around):
        return None
    cues = [index for index in range(first, last + 1) if _is_cue(terms, index)]
    cues = [index for index in cues if index < place or terms.folded[index] not in _FORWARD]
    if not cues:
        return False
    reached = [each for each in denials(terms, (first, last + 1)) if each.first <= place <= each.last]
    return True if len(cues) == 1 and len(reached) == 1 and place - reached[0].cue <= _REACH else None


def _is_cue(terms: Terms, index: int) -> bool:
    word = terms.folded[index]
    return word in _negations() or _has_negation_part(word) or word.startswith(_HANGUL_NEGATIONS)


def _ends_statement(terms: Terms, index: int) -> bool:
    """Whether a statement ends between a term and the next; commas may only part the items of a list."""
    gap = terms.text[terms.ends[index] : terms.starts[index + 1]]
    return any(mark in gap for mark in ";.\n")


def check_negation(statement: Statement) -> list[Finding]:
    """A word that is denied in the claim and not in the evidence, or the other way round, in clauses that are alike."""
    if _is_fragment(statement.terms.text) or len(statement.keys) < 2:
        return []
    mine = denials(statement.terms, (0, len(statement.terms)))[:_MOST_CUES]
    for number, share in statement.best:
        sentence = statement.evidence.sentences[number]
        if (
            share < ALIKE
            or sentence.block.leaf is not None
            or "?" in sentence.block.terms.text[sentence.start : sentence.end]
        ):
            continue
        found = _contrary(statement, sentence, mine=mine)
        if found is not None:
            return [found]
    return []


def _contrary(statement: Statement, sentence: Sentence, *, mine: list[Denial]) -> Finding | None:
    terms = sentence.block.terms
    theirs = denials(terms, (sentence.first, sentence.last))[:_MOST_CUES]
    for denial in mine:
        if _is_past_of(statement.terms, denial, words=terms.folded[sentence.first : sentence.last]):
            continue
        place = _only_place(terms, statement.terms, denial.head, bounds=(sentence.first, sentence.last))
        if place is None or is_denied(terms, place) is not False:
            continue
        if _is_contrary(statement, denial.head, sentence=sentence, place=place):
            other = (place, _predicate(terms, place, denial))
            return _finding(statement, sentence, own=(denial.cue, denial.head), other=other)
    for denial in theirs:
        here = _only_place(statement.terms, terms, denial.head, bounds=(0, len(statement.terms)))
        if here is None or is_denied(statement.terms, here) is not False:
            continue
        if _is_contrary(statement, here, sentence=sentence, place=denial.head):
            first = _beginning(statement.terms, here, terms=terms, cue=denial.cue)
            own = (first, _predicate(statement.terms, here, denial))
            return _finding(statement, sentence, own=own, other=(denial.cue, denial.head))
    return None


def _is_past_of(terms: Terms, denial: Denial, *, words: list[str]) -> bool:
    """Whether the evidence speaks of what was, and the claim of what "no longer" is."""
    return terms.folded[denial.cue + 1 : denial.cue + 2] == ["longer"] and not _FORMERLY.isdisjoint(words)


def _only_place(terms: Terms, others: Terms, head: int, *, bounds: tuple[int, int]) -> int | None:
    """Where the word that another text denies stands in a text, when it stands there once."""
    key, word = others.keys[head], others.folded[head]
    keys = terms.keys[bounds[0] : bounds[1]]
    if keys.count(key) == 1:
        return bounds[0] + keys.index(key)
    if not ("가" <= word[0] <= "힣" and word.endswith("지")) or keys.count(key):
        return None
    stems = [place for place in range(*bounds) if _HANGUL_VERB.match(terms.folded[place].removeprefix(word[:-1]))]
    stems = [place for place in stems if terms.folded[place].startswith(word[:-1])]
    return stems[0] if len(stems) == 1 else None


def _predicate(terms: Terms, place: int, denial: Denial) -> int:
    """The word that stands for a Korean one that denies after its head: 있다 for 없다."""
    return place + 1 if denial.head == denial.cue - 1 and place + 1 < len(terms) and not _parts(terms, place) else place


def _is_contrary(statement: Statement, here: int, *, sentence: Sentence, place: int) -> bool:
    """Whether the clauses around two words say the same but for the negation, and no other sentence clears it up."""
    mine, terms = statement.terms, sentence.block.terms
    bounds = (sentence.first, sentence.last)
    if statement.language == "ko" and not _are_plain(statement, here, sentence=sentence, place=place):
        return False
    if _hides(mine, (0, len(mine))) != _hides(terms, clause_bounds(terms, place, bounds=bounds)):
        return False
    if not same_clause(statement, here, sentence=sentence, place=place) and not _is_extended(
        statement, here, sentence=sentence, place=place
    ):
        return False
    return not says_both(statement, mine.keys[here], sentence=sentence)


def _are_plain(statement: Statement, here: int, *, sentence: Sentence, place: int) -> bool:
    """Whether both Korean texts state something outright: no comparison, no condition, the words in finite forms."""
    mine, terms = statement.terms, sentence.block.terms
    words = [*mine.folded, *terms.folded[sentence.first : sentence.last]]
    if any(word.endswith((*_HANGUL_COMPARISONS, "면")) and len(word) > 1 for word in words):
        return False
    return _is_predicate(mine, here) and _is_predicate(terms, place)


def _is_predicate(terms: Terms, place: int) -> bool:
    """Whether a Korean word is said outright, or is denied or affirmed by the words after it: 할 수 있다, 적이 없다."""
    following = terms.folded[place + 1 : place + 3]
    if any(word.startswith(("예정", "계획", "기로", "결정")) for word in following):
        return False
    candidates = [terms.folded[place], *following[: 2 if following[:1] == ["수"] else 1]]
    return any(_HANGUL_FINITE.search(word) is not None for word in candidates)


def _is_extended(statement: Statement, here: int, *, sentence: Sentence, place: int) -> bool:
    """Whether the clause of the evidence has all words of the claim's and goes on after the denied word.

    What goes on must not narrow what is denied: "not open on Sundays" is open.
    """
    mine, terms = statement.terms, sentence.block.terms
    own = clause_keys(mine, here, bounds=(0, len(mine)))
    other = clause_keys(terms, place, bounds=(sentence.first, sentence.last))
    if own is None or other is None or len(own) < 2 or not own <= other:
        return False
    following = terms.folded[place + 1 : place + 2]
    return not following or place + 1 >= sentence.last or _parts(terms, place) or following[0] in _AFTER_HEAD


def _hides(terms: Terms, bounds: tuple[int, int]) -> frozenset[str]:
    """The words of a text that deny in their meaning."""
    return frozenset(terms.folded[bounds[0] : bounds[1] + 1]) & hidden_negations()


def _finding(statement: Statement, sentence: Sentence, *, own: tuple[int, int], other: tuple[int, int]) -> Finding:
    mine, terms = statement.terms, sentence.block.terms
    span, there = _span(mine, own), _span(terms, other)
    note = f"response says “{mine.text[slice(*span)]}”, evidence says “{terms.text[slice(*there)]}”"
    return Finding("negation_mismatch", *span, note, (sentence.block.quote(*there),))


def _beginning(mine: Terms, here: int, *, terms: Terms, cue: int) -> int:
    """Where the words begin that stand in the claim for those around the cue: "has a jack" for "has no jack"."""
    around = frozenset(terms.folded[max(0, cue - 2) : cue])
    place = here
    while place > 0 and here - place < 3 and (mine.folded[place - 1] in around or mine.folded[place - 1] in _SMALL):
        place -= 1
    while place < here and mine.folded[place] in _SMALL:
        place += 1
    return place


def _is_fragment(text: str) -> bool:
    """Whether a text is a question, or an item of a list that may speak of something named above it."""
    return text.rstrip().endswith("?") or text.lstrip()[:1] in _BULLETS


def _span(terms: Terms, places: tuple[int, int]) -> tuple[int, int]:
    return terms.starts[min(places)], terms.ends[max(places)]


def same_clause(statement: Statement, index: int, *, sentence: Sentence, place: int) -> bool:
    """Whether the clauses around two words have nearly the same words, each of the other's."""
    evidence, terms = statement.evidence, sentence.block.terms
    mine = clause_keys(statement.terms, index, bounds=(0, len(statement.terms)))
    theirs = clause_keys(terms, place, bounds=(sentence.first, sentence.last))
    if mine is None or theirs is None:
        return False
    own, other = {statement.terms.keys[index]}, {terms.keys[place]}
    is_verb = "가" <= statement.terms.folded[index][0] <= "힣"
    if own != other and is_verb and statement.terms.folded[index][0] == terms.folded[place][0]:
        mine = (mine - own) | other
        own = other
    if own != other:  # opposites, not one word that is denied
        mine, theirs = mine - own, theirs - other
    theirs = {key for key in theirs if key in mine or not (key[0].isdecimal() or len(key) == 1)}
    weights = {key: evidence.weights.get(key, evidence.weight_of_unknown) for key in mine | theirs}
    shared, total = sum(weights[key] for key in mine & theirs), sum(weights.values())
    fewest = 1 if own != other else 2
    is_covered = shared >= COVERED * sum(weights[key] for key in mine)
    return len(mine & theirs) >= fewest and is_covered and shared >= CLAUSES_ALIKE * total


def clause_keys(terms: Terms, index: int, *, bounds: tuple[int, int]) -> set[str] | None:
    """Keys of the words around a place up to the next comma or conjunction; None for a condition."""
    first, last = clause_bounds(terms, index, bounds=bounds)
    if not _CONDITIONS.isdisjoint((terms.folded[first], *terms.folded[last + 1 : min(bounds[1], last + 2)])):
        return None
    return {key for key in terms.keys[first : last + 1] if key and key not in _negation_keys()}


def clause_bounds(terms: Terms, index: int, *, bounds: tuple[int, int]) -> tuple[int, int]:
    """The first and the last term of the clause around a place."""
    first = last = index
    while first > bounds[0] and not _parts(terms, first - 1):
        first -= 1
    while last + 1 < bounds[1] and not _parts(terms, last):
        last += 1
    return first, last


def _parts(terms: Terms, index: int) -> bool:
    """Whether a clause ends between a term and the next."""
    gap = terms.text[terms.ends[index] : terms.starts[index + 1]]
    return any(mark in gap for mark in ",;:.()–—\n") or terms.folded[index + 1] in _CONJUNCTIONS


def _has_negation_part(word: str) -> bool:
    return "가" <= word[0] <= "힣" and any(part in word for part in _negation_parts())


def says_both(statement: Statement, key: str, *, sentence: Sentence) -> bool:
    """Whether another sentence of the evidence that speaks of the same has the word too: it may say the contrary."""
    others = [statement.evidence.sentences[number] for number, share in statement.best if share >= OTHERS_ALIKE]
    return any(key in other.keys and other.quote() != sentence.quote() for other in others)


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
        is_after = is_after and not (place and leaves_clause(terms, place - 1))
        if is_after:
            found.add(place)
        is_after = is_after or word in _negations()
    return frozenset(found)


def leaves_clause(terms: Terms, index: int) -> bool:
    """Whether a clause ends between a term and the next; the commas of a list of names or numbers end none."""
    gap = terms.text[terms.ends[index] : terms.starts[index + 1]]
    if any(mark in gap for mark in ";:.–—\n") or terms.folded[index + 1] in _CONJUNCTIONS:
        return True
    return "," in gap and terms.text[terms.starts[index + 1]].islower() and terms.folded[index + 1] not in _LISTING


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
