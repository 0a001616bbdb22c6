"""The reader of numbers on the labelled cases."""

from __future__ import annotations

import pytest
from quantity_cases import BUILT_WITH, HELD_BACK, Case, Found

from hallumeter.text.quantities import find_quantities, value_of


def found_in(case: Case) -> tuple[Found, ...]:
    return tuple(
        Found(each.value, each.unit.symbol if each.unit else None, each.high, each.out_of)
        for each in find_quantities(case.text, language=case.language)
    )


@pytest.mark.parametrize("case", [*BUILT_WITH, *HELD_BACK], ids=lambda case: case.text)
def test_the_numbers_of_a_text_are_found_with_units_ranges_and_fractions(case: Case) -> None:
    found = found_in(case)
    assert len(found) == len(case.found), found
    for mine, expected in zip(found, case.found, strict=True):
        assert mine.value == pytest.approx(expected.value)
        assert mine[1:] == expected[1:]


def test_there_are_enough_cases_and_half_of_them_were_held_back() -> None:
    assert len(BUILT_WITH) + len(HELD_BACK) >= 60
    assert len(HELD_BACK) >= len(BUILT_WITH)
    assert not {case.text for case in BUILT_WITH} & {case.text for case in HELD_BACK}


@pytest.mark.parametrize(("written", "value"), [("1,234,567", 1234567.0), ("1.234.567,8", 1234567.8), ("seven", None)])
def test_digits_alone_have_their_likeliest_value(written: str, value: float | None) -> None:
    assert value_of(written) == value


@pytest.mark.parametrize("text", ["5 ft 15 in", "6 ft 3 m", "6 ft 3"])
def test_feet_are_joined_with_nothing_but_fewer_inches_than_a_foot(text: str) -> None:
    assert find_quantities(text, language="en")[0].value in {5.0, 6.0}
