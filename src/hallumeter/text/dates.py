"""Dates and times of day in a text: several notations in English, French and Korean."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache

from msgspec import Struct

from .lexicon import lexicons_with
from .terms import Terms, fold, terms_of

_ISO = re.compile(r"(?<![\d./-])(\d{4})[-./](\d{1,2})[-./](\d{1,2})(?![\d/])")
_NUMERIC = re.compile(r"(?<![\d./-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?![\d/])")
_KOREAN = re.compile(
    r"(?<!\d)(?:(\d{4})\s?년(?:\s?(\d{1,2})\s?월(?:\s?(\d{1,2})\s?일)?)?|(\d{1,2})\s?월(?:\s?(\d{1,2})\s?일)?(?!\s?일)"
    r"|(\d{4})\.\s?(\d{1,2})\.\s?(\d{1,2})\.?)(?!\d)"
)
_KOREAN_DECADE = re.compile(r"(?<!\d)(\d{4})\s?년대")
_CLOCK = re.compile(
    r"(?<![\d:.,])(오전|오후)?\s?(\d{1,2})(?:(?::|\s?[hH]\s?)(\d{1,2})(?::\d{2})?|\s?시(?!간)(?:\s?(\d{1,2})\s?분)?|(?=\s?[ap]\.?m\b))"
    r"(?:\s?([ap])\.?m\b\.?)?(?![A-Za-z\d])"
)
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_DAY = re.compile(r"\d{1,2}")
_DAY_RANGE = re.compile(r"(?:st|nd|rd|th)?\s?[-–—]\s?(\d{1,2})(?!\s?[\d/:.%]|\d)")
_DAY_ENDING = re.compile(r"(?:st|nd|rd|th|er)$")
_AMBIGUOUS_MONTHS = frozenset({"may", "march", "mar", "sept", "mars", "mai", "jan", "dec", "nov", "sep", "jun", "avr"})
_BEFORE_MONTH = frozenset(
    {"in", "of", "since", "by", "until", "last", "this", "early", "late", "en", "de", "depuis", "d"}
)
_AFTER_YEAR = re.compile(r"\s*(?:[),.;:!?'’\-–—]|$|\n|\()")


class Date(Struct, frozen=True):
    """A date as a text says it: what it leaves out is None."""

    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    """1 for Monday."""
    last_year: int | None = None
    """The last year of a decade or a century, which begins with `year`."""
    minutes: int | None = None
    """Minutes after midnight, of a time of day."""
    is_half_day: bool = False
    """A time of day that does not say whether it is before or after noon."""
    swapped: tuple[int, int] | None = None
    """Month and day the other way round, where both ways are possible."""


def find_dates(text: str | Terms) -> list[Date]:
    """Dates and times of day in order; they do not overlap.

    A bare number such as 1998 is a year after a word such as "in", or when nothing is counted with it.

    >>> [(date.year, date.month, date.day) for date in find_dates("Born on 5 March 1998, died in May 2001.")]
    [(1998, 3, 5), (2001, 5, None)]
    """
    terms = terms_of(text) if isinstance(text, str) else text
    numeric: list[Date] = []
    if any(word[0].isdecimal() for word in terms.folded):
        numeric = _apart([*_numeric_dates(terms.text), *_clock_times(terms.text)])
    taken = [(date.start, date.end) for date in numeric]
    worded: list[Date] = []
    words = _date_words()
    place = 0
    while place < len(terms):
        date = None
        word = terms.folded[place]
        if word in words.months or word[0].isdecimal() or _weekday(word) is not None:
            date = _date_at(terms, place)
        if date is None or touches(taken, date.start, date.end):
            place += 1
            continue
        worded.append(date)
        if (last := _last_day(terms, date)) is not None:
            worded.append(last)
        place = bisect_left(terms.starts, worded[-1].end, place)
    return sorted(numeric + worded, key=lambda date: date.start)


def _last_day(terms: Terms, date: Date) -> Date | None:
    """The second day of "July 4-7"."""
    if date.day is None or date.year is not None or (match := _DAY_RANGE.match(terms.text, date.end)) is None:
        return None
    day = int(match[1])
    return Date(*match.span(1), None, date.month, day) if date.day < day <= 31 else None


def touches(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a part of a text shares a character with any of these spans, which are in order and apart.

    >>> touches([(0, 4), (10, 12)], 3, 5), touches([(0, 4), (10, 12)], 4, 10)
    (True, False)
    """
    last = bisect_left(spans, (end, 0)) - 1
    return last >= 0 and spans[last][1] > start


def _apart(dates: list[Date]) -> list[Date]:
    """Dates in order without those that begin inside another; of two at one place the first given stays."""
    kept: list[Date] = []
    for date in sorted(dates, key=lambda date: date.start):
        if not kept or date.start >= kept[-1].end:
            kept.append(date)
    return kept


class _DateWords(Struct, frozen=True):
    months: dict[str, int]
    weekdays: dict[str, int]
    before_year: frozenset[str]
    century: frozenset[str]


@cache
def _date_words() -> _DateWords:
    known = [each.dates for each in lexicons_with("dates")]
    return _DateWords(
        months={fold(name): number for each in known for number, names in enumerate(each.months, 1) for name in names},
        weekdays={
            fold(name): number for each in known for number, names in enumerate(each.weekdays, 1) for name in names
        },
        before_year=frozenset(fold(word) for each in known for word in each.before_year),
        century=frozenset(fold(word) for each in known for word in each.century),
    )


def _numeric_dates(text: str) -> list[Date]:
    """Dates in digits alone, and Korean ones."""
    found = [Date(*match.span(), int(match[1]), last_year=int(match[1]) + 9) for match in _KOREAN_DECADE.finditer(text)]
    for match in _KOREAN.finditer(text):
        year, month, day = (match[1] or match[6], match[2] or match[4] or match[7], match[3] or match[5] or match[8])
        found.append(_checked(match.span(), year, month, day))
    found += [_checked(match.span(), *match.groups()) for match in _ISO.finditer(text)]
    for match in _NUMERIC.finditer(text):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        if match[2] == "." and len(match[4]) == 2:
            continue  # rather a version than a date
        year += (1900 if year >= 50 else 2000) if year < 100 else 0
        both = first <= 12 and second <= 12
        month, day = (first, second) if first <= 12 else (second, first)
        if 1 <= month <= 12 and 1 <= day <= 31:
            swapped = (second, first) if both and first != second else None
            found.append(Date(*match.span(), year, month, day, swapped=swapped))
    return [date for date in found if date.year is not None or date.month is not None]


def _checked(span: tuple[int, int], *parts: str | None) -> Date:
    """A date whose parts can be true; empty when a month or day cannot."""
    numbers = [None if part is None else int(part) for part in parts]
    is_possible = (numbers[1] is None or 1 <= numbers[1] <= 12) and (numbers[2] is None or 1 <= numbers[2] <= 31)
    return Date(*span, numbers[0], numbers[1], numbers[2]) if is_possible else Date(*span)


def _clock_times(text: str) -> list[Date]:
    found = []
    for match in _CLOCK.finditer(text):
        hour, minute = int(match[2]), int(match[3] or match[4] or 0)
        half = "p" if match[1] == "오후" else "a" if match[1] == "오전" else match[5]
        if hour > 24 or minute > 59:
            continue
        if half is not None:
            hour = hour % 12 + (12 if half == "p" else 0)
        is_half_day = half is None and hour <= 12
        start = match.start() + len(match.group()) - len(match.group().lstrip())
        end = start + len(match.group().strip())
        found.append(Date(start, end, minutes=hour * 60 + minute, is_half_day=is_half_day))
    return found


def _date_at(terms: Terms, place: int) -> Date | None:
    """A date that begins with this term."""
    words = _date_words()
    word = terms.folded[place]
    if _weekday(word) is not None:
        return _weekday_at(terms, place)
    if word in words.months and _is_month(terms, place):
        return _month_first(terms, place)
    if _DAY.fullmatch(word) is not None:
        return _day_first(terms, place) or _century_at(terms, place)
    if _YEAR.fullmatch(word) is not None:
        return _year_at(terms, place)
    return None


def _weekday_at(terms: Terms, place: int) -> Date:
    """A day of the week, and the date after it, which does not begin with another one."""
    weekday = _weekday(terms.folded[place])
    is_before_date = _is_near(terms, place) and _weekday(terms.folded[place + 1]) is None
    follows = _date_at(terms, place + 1) if is_before_date else None
    start = terms.starts[place]
    if follows is None or follows.month is None:
        return Date(start, terms.ends[place], weekday=weekday)
    return Date(start, follows.end, follows.year, follows.month, follows.day, weekday)


def _weekday(word: str) -> int | None:
    """The day of the week that a word names, also in the plural, and in Korean with a particle."""
    weekdays = _date_words().weekdays
    if word.endswith(("days", "dis")):
        return weekdays.get(word[:-1])
    return weekdays.get(word[:3] if word[1:3] == "요일" else word)


def _is_near(terms: Terms, place: int) -> bool:
    """Whether the next term follows with nothing but a comma, a period or spaces between."""
    if place + 1 >= len(terms):
        return False
    return not terms.text[terms.ends[place] : terms.starts[place + 1]].strip(" .,\u00a0")


def _is_month(terms: Terms, place: int) -> bool:
    """Whether a word such as "may" or "mars" is meant as a month: beside a number, or after a word such as "in"."""
    word = terms.folded[place]
    if word not in _AMBIGUOUS_MONTHS:
        return True
    if _is_verb(terms, place):
        return False
    beside = [terms.folded[each] for each in (place - 1, place + 1) if 0 <= each < len(terms)]
    return any(each[0].isdecimal() for each in beside) or (place > 0 and beside[0] in _BEFORE_MONTH)


def _is_verb(terms: Terms, place: int) -> bool:
    return terms.folded[place] in {"may", "march"} and not terms.text[terms.starts[place]].isupper()


def _month_first(terms: Terms, place: int) -> Date | None:
    """March 5, 2020; March 2020; March."""
    month = _date_words().months[terms.folded[place]]
    day, year, last = None, None, place
    if _is_near(terms, last) and _DAY.fullmatch(terms.folded[last + 1]) and 1 <= int(terms.folded[last + 1]) <= 31:
        last += 1
        day = int(terms.folded[last])
        last += _has_day_ending(terms, last)
    if _is_near(terms, last) and _YEAR.fullmatch(terms.folded[last + 1]) is not None:
        last += 1
        year = int(terms.folded[last])
    if last == place and _is_first_name(terms, place):
        return None
    return Date(terms.starts[place], terms.ends[last], year, month, day)


def _is_first_name(terms: Terms, place: int) -> bool:
    """Whether a month's name is a person's, as in "June Whitfield": a word with a capital follows."""
    if place + 1 >= len(terms) or terms.text[terms.ends[place] : terms.starts[place + 1]] != " ":
        return False
    return terms.text[terms.starts[place + 1]].isupper()


def _has_day_ending(terms: Terms, place: int) -> bool:
    """Whether the next term is the "th" of "5th" or "5 th"."""
    is_close = place + 1 < len(terms) and terms.starts[place + 1] - terms.ends[place] <= 1
    return is_close and _DAY_ENDING.match(terms.folded[place + 1]) is not None


def _day_first(terms: Terms, place: int) -> Date | None:
    """5 March 2020; 5th of March; 1er mai."""
    day = int(terms.folded[place])
    last = place + _has_day_ending(terms, place)
    if _is_near(terms, last) and terms.folded[last + 1] == "of":
        last += 1
    months = _date_words().months
    if not (1 <= day <= 31 and _is_near(terms, last) and terms.folded[last + 1] in months):
        return None
    if "." in terms.text[terms.ends[place] : terms.starts[last + 1]] or _is_verb(terms, last + 1):
        return None  # the number of an item that begins with a month's name, or "passage 3 may"
    last += 1
    year = None
    month = months[terms.folded[last]]
    if _is_near(terms, last) and _YEAR.fullmatch(terms.folded[last + 1]) is not None:
        last += 1
        year = int(terms.folded[last])
    return Date(terms.starts[place], terms.ends[last], year, month, day)


def _century_at(terms: Terms, place: int) -> Date | None:
    """19th century, XIX is not read; 19e siècle; 19세기."""
    number = int(terms.folded[place])
    for ahead in (1, 2):
        if place + ahead < len(terms) and 1 <= number <= 21:
            word = terms.folded[place + ahead]
            if any(word.startswith(name) for name in _date_words().century):
                first = (number - 1) * 100 + 1
                return Date(terms.starts[place], terms.ends[place + ahead], first, last_year=number * 100)
    return None


def _year_at(terms: Terms, place: int) -> Date | None:
    """A year on its own, or a decade."""
    start, end, text = terms.starts[place], terms.ends[place], terms.text
    year = int(terms.folded[place])
    before = text[max(0, start - 1) : start]
    if before in {"$", "€", "£", "₩", "#", "-", "/"} or text[end : end + 1] in {"%", "/", "$", "€"}:
        return None
    if year % 10 == 0 and (text[end : end + 1] == "s" or text[end : end + 2] in {"'s", "’s"}):
        return Date(start, end + text[end : end + 2].index("s") + 1, year, last_year=year + 9)
    is_year = place > 0 and terms.folded[place - 1] in _date_words().before_year
    is_bare = _AFTER_YEAR.match(text, end) is not None
    follows = terms.keys[place + 1] if place + 1 < len(terms) else ""
    counts = is_year and follows and not is_bare and year % 100 == 0
    return Date(start, end, year) if (is_year and not counts) or is_bare else None
