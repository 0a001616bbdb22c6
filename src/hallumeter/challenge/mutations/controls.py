"""Edits that leave the meaning of a claim alone: other forms of numbers, dates, words and signs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Literal

from hallumeter.stats.choice import Choice
from hallumeter.text.dates import Date
from hallumeter.text.lexicon import load_lexicon

from .donors import date_parts, number_core
from .protocol import Edit, Reading, like, phrase_pattern

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
