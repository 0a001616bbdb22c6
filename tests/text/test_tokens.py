"""Words as they are looked up, in several languages."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.text.lookup import tokens_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("... -- !", []),
        ("The King's 12 ships", ["the", "king", "12", "ships"]),
        ("l'eau, L’Été, qu'elle, jusqu’ici", ["eau", "ete", "elle", "ici"]),
        ("aujourd'hui", ["aujourd", "hui"]),
        ("don't", ["don", "t"]),
        ("snake_case", ["snake", "case"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("서울은", ["서울은", "서울", "울은"]),
        ("서울", ["서울"]),
        ("물", ["물"]),
        ("2024년도에", ["2024년도에", "년도", "도에"]),
        ("東京都", ["東京", "京都"]),
        ("東", ["東"]),
        ("A東京B", ["a", "東京", "b"]),
        ("`code`", ["code"]),
    ],
)
def test_words_are_folded(text: str, expected: list[str]) -> None:
    assert tokens_of(text) == expected


@given(st.text())
def test_the_unicode_form_and_capitals_make_no_difference(text: str) -> None:
    # Some characters, such as the dotted I of Turkish, have no capital that leads back; those are left to Unicode.
    assert tokens_of(unicodedata.normalize("NFD", text)) == tokens_of(unicodedata.normalize("NFC", text))


@given(st.text(alphabet="abcé '한국東_."))
def test_every_token_is_made_of_letters_or_digits(text: str) -> None:
    assert all(token.isalnum() for token in tokens_of(text))
