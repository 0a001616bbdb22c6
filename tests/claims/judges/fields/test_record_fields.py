"""Fields of a record against what claims assert and deny; expected findings are by hand."""

from __future__ import annotations

import json

import pytest

from hallumeter.claims.judges.fields.record_fields import check_record_fields
from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.statement import Statement, wrong
from hallumeter.records.response import Passage

_RECORD = {
    "name": "Blue Door",
    "attributes": {
        "BusinessParking": {"garage": False, "street": True, "validated": False, "lot": False, "valet": False},
        "RestaurantsReservations": False,
        "OutdoorSeating": None,
        "WiFi": "free",
        "RestaurantsTakeOut": True,
        "RestaurantsGoodForGroups": True,
        "HasFireplace": False,
        "Music": None,
        "Ambience": {"romantic": False, "casual": True, "classy": True},
    },
    "business_stars": 2.5,
    "review_info": [
        {
            "review_stars": 5.0,
            "review_text": "The karaoke on the first floor was loud, but the soup was worth all of it.",
        }
    ],
}


def _found(claim: str, record: object = _RECORD) -> list[tuple[str, str]]:
    statement = Statement(claim, Evidence((Passage("e", json.dumps(record)),)), language="en")
    return [(finding.reason, claim[finding.start : finding.end]) for finding in wrong(check_record_fields(statement))]


@pytest.mark.parametrize(
    "claim",
    [
        "It offers take-out and free Wi-Fi, and groups are welcome.",
        "Reservations are not taken, and the restaurant suits groups.",
        "No reservations are taken, and street parking is available.",
        "Neither reservations nor valet parking are offered.",
        "It has takeout, WiFi, and street parking, and does not take reservations.",
        "Outdoor seating is not specified.",
        "There is no information about outdoor seating.",
        "The mood is casual and classy rather than romantic.",
        "One reviewer liked the karaoke.",
        "It holds 2.5 stars.",
        "A five-star reviewer liked the soup.",
        "Takeout is available, while a fireplace is not.",
        "Parking is available.",
    ],
)
def test_what_the_record_says_is_not_marked(claim: str) -> None:
    assert _found(claim) == []


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Reservations are accepted.", ("field_mismatch", "Reservations")),
        ("Takeout is not offered.", ("field_mismatch", "Takeout")),
        ("There is no WiFi.", ("field_mismatch", "WiFi")),
        ("WiFi is available for a fee.", ("field_mismatch", "WiFi")),
        ("It is not good for groups.", ("field_mismatch", "for groups")),
        ("Guests can use the valet.", ("field_mismatch", "valet")),
        ("Parking is not available.", ("field_mismatch", "Parking")),
        ("The ambience is casual and romantic.", ("field_mismatch", "romantic")),
        ("It offers outdoor seating.", ("field_empty", "outdoor seating")),
        ("It does not offer takeaway coffee mugs or outdoor seating.", ("field_mismatch", "takeaway")),
        ("There is no outdoor seating.", ("field_empty", "outdoor seating")),
        ("Live bands play here.", ("field_empty", "Live bands")),
    ],
)
def test_what_the_record_does_not_say_is_marked(claim: str, expected: tuple[str, str]) -> None:
    assert _found(claim)[0] == expected


def test_free_wifi_is_wrong_where_it_is_paid() -> None:
    record = {"WiFi": "paid"}
    assert _found("It has free WiFi.", record) == [("field_mismatch", "WiFi")]
    assert _found("It has WiFi.", record) == []


def test_an_object_that_is_null_says_nothing_of_its_parts() -> None:
    record = {"BusinessParking": None, "Ambience": None}
    assert _found("Street parking is available.", record) == [("field_empty", "Street parking")]
    assert _found("The setting is casual.", record) == [("field_empty", "casual")]


def test_a_field_that_is_not_in_the_record_is_not_judged() -> None:
    assert _found("It offers delivery and WiFi.", {"OutdoorSeating": True}) == []


def test_other_fields_are_known_by_their_names() -> None:
    assert _found("It has a free locker.", {"freeLocker": False}) == [("field_mismatch", "free locker")]


def test_one_word_and_a_boolean_say_too_little() -> None:
    assert _found("Leeds had no winner on the bench.", {"winner": True}) == []
    assert _found("It has a pool.", {"pool": "no"}) == [("field_mismatch", "pool")]
    assert _found("It has a swimming pool.", {"facilities": {"pool": False}}) == [("field_mismatch", "pool")]
    assert _found("It has a heated swimming pool.", {"swimmingPool": False}) == [("field_mismatch", "swimming pool")]


def test_fields_of_several_places_are_not_compared() -> None:
    assert _found("It offers WiFi.", [{"WiFi": "no"}, {"WiFi": "free"}]) == []


def test_evidence_that_is_no_record_has_no_findings() -> None:
    statement = Statement("It offers WiFi.", Evidence((Passage("e", "There is no WiFi."),)), language="en")
    assert wrong(check_record_fields(statement)) == []


def test_the_finding_quotes_the_value_with_its_name() -> None:
    text = json.dumps(_RECORD)
    statement = Statement("Reservations are accepted.", Evidence((Passage("e", text),)), language="en")
    (finding,) = wrong(check_record_fields(statement))
    (quote,) = finding.quotes
    assert text[quote.start : quote.end] == '"RestaurantsReservations": false'
    assert finding.note == "response says “Reservations”, evidence says Restaurants Reservations: false"


@pytest.mark.parametrize(
    "claim",
    [
        "Despite not providing garage parking, it has parking on the street.",
        "The diner on Valet Street does not take reservations, provide a lot or offer valet parking.",
        "Not available: reservations, valet parking",
        "Reservations, however, are not taken.",
        "There is a parking garage across the square.",
        "Reservations are not required.",
        "The reviews are positive with small reservations.",
        "One guest waited without a reservation.",
        "It has a SIM card slot.",
    ],
)
def test_denials_and_other_subjects_are_not_marked(claim: str) -> None:
    assert _found(claim, {**_RECORD, "Card slot": "No"}) == []


def test_a_name_with_a_denial_in_it_denies_nothing() -> None:
    assert _found("Umi no Ie is a casual bar.", {"name": "Umi no Ie", "Ambience": {"casual": True}}) == []


def test_values_that_are_python_text_are_read() -> None:
    record = {"WiFi": "u'no'", "BusinessParking": "{'garage': False, 'lot': True}"}
    assert _found("It has WiFi.", record) == [("field_mismatch", "WiFi")]
    assert _found("Parking is in a garage.", record) == [("field_mismatch", "in a garage")]


def test_time_stays_in_proportion_to_the_length_of_a_claim() -> None:
    # A list without a verb once made a pattern try all its parts in all ways; 400 words must still end at once.
    claim = "It has takeout, " + "very good " * 200 + "WiFi and no end"
    assert _found(claim) == []
