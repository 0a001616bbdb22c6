"""Edits of a claim: errors of every kind, and controls that leave its meaning alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Literal

from hallumeter.errors import SettingsError
from hallumeter.text.dates import Date
from hallumeter.text.lexicon import load_lexicon
from hallumeter.text.quantities import Quantity
from hallumeter.text.terms import fold, terms_of
from hallumeter.text.units import CURRENCY_SIGNS, UNITS, Unit, is_currency, unit_named, unit_words

from .donors import Donors, date_parts, number_core, particle_after
from .negation import negation_edits
from .protocol import (
    CONTROL_KINDS,
    ERROR_KINDS,
    Choice,
    Edit,
    Mutation,
    Reading,
    control,
    error,
    like,
    phrase_pattern,
    read,
)
from .values import date_edits, name_edits, number_edits

# Errors in units: the same number of something else.

_KOREAN_SCALE = re.compile("[만억조]")
"""A number with several of them would not be one after an exchange."""


def unit_edits(reading: Reading, donors: Donors, choice: Choice) -> Iterator[Edit]:
    """Another unit, currency or scale word for each number of a claim that has one."""
    del donors  # no evidence gives one value twice as the same number in different units
    for quantity in choice.ordered([each for each in reading.numbers if each.kind != "ordinal"], "place"):
        pieces = [
            (match.start(), match.group(), options)
            for options, pattern in _groups(reading.language)
            for match in pattern.finditer(reading.text, quantity.start, quantity.end)
        ]
        if len(_KOREAN_SCALE.findall(reading.text[quantity.start : quantity.end])) > 1:
            pieces = [piece for piece in pieces if _KOREAN_SCALE.fullmatch(piece[1]) is None]
        for start, written, options in choice.ordered(pieces, "group"):
            others = [unit for unit in options if unit != written and _is_same_dimension(written, unit, quantity)]
            yield from (_edit(reading, start, written, other=unit) for unit in choice.ordered(others, "unit"))


@cache
def _groups(language: str) -> list[tuple[tuple[str, ...], re.Pattern[str]]]:
    return [(group, _pattern(group)) for group in load_lexicon(language).mutations.unit_groups]


def _pattern(group: tuple[str, ...]) -> re.Pattern[str]:
    """Units of a group that are whole words or signs; symbols keep their case."""
    longest_first = sorted(group, key=lambda unit: -len(unit))
    return re.compile(rf"(?<![A-Za-zÀ-ÿ가-힣])(?:{'|'.join(map(re.escape, longest_first))})(?![A-Za-zÀ-ÿ²])")


def _is_same_dimension(written: str, other: str, quantity: Quantity) -> bool:
    """Whether both are of one kind; a word such as "pounds" is money or a weight, by the number it stands with."""
    known = [_unit(unit) for unit in (written, other)]
    if quantity.unit is not None and known[0] is not None:
        known[0] = quantity.unit
    old, new = known
    if old is None or new is None:
        return old is None and new is None
    return old.dimension == new.dimension or (is_currency(old) and is_currency(new))


def _unit(written: str) -> Unit | None:
    if written in CURRENCY_SIGNS:
        return unit_named(CURRENCY_SIGNS[written])
    return UNITS.get(written) or unit_words().get(fold(written))


def _edit(reading: Reading, start: int, written: str, *, other: str) -> Edit:
    end = start + len(written)
    changed = like(written, other) if written[:1].isupper() and len(written) > 3 else other
    old, new = particle_after(reading.text, end, changed)
    return Edit(start, end + len(old), changed + new, "another unit")


# Errors of comparison and order: more for less, before for after, rose for fell.


def comparison_edits(reading: Reading, donors: Donors, choice: Choice) -> Iterator[Edit]:
    """One comparison of a claim turned round; a word whose opposite the claim also has is left alone."""
    del donors
    if reading.text.rstrip().endswith("?"):
        return
    others = _others(reading.language)
    text = reading.text.replace("’", "'")
    lowered = text.lower()
    kept = [
        match.span()
        for match in phrase_pattern(reading.words.not_flipped).finditer(lowered)
        if len(lowered) == len(text)
    ]
    matches = [
        match
        for match in phrase_pattern(tuple(others)).finditer(text)
        if not any(start < match.end() and end > match.start() for start, end in kept)
        and (match.start() == 0 or not text[match.start()].isupper())
    ]
    for match in choice.ordered(matches, "place"):
        for other in choice.ordered(others[match.group().lower()], "opposite"):
            if phrase_pattern((other,)).search(text) is None:
                yield _comparison_edit(reading, match.start(), match.end(), other=other)


def _comparison_edit(reading: Reading, start: int, end: int, *, other: str) -> Edit:
    written = like(reading.text[start:end], other)
    old, new = particle_after(reading.text, end, written)
    return Edit(start, end + len(old), written + new, "a comparison turned round")


@cache
def _others(language: str) -> dict[str, tuple[str, ...]]:
    """The opposites of each phrase."""
    table: dict[str, tuple[str, ...]] = {}
    for first, second in load_lexicon(language).mutations.flips:
        table[first] = (*table.get(first, ()), second)
        table[second] = (*table.get(second, ()), first)
    return table


_END = re.compile(r"(?<=[\w)%])([.!。])?\s*$")
_SENTENCE_END = re.compile(r"[.!?。][\"'”’)\]]*\s*$")


def addition_edits(reading: Reading, donors: Donors, choice: Choice) -> Iterator[Edit]:
    """A cause, date, place, attribution or sentence added, of whose words the evidence has at most half."""
    kinds = tuple(reading.words.additions)
    for kind in choice.ordered(kinds, "kind"):
        for added in choice.ordered(reading.words.additions[kind], "addition"):
            if _is_absent(added, reading, donors) and (edit := _addition_edit(reading.text, added, kind)) is not None:
                yield edit


def _is_absent(added: str, reading: Reading, donors: Donors) -> bool:
    terms = terms_of(added)
    telling = [word for word, key in zip(terms.folded, terms.keys, strict=True) if key]
    known = donors.own.words | set(reading.terms.folded)
    return 2 * sum(word in known for word in telling) <= len(telling)


def _addition_edit(text: str, added: str, kind: str) -> Edit | None:
    note = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} added"
    if added.startswith(","):
        ending = _END.search(text)
        return Edit(ending.start(), ending.start(), added, note) if ending is not None else None
    # A sentence can only follow one that has ended.
    place = len(text.rstrip())
    return Edit(place, place, added, note) if _SENTENCE_END.search(text) is not None else None


_QUOTES = ((re.compile(r"“([^“”\"]*)”"), '"{}"'), (re.compile(r'"([^"“”]*)"'), "“{}”"), (re.compile("’"), "'"))
_DASH = re.compile(r"\s?[–—]\s?")
_FINAL_PERIOD = re.compile(r"(?<=[^\W_])\.\s*$")
_ABBREVIATION = re.compile(r"(?:\b[A-Za-z]\.){2,}$|\b(?:Inc|Jr|Sr|Co|Ltd|Corp|etc|a\.m|p\.m|No|St|vs)\.$")
_JOINERS = frozenset(
    {"because", "then", "according", "based", "selon", "as", "car", "donc", "그러나", "하지만", "그리고", "또한"}
)
_PART_OF_A_NUMBER = frozenset({"percent", "per", "of", "and", "to", "or", "quarters", "thirds", "out"})
_SMALL = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number_form_edits(reading: Reading, choice: Choice) -> Iterator[Edit]:
    """1,200 as 1200, 5 as five, 50% as 50 percent."""
    for quantity in choice.ordered(reading.numbers, "place"):
        core = number_core(reading.text, quantity)
        written = reading.text[quantity.start : quantity.end]
        for old, new in reading.words.percent_forms:
            if quantity.kind == "percent" and written.endswith(old):
                yield Edit(quantity.end - len(old), quantity.end, new, "a share in another form")
        if core is None or quantity.high is not None:
            continue
        if (
            core.digits is not None
            and core.written[0] != "0"
            and not core.decimals
            and len(core.written) > len(str(core.digits)) >= 4
        ):
            yield Edit(core.start, core.end, str(core.digits), "a number without separators")
        if reading.language == "en" and quantity.kind == "number":
            yield from _spelled(reading, core.start, core.end)


def _spelled(reading: Reading, start: int, end: int) -> Iterator[Edit]:
    """A small number in letters, or in digits, between spaces."""
    text = reading.text
    is_apart = text[start - 1 : start] == " " and re.match(r" [a-z]", text[end:]) is not None
    written = text[start:end]
    following = text[end + 1 :].split(" ", 1)[0].lower()
    if not is_apart or following in load_lexicon("en").quantities.scales or following in _PART_OF_A_NUMBER:
        return
    if written.isdigit() and 2 <= int(written) < len(_SMALL) and written == str(int(written)):
        yield Edit(start, end, _SMALL[int(written)], "a number in letters")
    elif written in _SMALL[2:]:
        yield Edit(start, end, str(_SMALL.index(written)), "a number in digits")


def date_form_edits(reading: Reading, choice: Choice) -> Iterator[Edit]:
    """12 May 2019 as May 12, 2019; le 12 mai 2019 and 2019년 5월 12일 in full or with hyphens."""
    for date in choice.ordered(reading.dates, "place"):
        parts = {part.name: part for part in date_parts(reading.text, date)}
        if not {"day", "month", "year"} <= set(parts) or date.swapped is not None or date.weekday is not None:
            continue
        if (written := _other_form(reading, date, parts["month"].written)) is not None:
            yield Edit(date.start, date.end, written, "a date in another form")


def _other_form(reading: Reading, date: Date, month: str) -> str | None:
    if reading.language == "ko":
        return f"{date.year}-{date.month:02d}-{date.day:02d}" if "년" in reading.text[date.start : date.end] else None
    if month.isdigit():
        if date.month is None:
            return None
        name = load_lexicon(reading.language).dates.months[date.month - 1][0]
        return f"{date.day} {name if reading.language == 'fr' else name.capitalize()} {date.year}"
    if reading.language == "fr":
        return None
    if reading.text[date.start].isdigit():
        comma = (
            ","
            if reading.text[date.end : date.end + 1] == " " and reading.text[date.end + 1 : date.end + 2].islower()
            else ""
        )
        return f"{month} {date.day}, {date.year}{comma}"
    return f"{date.day} {month} {date.year}"


def contraction_edits(reading: Reading, choice: Choice) -> Iterator[Edit]:
    """A contraction written out, or what can be contracted contracted."""
    pairs = reading.words.contractions
    text = reading.text.replace("’", "'")
    table = {short.lower(): long for short, long in pairs}
    table |= {long.lower(): short for short, long in pairs if short.endswith("n't")}
    for match in choice.ordered(list(phrase_pattern(tuple(table)).finditer(text)), "place"):
        yield Edit(*match.span(), like(match.group(), table[match.group().lower()]), "a contraction")


def synonym_edits(reading: Reading, choice: Choice) -> Iterator[Edit]:
    """A word or phrase in other words that always mean the same."""
    words = reading.words
    table: dict[str, tuple[str, ...]] = {}
    for first, second in words.synonyms:
        table[first] = (*table.get(first, ()), second)
    kept = [match.span() for match in phrase_pattern(words.not_reworded).finditer(reading.text)]
    for match in choice.ordered(list(phrase_pattern(tuple(table)).finditer(reading.text)), "place"):
        start, end = match.span()
        in_name = any(name.start < end and name.end > start and not name.is_opening for name in reading.names)
        if in_name or any(first < end and last > start for first, last in kept):
            continue
        for other in choice.ordered(table[match.group().lower()], "synonym"):
            yield Edit(start, end, like(match.group(), other), "a synonym")


def punctuation_edits(reading: Reading, choice: Choice) -> Iterator[Edit]:
    """Quotation marks, apostrophes, dashes or the last period in another style."""
    text = reading.text
    edits = [
        Edit(*match.span(), form.format(*match.groups()), "signs in another style")
        for pattern, form in _QUOTES
        for match in pattern.finditer(text)
    ]
    edits += [
        Edit(*match.span(), " - ", "a dash in another style") for match in _DASH.finditer(text) if " " in match.group()
    ]
    period = _FINAL_PERIOD.search(text)
    if period is not None and _ABBREVIATION.search(text.rstrip()) is None:
        edits.append(Edit(period.start(), period.start() + 1, "", "without the last period"))
    yield from choice.ordered(edits, "place")


def framing_edits(reading: Reading, choice: Choice) -> Iterator[Edit]:
    """A phrase before the claim that says nothing but where it comes from."""
    clauses = load_lexicon(reading.language).statements.clauses
    joins = reading.terms.folded[:1] and reading.terms.folded[0] in (*clauses.joiners, *clauses.contrasts, *_JOINERS)
    if not reading.text[:1].isalpha() or reading.text.rstrip().endswith("?") or joins:
        return
    for framing in choice.ordered(reading.words.framings, "framing"):
        yield Edit(0, 1, framing + _lowered(reading), "a phrase before the claim")


def unicode_form_edits(reading: Reading, choice: Choice) -> Iterator[Edit]:
    """The same characters in decomposed form, or composed where they were decomposed."""
    del choice
    text = reading.text
    form: Literal["NFC", "NFD"] = "NFC" if unicodedata.is_normalized("NFD", text) and not text.isascii() else "NFD"
    yield Edit(0, len(text), unicodedata.normalize(form, text), f"in Unicode form {form}")


def case_edits(reading: Reading, choice: Choice) -> Iterator[Edit]:
    """The first letter small, unless its word is a name or stands in capitals; or large where it was small."""
    del choice
    first = reading.text[:1]
    if first.islower():
        yield Edit(0, 1, first.upper(), "a capital at the start")
    elif first.isupper() and _lowered(reading) != first:
        yield Edit(0, 1, first.lower(), "no capital at the start")


def _lowered(reading: Reading) -> str:
    """The first letter as it stands inside a sentence: only small words of the language lose their capital."""
    first = reading.text[:1]
    terms = reading.terms
    is_small_word = (
        bool(len(terms)) and terms.starts[0] == 0 and not terms.keys[0] and terms.folded[0] not in {"i", "i'm", "i've"}
    )
    is_name = any(name.start == 0 and not name.is_opening for name in reading.names)
    return first.lower() if is_small_word and not is_name else first


CONTROLS: dict[str, Callable[[Reading, Choice], Iterator[Edit]]] = {
    "number_form": number_form_edits,
    "date_form": date_form_edits,
    "contraction": contraction_edits,
    "synonym": synonym_edits,
    "punctuation": punctuation_edits,
    "framing": framing_edits,
    "unicode_form": unicode_form_edits,
    "case": case_edits,
}
"""What makes the controls of each kind."""


_ERRORS: dict[str, Callable[[Reading, Donors, Choice], Iterator[Edit]]] = {
    "number": number_edits,
    "date": date_edits,
    "unit": unit_edits,
    "name": name_edits,
    "negation": negation_edits,
    "addition": addition_edits,
    "comparison": comparison_edits,
}


def errors_of(
    text: str,
    *,
    donors: Donors,
    seed: int = 0,
    kinds: Iterable[str] = ERROR_KINDS,
    language: str | None = None,
) -> list[Mutation]:
    """A claim with one error put in, at most once for every kind; none for a kind that finds nothing to change.

    `language` settles whether a claim without telling words is French or English; it is English when None.

    >>> from hallumeter.challenge.mutations.donors import donors_of
    >>> text = "The tower is 330 metres high."
    >>> [(each.kind, each.text) for each in errors_of(text, donors=donors_of([text]), kinds=["negation"])]
    [('negation', 'The tower is not 330 metres high.')]
    """
    wanted = _checked(kinds, ERROR_KINDS)
    reading = read(text, language=language)
    return [
        error(kind, text, edit)
        for kind in wanted
        if (edit := _first_change(text, _ERRORS[kind](reading, donors, Choice(seed, text, kind)))) is not None
    ]


def controls_of(
    text: str, *, seed: int = 0, kinds: Iterable[str] = CONTROL_KINDS, language: str | None = None
) -> list[Mutation]:
    """A claim in other forms that say the same, at most once for every kind.

    >>> [each.text for each in controls_of("It isn't about 1,200 km long.", kinds=["contraction", "number_form"])]
    ['It is not about 1,200 km long.', "It isn't about 1200 km long."]
    """
    wanted = _checked(kinds, CONTROL_KINDS)
    reading = read(text, language=language)
    return [
        control(kind, text, edit)
        for kind in wanted
        if (edit := _first_change(text, CONTROLS[kind](reading, Choice(seed, text, kind)))) is not None
    ]


def _first_change(text: str, edits: Iterator[Edit]) -> Edit | None:
    return next((edit for edit in edits if text[edit.start : edit.end] != edit.written), None)


def _checked(kinds: Iterable[str], known: tuple[str, ...]) -> tuple[str, ...]:
    wanted = tuple(kinds)
    if unknown := [kind for kind in wanted if kind not in known]:
        raise SettingsError(f"there is no edit of kind {unknown[0]!r}; choose from {', '.join(known)}")
    return wanted
