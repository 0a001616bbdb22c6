"""Errors in numbers: another value in the same form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from hallumeter.text.dates import Date, find_dates
from hallumeter.text.lexicon import languages_with, load_lexicon
from hallumeter.text.names import Name
from hallumeter.text.quantities import Quantity
from hallumeter.text.terms import fold

from .donors import (
    DatePart,
    Donors,
    Fact,
    NumberCore,
    date_form,
    date_key,
    date_parts,
    is_sure_name,
    name_shape,
    number_core,
    number_shape,
    ordinal,
)
from .protocol import Choice, Edit, Reading, like

# Errors in names: another name of the same shape.

_SHARE = 0.4
"""Of the words around a name; a sentence that has more of them may say the same of other names."""
_VOWELS = frozenset("aeiouhyàâéèêëîïôœù")


def name_edits(reading: Reading, donors: Donors, choice: Choice) -> Iterator[Edit]:
    """Another name for each name of a claim: first from its evidence, then from other records.

    A name that shares a word with one of the claim, or an abbreviation of it, is not used. That two different names
    name the same is not recognised.
    """
    for name in choice.ordered(_names(reading, donors), "place"):
        written = reading.text[name.start : name.end]
        shape = name_shape(reading, name, donors.own.classes)
        silent = donors.silent(reading.neighbours(name.start, name.end), written.casefold(), share=_SHARE)
        for fact in choice.ordered(donors.own.names.get(shape, ()), "own"):
            if fact.sentence not in silent and _is_usable(reading, name, fact):
                yield Edit(name.start, name.end, fact.written, "a name from elsewhere in the evidence")
        for fact in choice.ordered(donors.others.names.get(shape, ()), "others"):
            if not _is_in_evidence(donors, fact) and _is_usable(reading, name, fact):
                yield Edit(name.start, name.end, fact.written, "a name from another record")


def _names(reading: Reading, donors: Donors) -> list[Name]:
    """Names that are surely names: a word that opens the claim is one if the evidence has it elsewhere."""
    return [
        name
        for name in reading.names
        if is_sure_name(reading, name, donors.own.common)
        or reading.text[name.start : name.end] in donors.own.sure_names
    ]


def _is_in_evidence(donors: Donors, fact: Fact) -> bool:
    return any(part.casefold() in donors.own.words for part in fact.written.split())


def _is_usable(reading: Reading, name: Name, fact: Fact) -> bool:
    written = reading.text[name.start : name.end]
    said = {word.casefold() for word in reading.text.replace("-", " ").split()}
    if any(word.casefold().strip(",.") in said for word in fact.written.replace("-", " ").split()):
        return False
    if (
        fact.key in reading.text.casefold()
        or _is_akin(written, fact.written)
        or _initials(written) == _initials(fact.written) != written[:1].upper()
    ):
        return False
    # Whether the words before the name suit the other one: "an" and "d'" stand before vowels alone.
    before = reading.text[max(0, name.start - 3) : name.start].casefold()
    old, new = reading.text[name.start].casefold() in _VOWELS, fact.written[0].casefold() in _VOWELS
    is_bound = reading.language == "fr" or before.endswith((" a ", "an ")) or name.start in {2, 3}
    return old == new or not is_bound


def _is_akin(first: str, second: str) -> bool:
    """Whether two names begin alike, as "Pastafarian" and "Pastafarianism" do."""
    pairs = zip(first.casefold(), second.casefold(), strict=False)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return alike >= 4 and 2 * alike >= min(len(first), len(second))


def _initials(written: str) -> str:
    return written if written.isupper() else "".join(word[:1].upper() for word in written.split())


# Errors in dates and times: another year, month, day, weekday or hour, in the same form.

_YEARS = (-3, 2, -7, 4, -1, 6, -12, 1)
_DECADES = (-20, 10, -10, -30)
_DAYS = (3, -4, 7, -9, 11, -2, 5)
_HOURS = (2, -3, 1, -1, 3)
_LAST_YEAR = 2026
"""No year is made that still lies ahead."""
_TIME = re.compile(r":\d\d|[ap]\.?m|[hH]|시")
_LATIN_ORDINAL = re.compile(r"(?:st|nd|rd|th)(?![^\W_])")


def date_edits(reading: Reading, donors: Donors, choice: Choice) -> Iterator[Edit]:
    """Another date for each date of a claim: first from its evidence, then with one part changed."""
    said = {date_key(date) for date in reading.dates}
    for date in choice.ordered([date for date in reading.dates if _is_surely_a_date(reading, date)], "place"):
        key = date_key(date)
        silent = donors.silent(reading.neighbours(date.start, date.end), key, share=0)
        for fact in choice.ordered(donors.own.dates.get(date_form(reading.text, date), ()), "own"):
            if fact.sentence not in silent and fact.key not in said:
                yield Edit(date.start, date.end, fact.written, "a date from elsewhere in the evidence")
        taken = said | donors.own.date_keys
        for edit in _part_edits(reading, date, choice):
            if _key_after(reading.text, date, edit) not in taken:
                yield edit


def _is_surely_a_date(reading: Reading, date: Date) -> bool:
    """Whether what looks like a date is no verse or score such as 2:1, and no part of a name such as "Excel 2007"."""
    written = reading.text[date.start : date.end]
    if "  " in written:
        return False
    if date.minutes is not None and _TIME.search(written) is None:
        return False
    is_bare = written.isdigit() or date.minutes is not None
    follows_name = any(name.end == date.start - 1 and not name.is_opening for name in reading.names)
    return not (is_bare and follows_name)


def _key_after(text: str, date: Date, edit: Edit) -> str:
    """What the edited date says."""
    written = text[date.start : edit.start] + edit.written + text[edit.end : date.end]
    before = text[max(0, date.start - 12) : date.start]
    after = text[date.end : date.end + 3]
    found = [each for each in find_dates(before + written + after) if each.end > len(before)]
    return date_key(found[0]) if found else "date:unread"


def _part_edits(reading: Reading, date: Date, choice: Choice) -> Iterator[Edit]:
    parts = date_parts(reading.text, date)
    for part in choice.ordered(parts, "part"):
        # Which of two numbers is the month cannot always be told; that the year is another can.
        if date.swapped is None or part.name == "year":
            yield from _other_parts(reading, date, part, choice=choice)


def _other_parts(reading: Reading, date: Date, part: DatePart, *, choice: Choice) -> Iterator[Edit]:
    if part.name in {"month", "weekday"} and not part.written.isdigit():
        options = _other_names(reading, part)
    elif part.name == "year":
        shifts = _DECADES if date.last_year is not None else _YEARS
        years = [int(part.written) + shift for shift in shifts]
        width = len(part.written)
        options = [str(year).zfill(width) for year in years if 0 < year <= _LAST_YEAR and len(str(year)) <= width]
    else:
        options = _other_numbers(part)
    for written in choice.ordered(options, part.name):
        ending = _LATIN_ORDINAL.match(reading.text, part.end)
        if ending is not None and written.isdigit():
            yield Edit(part.start, ending.end(), ordinal(int(written)), f"another {part.name}")
        else:
            yield Edit(part.start, part.end, written, f"another {part.name}")


def _other_numbers(part: DatePart) -> list[str]:
    shifts, low, high = {
        "day": (_DAYS, 2, 28),
        "month": (_DAYS, 1, 12),
        "hour": (_HOURS, 1, 12 if int(part.written) <= 12 else 23),
        "century": (_HOURS, 2, 21),
    }.get(part.name, ((), 0, 0))
    width = len(part.written) if part.written.startswith("0") else 1
    values = [int(part.written) + shift for shift in shifts]
    return [f"{value:0{width}d}" for value in values if low <= value <= high]


def _other_names(reading: Reading, part: DatePart) -> list[str]:
    """The other months or weekdays, as short or long as the one that is written, in its language."""
    word = fold(part.written)
    for language in (reading.language, *languages_with("dates")):
        tables = load_lexicon(language).dates
        for row in tables.months if part.name == "month" else tables.weekdays:
            names = [fold(name) for name in row]
            if word in names or (part.name == "weekday" and word[:3] in names):
                place = names.index(word) if word in names else 0
                rows = tables.months if part.name == "month" else tables.weekdays
                others = [each[min(place, len(each) - 1)] for each in rows if each is not row]
                return [like(part.written, name) + part.written[3:] * (language == "ko") for name in others]
    return []


_FACTORS = (0.6, 1.3, 0.7, 1.5, 0.8, 1.7, 1.25, 0.65)
"""By how much larger numbers are changed: clearly, and within one order of magnitude."""
_LIST_MARK = re.compile(r"[\s\-*•(]*\d{1,3}(?:[.)](?!\d)|\s\s|\s?[A-ZÀ-Þ])")
_GOES_ON = re.compile(r"[/_:]\d?|[-.]\d|\(|\s\s")
_YEAR = re.compile("1[5-9][0-9][0-9]|20[0-9][0-9]")
_CLEARLY = 1.2
_WITHIN = 10.0
_KOREAN_COUNTS = ("두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉")
_RARE = frozenset({"vingts", "septante", "octante", "huitante", "nonante", "dozen", "douzaine"})
_ORDINAL_NUMBER = re.compile(r"st|nd|rd|th")
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
        made = ordinal(other) if _ORDINAL_NUMBER.fullmatch(ending) else f"{other}{ending}"
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
