"""Dates as FHIR writes them: a year, a month, a day, or a moment with an offset."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")


def day_of(text: str | None) -> date | None:
    """The calendar day as it was written; the first day of a month or year that stands alone.

    None when there is no date, or one that does not exist.

    >>> day_of("2019-05-27T23:58:38+02:00"), day_of("1980"), day_of("2019-02-30")
    (datetime.date(2019, 5, 27), datetime.date(1980, 1, 1), None)
    """
    match = _DATE.match(text or "")
    if match is None:
        return None
    year, month, day = match.groups()
    try:
        return date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None


def moment_of(text: str | None) -> datetime | None:
    """The moment in UTC, for putting entries in order; a date without a time begins at midnight.

    >>> moment_of("2019-05-27T23:30:00-02:00") > moment_of("2019-05-28")
    True
    """
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        day = day_of(text)
        return None if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def is_whole_date(text: str) -> bool:
    """Whether a date names its day.

    >>> is_whole_date("1980-05-01"), is_whole_date("1980-05")
    (True, False)
    """
    match = _DATE.match(text)
    return match is not None and match[3] is not None
