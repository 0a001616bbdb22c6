"""Opening hours that a claim states against those of a record."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.statement import Finding, Statement, confirmed

from .hours_claims import DAY_NAMES, WHOLE_WEEK, HoursClaim, TimeSaid, day_of, days_in, minutes_of, read_hours_claims
from .records import Field, record_of

REASON = "hours_mismatch"
_REMEMBERED = 8
_HOURS_KEYS = frozenset({"hours", "opening hours", "opening times", "business hours", "horaires", "영업시간"})
_CLOSED_WORDS = frozenset({"closed", "ferme", "fermé", "휴무"})
_SPLIT = re.compile(r"\s*(?:-|–|—|~|\bto\b|\bà\b)\s*", re.IGNORECASE)
_DAYS_AND_HOURS = re.compile(
    r"(?P<days>[^\W\d_][^\d:,;]*?):?\s+(?P<hours>\d{1,2}(?::\d{2})?\s*(?:[ap]m)?\s*[-–—~]\s*\d{1,2}(?::\d{2})?\s*(?:[ap]m)?)",
    re.IGNORECASE,
)
_NEAR = 25
"""Characters between days and times that are marked as one."""
_LAST_MINUTE = 24 * 60 - 1


class _Day(Struct, frozen=True):
    """What a record says of one day: hours, closed, or neither when it cannot be told, as of "0:0-0:0"."""

    fields: tuple[Field, ...]
    hours: tuple[tuple[int, int], ...] = ()
    is_closed: bool = False


class _Schedule(Struct, frozen=True):
    """The hours of the one place that a record describes."""

    days: dict[int, _Day]
    fields: tuple[Field, ...]


def check_opening_hours(statement: Statement) -> list[Finding]:
    """Days and times that differ from the record's opening hours, and those that agree.

    A day without hours in the record is not open, and may well be called closed. Nothing is found when the record
    has no hours, or those of several places.
    """
    schedule = _schedule(statement.evidence)
    if schedule is None:
        return []
    findings = []
    for claim in read_hours_claims(statement.terms.text):
        finding = _checked(claim, schedule, text=statement.terms.text)
        if finding is None and _agrees(claim, schedule):
            quotes = tuple(field.quote for field in _fields(schedule, sorted(claim.days or ())))
            finding = confirmed(statement.terms.text, claim.span, quotes)
        if finding is not None:
            findings.append(finding)
    return findings


@lru_cache(maxsize=_REMEMBERED)
def _schedule(evidence: Evidence) -> _Schedule | None:
    record = record_of(evidence)
    groups: dict[tuple[str, ...], dict[int, list[Field]]] = {}
    whole: list[Field] = []
    for field in record.fields if record is not None else ():
        day = day_of(field.path[-1]) if field.path else None
        if day is not None:
            place = (field.quote.evidence_id, *field.path[:-1])
            groups.setdefault(place, {}).setdefault(day, []).append(field)
        elif field.path and field.path[-1].lower() in _HOURS_KEYS:
            whole.append(field)
    if not groups and len(whole) == 1:
        return _Schedule({}, tuple(whole)) if whole[0].value is None else _in_one_line(whole[0])
    if len(groups) != 1 or whole:
        return None
    days = next(iter(groups.values()))
    read = {day: _day(fields) for day, fields in days.items()}
    return _Schedule(
        {day: each for day, each in read.items() if each is not None}, tuple(f for d in days.values() for f in d)
    )


def _in_one_line(field: Field) -> _Schedule | None:
    """Hours in one value: "Tue-Sun 10:00-17:00, Thu 10:00-20:00"; for a day that comes again the later ones hold."""
    days: dict[int, _Day] = {}
    for match in _DAYS_AND_HOURS.finditer(field.text):
        hours = _interval(match.group("hours"))
        if hours is None:
            return None
        days |= {day: _Day((field,), hours=(hours,)) for day in days_in(match.group("days"))}
    return _Schedule(days, (field,)) if days else None


def _day(fields: list[Field]) -> _Day | None:
    """What the values of one day say together; None when they say nothing."""
    texts = [field.text.strip().lower() for field in fields if field.value is not None]
    if not any(texts):
        return None
    kept = tuple(fields)
    if all(text in _CLOSED_WORDS for text in texts):
        return _Day(kept, is_closed=True)
    hours = [_interval(part) for text in texts for part in text.split(",")]
    read = tuple(each for each in hours if each is not None)
    if len(read) != len(hours):
        return _Day(kept)
    if read == ((0, 0),) and not any("24" in text for text in texts):
        return _Day(kept)  # some records mean closed by "0:0-0:0", some open all day
    return _Day(kept, hours=read)


def _interval(text: str) -> tuple[int, int] | None:
    """Opening and closing in minutes; a whole day is (0, 0)."""
    if "24" in text and "hour" in text:
        return 0, 0
    parts = _SPLIT.split(text)
    if len(parts) != 2:
        return None
    opens, closes = minutes_of(_dated(parts[0])), minutes_of(_dated(parts[1]))
    if not (opens and closes):
        return None
    # A record writes 24 hours, unless it says AM or PM.
    first, last = min(opens), min(closes)
    return (0, 0) if (first, last) == (0, _LAST_MINUTE) else (first, last)


def _dated(text: str) -> str:
    """12:30 without a half of the day is after noon in a record of 24 hours."""
    bare = text.strip()
    return f"{bare} pm" if bare.startswith("12") and bare[-1:].isdigit() else bare


def _checked(claim: HoursClaim, schedule: _Schedule, *, text: str) -> Finding | None:
    if claim.count:
        return _wrong_count(claim, schedule, text=text)
    if claim.is_closed:
        return _wrongly_closed(claim, schedule, text=text)
    if claim.days is None:
        return _matches_no_day(claim, schedule, text=text)
    absent = [day for day in sorted(claim.days) if day not in schedule.days or schedule.days[day].is_closed]
    if absent and not claim.is_rest:
        note = f"evidence has no hours for {_names(absent)}"
        return _finding(text, claim.span, note=note, fields=_fields(schedule, absent) or schedule.fields[:1])
    if claim.is_only:
        others = [
            day for day in sorted(WHOLE_WEEK - claim.days) if day in schedule.days and not schedule.days[day].is_closed
        ]
        if others:
            return _finding(text, claim.span, note=_said(schedule, others), fields=_fields(schedule, others))
    return _wrong_times(claim, schedule, text=text)


def _agrees(claim: HoursClaim, schedule: _Schedule) -> bool:
    """Whether every day and time that a claim names is as the record has it, and none had to be taken on trust."""
    known = [schedule.days.get(day) for day in claim.days or ()]
    if not known or claim.count:
        return False
    if claim.is_closed:
        return all(day is not None and day.is_closed for day in known)
    days = [schedule.days.get(day) for time in claim.times for day in time.days]
    return bool(days) and all(day is not None and day.hours for day in (*known, *days))


def _wrong_count(claim: HoursClaim, schedule: _Schedule, *, text: str) -> Finding | None:
    if any(not day.hours and not day.is_closed for day in schedule.days.values()):
        return None
    open_days = [day for day, each in sorted(schedule.days.items()) if each.hours]
    if len(open_days) == claim.count:
        return None
    note = f"evidence has hours for {len(open_days)} days"
    return _finding(text, claim.span, note=note, fields=_fields(schedule, open_days))


def _wrongly_closed(claim: HoursClaim, schedule: _Schedule, *, text: str) -> Finding | None:
    days = sorted(claim.days or ())
    wrong = [day for day in days if day in schedule.days and schedule.days[day].hours]
    if not wrong:
        return None
    return _finding(text, claim.span, note=_said(schedule, wrong), fields=_fields(schedule, wrong))


def _matches_no_day(claim: HoursClaim, schedule: _Schedule, *, text: str) -> Finding | None:
    """Times without days are wrong only when no day has them."""
    days = [day for day in schedule.days.values() if day.hours]
    for time in claim.times:
        if not any(_fits(time, day) for day in days):
            listed = [day for day in sorted(schedule.days) if schedule.days[day].hours]
            note = _said(schedule, listed[:2]) if listed else "evidence has no hours"
            return _finding(
                text, (time.start, time.end), note=note, fields=_fields(schedule, listed[:2]) or schedule.fields[:1]
            )
    return None


def _wrong_times(claim: HoursClaim, schedule: _Schedule, *, text: str) -> Finding | None:
    for time in claim.times:
        days = [day for day in sorted(time.days) if day in schedule.days and not schedule.days[day].is_closed]
        wrong = [day for day in days if not _fits(time, schedule.days[day])]
        if wrong and (len(wrong) == len(days) or not claim.is_rough):
            # Times that are right on some days belong to too many days: both parts together are what is wrong.
            span = (time.start, time.end) if len(wrong) == len(days) else _joined(claim, time)
            return _finding(text, span, note=_said(schedule, wrong), fields=_fields(schedule, wrong))
    return None


def _joined(claim: HoursClaim, time: TimeSaid) -> tuple[int, int]:
    """Days and times as one place, when they stand side by side; else the days."""
    is_near = max(claim.start, time.start) - min(claim.end, time.end) <= _NEAR
    return (min(claim.start, time.start), max(claim.end, time.end)) if is_near else claim.span


def _fits(time: TimeSaid, day: _Day) -> bool:
    """Whether a day may have these times; one whose hours cannot be read, or are "0:0-0:0", may have any."""
    if not day.hours:
        return True
    hours = [*day.hours, (day.hours[0][0], day.hours[-1][1])]
    return any(
        (not time.opens or opens in time.opens) and (not time.closes or closes in time.closes)
        for opens, closes in hours
    )


def _fields(schedule: _Schedule, days: list[int]) -> tuple[Field, ...]:
    return tuple(field for day in days if day in schedule.days for field in schedule.days[day].fields)


def _names(days: list[int]) -> str:
    return ", ".join(DAY_NAMES[day] for day in days)


def _said(schedule: _Schedule, days: list[int]) -> str:
    texts = [(day, " and ".join(field.text for field in schedule.days[day].fields)) for day in days]
    return "evidence says " + ", ".join(f"{DAY_NAMES[day]} {text}" for day, text in texts)


def _finding(text: str, span: tuple[int, int], *, note: str, fields: tuple[Field, ...]) -> Finding:
    quotes = tuple(dict.fromkeys(field.quote for field in fields))
    return Finding(REASON, *span, f"response says “{text[span[0] : span[1]]}”, {note}", quotes)
