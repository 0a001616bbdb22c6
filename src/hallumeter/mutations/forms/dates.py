"""The parts of a date as it is written, and its form without them."""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from hallumeter.text import LANGUAGES, load_lexicon
from hallumeter.text.dates import Date
from hallumeter.text.terms import fold

_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+")


class DatePart(Struct, frozen=True):
    """A part of a date in a text."""

    name: str
    """`year`, `month`, `day`, `weekday`, `hour` or `minute`."""
    start: int
    end: int
    written: str


def date_parts(text: str, date: Date) -> list[DatePart]:
    """The parts of a date in the order in which they are written.

    >>> from hallumeter.text.dates import find_dates
    >>> text = "It opened on Monday, 5 March 2018."
    >>> [(part.name, part.written) for part in date_parts(text, find_dates(text)[0])]
    [('weekday', 'Monday'), ('day', '5'), ('month', 'March'), ('year', '2018')]
    """
    written = text[date.start : date.end]
    parts = []
    for match in _WORD.finditer(written):
        name = _worded_part(fold(match.group()))
        if name:
            parts.append(DatePart(name, date.start + match.start(), date.start + match.end(), match.group()))
    has_month = any(part.name == "month" for part in parts)
    names = _number_names(date, written, has_month=has_month)
    for match, name in zip(_NUMBER.finditer(written), names, strict=False):
        parts.append(DatePart(name, date.start + match.start(), date.start + match.end(), match.group()))
    return sorted(parts, key=lambda part: part.start)


def date_form(text: str, date: Date) -> str:
    """How a date is written, with its parts left out: dates of one form can stand for one another."""
    form, last = [], date.start
    for part in date_parts(text, date):
        width = len(part.written) if part.name in {"year", "hour"} else ""
        is_short = part.name == "month" and len(part.written) <= 4 and not part.written.isdigit()
        form += [text[last : part.start], f"{{{part.name}{width}{'.' * is_short}}}"]
        last = part.end
    return "".join([*form, text[last : date.end]])


def date_key(date: Date) -> str:
    """What a date says, in a form in which two can be compared."""
    said = (date.year, date.month, date.day, date.weekday, date.last_year, date.minutes)
    return "date:" + ",".join("" if part is None else str(part) for part in said)


def _worded_part(word: str) -> str:
    if word in _month_names():
        return "month"
    is_korean_weekday = len(word) >= 3 and word[1:3] == "요일"
    return "weekday" if word in _weekday_names() or is_korean_weekday else ""


def _number_names(date: Date, written: str, *, has_month: bool) -> list[str]:
    """What the numbers of a date are, in order."""
    if date.minutes is not None:
        return ["hour", "minute"]
    numbers = _NUMBER.findall(written)
    if date.last_year is not None:
        return ["year" if len(numbers[0]) == 4 else "century"] if numbers else []
    if has_month or len(numbers) <= 1:
        is_year = [len(number) == 4 for number in numbers]
        lone = "month" if date.month is not None and not has_month and date.day is None else "day"
        return ["year" if year else lone for year in is_year]
    if len(numbers[0]) == 4:
        return ["year", "month", "day"]
    if len(numbers) == 2:
        return ["month", "day"]
    return ["month", "day", "year"] if numbers[0] == f"{date.month:0{len(numbers[0])}d}" else ["day", "month", "year"]


@cache
def _month_names() -> frozenset[str]:
    return frozenset(fold(name) for each in LANGUAGES for names in load_lexicon(each).dates.months for name in names)


@cache
def _weekday_names() -> frozenset[str]:
    return frozenset(fold(name) for each in LANGUAGES for names in load_lexicon(each).dates.weekdays for name in names)
