"""Days and times as a text about opening hours words them."""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

DAY_COUNT = 7
WHOLE_WEEK = frozenset(range(DAY_COUNT))
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NOON = 12 * 60
_DAY_MINUTES = 24 * 60
_FULL = (
    ("monday", "lundi", "월요일"),
    ("tuesday", "mardi", "화요일"),
    ("wednesday", "mercredi", "수요일"),
    ("thursday", "jeudi", "목요일"),
    ("friday", "vendredi", "금요일"),
    ("saturday", "samedi", "토요일"),
    ("sunday", "dimanche", "일요일"),
)
_SHORT = (
    ("mon", "월"),
    ("tues", "tue", "화"),
    ("weds", "wed", "수"),
    ("thurs", "thur", "thu", "목"),
    ("fri", "금"),
    ("sat", "토"),
    ("sun", "일"),
)
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}

_LONG_DAY = rf"(?:{'|'.join(name for names in _FULL for name in names)})s?"
# "sat" and "sun" are words of their own: short names count only with a capital and beside something that lists.
_SHORT_DAY = r"(?-i:Mon|Tues?|Weds?|Thu(?:rs?)?|Fri|Sat|Sun)\b\.?"
_ANY_DAY = rf"(?:\b{_LONG_DAY}(?!\w)|\b{_SHORT_DAY}|{_LONG_DAY})"
_LISTED_SHORT = rf"\b{_SHORT_DAY}(?=:|,|\s*[-–—&/]|\s+(?:and|to|thru|through|\d))"
_UNTO = r"(?:\s*(?:-|–|—|~)\s*|\s+(?:to|through|thru|until|till|au)\s+|부터\s*)"
_RANGE = rf"{_ANY_DAY}{_UNTO}{_ANY_DAY}(?:까지)?"
_PART_OF_WEEK = r"\bweekdays\b|\b(?:the\s)?weekends?\b|\ben semaine\b|\ble week-end\b|평일|주말"
_UNIT = rf"(?:{_RANGE}|\b{_LONG_DAY}(?!\w)|{_LISTED_SHORT}|{'|'.join(n[2] for n in _FULL)}|{_PART_OF_WEEK})"
_AND = r"(?:\s*,\s*(?:and|or|&|et)?\s*|\s+(?:and|or|&|et)\s+(?:(?:on|le)\s+)?|\s*[&/·]\s*|(?:와|과)\s*)"
_LAST_SHORT = rf"\b{_SHORT_DAY}"
_WHOLE = (
    r"\bdaily\b(?!\s+(?:special|plate|menu|deal|soup|catch|feature|lunch|selection|offering))"
    r"|\bevery\s?(?:single\s)?day\b(?:\sof\sthe\sweek)?|\b(?:every|each)\s(?:night|evening"
    r"|morning)\b(?:\sof\sthe\sweek)?"
    r"|\beach\sday\b(?:\sof\sthe\sweek)?|\ball\sweek(?:\slong)?\b|\b(?:seven|7)\s(?:days|nights"
    r"|evenings)(?:\s(?:a|per)\sweek)?"
    r"|\bnightly\b|\bthroughout\sthe\sweek\b|\btous\sles\sjours\b|\b7\s?j(?:ours)?\s?(?:/|sur)\s?7\b|매일|연중무휴"
)
_UNKNOWN = (
    r"\bmid-?\s?week\b|\b(?:some|select|certain|most|several|many)\s(?:days|nights|evenings|weekdays)\b"
    r"|\bmost\sof\sthe\sweek\b|\bholidays\b|\bdepending\son\b|\bschool\snights\b"
)
_REST = (
    r"\bthe\srest\sof\sthe\sweek\b|\b(?:all\s|the\s)?other\s(?:open\s)?(?:days|nights)\b|\botherwise\b"
    r"|\b(?:the\s)?remaining\sdays\b"
)
_COUNT = r"\b(?P<count>one|two|three|four|five|six|[2-6])\s(?:days|nights|evenings)\s(?:a|per|of\sthe|each)\s?week\b"

_HALF = r"(?:\s?(?:a\.m\.|p\.m\.|am\b|pm\b|a\.m\b|p\.m\b))"
_CLOCK = (
    r"(?:(?:\bnoon\b|\bmidday\b|\bmidnight\b|\bmidi\b|\bminuit\b|정오|자정)"
    rf"|(?:(?:오전|오후)\s?)?(?<![\d.,:$/-])\d{{1,2}}(?::\d{{1,2}}|\s?h\s?\d{{2}}\b|\s?h(?:eures)?\b"
    rf"|\s?시(?:\s?\d{{1,2}}분|\s?반)?)?(?![\d%])"
    rf"{_HALF}?(?:\so['’]clock)?)"
)
_TIME_RANGE = (
    rf"(?P<opens>{_CLOCK})(?:\s*(?:-|–|—|~)\s*|\s+(?:to|until|till|til|through|and|à)\s+|부터\s*)(?P<closes>{_CLOCK})"
)
_ALL_DAY = (
    r"\b24\shours?(?:\s(?:a|per)\sday)?\b|\b24/7\b|\b24-hours?\b|\baround\sthe\sclock\b|\b24\s?h(?:eures)?\s?(?:/"
    r"|sur)\s?24\b|24시간"
)
_CLOSED = r"\bclosed\b|\bferm(?:é|e)e?s?\b|\bdays?\soff\b|휴무|휴업|\b(?:not|n['’]t)\sopen\b"
_NOT_SAID = (
    r"\bno\s(?:\w+\s){0,2}hours\b|\bnot\s(?:\w+\s)?(?:listed|specified|provided|given|mentioned|stated)\b"
    r"|\bunspecified\b"
)
_OPENS = r"\b(?:open(?:s|ing)?|start(?:s|ing)?|begin(?:s|ning)?|from|as\searly\sas|ouvre|dès|à\spartir\sde)\b"
_CLOSES = r"\b(?:clos(?:es?|ing)|until|till|til|up\sto|shuts|ferme|jusqu['’]à)\b"
_EXCEPT = r"\b(?:except(?:\sfor|ing)?|apart\sfrom|other\sthan|but\snot|sauf)\b|\bbut(?=\s(?:on\s)?\w+day)"

_SCAN = re.compile(
    rf"(?P<all_day>{_ALL_DAY})|(?P<number>{_COUNT})|(?P<whole>{_WHOLE})|(?P<rest>{_REST})|(?P<unknown>{_UNKNOWN})"
    rf"|(?P<days>{_UNIT}(?:{_AND}(?:{_UNIT}|{_LAST_SHORT}))*)|(?P<range>{_TIME_RANGE})|(?P<clock>{_CLOCK})"
    rf"|(?P<not_said>{_NOT_SAID})|(?P<closed>{_CLOSED})|(?P<verb_opens>{_OPENS})|(?P<verb_closes>{_CLOSES})"
    rf"|(?P<but>{_EXCEPT})",
    re.IGNORECASE,
)
_DAY_PARTS = re.compile(rf"(?P<range>{_RANGE})|(?P<part>{_PART_OF_WEEK})|(?P<day>{_ANY_DAY})", re.IGNORECASE)
_DAY = re.compile(_ANY_DAY, re.IGNORECASE)
_CLOCK_PARTS = re.compile(
    r"(?P<ko>오전|오후)?\s?(?P<hour>\d{1,2})(?:(?::|\s?h\s?|\s?시\s?)(?P<minute>\d{1,2})?)?(?P<half_hour>반)?분?"
    r"(?:eures)?\s?(?P<half>[ap])?",
    re.IGNORECASE,
)
_SURE_CLOCK = re.compile(r"[:hap시]|o['’]clock|noon|midi|정오|자정", re.IGNORECASE)


class Phrase(Struct, frozen=True):
    """A part of a text that names days, times, or says that something opens or closes."""

    kind: str
    """The group of the pattern: days, whole, rest, unknown, number, range, clock, all_day, closed, verb_opens …"""
    start: int
    end: int
    days: frozenset[int] = frozenset()
    count: int = 0
    opens: frozenset[int] = frozenset()
    """Minutes after midnight; two when it is not said whether before or after noon."""
    closes: frozenset[int] = frozenset()
    is_sure: bool = True
    """Whether a number is a time by its own form, as 7:30 or 7 PM, and not 7."""


def read_phrases(text: str) -> list[Phrase]:
    """All phrases of a text about opening, in order.

    >>> [(phrase.kind, sorted(phrase.days)) for phrase in read_phrases("open Monday to Wednesday and Sunday")]
    [('verb_opens', []), ('days', [0, 1, 2, 6])]
    >>> read_phrases("from 11 AM to 9:30 PM")[1].closes
    frozenset({1290})
    """
    return [phrase for match in _SCAN.finditer(text) if (phrase := _phrase(match)) is not None]


def _phrase(match: re.Match[str]) -> Phrase | None:
    kind = next(name for name in _KINDS if match.group(name) is not None)
    start, end = match.span()
    if kind in {"whole", "rest", "unknown"}:
        return Phrase(kind, start, end, days=WHOLE_WEEK)
    if kind == "days":
        return Phrase(kind, start, end, days=days_in(match.group()))
    if kind == "number":
        said = match.group("count").lower()
        return Phrase(kind, start, end, count=_COUNTS.get(said) or int(said))
    if kind == "range":
        return _range(match)
    if kind == "clock":
        minutes = minutes_of(match.group())
        is_sure = _SURE_CLOCK.search(match.group()) is not None
        return Phrase(kind, start, end, opens=minutes, is_sure=is_sure) if minutes else None
    return Phrase(kind, start, end)


_KINDS = (
    "all_day",
    "number",
    "whole",
    "rest",
    "unknown",
    "days",
    "range",
    "clock",
    "not_said",
    "closed",
    "verb_opens",
    "verb_closes",
    "but",
)


def _range(match: re.Match[str]) -> Phrase | None:
    opens, closes = minutes_of(match.group("opens")), minutes_of(match.group("closes"))
    is_sure = _SURE_CLOCK.search(match.group("opens") + match.group("closes")) is not None
    if not (opens and closes and is_sure):
        return None
    return Phrase("range", *match.span(), opens=opens, closes=closes)


def days_in(text: str) -> frozenset[int]:
    """Numbers of the days that a phrase names, Monday first.

    >>> sorted(days_in("Fri-Sun"))
    [4, 5, 6]
    """
    found: set[int] = set()
    for match in _DAY_PARTS.finditer(text):
        if match.group("part"):
            is_weekend = "end" in match.group().lower() or "주말" in match.group()
            found |= {5, 6} if is_weekend else set(range(5))
            continue
        days = [day_of(each) for each in _DAY.findall(match.group())]
        first, last = days[0], days[-1]
        if first is not None and last is not None:
            found |= {(first + step) % DAY_COUNT for step in range((last - first) % DAY_COUNT + 1)}
    return frozenset(found)


def day_of(name: str) -> int | None:
    """The number of a day by its name in English, French or Korean, full or short; None when it is none.

    >>> day_of("Tues."), day_of("dimanche"), day_of("name")
    (1, 6, None)
    """
    bare = name.strip(" .:").lower()
    return _days().get(bare, _days().get(bare.removesuffix("s")))


@cache
def _days() -> dict[str, int]:
    return {name: day for names in (_FULL, _SHORT) for day, each in enumerate(names) for name in each}


def minutes_of(text: str) -> frozenset[int]:
    """Minutes after midnight that a time may mean; empty when it is none.

    >>> sorted(minutes_of("9:30")), sorted(minutes_of("9:30 PM")), sorted(minutes_of("midnight"))
    ([570, 1290], [1290], [0])
    """
    lowered = text.lower()
    if any(word in lowered for word in ("noon", "midday", "midi", "정오")):
        return frozenset({_NOON})
    if any(word in lowered for word in ("midnight", "minuit", "자정")):
        return frozenset({0})
    match = _CLOCK_PARTS.search(lowered)
    return frozenset() if match is None else _minutes(match)


def _minutes(match: re.Match[str]) -> frozenset[int]:
    hour, minute = int(match.group("hour")), int(match.group("minute") or (30 if match.group("half_hour") else 0))
    if hour > 24 or minute > 59:
        return frozenset()
    half = match.group("half") or {"오전": "a", "오후": "p"}.get(match.group("ko") or "")
    if hour > 12 or hour == 0:
        return frozenset({(hour * 60 + minute) % _DAY_MINUTES})
    morning = hour % 12 * 60 + minute
    if half is not None:
        return frozenset({morning if half == "a" else morning + _NOON})
    return frozenset({morning, morning + _NOON})
