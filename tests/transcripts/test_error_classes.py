"""What a misread word differs in; words are made up or from old prints."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growing_texts import check_growth
from hallumeter.records.page import ERROR_CLASSES
from hallumeter.transcripts.alignment import Matching, Wording
from hallumeter.transcripts.error_classes import error_class, is_modernised, word_differences
from hallumeter.transcripts.page_reading import read_page
from hallumeter.transcripts.records import ErrorClass

LABELS = Path(__file__).parents[2] / "benchmarks" / "spelling_labels" / "pairs.csv"


@pytest.mark.parametrize(
    ("reference", "response", "expected"),
    [
        ("roi", "roi", None),
        ("roi,", "roi", "punctuation"),
        ("l'an", "l’an", "punctuation"),
        ("Bei- spiel", "Beispiel", "hyphens"),
        ("vice-roi", "viceroi", "hyphens"),
        ("Bei⸗spiel", "Bei-spiel", "punctuation"),
        ("aujourd hui", "aujourdhui", "spacing"),
        ("Roi", "roi", "case"),
        ("XIV", "xiv", "case"),
        ("été", "ete", "accents"),
        ("Été,", "ete", "accents"),
        ("e\u0301te\u0301", "été", "punctuation"),
        ("sœur", "soeur", "ligatures"),
        ("ﬁn", "fin", "ligatures"),
        ("1422", "1423", "numerals"),
        ("1,204", "1204", "numerals"),
        ("1422", "l422", "numerals"),
        ("XIV", "XVI", "numerals"),
        ("XIV.", "14", "numerals"),
        ("XIIII", "XIV", "numerals"),
        ("ville", "vi1le", "other"),
        ("Mr.", "Monsieur", "abbreviations"),
        ("Monsieur", "Mr.", "abbreviations"),
        ("cõte", "conte", "abbreviations"),
        ("ꝑfait", "parfait", "abbreviations"),
        ("Mʳ", "Maître", "abbreviations"),
        ("Mr.", "Mademoiselle", "other"),
        ("fin.", "finx.", "other"),
        ("a.", "b", "other"),
        ("roy", "roi", "modernised"),
        ("«roy,»", "Roi", "modernised"),
        ("walk’d", "walked", "modernised"),
        ("roi", "rol", "other"),
        ("king", "queen", "other"),
    ],
)
def test_a_difference_is_in_the_gravest_class_that_it_needs(
    reference: str, response: str, expected: str | None
) -> None:
    assert error_class(reference, response) == expected


def test_the_table_of_pages_has_a_column_for_every_class() -> None:
    assert get_args(ErrorClass) == ERROR_CLASSES


def test_spelling_is_only_modernised_from_old_to_new() -> None:
    assert is_modernised("estoit", "était")
    assert not is_modernised("était", "estoit")
    assert not is_modernised("roy", "Roy")
    assert not is_modernised("", "roi")
    assert not is_modernised("Waaare", "Waard")
    assert not is_modernised("y" * 41, "i" * 41)


def test_rules_of_two_languages_do_not_excuse_one_word() -> None:
    assert is_modernised("Theil", "Teil")
    assert is_modernised("publick", "public")
    assert not is_modernised("theilick", "teilic")


def test_pairs_labelled_by_hand_are_told_apart() -> None:
    with LABELS.open(encoding="utf-8") as stream:
        pairs = list(csv.DictReader(stream))
    wrong = [
        pair
        for pair in pairs
        if (error_class(pair["reference"], pair["response"]) == "modernised") != (pair["label"] == "modernised")
    ]
    assert len(pairs) == 269
    assert len(wrong) <= 3, wrong


def test_words_of_a_page_are_counted_once_each() -> None:
    reading = read_page("le Roy estoit au chateau de Blois ce jour", "le roy était au château de Blois ce jour")
    assert dict(reading.error_classes) == {"case": 1, "modernised": 1, "accents": 1}
    assert [(each.reference, each.response) for each in reading.differences] == [
        ("Roy", "roy"),
        ("estoit", "était"),
        ("chateau", "château"),
    ]


def test_a_word_in_pieces_is_one_difference() -> None:
    reading = read_page("he came today to the town again", "he came to day to the town again")
    assert [tuple(each) for each in reading.differences] == [("spacing", "today", "to day")]
    joined = read_page("ein Bei-\nspiel von vielen in dem Buch", "ein Beispiel von vielen in dem Buch")
    assert [each.kind for each in joined.differences] == ["hyphens"]


def test_words_left_out_and_words_invented_are_no_differences() -> None:
    assert read_page("le roi de france est mort", "le roi est mort").differences == ()
    assert read_page("le roi est mort", "le roi est mort hier soir à dix heures").differences == ()


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_two_words_have_one_class(reference: str, response: str) -> None:
    found = error_class(reference, response)
    assert (found is None) == (reference == response)
    assert found is None or found in ERROR_CLASSES


def test_time_grows_with_the_length_of_a_page() -> None:
    check_growth(lambda text: read_page(text, text.replace("y", "i")), "le roy estoit icy ", size=4_000)


def test_words_that_are_the_same_together_do_not_differ() -> None:
    matching = Matching(2, 2)
    for place in (0, 1):
        matching.read(place, 0, 1, is_misread=True)
    words = Wording(["a", "b"], ["a", "b"], [0, 2], [1, 3])
    assert list(word_differences(matching, words, words)) == []


def test_roman_numerals_with_other_signs_are_numerals() -> None:
    assert error_class("XIV.", "XVI;") == "numerals"
