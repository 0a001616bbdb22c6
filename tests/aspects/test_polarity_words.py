"""Words for polarities, rightly and wrongly spelt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.aspects.records.aspect import POLARITIES
from hallumeter.aspects.sentiment_words import RepairedPolarity, repaired_polarity, sentence_label


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("positive", "positive"),
        ("  Negative\n", "negative"),
        ("NEUTRAL", "neutral"),
        ("pos", "positive"),
        ("Neg", "negative"),
        ("neu", "neutral"),
        ("긍정", "positive"),
        ("부정적", "negative"),
        ("중립", "neutral"),
    ],
)
def test_accepted_words_are_read_in_any_case_and_are_no_repairs(word: str, expected: str) -> None:
    assert repaired_polarity(word) == RepairedPolarity(expected)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("positve", "positive"),
        ("postive", "positive"),
        ("possitivee", "positive"),
        ("negatve", "negative"),
        ("negetiv", "negative"),
        ("neutrl", "neutral"),
        ("nuetral", "neutral"),
    ],
)
def test_a_word_one_or_two_letters_away_is_repaired(word: str, expected: str) -> None:
    assert repaired_polarity(word) == RepairedPolarity(expected, was_repaired=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "word", ["mixed", "conflict", "posit", "none", "n", "positiveitive", "x" * 100_000, "nesitive"]
)
def test_a_word_that_no_polarity_or_several_may_be_meant_by_is_invalid_and_not_neutral(word: str) -> None:
    assert repaired_polarity(word) == RepairedPolarity(None, is_invalid=True)


@pytest.mark.parametrize("word", [None, "", "  \t"])
def test_nothing_is_missing_and_not_invalid(word: str | None) -> None:
    assert repaired_polarity(word) == RepairedPolarity(None)


@given(st.text())
def test_any_text_is_read_without_a_fault(word: str) -> None:
    read = repaired_polarity(word)
    assert read.value is None or read.value in POLARITIES
    assert not (read.value is not None and read.is_invalid)
    assert not (read.was_repaired and read.value is None)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("혼합", "mixed"),
        (" Mixed", "mixed"),
        ("POS", "positive"),
        ("negatve", "negative"),
        ("great", None),
        (None, None),
    ],
)
def test_a_sentence_may_be_mixed_and_an_aspect_may_not(word: str | None, expected: str | None) -> None:
    assert sentence_label(word) == expected
    assert repaired_polarity(word).value == (None if expected == "mixed" else expected)
