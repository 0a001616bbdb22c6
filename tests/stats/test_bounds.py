"""Worst and best cases of a rate with unmeasured units."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.stats.intervals import manski_bounds, mean_bounds

amounts = st.integers(0, 1_000)


def test_unmeasured_units_count_as_none_and_as_all() -> None:
    # By hand: 3 of 8 with 4 unmeasured is 3/12 to 7/12.
    assert manski_bounds(3, 8, 4) == (0.25, 7 / 12)


def test_without_unmeasured_units_both_bounds_are_the_rate() -> None:
    assert manski_bounds(3, 8, 0) == (0.375, 0.375)


def test_when_nothing_was_measured_anything_is_possible() -> None:
    assert manski_bounds(0, 0, 9) == (0.0, 1.0)


def test_bounds_of_nothing_are_undefined() -> None:
    assert manski_bounds(0, 0, 0) is None


@given(amounts, amounts, amounts)
def test_whatever_the_unmeasured_are_the_rate_lies_within(count: int, rest: int, unmeasured: int) -> None:
    bounds = manski_bounds(count, count + rest, unmeasured)
    if bounds is None:
        assert count + rest + unmeasured == 0
        return
    for counted in {0, unmeasured // 2, unmeasured}:
        assert bounds[0] <= (count + counted) / (count + rest + unmeasured) <= bounds[1]


@pytest.mark.parametrize("unmeasured", [-1, math.nan, math.inf])
def test_an_impossible_number_of_unmeasured_units_is_refused(unmeasured: float) -> None:
    with pytest.raises(ValueError, match="unmeasured units must be finite and not negative"):
        manski_bounds(1, 2, unmeasured)


def test_a_count_above_its_total_is_refused() -> None:
    with pytest.raises(ValueError, match="0 <= count <= total"):
        manski_bounds(3, 2, 1)


def test_the_mean_of_values_between_two_ends_is_bounded_by_them() -> None:
    # By hand: 0.5 and -0.5 measured, two values from -1 to 1 not: (0 - 2) / 4 to (0 + 2) / 4.
    assert mean_bounds(0.0, 2, 2, low=-1, high=1) == (-0.5, 0.5)
    assert mean_bounds(1.5, 2, 0, low=0, high=1) == (0.75, 0.75)
    assert mean_bounds(0, 0, 3, low=1, high=5) == (1, 5)
    assert mean_bounds(0, 0, 0, low=0, high=1) is None
    kept = mean_bounds(2 + 1e-15, 2, 1, low=0, high=1)
    assert kept is not None
    assert kept[0] == pytest.approx(2 / 3)
    assert kept[1] == 1.0
