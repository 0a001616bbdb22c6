"""Words and numbers with their places, in the form in which two texts are compared."""

from __future__ import annotations

import unicodedata

import pytest

from hallumeter.text.terms import content_words, fold, is_stop_word, language_of, stem, terms_of


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("L’eau d'Évian", ["l", "eau", "d", "evian"]),
        ("It’s Marie's; they don't", ["it's", "marie's", "they", "don't"]),
        ("3만5천명이 Urban이", ["3", "만", "5", "천명이", "urban", "이"]),
        ("1 234,5 km and B12", ["1", "234,5", "km", "and", "b", "12"]),
        ("10² ① ㎞", ["10", "²", "①"]),
        ("...!", []),
    ],
)
def test_a_text_is_cut_into_folded_terms(text: str, folded: list[str]) -> None:
    assert terms_of(text).folded == folded


@pytest.mark.parametrize("text", ["Le café coûte 3,50 € à l’hôtel.", "이 도시의 인구는 35만 명이다.", "It’s 5km!"])
def test_every_term_stands_where_it_says_in_any_unicode_form(text: str) -> None:
    for form in (text, unicodedata.normalize("NFD", text)):
        terms = terms_of(form)
        pieces = [form[start:end] for start, end in zip(terms.starts, terms.ends, strict=True)]
        assert [fold(piece) for piece in pieces] == terms.folded
        assert terms.folded == terms_of(text).folded
        assert len(terms) == len(pieces)


@pytest.mark.parametrize(
    "words",
    [
        ["charge", "charges", "charged", "charging"],
        ["stop", "stopped", "stopping"],
        ["pass", "passes", "passed"],
        ["city", "cities"],
        ["augmenter", "augmente", "augmentation", "augmentée"],
        ["도서관은", "도서관에서", "도서관"],
        ["참석했다", "참석하지", "참석한다고"],
        ["책을", "책은", "책"],
        ["president", "president's"],
    ],
)
def test_forms_of_one_word_have_one_stem(words: list[str]) -> None:
    assert len({stem(fold(word)) for word in words}) == 1


def test_short_words_keep_their_endings() -> None:
    assert stem("bus") == "bus"
    assert stem("pas") != stem("pa")
    assert stem("물") == "물"


def test_words_that_say_nothing_have_no_key() -> None:
    assert is_stop_word("the")
    assert is_stop_word("le")
    assert terms_of("the cat is dans la maison").keys == ["", "cat", "", "", "", "maison"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The tower is in the centre", "en"),
        ("La tour est dans le centre", "fr"),
        ("탑은 도시의 중심에 있다", "ko"),
        ("삼성 Galaxy S24 Ultra 는 5G 지원", "ko"),
        ("12 km", "en"),
        ("", "en"),
    ],
)
def test_the_language_is_told_by_letters_and_small_words(text: str, language: str) -> None:
    assert language_of(terms_of(text)) == language


def test_a_lone_mark_is_still_a_term() -> None:
    assert terms_of("ﾞ").folded == ["ﾞ"]


@pytest.mark.parametrize(
    "text",
    [
        "The roads, the ROAD: 1,234.5 km\tof\nroad",
        "La population est de 12\u202f345 habitants et 1\xa0000 de plus, à l’hôtel",
        "도서관에서 책을 빌렸다. 도서관은 크다",
        "",
    ],
)
def test_the_words_that_say_something_are_the_keys_of_the_terms(text: str) -> None:
    assert content_words(text) == frozenset(terms_of(text).keys) - {""}
