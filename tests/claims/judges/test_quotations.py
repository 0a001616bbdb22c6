"""Quotations are looked up, and only slips of the pen are forgiven."""

from __future__ import annotations

import pytest

from hallumeter.claims.judges.replies import Piece, find_quote
from hallumeter.records.response import Passage

ENGLISH = (
    "Opening hours.\nThe museum  opens at 9:30 and isn’t open on “bank holidays”. Entry costs 12 euros for adults."
)
FRENCH = "L’aspirine n’est pas recommandée aux enfants de moins de 16 ans — sauf avis médical."
KOREAN = "서울특별시는 대한민국의 수도이자 최대 도시이다. 2023년 인구는 약 938만 명이다."
PIECES = [Piece(Passage(name, text), 0, len(text)) for name, text in [("en", ENGLISH), ("fr", FRENCH), ("ko", KOREAN)]]


@pytest.mark.parametrize(
    ("quote", "found", "place"),
    [
        ("Entry costs 12 euros", "Entry costs 12 euros", "en"),
        ('"Entry costs 12 euros"', "Entry costs 12 euros", "en"),
        ("the museum opens at 9:30", "The museum  opens at 9:30", "en"),
        ('isn\'t open on "bank holidays"', "isn’t open on “bank holidays", "en"),
        ("opening hours. the museum", "Opening hours.\nThe museum", "en"),
        ("l'aspirine n'est pas recommandée", "L’aspirine n’est pas recommandée", "fr"),
        ("L'aspirine n'est pas recomandée aux enfants", "L’aspirine n’est pas recommandée aux enfants", "fr"),
        ("2023년 인구는 약 938만 명이다", "2023년 인구는 약 938만 명이다", "ko"),
        ("서울특별시는 대한민국의 수도이자 ... 938만 명이다", KOREAN[:-1], "ko"),
    ],
)
def test_a_quotation_is_found_with_the_place_of_the_evidences_own_words(quote: str, found: str, place: str) -> None:
    quoted = find_quote(quote, PIECES)
    assert quoted is not None
    assert (quoted.evidence_id, quoted.quote) == (place, found)
    text = {piece.passage.evidence_id: piece.text for piece in PIECES}[place]
    assert text[quoted.start : quoted.end] == found


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "...",
        ".",
        "The museum is closed on Mondays",
        "The museum opens at 9:40",  # another number
        "Entry costs 21 euros for adults",
        "L'aspirine est recommandée aux enfants de moins de 16 ans",  # a word less, and the opposite
        "2023년 인구는 약 983만 명이다",
        "Entry costs 12 euros ... The museum opens",  # not in this order
        "Entry costs ... recommandée",  # not in one passage
        ENGLISH + FRENCH + KOREAN + "and more",
    ],
)
def test_a_quotation_that_says_something_else_is_not_found(quote: str) -> None:
    assert find_quote(quote, PIECES) is None


def test_the_passage_that_was_named_comes_first_and_the_others_after_it() -> None:
    pieces = [Piece(Passage("a", "It rains."), 0, 9), Piece(Passage("b", "It rains."), 0, 9)]
    named = find_quote("It rains", pieces, first=1)
    assert named is not None
    assert named.evidence_id == "b"
    wrong = find_quote("Entry costs 12 euros", PIECES, first=2)
    assert wrong is not None
    assert wrong.evidence_id == "en"


def test_a_place_in_a_part_of_a_passage_is_a_place_in_the_passage() -> None:
    start = ENGLISH.index("Entry")
    quoted = find_quote("12 euros", [Piece(Passage("en", ENGLISH), start, len(ENGLISH))])
    assert quoted is not None
    assert ENGLISH[quoted.start : quoted.end] == "12 euros"
