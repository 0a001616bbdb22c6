"""Errors in dates and times: another year, month, day, weekday or hour, in the same form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hallumeter.text import LANGUAGES, load_lexicon
from hallumeter.text.dates import Date, find_dates
from hallumeter.text.terms import fold

from .choosing import Choice
from .donors import Donors
from .forms.dates import DatePart, date_form, date_key, date_parts
from .forms.numbers import ordinal
from .protocol import Edit
from .reading import Reading, like

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
        options = _other_years(date, part)
    else:
        options = _other_numbers(part)
    for written in choice.ordered(options, part.name):
        ending = _LATIN_ORDINAL.match(reading.text, part.end)
        if ending is not None and written.isdigit():
            yield Edit(part.start, ending.end(), ordinal(int(written)), f"another {part.name}")
        else:
            yield Edit(part.start, part.end, written, f"another {part.name}")


def _other_years(date: Date, part: DatePart) -> list[str]:
    shifts = _DECADES if date.last_year is not None else _YEARS
    years = [int(part.written) + shift for shift in shifts]
    width = len(part.written)
    return [str(year).zfill(width) for year in years if 0 < year <= _LAST_YEAR and len(str(year)) <= width]


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
    for language in (reading.language, *LANGUAGES):
        tables = load_lexicon(language).dates
        for row in tables.months if part.name == "month" else tables.weekdays:
            names = [fold(name) for name in row]
            if word in names or (part.name == "weekday" and word[:3] in names):
                place = names.index(word) if word in names else 0
                rows = tables.months if part.name == "month" else tables.weekdays
                others = [each[min(place, len(each) - 1)] for each in rows if each is not row]
                return [like(part.written, name) + part.written[3:] * (language == "ko") for name in others]
    return []
