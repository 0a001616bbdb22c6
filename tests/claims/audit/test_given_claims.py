"""Claims that come with a record: forms, places, ids, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.claims.audit.prepare import claims_from
from hallumeter.claims.extractors.protocol import Aligner
from hallumeter.errors import RecordError
from hallumeter.records.response import Response

TEXT = "Paris is large. Lyon is old. Paris is “old”, too."
RESPONSE = Response("r1", response=TEXT)


def test_texts_and_objects_are_claims() -> None:
    values = [
        "Paris is large.",
        {"claim": "Lyon is old."},
        {"text": "too", "claim_id": "last"},
        {"text": "x y", "claim_id": 7},
    ]
    claims = claims_from(values, RESPONSE)
    assert [(claim.record_id, claim.claim_id, claim.text) for claim in claims] == [
        ("r1", "r1#0", "Paris is large."),
        ("r1", "r1#1", "Lyon is old."),
        ("r1", "last", "too"),
        ("r1", "7", "x y"),
    ]
    assert [(claim.start, claim.end) for claim in claims] == [(0, 15), (16, 28), (45, 48), (None, None)]


def test_places_that_are_given_are_kept() -> None:
    [claim] = claims_from([{"text": "It is a big city.", "start": 0, "end": 15}], RESPONSE)
    assert (claim.text, claim.start, claim.end) == ("It is a big city.", 0, 15)
    [claim] = claims_from([{"start": 16, "end": 28}], RESPONSE)
    assert claim.text == "Lyon is old."


def test_the_same_words_twice_have_two_places() -> None:
    assert [claim.start for claim in claims_from(["Paris is", "Paris is"], RESPONSE)] == [0, 29]
    assert [claim.start for claim in claims_from(["too", "Lyon is old."], RESPONSE)] == [45, 16]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ('paris is "old", too.', (29, 49)),  # but for case and the shape of quotes
        ("Lyon  is\nold.", (16, 28)),  # but for white space
        ("Lyons is old.", (16, 28)),  # one letter in thirteen is too many: a ratio of 96
        ("Berlin has many museums.", None),
        ("Rome", None),  # too short for similarity
        ("...", None),
    ],
)
def test_words_are_found_but_for_typing_then_by_similarity(words: str, expected: tuple[int, int] | None) -> None:
    assert Aligner(TEXT).place_of(words) == expected


def test_similarity_ends_at_whole_words() -> None:
    assert Aligner("The cathedrals of Rheims are tall.").place_of("cathedral of Rheim") == (4, 24)


def test_a_threshold_of_100_finds_no_other_wording() -> None:
    assert Aligner(TEXT, threshold=100).place_of("Lyons is old.") is None


@given(st.text(max_size=80), st.text(max_size=40))
def test_a_place_lies_within_the_text_and_is_not_empty(text: str, words: str) -> None:
    place = Aligner(text).place_of(words)
    if place is not None:
        assert 0 <= place[0] < place[1] <= len(text)
    assert Aligner(text + words + text).place_of(words) is not None or not any(map(str.isalnum, words))


def test_claims_of_a_record_without_response_have_no_place() -> None:
    [claim] = claims_from(["Paris is large."], Response("r1"))
    assert (claim.start, claim.end) == (None, None)
    [claim] = claims_from([{"text": "x", "start": 3, "end": 900}], Response("r1"))
    assert (claim.start, claim.end) == (3, 900)


def test_no_claims_are_no_claims() -> None:
    assert claims_from([], RESPONSE) == []
    assert claims_from((), RESPONSE) == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("Paris is large.", "claims are 'Paris is large.'; expected a list"),
        (None, "claims are None"),
        ([3], "claim 0 is 3; expected a text, or an object"),
        (["Paris", ["Lyon"]], r"claim 1 is \['Lyon'\]"),
        ([""], "claim 0 has the text ''"),
        ([{"text": " \n"}], "claim 0 has the text"),
        ([{"claim_id": "c1"}], "claim 0 has the text None"),
        ([{"text": "Paris", "start": 0}], "stands from 0 to None; expected two whole numbers, or neither"),
        ([{"text": "Paris", "start": "0", "end": 5}], "stands from '0' to 5"),
        ([{"text": "Paris", "start": True, "end": 5}], "stands from True to 5"),
        ([{"text": "Paris", "start": 5, "end": 5}], "expected 0 <= start < end within the 49 characters"),
        ([{"text": "Paris", "start": -1, "end": 5}], "stands from -1 to 5"),
        ([{"text": "Paris", "start": 40, "end": 50}], "stands from 40 to 50"),
        ([{"text": "Paris", "claim_id": ""}], "has the id ''"),
        ([{"text": "Paris", "claim_id": True}], "has the id True"),
        ([{"text": "a", "claim_id": "c"}, {"text": "b", "claim_id": "c"}], "claim 1 has the id 'c' of an earlier one"),
        ([{"text": "a", "claim_id": "r1#1"}, "b"], "claim 1 has the id 'r1#1'"),
        ([["x" * 100]], r"claim 0 is \['x{55}\.\.\."),
    ],
)
def test_a_bad_entry_is_refused_with_its_place(values: object, message: str) -> None:
    with pytest.raises(RecordError, match=f"record 'r1': .*{message}"):
        claims_from(values, RESPONSE)
