"""Many strings are found at once, wherever they stand."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from hallumeter.text.phrases import WORD_STARTS, StringSet

STRINGS = st.lists(st.text(st.sampled_from("ab가 "), min_size=1, max_size=15), unique=True, max_size=12)
TEXTS = st.text(st.sampled_from("ab가 "), max_size=60)


def every_place(strings: list[str], text: str) -> list[tuple[int, int, int]]:
    return sorted(
        (number, start, start + len(string))
        for number, string in enumerate(strings)
        for start in range(len(text))
        if text.startswith(string, start)
    )


@given(STRINGS, TEXTS)
def test_every_place_of_every_string_is_found_once(strings: list[str], text: str) -> None:
    assert sorted(StringSet(strings).find(text)) == every_place(strings, text)


@given(STRINGS, TEXTS)
def test_places_come_in_the_order_of_their_starts(strings: list[str], text: str) -> None:
    starts = [start for _, start, _ in StringSet(strings).find(text)]
    assert starts == sorted(starts)


@given(STRINGS, TEXTS)
def test_at_word_starts_no_letter_or_digit_stands_before(strings: list[str], text: str) -> None:
    expected = [each for each in every_place(strings, text) if not text[max(0, each[1] - 1) : each[1]].isalnum()]
    assert sorted(StringSet(strings, before=WORD_STARTS).find(text)) == expected


def test_without_strings_nothing_is_found() -> None:
    assert list(StringSet([]).find("anything")) == []


def test_signs_of_regular_expressions_are_signs_like_others() -> None:
    assert list(StringSet(["]", "^a", "-", "\\"]).find("^a-]\\")) == [(1, 0, 2), (2, 2, 3), (0, 3, 4), (3, 4, 5)]


def test_ten_thousand_strings_cost_little_more_than_ten() -> None:
    text = "the quick brown fox jumps over the lazy dog " * 2_000

    def cost(count: int) -> float:
        strings = StringSet(f"{'the quick'[: 2 + number % 8]} word {number}" for number in range(count))
        begin = time.process_time()
        assert list(strings.find(text)) == []
        return time.process_time() - begin

    assert min(cost(10_000) for _ in range(3)) < 20 * min(cost(10) for _ in range(3)) + 0.05
