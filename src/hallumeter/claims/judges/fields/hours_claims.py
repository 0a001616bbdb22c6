"""What a text says about opening hours: which days, which times, and which belong together."""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

# Days and times as a text about opening hours words them.

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
_PART_OF_WEEK = (
    r"\bweekdays\b|\bweekday(?=\s(?:hours|doors|opening|closing))"
    r"|\b(?:the\s)?weekends?\b|\ben semaine\b|\ble week-end\b|평일|주말"
)
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
    r"|\b(?:the\s)?remaining\s(?:days|nights|evenings)\b"
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
_CLOSED = (
    r"\bclosed\b|\bfermée?s?\b|\bferme(?=\sles?\b)|(?<=day\s)off\b|(?<=days\s)off\b|휴무|휴업"
    r"|(?:\bnot|n['’]t)\s(?:open(?!\s(?:until|till|before)\b)|operate|do\sbusiness)\b"
)
_NOT_SAID = (
    r"\bno\s(?:\w+\s){0,2}hours\b|\bnot\s(?:\w+\s)?(?:listed|specified|provided|given|mentioned|stated)\b"
    r"|\bunspecified\b"
)
_OPENS = (
    r"(?:\bnot|n['’]t)\sopen\s(?:until|till|before)\b"
    r"|\b(?:open(?:s|ing)?|start(?:s|ing)?|begin(?:s|ning)?|from|as\searly\sas|ouvre|dès|à\spartir\sde)\b"
)
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
_ANDS = re.compile(r"\s(?:and|et)\s", re.IGNORECASE)
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
        # In "11 PM on Friday and Saturday and Sunday hours are" the last day belongs to what follows.
        is_unclear = len(_ANDS.findall(match.group())) > 1 and "," not in match.group()
        return Phrase("unknown" if is_unclear else kind, start, end, days=days_in(match.group()))
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


_ABOUT = re.compile(
    r"\b(?:open(?:s|ed|ing)?|hours|operat\w+|clos(?:es|ed|ing)|welcomes|serves (?:guests|customers|dinner)|ouverte?s?|"
    r"ferm(?:é|e)e?s?|horaires)\b|영업|운영|오픈|휴무",
    re.IGNORECASE,
)
_ANY_DAYS = re.compile(r"day|daily|week|night|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b|di\b|요일|매일")
_ANY_TIME = re.compile(r"\d")
_SEGMENT = re.compile(r"[^;\n]+?(?:[;\n]|(?<!m)\.\s|$)")
_STORY = re.compile(
    r"\b(?:review\w*|complain\w*|arriv\w+|wait(?:ed|ing)?|visited|came|reported|praised?|told|said|recount\w*|lasted|"
    r"happy hours?|kitchen|last (?:call|orders?|seating)|buffet|delivered|delivery)\b",
    re.IGNORECASE,
)
_MEAL = re.compile(
    r"\b(?:lunch|brunch|breakfast|show|shows|music|bands?|trivia|karaoke|specials?)\b[^,;]{0,25}$", re.IGNORECASE
)
_CLOCK_GLUE = re.compile(
    r"[\s,(:]*(?:(?:and|or|at|on|by|times?|of|is|are|the|it|then|hours|doors|à)\b[\s,:]*)*", re.IGNORECASE
)
_BEFORE_TIME = re.compile(
    r"[\s:(]*(?:(?:from|at|between|open|opens|opening|hours|until|till|are|is|with|of|starting|closing|closes|the"
    r"|restaurant|business|place|it|they|doors|starts|starting|begins|beginning|de|à|에는?|은|는)\b[\s:]*|[-–—]\s*)*",
    re.IGNORECASE,
)
_WEAKLY_BEFORE_TIME = re.compile(
    r"[\s,:(]*(?:(?:and|from|at|between|open|opens|opening|hours|until|till|are|is|with|of|starting|closing"
    r"|closes|the|it|its|staying|running|stays|service|doors|operating|time)\b[\s,:]*|[-–—]\s*)*",
    re.IGNORECASE,
)
_AFTER_TIME = re.compile(
    r"[\s(]*(?:(?:on|over|from|every|each|during|for|le|du|the|at|closings?)\b\s*)*", re.IGNORECASE
)
_AFTER_TIME_WEAKLY = re.compile(r",\s*(?:on\s+|from\s+)?", re.IGNORECASE)
_AFTER_CLOSED = re.compile(
    r"[\s:]*(?:(?:on|at|every|all|day|from|both|for|only|during|le|the|entirely)\b\s*)*", re.IGNORECASE
)
_BEFORE_CLOSED = re.compile(
    r"[\s:,(–—-]*(?:(?:is|are|it|its|as|a|day|days|remains?|being|when|the|restaurant|business|place|은|는|에)\b\s*)*",
    re.IGNORECASE,
)
_SAME_DAYS = re.compile(r"[\s,(:]*(?:from\s+|i\.e\.,?\s+)?", re.IGNORECASE)
_ONLY_BEFORE = re.compile(r"\bonly(?:\s(?:on|from|opens?))?\s*$", re.IGNORECASE)
_ONLY_AFTER = re.compile(r"\s*only\b", re.IGNORECASE)
_CLOSINGS = re.compile(r"\s(?:closings?|closes?)\b|까지|에\s(?:문을\s)?닫", re.IGNORECASE)
_OPENINGS = re.compile(r"부터|에\s(?:문을\s)?(?:열|오픈|시작)")
_ROUGH = re.compile(
    r"\b(?:extra|hours? (?:later|earlier|longer|shorter|more|less)|longer|shorter|later|earlier|extended"
    r"|otherwise|others?|first|last|early|"
    r"mostly|generally|usually|varying|vary|varies)\b",
    re.IGNORECASE,
)
_NAMED_PART_OF_WEEK = re.compile(r"weekdays|(?:the )?weekends?", re.IGNORECASE)
_DAYS = frozenset({"days", "whole", "rest", "unknown"})


class TimeSaid(Struct):
    """A time of opening, of closing, or both, and the days on which it holds."""

    start: int
    end: int
    opens: frozenset[int]
    closes: frozenset[int]
    days: frozenset[int] = frozenset()
    excepted: frozenset[int] = frozenset()


class HoursClaim(Struct):
    """Days, and what is said of them."""

    start: int
    end: int
    days: frozenset[int] | None
    """None for times that no day is named for."""
    times: list[TimeSaid] = []
    count: int = 0
    """How many days a week it is open, when only that is said."""
    is_closed: bool = False
    is_only: bool = False
    is_rest: bool = False
    """Whether it is said of the other days, those without hours left aside."""
    is_readable: bool = True
    is_rough: bool = False
    """Whether the text hints at exceptions that are not read, so that only what is wrong on all days is wrong."""

    @property
    def span(self) -> tuple[int, int]:
        """Where the days are named."""
        return self.start, self.end


def read_hours_claims(text: str) -> list[HoursClaim]:
    """All that a text surely says about opening hours.

    >>> claims = read_hours_claims("It opens at 7 AM on weekdays and is closed on Sundays.")
    >>> [(sorted(claim.days), claim.is_closed, [sorted(time.opens) for time in claim.times]) for claim in claims]
    [([0, 1, 2, 3, 4], False, [[420]]), ([6], True, [])]
    """
    has_days_and_times = _ANY_TIME.search(text) is not None and _ANY_DAYS.search(text) is not None
    if _ABOUT.search(text) is None and not has_days_and_times:
        return []
    found: list[HoursClaim] = []
    for segment in _SEGMENT.finditer(text):
        if _STORY.search(segment.group()) is None:
            found += _Segment(text, segment.span(), known=found).claims()
    _leave_exceptions(found)
    _leave_doubts(found, text)
    return [
        claim for claim in found if claim.is_readable and (claim.times or claim.is_closed or claim.days or claim.count)
    ]


def _leave_exceptions(claims: list[HoursClaim]) -> None:
    """Take from the days of a time those for which another time is given: "until 9, and on Fridays until 10"."""
    times = [time for claim in claims for time in claim.times]
    for time in times:
        others = [
            other.days for other in times if bool(other.opens and time.opens) or bool(other.closes and time.closes)
        ]
        for days in others:
            if days < time.days:
                time.days -= days


def _leave_doubts(claims: list[HoursClaim], text: str) -> None:
    """Say less where the claims limit each other: "weekdays" beside "closed on Wednesdays" is not all of them."""
    is_rough = _ROUGH.search(text) is not None
    closed = frozenset[int]().union(*(claim.days or frozenset() for claim in claims if claim.is_closed))
    others = len(claims) > 1
    for claim in claims:
        claim.is_rough = is_rough
        claim.is_only = claim.is_only and not others
        if others and _NAMED_PART_OF_WEEK.fullmatch(text, *claim.span):
            claim.is_rest = True
        for time in claim.times:
            time.days -= time.excepted | (frozenset() if claim.is_closed else closed)


_Item = HoursClaim | TimeSaid | Phrase


class _Segment:
    """One clause of a text, whose phrases are put together."""

    def __init__(self, text: str, span: tuple[int, int], *, known: list[HoursClaim]) -> None:
        self.text = text
        self.span = span
        self.known = known
        shift = span[0]
        self.phrases = [_moved(each, shift) for each in read_phrases(text[span[0] : span[1]])]
        self.items: list[_Item] = []

    def claims(self) -> list[HoursClaim]:
        """Days with their times."""
        if _RESPECTIVELY.search(self.text, *self.span) is not None:
            return []
        self._collect()
        self._close()
        order = self._order()
        loose = [
            item
            for place, item in enumerate(self.items)
            if isinstance(item, TimeSaid) and not self._link(place, item, order=order)
        ]
        days = [item for item in self.items if isinstance(item, HoursClaim)]
        is_about = _ABOUT.search(self.text, *self.span) is not None
        for claim in days:
            is_sure = is_about or any(time.opens and time.closes for time in claim.times)
            if not (is_sure if claim.times else claim.is_closed or self._is_opening(claim)):
                claim.is_readable = False
        if is_about:
            days += [self._loose(time, days) for time in loose]
        return days

    def _collect(self) -> None:
        verb: Phrase | None = None
        last = self.span[0]
        for place, phrase in enumerate(self.phrases):
            if phrase.kind in {"verb_opens", "verb_closes"}:
                verb = self._verb(place, verb)
            elif phrase.kind in _DAYS or phrase.kind == "number":
                self._add_days(phrase)
            elif phrase.kind in {"range", "all_day"}:
                is_all_day = phrase.kind == "all_day"
                opens, closes = (frozenset({0}), frozenset({0})) if is_all_day else (phrase.opens, phrase.closes)
                self._add_time(phrase, opens=opens, closes=closes)
            elif phrase.kind == "clock":
                self._add_clock(phrase, verb, last=last)
            else:
                self.items.append(phrase)
            last = phrase.end

    def _verb(self, place: int, verb: Phrase | None) -> Phrase | None:
        """A verb of opening or closing; "from" only when a time follows: "closes at 9 from Monday to Friday"."""
        phrase = self.phrases[place]
        if self.text[phrase.start : phrase.end].lower() != "from":
            return phrase
        after = self.phrases[place + 1 : place + 2]
        return phrase if after and after[0].kind == "clock" else verb

    def _add_days(self, phrase: Phrase) -> None:
        earlier = [each for each in [*self.known, *self.items] if isinstance(each, HoursClaim) and each.is_readable]
        named = [each for each in earlier if each.days and not each.is_closed]
        claim = HoursClaim(phrase.start, phrase.end, phrase.days, [], count=phrase.count)
        if phrase.kind == "number":
            claim.is_readable = self._is_opening(claim)
        elif phrase.kind == "unknown":
            claim.is_readable = False
        elif phrase.kind == "rest":
            claim.days = WHOLE_WEEK.difference(*(each.days or frozenset() for each in earlier))
            claim.is_rest = True
        elif phrase.kind == "whole" and named:
            claim.days = frozenset().union(*(each.days or frozenset() for each in named))
            claim.is_rest = True
        claim.is_only = bool(
            _ONLY_BEFORE.search(self.text[max(0, phrase.start - 15) : phrase.start])
            or _ONLY_AFTER.match(self.text, phrase.end)
        )
        before = self.items[-1] if self.items else None
        if isinstance(before, HoursClaim) and not before.times and self._glued(_SAME_DAYS, before.end, phrase.start):
            self.items.pop()  # "weekdays, Tuesday to Friday" are the days named last
            claim.is_only = claim.is_only or before.is_only
        elif isinstance(before, Phrase) and before.kind == "not_said":
            claim.is_readable = False
        self.items.append(claim)

    def _add_time(self, phrase: Phrase, *, opens: frozenset[int], closes: frozenset[int]) -> None:
        if _MEAL.search(self.text, self.span[0], phrase.start) is None:
            self.items.append(TimeSaid(phrase.start, phrase.end, opens, closes))

    def _add_clock(self, phrase: Phrase, verb: Phrase | None, *, last: int) -> None:
        is_closing = _CLOSINGS.match(self.text, phrase.end) is not None
        if not is_closing and _OPENINGS.match(self.text, phrase.end) is None:
            if verb is None or not self._glued(_CLOCK_GLUE, last, phrase.start):
                return
            if not phrase.is_sure and (verb.end != last or _AFTER_NUMBER.match(self.text, phrase.end) is None):
                return
            is_closing = verb.kind == "verb_closes"
        nothing: frozenset[int] = frozenset()
        self._add_time(
            phrase, opens=nothing if is_closing else phrase.opens, closes=phrase.opens if is_closing else nothing
        )

    def _close(self) -> None:
        """Mark days that are called closed, excepted, or without hours."""
        for place, item in enumerate(self.items):
            if not isinstance(item, Phrase):
                continue
            before = self.items[place - 1] if place else None
            after = self.items[place + 1] if place + 1 < len(self.items) else None
            if item.kind == "but":
                _except([each for each in self.items[:place] if isinstance(each, HoursClaim)], before, after)
            elif item.kind == "closed" and isinstance(after, HoursClaim) and self._is_closed_after(item, after):
                after.is_closed, after.is_only = True, False
            elif isinstance(before, HoursClaim) and self._glued(_BEFORE_CLOSED, before.end, item.start):
                before.is_closed, before.is_only = item.kind == "closed", False
                before.is_readable = before.is_readable and before.is_closed

    def _is_closed_after(self, closed: Phrase, days: HoursClaim) -> bool:
        return self._glued(_AFTER_CLOSED, closed.end, days.start)

    def _order(self) -> str:
        """DT where days and times take turns and days come first, TD where times do, else nothing."""
        kinds = "".join(
            "T" if isinstance(item, TimeSaid) else "D"
            for item in self.items
            if isinstance(item, TimeSaid) or (isinstance(item, HoursClaim) and not item.is_closed)
        )
        first = next((item for item in self.items if isinstance(item, HoursClaim)), None)
        # "Open all week, at 7 on weekdays": the whole week is named for itself. An exception breaks the order.
        is_plain = not any(isinstance(item, Phrase) and item.kind == "but" for item in self.items)
        if kinds == "DT" * (len(kinds) // 2):
            return "DT" if is_plain and first is not None and first.days != WHOLE_WEEK else ""
        return "TD" if kinds == "TD" * (len(kinds) // 2) else ""

    def _link(self, place: int, time: TimeSaid, *, order: str) -> bool:
        """Give a time to the days beside it."""
        before = self._days_at(place - 1) if order != "TD" else None
        after = self._days_at(place + 1) if order != "DT" else None
        if before is not None and order == "DT" and time.start - before.end <= _LONGEST_GAP:
            time.days = before.days or frozenset()
            before.times.append(time)
            return True
        is_before = before is not None and self._glued(_BEFORE_TIME, before.end, time.start)
        is_after = after is not None and self._glued(_AFTER_TIME, time.end, after.start)
        if before and after and is_before and is_after and (after.days or WHOLE_WEEK) < (before.days or WHOLE_WEEK):
            is_before = False
        if not is_before and not is_after:
            is_before = (
                before is not None and not before.times and self._glued(_WEAKLY_BEFORE_TIME, before.end, time.start)
            )
            is_after = after is not None and self._glued(_AFTER_TIME_WEAKLY, time.end, after.start)
        chosen = before if is_before else after if is_after else None
        if chosen is None:
            return False
        time.days = chosen.days or frozenset()
        chosen.times.append(time)
        return True

    def _days_at(self, place: int) -> HoursClaim | None:
        item = self.items[place] if 0 <= place < len(self.items) else None
        return item if isinstance(item, HoursClaim) and not item.is_closed and not item.count else None

    def _loose(self, time: TimeSaid, days: list[HoursClaim]) -> HoursClaim:
        """A time with no days beside it: it holds on the days named before, when these are one set."""
        earlier = [
            each for each in [*self.known, *days] if each.end <= time.start and not each.is_closed and not each.count
        ]
        sets = {each.days for each in earlier}
        if (
            _ROUGH.search(self.text) is None
            and len(sets) == 1
            and all(each.is_readable for each in earlier)
            and earlier[-1].days
        ):
            time.days = earlier[-1].days
            return HoursClaim(time.start, time.end, time.days, [time], is_rest=True)
        return HoursClaim(time.start, time.end, None, [time], is_readable=True)

    def _is_opening(self, claim: HoursClaim) -> bool:
        """Whether a word of opening stands closely before days."""
        words = [match.end() for match in _ABOUT.finditer(self.text, self.span[0], claim.start)]
        return (
            bool(words) and claim.start - words[-1] <= _NEAR and _MEAL.search(self.text, words[-1], claim.start) is None
        )

    def _glued(self, glue: re.Pattern[str], start: int, end: int) -> bool:
        return glue.fullmatch(self.text, start, end) is not None


_NEAR = 45
_LONGEST_GAP = 60
"""Characters between days and the time that is given for them."""
_RESPECTIVELY = re.compile(r"\brespective(?:ly)?\b|\brespectivement\b", re.IGNORECASE)
_AFTER_NUMBER = re.compile(r"\s*(?:$|[.,;)]|and\b|on\b|from\b|every\b|daily\b|each\b|to\b)", re.IGNORECASE)


def _except(earlier: list[HoursClaim], before: _Item | None, after: _Item | None) -> None:
    """Take days from those named before: "daily except Sunday"; of a time only, when it stands between."""
    if not isinstance(after, HoursClaim):
        return
    excepted = after.days or frozenset()
    after.is_readable = False
    if isinstance(before, TimeSaid):
        before.excepted = excepted
    elif earlier and earlier[-1].days is not None:
        earlier[-1].days -= excepted


def _moved(phrase: Phrase, shift: int) -> Phrase:
    return Phrase(
        phrase.kind,
        phrase.start + shift,
        phrase.end + shift,
        days=phrase.days,
        count=phrase.count,
        opens=phrase.opens,
        closes=phrase.closes,
        is_sure=phrase.is_sure,
    )
