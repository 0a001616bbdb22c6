"""Numbers, percentages, money and measurements of a claim against those of the evidence."""

from __future__ import annotations

import re
from functools import cache

from hallumeter.text.lexicon import lexicons_with
from hallumeter.text.quantities import Quantity
from hallumeter.text.terms import Terms, fold

from .alignment import Alignment, Place, aligned, displaced, head_of, may_align
from .check_polarity import places_after_negation
from .evidence import PlacedQuantity
from .statement import Finding, Statement, as_doubt

ABOUT = 0.05
"""Relative tolerance of a number that is meant to be approximate."""
MOST_ABOUT = 0.1
"""The same where the number is round: half of its last digit that is not 0, but no more than this."""
CONVERTED = 0.03
"""Relative tolerance between two units: people round what they convert."""
SMALL_WORD = 12
"""Numbers up to this that are written in letters are often counts of the answer's own: they are never missed."""
_LEAST_WHOLE = 0.5
_LEAST_COUNTED = 0.6
"""The same for a number with a counter, as in Korean, whose head tells less."""
_SAME_SENTENCE = 0.6
"""Share of the claim's words that a sentence must have before one of its numbers can be of another noun."""
_MOST_SAID = 200
"""Numbers of the claim that are looked at for one that stands for another."""
_MOST_DERIVED = 24
"""Numbers of the evidence that are looked at to derive another: their pairs are tried."""
_OUT_OF = re.compile(r"\s?(?:/|out of|of (?:the|its|their)|sur)\s?", re.IGNORECASE)
_KOREAN_TOTALS = ("총", "합계", "합쳐", "합해", "모두")
_FULL_MARKS = re.compile(r"(?:점)?\s?만점")
_JOINERS = frozenset({"and", "or", "et", "ou"})
_REASONS = {"percent": "percent_mismatch", "money": "money_mismatch"}


def check_numbers(statement: Statement) -> list[Finding]:
    """Numbers that the evidence contradicts or does not have."""
    findings = []
    labelled = _labelled(statement.terms)
    denied = places_after_negation(statement.terms)
    is_announced = any(word in _derivations() or word.startswith(_KOREAN_TOTALS) for word in statement.words)
    unsaid: list[PlacedQuantity] | None = None
    for place, quantity in enumerate(statement.quantities):
        if _claims_nothing(statement, place, labelled=labelled):
            continue
        holders = [each for each in statement.evidence.quantities if agrees(quantity, each.quantity)]
        if unsaid is None:
            unsaid = _unsaid(statement)
        if holders:
            findings += _misplaced(statement, quantity, holders=holders, unsaid=unsaid)
            continue
        if _is_derived(statement, quantity, is_announced=is_announced):
            continue
        counterpart = _counterpart(statement, quantity, unsaid)
        if counterpart is not None:
            findings.append(_mismatch(statement, quantity, counterpart))
        elif _could_be_found(quantity) and quantity.first_term not in denied:
            findings.append(_missing(statement, quantity))
    return findings


def _claims_nothing(statement: Statement, place: int, *, labelled: frozenset[int]) -> bool:
    """Whether a number need not be looked for: it counts a list, stands in the question, or repeats another."""
    quantity = statement.quantities[place]
    if _is_list_mark(statement, quantity, labelled=labelled) or _is_given(statement, quantity):
        return True
    return _is_scale(statement, place) or _is_rating(statement, quantity) or _is_converted(statement, place)


def _misplaced(
    statement: Statement, quantity: Quantity, *, holders: list[PlacedQuantity], unsaid: list[PlacedQuantity]
) -> list[Finding]:
    """What speaks against a number that the evidence has: it is of another noun, or of another thing."""
    other = _of_other_noun(statement, quantity, holders=holders)
    if other is not None:
        return [_mismatch(statement, quantity, other)]
    return _displaced(statement, quantity, holders=holders, unsaid=unsaid)


def _is_scale(statement: Statement, place: int) -> bool:
    """Whether a number is what another is out of: the 5 of "4 out of 5", of "4/5" and of "5점 만점에 4점"."""
    quantity, text = statement.quantities[place], statement.terms.text
    if _FULL_MARKS.match(text, quantity.end) is not None:
        return True
    before = statement.quantities[place - 1] if place else None
    if before is None or before.value > quantity.value:
        return False
    return _OUT_OF.fullmatch(text, before.end, quantity.start) is not None


def _is_rating(statement: Statement, quantity: Quantity) -> bool:
    """Whether the evidence writes the number as one with a slash: "4/5" for "4 out of 5"."""
    if quantity.out_of is None:
        return False
    written = f"{quantity.value:g}/{quantity.out_of:g}"
    return any(written in block.terms.text for block in statement.evidence.blocks)


def _is_derived(statement: Statement, quantity: Quantity, *, is_announced: bool) -> bool:
    """Whether two numbers of the sentences that speak of the same make it: a sum, a difference, a share, a change.

    Small numbers are made by chance, so that these count only beside a word such as "total".
    """
    if not is_announced and quantity.kind != "percent" and quantity.value <= SMALL_WORD:
        return False
    numbers = {number for number, _ in statement.best}
    known = [each.quantity for each in statement.evidence.quantities if each.sentence in numbers][:_MOST_DERIVED]
    values = sorted({value for each in known for value in each.values[:1]})
    slack = max(_half_digit(quantity), 0.01 * abs(quantity.value) if quantity.bound != "exactly" else 0.0)
    targets = list(quantity.values)
    alike = [each.value for each in known if (each.unit, each.counter) == (quantity.unit, quantity.counter)]
    if len(alike) > 2 and abs(sum(alike) - quantity.value) <= max(slack, 0.03 * abs(quantity.value)):
        return True
    for one in values:
        for other in values:
            made = [one + other, one - other] if one > other else [2 * one] if one == other and is_announced else []
            if quantity.kind == "percent" and one != other and other:
                made += [100 * one / other, 100 * (one - other) / other, 100 * (other - one) / other]
            if any(abs(value - target) <= slack for value in made for target in targets):
                return True
    return False


@cache
def _derivations() -> frozenset[str]:
    return frozenset(fold(word) for each in lexicons_with("quantities") for word in each.quantities.derivations)


def _of_other_noun(statement: Statement, quantity: Quantity, *, holders: list[PlacedQuantity]) -> PlacedQuantity | None:
    """The number of what the claim counts, where the evidence has the claimed one of something else only.

    "640 teachers" against "640 pupils and 24 teachers".
    """
    head = head_of(statement.terms, Place(quantity.first_term, quantity.last_term))
    if not head or quantity.kind in {"percent", "ordinal"} or (quantity.bound, quantity.out_of) != ("exactly", None):
        return None
    heads = [(_head(statement, each), each) for each in holders]
    if any(other in {"", head} for other, _ in heads) or len({each.sentence for each in holders}) > 1:
        return None
    sentence = holders[0].sentence
    if statement.share_in(sentence) < _SAME_SENTENCE or statement.evidence.sentences[sentence].block.leaf is not None:
        return None
    others = [
        each
        for each in statement.evidence.quantities
        if each.sentence == sentence and not each.is_in_date and _head(statement, each) == head
    ]
    is_other = len(others) == 1 and _is_comparable(quantity, others[0].quantity)
    if not is_other or any(agrees(mine, others[0].quantity) for mine in statement.quantities[:_MOST_SAID]):
        return None
    return others[0]


def _head(statement: Statement, placed: PlacedQuantity) -> str:
    quantity = placed.quantity
    terms = statement.evidence.sentences[placed.sentence].block.terms
    return head_of(terms, Place(quantity.first_term, quantity.last_term))


def matched_keys(statement: Statement) -> dict[str, frozenset[int]]:
    """Words of numbers that the evidence has in another form, as 35,000 for "3만 5천", with its sentences."""
    found: dict[str, frozenset[int]] = {}
    for quantity in statement.quantities:
        keys = set(statement.terms.keys[quantity.first_term : quantity.last_term + 1]) - {""}
        if all(key in statement.evidence.postings for key in keys):
            continue
        sentences = frozenset(
            each.sentence for each in statement.evidence.quantities if _is_same(quantity, each.quantity)
        )
        if sentences:
            found |= {key: sentences for key in keys if key not in statement.evidence.postings}
    return found


def _is_same(claimed: Quantity, known: Quantity) -> bool:
    """Whether two numbers are one and the same, of the same unit, and not so small that many are."""
    if claimed.unit != known.unit or claimed.counter != known.counter or claimed.high != known.high:
        return False
    return claimed.value == known.value > SMALL_WORD


def _could_be_found(quantity: Quantity) -> bool:
    """Whether it tells that a number is nowhere in the evidence: not where the claim ranks or counts itself."""
    return quantity.kind != "ordinal" and not (quantity.is_word and quantity.value <= SMALL_WORD)


def agrees(claimed: Quantity, known: Quantity) -> bool:
    """Whether two numbers may be the same: equal, one rounded from the other, or within what is said of them.

    A plain number agrees with one that has a unit, so that "5" may answer for "5 km".
    """
    if claimed.unit is not None and known.unit is not None and claimed.unit != known.unit:
        dimensions = {claimed.unit.dimension, known.unit.dimension}
        if len(dimensions) == 1:
            return _agree_converted(claimed, known)
        if dimensions != {"angle", "temperature"}:  # "350 degrees" leaves open of which kind
            return False
    return any(_agree(value, other, claimed=claimed, known=known) for value in claimed.values for other in known.values)


def _agree_converted(claimed: Quantity, known: Quantity) -> bool:
    assert claimed.unit is not None
    assert known.unit is not None
    one, other = claimed.unit.standard(claimed.value), known.unit.standard(known.value)
    high = None if known.high is None else known.unit.standard(known.high)
    digit = max(_half_digit(claimed) * claimed.unit.factor, _half_digit(known) * known.unit.factor)
    slack = max(CONVERTED * max(abs(one), abs(other)), digit if claimed.is_rounded else 0.0)
    if high is not None:
        return other - slack <= one <= high + slack
    return abs(one - other) <= slack


def _agree(value: float, other: float, *, claimed: Quantity, known: Quantity) -> bool:
    if abs(value - other) <= 1e-9 * max(abs(value), abs(other)):
        return (
            claimed.high is None or known.high is None or _near(claimed.high, known.high, claimed=claimed, known=known)
        )
    if known.high is not None and other <= value <= known.high:
        return claimed.high is None or other <= claimed.high <= known.high
    if claimed.high is not None:
        return claimed.high in known.values or (known.high is None and value <= other <= claimed.high)
    return _near(value, other, claimed=claimed, known=known)


def _near(value: float, other: float, *, claimed: Quantity, known: Quantity) -> bool:
    distance, size = abs(value - other), max(abs(value), abs(other))
    slack = 1e-9 * size
    if claimed.is_rounded or known.step < 1:
        slack = max(slack, _half_digit(claimed))
    if known.is_rounded:
        slack = max(slack, _half_digit(known))
    if "about" in {claimed.bound, known.bound}:
        rounded = claimed if claimed.bound == "about" else known
        slack = max(slack, ABOUT * size, min(rounded.step / 2, MOST_ABOUT * size))
    if claimed.bound == "at_least" and value <= other <= 2 * value:
        return True
    return distance <= slack or (claimed.bound == "at_most" and value / 2 <= other <= value)


def _half_digit(quantity: Quantity) -> float:
    """Half of the last digit: half a million for "10 million", 0.05 for "1.2"."""
    return min(quantity.step, quantity.scale) / 2


def _is_list_mark(statement: Statement, quantity: Quantity, *, labelled: frozenset[int]) -> bool:
    """Whether a number only counts the items of a list, passages that are cited, or the answer's own words."""
    terms = statement.terms
    before, after = terms.text[: quantity.start].strip(" \n*-•([#"), terms.text[quantity.end : quantity.end + 1]
    if not before and after in {".", ")", ":"}:
        return True
    if quantity.first_term in labelled:
        return True
    return quantity.last_term + 1 < len(terms) and terms.folded[quantity.last_term + 1] in _own_counts()


def _labelled(terms: Terms) -> frozenset[int]:
    """Places after a label, or after numbers and joiners that follow one: "passages 1, 2 and 3"."""
    found: set[int] = set()
    for place in range(1, len(terms)):
        word = terms.folded[place - 1]
        goes_on = place - 1 in found and (word in _JOINERS or word.isdecimal())
        if goes_on or word in _labels():
            found.add(place)
    return frozenset(found)


@cache
def _labels() -> frozenset[str]:
    return frozenset(fold(word) for each in lexicons_with("quantities") for word in each.quantities.labels)


@cache
def _own_counts() -> frozenset[str]:
    return frozenset(fold(word) for each in lexicons_with("quantities") for word in each.quantities.own_counts)


def _is_given(statement: Statement, quantity: Quantity) -> bool:
    return any(
        statement.terms.keys[place] in statement.given
        for place in range(quantity.first_term, quantity.last_term + 1)
        if statement.terms.folded[place][0].isdecimal()
    )


def _is_converted(statement: Statement, place: int) -> bool:
    """Whether the claim gives the same quantity in another unit just before: only that one is checked."""
    quantity = statement.quantities[place]
    return quantity.unit is not None and any(
        other.unit not in {None, quantity.unit} and 0 <= quantity.start - other.end <= 3 and agrees(quantity, other)
        for other in statement.quantities[max(0, place - 3) : place]
    )


def _unsaid(statement: Statement) -> list[PlacedQuantity]:
    """Numbers of the evidence that the claim has nowhere, in sentences that may speak of the same thing."""
    return [
        each
        for each in statement.evidence.quantities
        if not each.is_in_date
        and may_align(statement, each.sentence, whole=_LEAST_WHOLE)
        and not any(agrees(mine, each.quantity) for mine in statement.quantities)
    ]


def _counterpart(statement: Statement, quantity: Quantity, unsaid: list[PlacedQuantity]) -> PlacedQuantity | None:
    """The number of the evidence that stands in the place of this one, when there is one."""
    place = Place(quantity.first_term, quantity.last_term)
    best: tuple[float, PlacedQuantity] | None = None
    for each in unsaid:
        other = each.quantity
        if not _is_comparable(quantity, other):
            continue
        alignment = aligned(statement, place, number=each.sentence, other=Place(other.first_term, other.last_term))
        if _is_aligned(alignment, quantity):
            score = alignment.share + alignment.whole
            if best is None or score > best[0]:
                best = (score, each)
    return None if best is None else best[1]


def _displaced(
    statement: Statement, quantity: Quantity, *, holders: list[PlacedQuantity], unsaid: list[PlacedQuantity]
) -> list[Finding]:
    """What speaks against a number that the evidence has: another one stands where it speaks of the same thing."""
    place = Place(quantity.first_term, quantity.last_term)
    where = displaced(statement, place, holders=[each.sentence for each in holders])
    if where is None:
        return []
    there = [each for each in unsaid if each.sentence == where.sentence and _is_comparable(quantity, each.quantity)]
    counterpart = _counterpart(statement, quantity, there)
    is_other = quantity.unit is not None and all(each.quantity.unit != quantity.unit for each in holders)
    if counterpart is not None and is_other and not where.held:
        return [_mismatch(statement, quantity, counterpart)]
    head = head_of(statement.terms, place)
    terms = statement.evidence.sentences[where.sentence].block.terms
    alike = [
        each
        for each in there
        if quantity.unit is not None or head == head_of(terms, Place(each.quantity.first_term, each.quantity.last_term))
    ]
    return [as_doubt(_mismatch(statement, quantity, alike[0]))] if alike else []


def _is_comparable(claimed: Quantity, known: Quantity) -> bool:
    if {claimed.bound, known.bound} == {"at_least", "at_most"}:
        return False  # "at least 200" and "at most 450" may both be true
    if claimed.kind != known.kind or claimed.counter != known.counter:
        return False
    if claimed.unit is None or known.unit is None or claimed.kind == "money":
        return True
    return claimed.unit.dimension == known.unit.dimension


def _is_aligned(alignment: Alignment, claimed: Quantity) -> bool:
    if claimed.counter and alignment.whole < _LEAST_COUNTED:
        return False
    if alignment.whole < _LEAST_WHOLE or alignment.share < 0.5 or alignment.shared < 2:
        return False
    return alignment.has_same_head or claimed.unit is not None


def _mismatch(statement: Statement, quantity: Quantity, known: PlacedQuantity) -> Finding:
    block = statement.evidence.sentences[known.sentence].block
    other = known.quantity
    said = statement.terms.text[quantity.start : quantity.end]
    written = block.terms.text[other.start : other.end]
    reason = _REASONS.get(quantity.kind, "number_mismatch")
    if quantity.kind == other.kind == "measure" and quantity.unit != other.unit and quantity.value == other.value:
        reason = "unit_mismatch"
    note = f"response says {said}, evidence says {written}"
    return Finding(reason, quantity.start, quantity.end, note, (block.quote(other.start, other.end),))


def _missing(statement: Statement, quantity: Quantity) -> Finding:
    said = statement.terms.text[quantity.start : quantity.end]
    return Finding(
        "number_not_found", quantity.start, quantity.end, f"response says {said}, evidence has no such number"
    )
