"""Errors in numbers: another value in the same form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hallumeter.text import load_lexicon
from hallumeter.text.quantities import Quantity

from .choosing import Choice
from .donors import Donors, Fact
from .forms.numbers import NumberCore, number_core, number_shape, ordinal
from .protocol import Edit
from .reading import Reading, like

_FACTORS = (0.6, 1.3, 0.7, 1.5, 0.8, 1.7, 1.25, 0.65)
"""By how much larger numbers are changed: clearly, and within one order of magnitude."""
_LIST_MARK = re.compile(r"[\s\-*•(]*\d{1,3}(?:[.)](?!\d)|\s\s|\s?[A-ZÀ-Þ])")
_GOES_ON = re.compile(r"[/_:]\d?|[-.]\d|\(|\s\s")
_YEAR = re.compile("1[5-9][0-9][0-9]|20[0-9][0-9]")
_CLEARLY = 1.2
_WITHIN = 10.0
_KOREAN_COUNTS = ("두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉")
_RARE = frozenset({"vingts", "septante", "octante", "huitante", "nonante", "dozen", "douzaine"})
_LATIN_ORDINAL = re.compile(r"st|nd|rd|th")
_BEFORE_ORDINAL = frozenset({"the", "his", "her", "their", "its", "le", "la", "sa", "son"})
_AFTER_ORDINAL = frozenset({"of", "party", "parties", "person", "world", "time", "de", "d", "largest", ""})


def number_edits(reading: Reading, donors: Donors, choice: Choice) -> Iterator[Edit]:
    """Another number for each number of a claim: first from its evidence, then made up, then of other records."""
    for quantity in choice.ordered(reading.numbers, "place"):
        if quantity.kind == "ordinal":
            yield from _ordinal_edits(reading, quantity, choice)
        elif (core := number_core(reading.text, quantity)) is not None and _is_editable(reading, quantity, core):
            yield from _edits(reading, quantity, core, donors=donors, choice=choice)


def _is_editable(reading: Reading, quantity: Quantity, core: NumberCore) -> bool:
    """Whether another number can stand there: a single thing would become several, and 0 is a statement of its own."""
    if quantity.value in {0.0, 1.0} and not core.decimals:
        return False
    if quantity.is_word and quantity.high is not None:
        return False
    if _LIST_MARK.match(reading.text) is not None and not reading.text[: core.start].strip(" -*•("):
        return False
    before, after = reading.text[max(0, core.start - 1) : core.start], reading.text[core.end : core.end + 2]
    if before in {"#", "@", "/", "_", "."} or _GOES_ON.match(after) is not None:
        return False
    if (before, after[:1]) == ("(", ")"):
        return False  # it refers to a picture or a note
    is_code = core.end == quantity.end and after[:1].isalpha() and after[:1].isascii()
    is_year = quantity.kind == "number" and not quantity.counter and _YEAR.fullmatch(core.written) is not None
    return not is_code and not is_year and not _follows_name(reading, quantity)


def _follows_name(reading: Reading, quantity: Quantity) -> bool:
    """Whether a number is part of a name, as in "Form 2553" or "Xbox 360"."""
    first = quantity.first_term
    if first == 0 or reading.text[reading.terms.ends[first - 1] : quantity.start] != " ":
        return False
    return any(name.last_term == first - 1 and not name.is_opening for name in reading.names)


def _edits(reading: Reading, quantity: Quantity, core: NumberCore, *, donors: Donors, choice: Choice) -> Iterator[Edit]:
    silent = donors.silent(reading.neighbours(quantity.start, quantity.end), core.key, share=0)
    said = {other.key for each in reading.numbers if (other := number_core(reading.text, each)) is not None}
    facts = donors.own.numbers.get(number_shape(quantity), ())
    for fact in choice.ordered(facts, "own"):
        if fact.sentence not in silent and fact.key not in said and _is_real_change(quantity, core, fact):
            yield Edit(
                core.start, core.end, like(core.written, fact.written), "a number from elsewhere in the evidence"
            )
    taken = said | donors.own.number_keys
    made = _other_words(reading, quantity, core) if core.digits is None else _other_digits(quantity, core)
    for written, key in choice.ordered(made, "made"):
        if key not in taken:
            yield Edit(core.start, core.end, like(core.written, written), "a number of the same size")


def _is_real_change(quantity: Quantity, core: NumberCore, fact: Fact) -> bool:
    old, new = float(core.key), float(fact.key)
    if core.digits is None:
        return new > 1 and fact.written.isalpha() and core.written.isalpha() and _fits(quantity, old, new)
    if fact.written.startswith("0"):
        return False
    return min(old, new) > 0 and _CLEARLY < max(old, new) / min(old, new) <= _WITHIN and _fits(quantity, old, new)


def _fits(quantity: Quantity, old: float, new: float) -> bool:
    """Whether the change is one: whoever says "more than 5" does not deny "more than 3"."""
    if new in {0.0, 1.0}:
        return False
    if quantity.kind == "percent" and old <= 100 < new:
        return False
    if quantity.bound == "at_least" or quantity.high is not None:
        return new > old
    return quantity.bound != "at_most" or new < old


def _other_digits(quantity: Quantity, core: NumberCore) -> list[tuple[str, str]]:
    """Other numbers of as many digits, which end in as many zeros, and their keys."""
    digits = core.digits or 0
    zeros = len(str(digits)) - len(str(digits).rstrip("0"))
    unit = 10**zeros
    if digits < 10:
        options = [
            each for each in range(2, 10) if abs(each - digits) <= 4 and max(each, digits) > 1.2 * min(each, digits)
        ]
    elif digits // unit < 10:
        options = [each * unit // 2 for each in range(1, 20) if 0.35 <= each * unit / 2 / digits <= 2.6]
    else:
        unit = 5 if digits % 10 == 5 and digits > 15 else unit
        options = [round(digits / unit * factor) * unit for factor in _FACTORS]
    old = float(core.key)
    made = []
    for option in options:
        new = old * option / digits if digits else 0.0
        is_same_length = len(str(option)) == len(str(digits))
        is_plain = core.decimals == 0 or option % 10 != 0 or digits % 10 == 0
        if option != digits and is_same_length and is_plain and _fits(quantity, old, new):
            made.append((core.with_digits(option), f"{new:g}"))
    return made


def _other_words(reading: Reading, quantity: Quantity, core: NumberCore) -> list[tuple[str, str]]:
    """The number with its first word written as another of the same size."""
    words = load_lexicon(reading.language).quantities
    first, *rest = re.split(r"[- ]", core.written.lower())
    table = {word: words.numbers[word] for word in _KOREAN_COUNTS} if reading.language == "ko" else words.numbers
    # "Quatre-vingt-dix" and its like are one number; in "deux cents" the first word can be another.
    is_one = bool(rest) and reading.language == "fr" and rest[0] not in words.scales
    if first not in table or is_one:
        return []
    value = table[first]
    alike = [
        word
        for word, other in table.items()
        if _size(other) == _size(value) and _fits(quantity, value, other) and other != value and word not in _RARE
    ]
    # The rest of the words keeps its value, so that only a lone word has a key that can be compared.
    return [(word + core.written[len(first) :], f"{table[word]:g}" if not rest else f"words:{word}") for word in alike]


def _size(value: float) -> int:
    """Number words of one size can stand for one another; 0 and 1 for none."""
    return 0 if value < 2 else 1 if value < 10 else 2 if value < 20 else 3


def _ordinal_edits(reading: Reading, quantity: Quantity, choice: Choice) -> Iterator[Edit]:
    """Another place in an order: "3rd" or "the third", not the fractions that are written alike."""
    written = reading.text[quantity.start : quantity.end]
    if quantity.is_word:
        yield from _ordinal_word_edits(reading, quantity, choice)
        return
    match = re.match(r"\d+", written)
    if match is None or (value := int(match.group())) <= 1:
        return
    ending = written[match.end() :]
    for other in choice.ordered([value + 1, value + 2, value + 3], "ordinal"):
        made = ordinal(other) if _LATIN_ORDINAL.fullmatch(ending) else f"{other}{ending}"
        yield Edit(quantity.start, quantity.end, made, "another place in the order")


def _ordinal_word_edits(reading: Reading, quantity: Quantity, choice: Choice) -> Iterator[Edit]:
    terms, place = reading.terms, quantity.first_term
    before = terms.folded[place - 1] if place > 0 else ""
    after = terms.folded[place + 1] if place + 1 < len(terms) else ""
    if before not in _BEFORE_ORDINAL or after in _AFTER_ORDINAL or not 3 <= quantity.value <= 12:
        return
    ordinals = load_lexicon(reading.language).quantities.ordinals
    written = reading.text[quantity.start : quantity.end]
    for word in choice.ordered([word for word, value in ordinals.items() if 3 <= value <= 10], "ordinal"):
        if ordinals[word] != quantity.value:
            yield Edit(quantity.start, quantity.end, like(written, word), "another place in the order")
