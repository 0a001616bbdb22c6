"""Dates and times of day. All expected values are read off by hand."""

from __future__ import annotations

import pytest

from hallumeter.text.dates import Date, find_dates

Parts = tuple[int | None, int | None, int | None]


def parts(dates: list[Date]) -> list[Parts]:
    return [(date.year, date.month, date.day) for date in dates]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("March 5, 2020", [(2020, 3, 5)]),
        ("Mar. 5th 2020", [(2020, 3, 5)]),
        ("5 March 2020", [(2020, 3, 5)]),
        ("the 5th of March", [(None, 3, 5)]),
        ("28 th January", [(None, 1, 28)]),
        ("in May 2001", [(2001, 5, None)]),
        ("He may go in May", [(None, 5, None)]),
        ("passage 3 may help, they march on", []),
        ("It was June", [(None, 6, None)]),
        ("June Whitfield sang", []),
        ("July 4-7", [(None, 7, 4), (None, 7, 7)]),
        ("July 4th–7 or July 9-2", [(None, 7, 4), (None, 7, 7), (None, 7, 9)]),
        ("July 4, 2001 - 7 more", [(2001, 7, 4)]),
        ("2. June roses", [(None, 6, None)]),
        ("2020-03-05", [(2020, 3, 5)]),
        ("25/12/1999", [(1999, 12, 25)]),
        ("12/25/99", [(1999, 12, 25)]),
        ("1/2/03", [(2003, 1, 2)]),
        ("99/99/1999", []),
        ("version 1.2.30 and 2020.99.99.1", []),
        ("le 14 juillet 1789", [(1789, 7, 14)]),
        ("le 1er mai", [(None, 5, 1)]),
        ("en mars", [(None, 3, None)]),
        ("la planète Mars tourne", []),
        ("2020년 3월 5일에", [(2020, 3, 5)]),
        ("2020. 3. 5.", [(2020, 3, 5)]),
        ("3월에 2020년", [(None, 3, None), (2020, None, None)]),
        ("In 2007 it grew.", [(2007, None, None)]),
        ("It grew (2008).", [(2008, None, None)]),
        ("2007 people came, $1998, 1500/2000 and 1200 miles", []),
        ("in 1500 cities", []),
        ("1998", [(1998, None, None)]),
        ("May 40", [(None, 5, None)]),
        ("40 May", [(None, 5, None)]),
        ("Sept 11", [(None, 9, 11)]),
    ],
)
def test_dates_are_read_in_several_notations(text: str, expected: list[Parts]) -> None:
    assert parts(find_dates(text)) == expected


@pytest.mark.parametrize(
    ("text", "weekday", "expected"),
    [
        ("Monday, June 3, 2019", 1, (2019, 6, 3)),
        ("lundi 3 juin 2019", 1, (2019, 6, 3)),
        ("on Sunday", 7, (None, None, None)),
        ("Sunday, in the garden", 7, (None, None, None)),
        ("수요일에 만났다", 3, (None, None, None)),
    ],
)
def test_weekdays_join_the_date_after_them(text: str, weekday: int, expected: Parts) -> None:
    dates = find_dates(text)
    assert parts(dates) == [expected]
    assert dates[0].weekday == weekday


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("in the 1990s", 1990, 1999),
        ("the 1960’s", 1960, 1969),
        ("1990년대에", 1990, 1999),
        ("the 19th century", 1801, 1900),
        ("19세기", 1801, 1900),
        ("au 19e siècle", 1801, 1900),
    ],
)
def test_decades_and_centuries_are_spans_of_years(text: str, first: int, last: int) -> None:
    date = find_dates(text)[0]
    assert (date.year, date.last_year) == (first, last)


@pytest.mark.parametrize(
    ("text", "minutes", "is_half_day"),
    [
        ("5 pm", 1020, False),
        ("5:30 p.m.", 1050, False),
        ("12:15 am", 15, False),
        ("17h30", 1050, False),
        ("at 9:05", 545, True),
        ("오후 5시 30분에", 1050, False),
        ("오전 9시", 540, False),
    ],
)
def test_times_of_day_are_minutes_after_midnight(text: str, minutes: int, is_half_day: bool) -> None:
    date = find_dates(text)[0]
    assert (date.minutes, date.is_half_day) == (minutes, is_half_day)


@pytest.mark.parametrize("text", ["12시간", "99:99", "no time at all", "3.5 cm"])
def test_durations_and_impossible_times_are_no_times(text: str) -> None:
    assert find_dates(text) == []


def test_a_date_that_can_be_read_both_ways_says_so() -> None:
    (date,) = find_dates("03/05/2020")
    assert (date.month, date.day, date.swapped) == (3, 5, (5, 3))
    assert find_dates("05/05/2020")[0].swapped is None
    assert find_dates("25/12/2020")[0].swapped is None


def test_a_date_knows_its_place() -> None:
    text = "On Monday, 3 June 2019 at 5:30 pm, since the 1990s."
    assert [text[date.start : date.end] for date in find_dates(text)] == ["Monday, 3 June 2019", "5:30 pm", "1990s"]


@pytest.mark.parametrize(("text", "weekday"), [("Mondays", 1), ("le lundi", 1), ("les mardis", 2), ("holidays", None)])
def test_days_of_the_week_have_a_plural(text: str, weekday: int | None) -> None:
    assert [date.weekday for date in find_dates(text)] == ([weekday] if weekday else [])
