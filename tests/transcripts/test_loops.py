"""Repetition loops, against a search that tries every period at every place."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.errors import SettingsError
from hallumeter.transcripts.loops import Loop, find_loops


def plain_loops(items: Sequence[object], fewest_copies: int, shortest: int) -> list[Loop]:
    """Every maximal repetition whose period is none itself, in cubic time."""
    found = []
    for period in range(1, len(items) // fewest_copies + 1):
        start = 0
        while start + period < len(items):
            end = start + period
            while end < len(items) and items[end] == items[end - period]:
                end += 1
            if end - start >= max(shortest, fewest_copies * period):
                found.append(Loop(start, end, period))
            start = max(start + 1, end - period)
    return sorted(
        loop
        for loop in found
        if not any(
            other.start <= loop.start and loop.end <= other.end and other.period < loop.period for other in found
        )
    )


def test_the_end_of_a_loop_is_not_listed_again() -> None:
    assert find_loops("a" * 20 + "b" + "a" * 30) == [Loop(0, 20, 1), Loop(21, 51, 1)]


@pytest.mark.parametrize("items", ["", "a", "abcabc", "abcdefgh", "aaaaa"])
def test_too_few_copies_or_items_are_no_loop(items: str) -> None:
    assert find_loops(items) == []


def test_one_item_over_and_over_is_a_loop_of_period_one() -> None:
    assert find_loops("xyooooooz") == [Loop(2, 8, 1)]


def test_copies_may_end_with_a_part() -> None:
    (loop,) = find_loops(["the", "end", *["and", "so", "on"] * 3, "and"])
    assert (loop.start, loop.end, loop.period) == (2, 12, 3)
    assert loop.copies == pytest.approx(10 / 3)


def test_a_period_is_never_a_repetition_itself() -> None:
    assert find_loops("abab" * 10) == [Loop(0, 40, 2)]


def test_loops_that_lie_apart_or_inside_are_all_found() -> None:
    # "aaaaaab" three times over: the long loop, and the six a's of each copy, which have a shorter period.
    assert find_loops("aaaaaab" * 3) == [Loop(0, 6, 1), Loop(0, 21, 7), Loop(7, 13, 1), Loop(14, 20, 1)]


def test_fewer_than_three_copies_cannot_be_asked_for() -> None:
    with pytest.raises(SettingsError, match="at least 3 copies, found fewest_copies=2"):
        find_loops("abab", fewest_copies=2)


repetitive = st.builds(
    lambda before, unit, copies, after: before + unit * copies + after,
    st.text("abc", max_size=15),
    st.text("abcd", min_size=1, max_size=9),
    st.integers(0, 6),
    st.text("abc", max_size=15),
)


@given(repetitive, st.integers(3, 4), st.integers(1, 9))
def test_every_repetition_is_found_and_nothing_else(items: str, fewest_copies: int, shortest: int) -> None:
    found = find_loops(items, fewest_copies=fewest_copies, shortest=shortest)
    assert found == plain_loops(items, fewest_copies, shortest)


def test_a_hundred_thousand_items_are_searched_at_once() -> None:
    items = [*range(1000), *(list(range(5000, 5700)) * 140), *range(1000)]
    assert find_loops(items) == [Loop(1000, 99_000, 700)]
