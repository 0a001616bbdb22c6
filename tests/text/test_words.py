"""Words and their places; expected places were counted by hand."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.text.spelling import AS_WRITTEN, parse_spelling
from hallumeter.text.words import words_of


@pytest.mark.parametrize("text", ["", " ", "\n\t \u2003\x1c"])
def test_a_text_without_words_has_none(text: str) -> None:
    assert words_of(text).texts == ()
    assert len(words_of(text)) == 0


def test_words_keep_their_punctuation_and_their_places() -> None:
    words = words_of(" Le roi,\n\nde  France. ")
    assert words.texts == ("Le", "roi,", "de", "France.")
    assert words.starts == (1, 4, 10, 14)
    assert words.ends == (3, 8, 12, 21)


def test_scripts_without_spaces_are_cut_into_characters_with_their_marks() -> None:
    # Thai "ที่นี่" is two consonants, each with a vowel and a tone mark above it.
    assert words_of("漢字かな ที่นี่ x1").texts == ("漢", "字", "か", "な", "ที่", "นี่", "x1")


def test_words_of_two_scripts_are_cut_where_the_script_changes() -> None:
    words = words_of("1868年Tokyo、東")
    assert words.texts == ("1868", "年", "Tokyo、", "東")
    assert words.starts == (0, 4, 5, 11)


def test_korean_words_stay_whole_composed_or_not() -> None:
    composed = "대한민국 만세"
    decomposed = unicodedata.normalize("NFD", composed)
    assert words_of(composed).texts == ("대한민국", "만세")
    assert len(words_of(decomposed)) == 2
    assert words_of(decomposed, parse_spelling(["nfc"])).texts == words_of(composed).texts


def test_places_are_those_of_the_original_when_the_spelling_changes_lengths() -> None:
    text = "Cafe\u0301 ﬁn"
    words = words_of(text, parse_spelling(["nfc", "ligatures"]))
    assert words.texts == ("Café", "fin")
    assert [text[start:end] for start, end in zip(words.starts, words.ends, strict=True)] == ["Cafe\u0301", "ﬁn"]


def test_a_word_of_which_nothing_is_left_is_dropped_with_its_place() -> None:
    words = words_of("le — roi !", parse_spelling(["punctuation"]))
    assert words.texts == ("le", "roi")
    assert words.starts == (0, 5)
    assert words.ends == (2, 8)


@given(st.text())
def test_every_character_is_in_one_word_or_white_space(text: str) -> None:
    words = words_of(text)
    assert "".join(words.texts) == "".join(text.split())
    last = 0
    for word, start, end in zip(words.texts, words.starts, words.ends, strict=True):
        assert text[start:end] == word != ""
        assert start >= last
        assert not text[last:start].strip()
        last = end


@given(st.text(st.characters(max_codepoint=0x2E7F, exclude_categories=["Cs"])))
def test_spaced_scripts_are_split_as_python_does(text: str) -> None:
    if all(ord(character) < 0xE00 for character in text):
        assert list(words_of(text, AS_WRITTEN).texts) == text.split()
