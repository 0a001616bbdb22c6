"""Which way of counting the spans of a whole run suggest."""

from __future__ import annotations

import pytest

from hallumeter.aspects.grounding import CONVENTIONS, CountedText, convention_words, suggested_convention


@pytest.mark.parametrize(
    ("right", "suggested"),
    [
        ({}, None),
        ({"code_points": 5, "utf16_units": 5}, None),
        ({"code_points": 5, "utf16_units": 6}, "utf16_units"),
        ({"utf8_bytes": 3, "nfd_code_points": 3}, "utf8_bytes"),
        ({"code_points": 2, "utf8_bytes": 1}, None),
    ],
)
def test_another_way_is_suggested_only_where_it_makes_more_spans_right(
    right: dict[str, int], suggested: str | None
) -> None:
    assert suggested_convention(right) == suggested


@pytest.mark.parametrize(("start", "end"), [(-1, 4), (5, 3), (0, 99)])
def test_no_way_of_counting_makes_an_impossible_span_right(start: int, end: int) -> None:
    assert CountedText("맛 food").right_under("food", start, end) == ()


def test_an_empty_term_stands_nowhere() -> None:
    assert CountedText("food").right_under("", 0, 0) == ()


def test_in_plain_english_all_ways_are_the_same() -> None:
    assert CountedText("food").right_under("food", 0, 4) == CONVENTIONS
    assert CountedText("food").right_under("food", 1, 5) == ()


def test_every_way_has_a_name_in_words() -> None:
    assert len({convention_words(name) for name in CONVENTIONS}) == len(CONVENTIONS)
