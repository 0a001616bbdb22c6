"""Strict edits of words and characters; expected counts by hand or by the textbook's table of distances."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.records.rate import Rate
from hallumeter.transcripts import page_reading
from hallumeter.transcripts.page_reading import EditCounts, count_character_edits, count_word_edits

texts = st.text(st.sampled_from("ab é\n\u0301가가س 王"), max_size=25)


def plain_distance(reference: list[str] | str, response: list[str] | str) -> int:
    """The edit distance by the textbook's table."""
    row = list(range(len(response) + 1))
    for top, item in enumerate(reference, 1):
        above, row[0] = row[0], top
        for left, other in enumerate(response, 1):
            above, row[left] = row[left], min(above + (item != other), row[left] + 1, row[left - 1] + 1)
    return row[-1]


def test_rates_follow_from_four_counts() -> None:
    # 5 words on the page, 6 in the response; 3 + 2 + 1 pairs and 1 + 1 + 2 errors.
    counts = EditCounts(hits=3, substituted=1, deleted=1, inserted=2)
    assert (counts.reference, counts.response, counts.errors) == (5, 6, 4)
    assert counts.error_rate == Rate(4, 5)
    assert counts.match_error_rate == Rate(4, 7)
    assert counts.information_lost == pytest.approx(1 - (3 / 5) * (3 / 6))


def test_nothing_against_nothing_is_undefined() -> None:
    counts, is_exact = count_word_edits("", " \n")
    assert is_exact
    assert counts == EditCounts(0, 0, 0, 0)
    assert counts.error_rate.value is counts.match_error_rate.value is counts.information_lost is None


def test_an_empty_response_loses_everything() -> None:
    counts, _ = count_word_edits("le roi", "")
    assert counts == EditCounts(0, 0, 2, 0)
    assert (counts.error_rate.value, counts.match_error_rate.value, counts.information_lost) == (1, 1, 1)


def test_text_on_an_empty_page_has_no_error_rate_but_is_counted() -> None:
    counts, _ = count_character_edits("", "ab c")
    assert counts == EditCounts(0, 0, 0, 4)
    assert counts.error_rate.value is None
    assert (counts.match_error_rate.value, counts.information_lost) == (1, 1)


def test_white_space_counts_inside_a_text_and_not_around_it() -> None:
    counts, _ = count_character_edits(" le\nroi ", "le roi\n")
    assert counts == EditCounts(hits=5, substituted=1, deleted=0, inserted=0)
    assert count_word_edits(" le\nroi ", "le roi\n")[0] == EditCounts(2, 0, 0, 0)


@given(texts, texts)
def test_short_texts_have_the_fewest_edits(reference: str, response: str) -> None:
    words, has_exact_words = count_word_edits(reference, response)
    characters, has_exact_characters = count_character_edits(reference, response)
    assert has_exact_words
    assert has_exact_characters
    assert words.errors == plain_distance(reference.split(), response.split())
    assert characters.errors == plain_distance(reference.strip(), response.strip())
    assert (words.reference, words.response) == (len(reference.split()), len(response.split()))
    assert (characters.reference, characters.response) == (len(reference.strip()), len(response.strip()))


@given(texts, texts)
def test_long_texts_are_compared_between_shared_words_and_never_below_the_fewest_edits(
    reference: str, response: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_reading, "EXACT_CELLS", -1)
        counts, is_exact = count_character_edits(reference, response)
    assert not is_exact
    assert counts.errors >= plain_distance(reference.strip(), response.strip())
    assert (counts.reference, counts.response) == (len(reference.strip()), len(response.strip()))


def test_a_long_text_with_few_errors_is_counted_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = "le roi de france est mort\nà paris vive le roi"
    response = "le roy de france mort\nà  paris vive la le roi"
    expected, _ = count_character_edits(reference, response)
    monkeypatch.setattr(page_reading, "EXACT_CELLS", 0)
    # Of 45 characters: i to y; "est " left out; one space and "la " too many.
    assert count_character_edits(reference, response)[0] == expected == EditCounts(40, 1, 4, 4)
