"""Dates and times of a claim against those of the evidence."""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left

from hallumeter.text.dates import Date
from hallumeter.text.terms import Terms

from .alignment import Place, aligned, displaced, may_align
from .check_polarity import hidden_negations, places_after_negation
from .evidence import PlacedDate
from .statement import Finding, Statement, as_doubt

_HALF_DAY = 12 * 60
_LEAST_WHOLE = 0.6
_MOST_DATES = 50
_HOURS = frozenset({"open", "opens", "hours"})


def check_dates(statement: Statement) -> list[Finding]:
    """Dates that the evidence contradicts or does not have."""
    findings = []
    denied = places_after_negation(statement.terms)
    for date in statement.dates:
        if _is_known(statement, date):
            findings += _displaced(statement, date)
            continue
        counterpart = _counterpart(statement, date)
        said = statement.terms.text[date.start : date.end]
        if counterpart is not None and _is_sure(statement, date, counterpart):
            findings.append(_mismatch(statement, date, counterpart))
        elif counterpart is not None:
            findings.append(as_doubt(_mismatch(statement, date, counterpart)))
        elif not _may_be_silent(statement, date) and _place(statement.terms, date).first not in denied:
            note = f"response says {said}, evidence has no such date"
            findings.append(Finding("date_not_found", date.start, date.end, note))
    return findings


def _is_sure(statement: Statement, date: Date, known: PlacedDate) -> bool:
    """Whether one date stands for the other.

    A record has an opening and a closing time for each day, and the time of a visit is neither: there the claim must
    speak of the hours of one day.
    """
    if date.minutes is None or statement.evidence.sentences[known.sentence].block.leaf is None:
        return True
    days = sum(each.weekday is not None for each in statement.dates[:_MOST_DATES])
    return days == 1 and not _HOURS.isdisjoint(statement.words) and hidden_negations().isdisjoint(statement.words)


def _may_be_silent(statement: Statement, date: Date) -> bool:
    """Whether the evidence may lack a date that is right: a time of unknown half, a day on which a shop is closed."""
    if date.is_half_day:
        return True
    is_only_weekday = date.weekday is not None and date.month is None
    return is_only_weekday and not hidden_negations().isdisjoint(statement.words)


def _mismatch(statement: Statement, date: Date, known: PlacedDate) -> Finding:
    block = statement.evidence.sentences[known.sentence].block
    other = known.date
    said, written = statement.terms.text[date.start : date.end], block.terms.text[other.start : other.end]
    note = f"response says {said}, evidence says {written}"
    return Finding("date_mismatch", date.start, date.end, note, (block.quote(other.start, other.end),))


def _displaced(statement: Statement, date: Date) -> list[Finding]:
    """What speaks against a date that the evidence has: another one stands where it speaks of the same thing."""
    holders = [each.sentence for each in statement.evidence.dates if agrees(date, each.date)]
    holders += [each.sentence for each in statement.evidence.quantities if date.year in each.quantity.values]
    where = displaced(statement, _place(statement.terms, date), holders=holders) if holders else None
    if where is None:
        return []
    others = [
        each
        for each in statement.evidence.dates
        if each.sentence == where.sentence and _is_comparable(date, each.date) and not _is_said(statement, each.date)
    ]
    return [as_doubt(_mismatch(statement, date, others[0]))] if others else []


def _is_said(statement: Statement, known: Date) -> bool:
    """Whether another date of the claim is this one, so that it stands for none else."""
    return any(agrees(known, date) or agrees(date, known) for date in statement.dates)


def agrees(claimed: Date, known: Date) -> bool:
    """Whether a date of the evidence has every part of the claimed one, and none of them otherwise."""
    if claimed.minutes is not None:
        if known.minutes is None:
            return False
        is_loose = claimed.is_half_day or known.is_half_day
        return (claimed.minutes - known.minutes) % (_HALF_DAY if is_loose else 2 * _HALF_DAY) == 0
    if claimed.year is not None and not _agree_in_years(claimed, known):
        return False
    day = (claimed.month, claimed.day)
    ways = [(known.month, known.day)] + ([known.swapped] if known.swapped is not None else [])
    if claimed.swapped is not None:
        ways.append((known.day, known.month)) if known.month is not None else None
    fits = any(all(one is None or one == other for one, other in zip(day, way, strict=True)) for way in ways)
    return fits and claimed.weekday in {None, known.weekday or _weekday_of(known)}


def _weekday_of(known: Date) -> int | None:
    """The day of the week of a full date."""
    if known.year is None or known.month is None or known.day is None:
        return None
    try:
        return dt.date(known.year, known.month, known.day).isoweekday()
    except ValueError:  # the 31st of a month that has none
        return None


def _agree_in_years(claimed: Date, known: Date) -> bool:
    if claimed.year is None or known.year is None:
        return False
    last, known_last = claimed.last_year or claimed.year, known.last_year or known.year
    return claimed.year <= known_last and known.year <= last


def _is_known(statement: Statement, date: Date) -> bool:
    """Whether the evidence or the question has the date, as a whole or in parts that stand in different places."""
    dates = [each.date for each in _candidates(statement, date)]
    if any(agrees(date, each) for each in dates):
        return True
    terms = statement.terms
    if all(key in statement.given for key in _keys(terms, date)):
        return True
    if date.minutes is not None:
        return False
    if date.month is None and date.year is None:
        return any(key in statement.evidence.postings for key in _keys(terms, date))
    number_year = date.year is not None and date.month is None
    if number_year and any(date.year in each.quantity.values for each in statement.evidence.quantities):
        return True
    parts = [part for part in (_only_year(date), _only_day(date)) if part is not None]
    return (
        len(parts) > 1
        and all(any(agrees(part, each) for each in dates) for part in parts)
        and not any(_same_day_other_year(date, each) for each in dates)
    )


def _candidates(statement: Statement, date: Date) -> list[PlacedDate]:
    """Dates of the evidence; for a time, those of the JSON values of the day of the week that the claim names."""
    evidence = statement.evidence
    if date.minutes is None or not evidence.leaf_counts:
        return evidence.dates
    days = {key for each in statement.dates if each.weekday is not None for key in _keys(statement.terms, each)}
    of_day = [each for each in evidence.dates if not days.isdisjoint(evidence.sentences[each.sentence].block.keys)]
    return of_day or evidence.dates


def _keys(terms: Terms, date: Date) -> list[str]:
    place = _place(terms, date)
    return [key for key in terms.keys[place.first : place.last + 1] if key]


def _same_day_other_year(date: Date, known: Date) -> bool:
    day = _only_day(date)
    return day is not None and known.year is not None and agrees(day, known) and not _agree_in_years(date, known)


def _only_year(date: Date) -> Date | None:
    return None if date.year is None else Date(date.start, date.end, date.year, last_year=date.last_year)


def _only_day(date: Date) -> Date | None:
    return None if date.month is None else Date(date.start, date.end, None, date.month, date.day, swapped=date.swapped)


def _place(terms: Terms, date: Date) -> Place:
    return Place(bisect_left(terms.starts, date.start), bisect_left(terms.starts, date.end) - 1)


def _counterpart(statement: Statement, date: Date) -> PlacedDate | None:
    """The date of the evidence that stands in the place of this one, when there is one."""
    place = _place(statement.terms, date)
    best: tuple[float, PlacedDate] | None = None
    for each in _candidates(statement, date):
        other = each.date
        if not _is_comparable(date, other) or not may_align(statement, each.sentence, whole=_LEAST_WHOLE):
            continue
        if _is_said(statement, other):
            continue
        terms = statement.evidence.sentences[each.sentence].block.terms
        alignment = aligned(statement, place, number=each.sentence, other=_place(terms, other))
        if alignment.whole >= _LEAST_WHOLE and alignment.share >= 0.6 and alignment.shared >= 2:
            score = alignment.share + alignment.whole
            if best is None or score > best[0]:
                best = (score, each)
    return None if best is None else best[1]


def _is_comparable(claimed: Date, known: Date) -> bool:
    """Whether two dates have a part in common that could differ."""
    if (claimed.minutes is None) != (known.minutes is None):
        return False
    if claimed.minutes is not None:
        return True
    parts = ("year", "month", "day", "weekday")
    return any(getattr(claimed, part) is not None and getattr(known, part) is not None for part in parts)
