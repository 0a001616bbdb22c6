"""Figures of claims against those of a record; expected findings are by hand."""

from __future__ import annotations

import json

import pytest

from hallumeter.claims.judges.fields.record_figures import check_record_figures, without_derived
from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.statement import Finding, Statement, wrong
from hallumeter.records.response import Passage

_PLACE = {
    "name": "Blue Door",
    "business_stars": 2.5,
    "review_info": [{"review_stars": 5.0, "review_text": "Soup for $9, and it took 20 minutes."}],
}
_PHONE = {
    "name": "Andy 3",
    "specs": [
        {"name": "Resolution", "value": "720 x 1280 pixels"},
        {"name": "Battery", "value": "Li-Ion 2000 mAh"},
        {"name": "GPU", "value": "Mali-400"},
        {"name": "Body", "value": "MIL-STD-810G compliant"},
    ],
}
_FORECAST = {"list": [{"main": {"temp": temp}} for temp in (-7.2, -1.0, 2.36)]}
_GAME = {
    "home_line": {"TEAM-PTS": "113"},
    "vis_line": {"TEAM-PTS": "107"},
    "players": [{"name": "Al Horford", "PTS": "10", "REB": "8"}, {"name": "Nick Young", "PTS": "20", "REB": "3"}],
}


def _statement(claim: str, record: object) -> Statement:
    return Statement(claim, Evidence((Passage("e", json.dumps(record)),)), language="en")


def _found(claim: str, record: object) -> list[str]:
    findings = wrong(check_record_figures(_statement(claim, record)))
    assert all(finding.reason == "figure_mismatch" for finding in findings)
    return [claim[finding.start : finding.end] for finding in findings]


@pytest.mark.parametrize(
    ("claim", "record"),
    [
        ("It holds 2.5 stars.", _PLACE),
        ("A five-star reviewer liked the soup.", _PLACE),
        ("The soup earned five stars from one guest.", _PLACE),
        ("It is rated nearly 3 stars.", _PLACE),
        ("It runs a Mali-400 GPU and is MIL-STD-810G compliant.", _PHONE),
        ("The screen has 1280x720 pixels, and the battery 2,000 mAh.", _PHONE),
        ("Temperatures range from -7°C to 2°C.", _FORECAST),
        ("Temperatures stay below 5°C.", _FORECAST),
        ("The average temperature is -1.95°C.", _FORECAST),
        ("Horford had 10 points and eight rebounds.", _GAME),
        ("Young went 2 - for - 4 from the three - point line to score 20 points.", _GAME),
        ("Young and Horford combined for 30 points.", _GAME),
        ("The Lakers ( 1 - 1 ) could not win.", _GAME),
        ("They won 113 - 107.", _GAME),
        ("", _GAME),
    ],
)
def test_figures_that_the_record_has_or_may_mean_are_not_marked(claim: str, record: object) -> None:
    assert _found(claim, record) == []


@pytest.mark.parametrize(
    ("claim", "record", "marked"),
    [
        ("The restaurant is rated 4.5 stars.", _PLACE, "4.5 stars"),
        ("It is a four-star restaurant.", _PLACE, "four-star"),
        ("It has an overall rating of three and a half stars.", _PLACE, "three and a half stars"),
        ("The battery holds 3500 mAh.", _PHONE, "3500 mAh"),
        ("The screen has 1080 x 1920 pixels.", _PHONE, "1080 x 1920"),
        ("It warms up to 9°C.", _FORECAST, "9°C"),
        ("It drops from -1°C to -12.5°C.", _FORECAST, "-12.5°C"),
        ("Horford had 20 points.", _GAME, "20"),
        ("They won 111 - 107.", _GAME, "111 - 107"),
    ],
)
def test_figures_that_the_record_contradicts_are_marked(claim: str, record: object, marked: str) -> None:
    assert _found(claim, record) == [marked]


def test_evidence_that_is_no_record_has_no_findings() -> None:
    statement = Statement("It has 3 stars.", Evidence((Passage("e", "It has 4 stars."),)), language="en")
    assert wrong(check_record_figures(statement)) == []
    assert without_derived(statement, [Finding("number_not_found", 7, 8, "")]) != []


def test_a_number_that_is_worked_out_of_a_list_is_not_missed() -> None:
    record = {"offices": [{"staff": 300}, {"staff": 180}, {"staff": 120}]}
    claim = "It has 600 people in 3 offices, 200 in each on average, and 7 trainees."
    missed = [
        Finding("number_not_found", claim.index(word), claim.index(word) + len(word), "") for word in ("600", "7")
    ]
    other = Finding("name_not_found", 0, 2, "")
    kept = without_derived(_statement(claim, record), [*missed, other])
    assert kept == [missed[1], other]
    assert without_derived(_statement(claim, {"staff": 600}), missed) == missed
    assert without_derived(_statement(claim, record), [other]) == [other]
