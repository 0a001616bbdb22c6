"""Offsets of the Korean reader fit the text that was given, however it is written."""

import unicodedata
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallumeter.aspects.readers.korean.analyser import composed
from hallumeter.aspects.readers.korean.reader import KoreanReader

READER = KoreanReader()
PIECES = [
    "배터리는 좋지만 ",
    "뷰가 별로",
    "안 ",
    "않아요. ",
    "화면인데, ",
    "AS ",
    "😀",
    "👨‍👩‍👧",
    "\r\n",
    "\u1112\u1161\u11ab",
    "가",
    "은",
    "…",
    "?",
]


def check(text: str) -> None:
    reading = READER.read(text)
    for term in reading.terms:
        assert 0 <= term.start < term.end <= len(text)
        found = READER.polarity_of(text, term.start, term.end)
        if found.start is not None and found.end is not None:
            assert 0 <= found.start < found.end <= len(text)
        assert term.start < READER.without_particle(text, term.start, term.end) <= term.end
    for cue in reading.cues:
        assert 0 <= cue.scope_start <= cue.start < cue.end <= cue.scope_end <= len(text)
    assert [term.start for term in reading.terms] == sorted(term.start for term in reading.terms)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_decomposed_text_is_read_like_composed_text(form: Literal["NFC", "NFD"]) -> None:
    text = unicodedata.normalize(form, "휴대전화 케이스는 예쁘지만 배터리가 별로예요")
    found = [text[term.start : term.end] for term in READER.read(text).terms]
    assert [unicodedata.normalize("NFC", term) for term in found] == ["휴대전화 케이스", "배터리"]
    polarities = [READER.polarity_of(text, term.start, term.end).polarity for term in READER.read(text).terms]
    assert polarities == ["positive", "negative"]
    (contrast,) = READER.read(text).cues_of("contrast")
    assert unicodedata.normalize("NFC", text[contrast.start : contrast.end]) == "지만"


def test_a_particle_of_decomposed_text_is_cut_at_its_letters() -> None:
    text = unicodedata.normalize("NFD", "고양이가 좋다")
    end = READER.without_particle(text, 0, text.index(" "))
    assert unicodedata.normalize("NFC", text[:end]) == "고양이"


@pytest.mark.parametrize("before", ["😀", "👨‍👩‍👧 ", "\U0001d11e", "\r\n\r\n", "\t", "\ufeff", "\x00"])
def test_what_stands_before_a_term_only_moves_it(before: str) -> None:
    text = f"{before} 배터리가 좋아요{before}"
    (term,) = READER.read(text).terms
    assert text[term.start : term.end] == "배터리"


def test_marks_above_latin_letters_are_composed_too() -> None:
    text = "cafe\u0301, 배터리가 좋아요"
    assert "배터리" in [text[term.start : term.end] for term in READER.read(text).terms]


def test_a_broken_surrogate_is_no_reason_to_stop() -> None:
    text = "배터리가 \ud83d 좋아요"
    assert [text[term.start : term.end] for term in READER.read(text).terms] == ["배터리"]


def test_letters_are_composed_and_known_by_their_place() -> None:
    given = composed("\u1112\u1161\u11ab \u1112\u1161")
    assert given.text == "한 하"
    assert [given.span(place, place + 1) for place in range(3)] == [(0, 3), (3, 4), (4, 6)]
    assert composed("").starts is None


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_pieces_of_korean_in_any_order_are_read(text: str) -> None:
    check(text)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_read(text: str) -> None:
    check(text)
    READER.sentence_polarity(text)
    READER.term_after(text, 0)
