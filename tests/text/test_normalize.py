"""The identity of claims, and texts folded with the way back to their positions."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.text.normalize import claim_key, clean_text

TRICKY = st.text(
    st.sampled_from("aB éİßΐ가각한\u1100\u1161\u11a8\u0301\u200b\u200d’“”«»\u00a0\u3000 \t\n.!?…。'\"`-\ud800")
)
ANY = st.text() | TRICKY


@pytest.mark.parametrize(
    "other",
    [
        "Curie's lab was in Paris",
        "Curie's lab was in Paris.",
        "curie's LAB was in paris",
        "Curie’s lab was in Paris",
        "  Curie's  lab\twas\nin Paris ",
        "“Curie’s lab was in Paris.”",
        "« Curie's lab was in Paris »",
        "Curie's lab was in Paris…",
        "Curie's lab was in Paris。",
        "Curie's lab was in Paris!?",
        "Curie's lab\u00a0was in Paris",
        "Curie's la\u200bb was in Paris",
        "\ufeffCurie's lab was in Paris",
    ],
)
def test_the_way_a_claim_is_typed_makes_no_other_claim(other: str) -> None:
    assert claim_key(other) == "curie's lab was in paris"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Paris is the capital", "Paris is a capital"),
        ("It costs 3.5 euros", "It costs 35 euros"),
        ("The area is 10² m", "The area is 102 m"),
        ("Is Paris the capital?", "Paris is the capital"),
        ("He won 10", "He won 1"),
        ("va", "và"),
    ],
)
def test_other_words_make_another_claim(one: str, other: str) -> None:
    assert claim_key(one) != claim_key(other)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("claim", ["Il est né à Orléans", "세종대왕은 한글을 만들었다"])
def test_the_unicode_form_makes_no_other_claim(form: str, claim: str) -> None:
    assert claim_key(unicodedata.normalize(form, claim)) == claim_key(claim)  # type: ignore[arg-type]


@pytest.mark.parametrize(("marks", "key"), [("...", "..."), (" !? ", "!?"), ("…", "…"), ("", ""), ("  ", "")])
def test_a_text_without_words_is_its_own_key(marks: str, key: str) -> None:
    assert claim_key(marks) == key


@given(ANY)
def test_the_key_of_a_key_is_the_key(text: str) -> None:
    assert claim_key(claim_key(text)) == claim_key(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_the_quick_way_for_ascii_gives_the_same_key(text: str) -> None:
    # An accent that is taken off again sends the text the long way.
    assert claim_key(text + "é a").removesuffix("é a").strip(" .!?\"'") == claim_key(text).strip(" .!?\"'")


def test_folding_keeps_what_is_ascii_already() -> None:
    clean = clean_text("I do not Know.")
    assert (clean.text, clean.lower, clean.original_span(2, 4)) == ("I do not Know.", "i do not know.", (2, 4))


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("I’m “here”", 'I\'m "here"'),
        ("I`m", "I'm"),
        ("a\u00a0b", "a b"),
        ("a \t b", "a b"),
        ("a \u200b b", "a b"),
        ("d\u200bo", "do"),
        ("e\u0301te\u0301", "été"),
        ("\u1112\u1161\u11ab", "한"),
        ("a–b", "a-b"),
        ("a\nb", "a\nb"),
        ("İ", "İ"),
        ("\ud800a", "\ufffda"),
    ],
)
def test_the_ways_to_type_are_folded(typed: str, text: str) -> None:
    assert clean_text(typed).text == text


def test_lower_case_keeps_positions_though_a_capital_has_a_longer_small_letter() -> None:
    assert clean_text("İ AM").lower == "İ am"


@pytest.mark.parametrize(
    ("typed", "words", "original"),
    [
        ("oui, je  ne sais pas", "je ne", "je  ne"),
        ("ab e\u0301te\u0301 cd", "été", "e\u0301te\u0301"),
        ("x\u200by z", "xy", "x\u200by"),
        ("\u200bxy\u200b", "xy", "xy"),
        ("a  b  cd", "cd", "cd"),
    ],
)
def test_a_folded_part_is_found_again_in_the_original(typed: str, words: str, original: str) -> None:
    clean = clean_text(typed)
    start, end = clean.original_span(at := clean.text.index(words), at + len(words))
    assert typed[start:end] == original


@given(ANY, st.data())
def test_every_part_of_a_folded_text_points_into_the_original(text: str, data: st.DataObject) -> None:
    clean = clean_text(text)
    assert len(clean.text) == len(clean.lower)
    if clean.text:
        start = data.draw(st.integers(0, len(clean.text) - 1))
        end = data.draw(st.integers(start + 1, len(clean.text)))
        original_start, original_end = clean.original_span(start, end)
        assert 0 <= original_start < original_end <= len(text)
        assert clean.text[start:end].strip() in clean_text(text[original_start:original_end]).text
