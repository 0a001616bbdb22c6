"""The Gini coefficient, against hand calculation and its definition by differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.transcripts.metrics import gini

amounts = st.lists(st.floats(0, 1e6), min_size=1, max_size=40).filter(lambda values: sum(values) > 1e-6)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([5], 0.0),
        ([2, 2, 2], 0.0),
        ([0, 1], 0.5),
        ([1, 0, 0, 0], 0.75),
        ([1, 2, 3, 4], 0.25),  # 2 * 30 / (4 * 10) - 5 / 4
        ([0.4, 0.1], 0.3),  # 2 * 0.9 / (2 * 0.5) - 3 / 2
    ],
)
def test_gini_worked_by_hand(values: list[float], expected: float) -> None:
    assert gini(values) == pytest.approx(expected, abs=1e-15)


@given(amounts)
def test_gini_is_half_the_relative_mean_difference(values: list[float]) -> None:
    # The definition of the coefficient: mean |x - y| over all ordered pairs, divided by twice the mean.
    given_values = np.array(values)
    mean_difference = np.abs(np.subtract.outer(given_values, given_values)).mean()
    assert gini(values) == pytest.approx(mean_difference / (2 * given_values.mean()), abs=1e-12)


@given(amounts)
def test_order_and_unit_do_not_matter(values: list[float]) -> None:
    assert gini(values[::-1]) == gini(values)
    assert gini([8 * value for value in values]) == gini(values)


def test_gini_is_undefined_without_anything_to_share() -> None:
    assert gini([]) is None
    assert gini([0, 0.0]) is None


@pytest.mark.parametrize("values", [[-1, 2], [math.nan], [math.inf, 1], [[1, 2]]])
def test_what_cannot_be_shared_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="finite numbers, 0 or more"):
        gini(values)
