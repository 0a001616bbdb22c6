"""Opening hours of claims against those of a record; expected findings are by hand."""

from __future__ import annotations

import json

import pytest

from hallumeter.claims.judges.fields.hours_claims import days_in, minutes_of
from hallumeter.claims.judges.fields.opening_hours import check_opening_hours
from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.statement import Statement, wrong
from hallumeter.records.response import Passage

_HOURS = {
    "Monday": "0:0-0:0",
    "Tuesday": "11:0-21:0",
    "Wednesday": "11:0-21:0",
    "Thursday": "11:0-21:0",
    "Friday": "11:0-22:30",
    "Saturday": "12:0-0:0",
}


def _marked(claim: str, record: object) -> list[str]:
    statement = Statement(claim, Evidence((Passage("e", json.dumps(record)),)), language="en")
    findings = wrong(check_opening_hours(statement))
    assert all(finding.reason == "hours_mismatch" for finding in findings)
    return [claim[finding.start : finding.end] for finding in findings]


@pytest.mark.parametrize(
    "claim",
    [
        "It is open Tuesday to Thursday from 11 AM to 9 PM.",
        "Open Tue-Thu 11:00-21:00 and Friday until 10:30 PM.",
        "It opens at 11 AM from Tuesday to Friday and at noon on Saturday, closing at midnight.",
        "It is open Tuesday through Saturday and closed on Sundays.",
        "It is open until 10:30 PM on Fridays and until 9 PM Tuesday to Thursday.",
        "The place opens at 11.",
        "It opens Tuesday to Friday at 11 AM and closes at 9 PM, or at 10:30 PM on Fridays.",
        "No hours are listed for Sunday.",
        "One reviewer waited from 7 to 8 PM on a Sunday.",
        "A guest arrived at 6 PM on Sunday and stayed open-minded.",
        "Daily specials are chalked on a board in the open kitchen.",
        "It is closed on Mondays.",
        "On Monday it is open 24 hours.",
        "The place does not operate on Sundays and takes Mondays off.",
        "On Tuesday and Thursday evenings it serves until 9 PM, on Friday until 10:30 PM, on Saturday until midnight.",
        "On Friday and Saturday it closes at 10:30 PM and midnight respectively.",
        "On Saturday it does not open until noon.",
    ],
)
def test_right_hours_and_times_of_stories_are_not_marked(claim: str) -> None:
    assert _marked(claim, {"hours": _HOURS}) == []


@pytest.mark.parametrize(
    ("claim", "marked"),
    [
        ("It is open Tuesday to Thursday from 11 AM to 8 PM.", "11 AM to 8 PM"),
        ("It is open Tuesday to Friday from 11 AM to 9 PM.", "Tuesday to Friday from 11 AM to 9 PM"),
        ("The restaurant is open seven days a week.", "seven days a week"),
        ("It is open on Sunday from noon to 5 PM.", "Sunday"),
        ("It is closed on Fridays.", "Fridays"),
        ("It closes at 11 PM.", "11 PM"),
        ("It is open from 11 AM to 9 PM Tuesday to Thursday and until 11 PM on Friday.", "11 PM"),
        ("Hours are daily except Friday.", "daily"),
        ("It is open only on Saturdays.", "Saturdays"),
    ],
)
def test_hours_that_the_record_does_not_have_are_marked(claim: str, marked: str) -> None:
    assert _marked(claim, {"hours": _HOURS}) == [marked]


def test_a_number_of_days_is_counted_unless_a_day_is_unclear() -> None:
    clear = {day: hours for day, hours in _HOURS.items() if day != "Monday"}
    assert _marked("It is open six days a week.", {"hours": clear}) == ["six days a week"]
    assert _marked("It is open five days a week.", {"hours": clear}) == []
    assert _marked("It is open six days a week.", {"hours": _HOURS}) == []


def test_values_may_be_lists_words_and_twelve_hours() -> None:
    record = {"hours": {"Mon": ["9 AM - 12 PM", "1 PM - 5:30 PM"], "Tue": "Closed", "Wed": "Open 24 hours"}}
    assert _marked("Monday hours are 9 AM to noon and 1 PM to 5:30 PM.", record) == []
    assert _marked("It is open on Tuesday.", record) == ["Tuesday"]
    assert _marked("It is open 24 hours on Wednesday.", record) == []


def test_hours_that_are_null_have_no_day() -> None:
    assert _marked("It is open daily from 9 AM to 5 PM.", {"name": "A", "hours": None}) == ["daily"]


def test_days_of_french_and_korean_records_are_read() -> None:
    french = {"horaires": {"lundi": "9:00-18:00", "mardi": "9:00-18:00"}}
    assert _marked("Ouvert du lundi au mardi de 9h à 18h.", french) == []
    assert _marked("Ouvert du lundi au mercredi.", french) == ["lundi au mercredi"]
    korean = {"영업시간": {"월요일": "09:00-18:00", "화요일": "09:00-18:00"}}
    assert _marked("월요일부터 화요일까지 영업합니다. 월요일 휴무.", korean) == ["월요일"]


def test_hours_in_one_line_lines_and_tables_are_read() -> None:
    line = "Name: Pier Museum\nOpening hours: Tue-Sun 10:00-17:00, Thu 10:00-20:00"
    table = "| Day | Hours |\n|---|---|\n| Tuesday | 10:00-17:00 |\n| Thursday | 10:00-20:00 |"
    for text in (line, table):
        statement = Statement("On Tuesday it closes at 8 PM.", Evidence((Passage("e", text),)), language="en")
        (finding,) = wrong(check_opening_hours(statement))
        assert finding.quotes[0].quote is not None
        assert "10:00-17:00" in finding.quotes[0].quote


def test_hours_in_one_line_that_cannot_be_read_are_not_compared() -> None:
    text = "Name: Pier Museum\nOpening hours: Tue 99-120, by appointment"
    statement = Statement("It is open on Sunday.", Evidence((Passage("e", text),)), language="en")
    assert wrong(check_opening_hours(statement)) == []


def test_hours_of_several_places_are_not_compared() -> None:
    record = [{"a": {"hours": _HOURS}}, {"b": {"hours": {"Sunday": "9:0-10:0"}}}]
    assert _marked("It is open on Sunday.", record) == []


def test_evidence_that_is_no_record_has_no_findings() -> None:
    statement = Statement("It is open daily.", Evidence((Passage("e", "It is open on Monday."),)), language="en")
    assert wrong(check_opening_hours(statement)) == []


def test_the_finding_quotes_the_hours_of_the_day() -> None:
    text = json.dumps({"hours": _HOURS})
    statement = Statement("It is closed on Fridays.", Evidence((Passage("e", text),)), language="en")
    (finding,) = wrong(check_opening_hours(statement))
    (quote,) = finding.quotes
    assert text[quote.start : quote.end] == '"Friday": "11:0-22:30"'
    assert finding.note == "response says “Fridays”, evidence says Friday 11:0-22:30"


def test_days_and_times_are_read_by_hand() -> None:
    assert sorted(days_in("Saturday through Monday")) == [0, 5, 6]
    assert sorted(days_in("weekdays and Sunday")) == [0, 1, 2, 3, 4, 6]
    assert minutes_of("12 AM") == {0}
    assert minutes_of("12:30 PM") == {750}
    assert minutes_of("오후 6시") == {1080}
    assert minutes_of("25:00") == set()
