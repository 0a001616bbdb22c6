"""What looks for numbers, dates and names takes time that grows with the text, whatever the text is."""

from __future__ import annotations

import pytest

from growing_texts import UNITS, check_growth
from hallumeter.text.dates import find_dates
from hallumeter.text.names import find_names
from hallumeter.text.quantities import find_quantities
from hallumeter.text.terms import terms_of


@pytest.mark.long
@pytest.mark.parametrize("unit", UNITS)
def test_finders_take_time_that_grows_with_the_text(unit: str) -> None:
    check_growth(terms_of, unit, size=3_000)
    check_growth(find_names, unit, size=3_000)
    check_growth(find_dates, unit, size=3_000)


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "fr", "ko"])
@pytest.mark.parametrize("unit", UNITS)
def test_numbers_are_found_in_time_that_grows_with_the_text(unit: str, language: str) -> None:
    check_growth(lambda text: find_quantities(text, language=language), unit, size=3_000)


def test_days_of_the_week_in_a_row_are_dates_of_their_own() -> None:
    found = find_dates("Monday " * 5_000 + "Sunday 5 March 2023")
    assert len(found) == 5_001
    assert [(date.weekday, date.month, date.day) for date in found[-2:]] == [(1, None, None), (7, 3, 5)]


def test_a_number_too_large_for_a_float_is_infinite_and_no_error() -> None:
    (found,) = find_quantities("It is 1" + "0" * 400 + " m", language="en")
    assert (found.value, found.step) == (float("inf"), float("inf"))
