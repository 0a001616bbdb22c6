"""The words that show what is felt, as data."""

from __future__ import annotations

import pytest

from hallumeter.aspects.sentiment_words import SENTIMENT_LANGUAGES, SentimentWords, sentiment_words
from hallumeter.errors import SettingsError

every_language = pytest.mark.parametrize("language", SENTIMENT_LANGUAGES)


@every_language
def test_every_language_has_words_on_both_sides_and_words_that_turn_them(language: str) -> None:
    words = sentiment_words(language)
    assert words.language == language
    assert max(words.words.values()) > 0 > min(words.words.values())
    assert words.negations
    assert words.contrasts


def test_forms_are_in_lower_case_and_without_white_space_around_them() -> None:
    words = sentiment_words("en")
    forms = [*words.words, *words.phrases, *words.negations, *words.contrasts, *words.irony, *words.stop_terms]
    forms += [form for each in words.extra.values() for form in each]
    assert [form for form in forms if not form or form != form.lower().strip()] == []


@every_language
def test_no_word_weighs_nothing_and_degrees_lie_on_their_side_of_one(language: str) -> None:
    words = sentiment_words(language)
    assert [word for word, weight in words.words.items() if weight == 0] == []
    assert [word for word, factor in words.intensifiers.items() if factor < 1] == []
    assert [word for word, factor in words.diminishers.items() if not 0 < factor < 1] == []


def test_lists_name_no_form_twice() -> None:
    words = sentiment_words("en")
    for forms in (words.negations, words.contrasts, words.irony, words.stop_terms, *words.extra.values()):
        assert len(set(forms)) == len(forms)


def test_a_language_without_words_is_refused_with_the_choices() -> None:
    with pytest.raises(SettingsError, match="no sentiment words for the language 'fr'; choose from en, ko"):
        sentiment_words("fr")


def test_the_words_are_read_once_and_cannot_be_replaced() -> None:
    words = sentiment_words("en")
    assert sentiment_words("en") is words
    with pytest.raises(AttributeError):
        words.language = "de"  # type: ignore[misc]


def test_optional_lists_may_be_left_out() -> None:
    words = SentimentWords("xx", {"a": 1.0}, ("b",), ("c",))
    assert (words.phrases, words.irony, words.extra) == ({}, (), {})
