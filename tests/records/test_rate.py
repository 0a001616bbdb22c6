"""Rates are pooled before they are divided."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.records.rate import Rate, Rates

counts = st.integers(0, 10**6)
rates = st.builds(Rate, counts, counts)
clustered = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 4)), max_size=20)


def columns(*pairs: tuple[float, float]) -> Rates:
    table = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return Rates(table[:, 0], table[:, 1])


def test_a_rate_of_nothing_is_undefined_not_zero() -> None:
    assert Rate(0, 0).value is None
    assert Rate(0, 3).value == 0.0
    assert columns().value is None
    assert columns((0, 0), (0, 0)).value is None


@given(rates, rates, rates)
def test_rates_add_in_any_order(one: Rate, two: Rate, three: Rate) -> None:
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)
    assert one + Rate(0, 0) == one


def test_pooling_weighs_by_the_totals() -> None:
    assert (Rate(1, 1) + Rate(0, 9)).value == 0.1
    assert columns((1, 1), (0, 9)).pooled == Rate(1.0, 10.0)


@given(clustered)
def test_pooling_by_cluster_keeps_the_whole_and_adds_within(rows: list[tuple[int, int, int]]) -> None:
    per_response = columns(*((count, total) for count, total, _ in rows))
    clusters = np.array([cluster for _, _, cluster in rows], dtype=np.intp)
    by_cluster = per_response.pooled_by(clusters)
    assert by_cluster.pooled == per_response.pooled
    assert len(by_cluster) == max((cluster for _, _, cluster in rows), default=-1) + 1
    for cluster in range(len(by_cluster)):
        assert by_cluster[cluster : cluster + 1].pooled == per_response[clusters == cluster].pooled


def test_rows_are_chosen_by_slice_by_number_and_by_mask() -> None:
    three = columns((1, 2), (0, 3), (4, 5))
    assert three[1:].pooled == Rate(4, 8)
    assert three[np.array([0, 2])].pooled == Rate(5, 7)
    assert three[np.array([False, True, False])].pooled == Rate(0, 3)
    assert len(three) == 3


def test_a_rate_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        Rate(1, 2).count = 2  # type: ignore[misc]
