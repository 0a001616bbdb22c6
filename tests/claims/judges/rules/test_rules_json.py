"""JSON evidence: values with exact places, yes and no, numbers, hours."""

from __future__ import annotations

import json

import pytest

from hallumeter.claims.judges.rules.evidence import json_leaves
from hallumeter.claims.judges.rules.judge import RulesJudge
from hallumeter.claims.judges.rules.statement import CONTRADICTIONS
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Passage, Response

PLACE = json.dumps(
    {
        "name": "Joe's Diner",
        "stars": 4.5,
        "review_count": 120,
        "attributes": {"WiFi": False, "OutdoorSeating": True, "Alcohol": "none", "Parking": None, "Takeout": "u'yes'"},
        "hours": {"Monday": "11:0-22:0", "Tuesday": "9:0-20:0"},
        "reviews": ["The soup is great. I waited for 40 minutes.", 'They say "wow".'],
    }
)


def judged(claim: str, evidence: str = PLACE) -> Verdict:
    response = Response("r", None, claim, (Passage("e", evidence),))
    (verdict,) = RulesJudge().judge(JudgeTask(response, (Claim("r", "r#0", start=0, end=len(claim), text=claim),)))
    assert isinstance(verdict, Verdict)
    return verdict


@pytest.mark.parametrize(
    ("claim", "reason", "quote"),
    [
        ("The restaurant offers WiFi.", "field_mismatch", '"WiFi": false'),
        ("The restaurant has no outdoor seating.", "field_mismatch", '"OutdoorSeating": true'),
        ("It serves alcohol.", "field_mismatch", '"Alcohol": "none"'),
        ("It does not offer takeout.", "field_mismatch", '"Takeout": "u\'yes\'"'),
        ("It is rated 3.5 stars.", "number_mismatch", "4.5"),
        ("On Monday it is open from 9:00 to 22:00.", "date_mismatch", "11:0"),
    ],
)
def test_a_field_that_holds_the_contrary_is_quoted_and_gives_no_support(claim: str, reason: str, quote: str) -> None:
    verdict = judged(claim)
    label = Label.REFUTED if reason in CONTRADICTIONS else Label.NOT_ENOUGH_INFO
    assert (verdict.label, verdict.reason) == (label, reason)
    assert verdict.evidence[0].quote == quote
    assert PLACE[verdict.evidence[0].start : verdict.evidence[0].end] == quote


@pytest.mark.parametrize(
    "claim",
    [
        "The restaurant offers outdoor seating.",
        "The restaurant has no WiFi.",
        "Joe's Diner has 4.5 stars.",
        "On Tuesday the hours are 9:00 to 20:00.",
        "Reviews say that the soup is great.",
        "It has parking.",
    ],
)
def test_a_field_that_agrees_does_not_refute(claim: str) -> None:
    assert judged(claim).label is not Label.REFUTED


def test_values_of_one_path_are_not_taken_for_each_other() -> None:
    games = json.dumps([{"goals": 3}, {"goals": 1}])
    assert judged("The team scored 5 goals.", games).reason == "number_not_found"


def test_leaves_know_their_place_even_with_escapes() -> None:
    text = '{"a": "x\\u00e9\\n\\ud83d\\ude00z", "b": [1, {"c": null}], "Empty": {}}'
    leaves = json_leaves(text)
    assert leaves is not None
    assert [(leaf.path, leaf.text) for leaf in leaves] == [(("a",), "xé\n😀z"), (("b",), "1"), (("b", "c"), "null")]
    first = leaves[0]
    assert [text[start:end] for start, end in zip(first.places, first.places[1:], strict=False)] == [
        "x",
        "\\u00e9",
        "\\n",
        "\\ud83d\\ude00",
        "z",
    ]
    assert text[leaves[1].start : leaves[1].end] == "1"


def test_a_quote_from_an_escaped_value_is_as_it_stands_in_the_passage() -> None:
    text = json.dumps({"review": "Très bon. Le menu coûte 25 euros par personne à midi."})
    verdict = judged("Le menu coûte 35 euros par personne à midi.", text)
    assert verdict.reason == "money_mismatch"
    assert verdict.evidence[0].quote == "25 euros"


@pytest.mark.parametrize("text", ["plain", "{not json}", '{"a": 1', "[1, 2", '{"a": "\ud800"}'])
def test_what_is_no_json_is_read_as_text(text: str) -> None:
    assert json_leaves(text) is None


def test_a_name_beside_a_value_says_what_it_is() -> None:
    phone = json.dumps({"specs": [{"name": "Weight", "value": "221 g"}, {"name": "Height", "value": "164 mm"}]})
    verdict = judged("Its weight is 201 g.", phone)
    assert (verdict.reason, verdict.evidence[0].quote) == ("number_mismatch", "221 g")
