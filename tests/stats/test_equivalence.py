"""Equivalence, power and effect sizes, against scipy, statsmodels and plain enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_effectsize
from statsmodels.stats.weightstats import ttost_paired

from hallumeter.stats.significance import (
    cohen_h,
    equivalence_p_value,
    minimum_detectable_difference,
    not_above_p_value,
    paired_bootstrap_difference,
    paired_sign_flip,
    student_cumulative,
)


@given(st.floats(-40, 40), st.floats(0.5, 1e6))
def test_the_distribution_of_student_is_that_of_scipy(t: float, degrees: float) -> None:
    expected = float(scipy_stats.t.cdf(t, degrees))
    assert student_cumulative(t, degrees) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("degrees", [0.0, -1.0, math.inf, math.nan])
def test_student_needs_finite_degrees_of_freedom(degrees: float) -> None:
    with pytest.raises(ValueError, match="degrees of freedom"):
        student_cumulative(1.0, degrees)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("margin", [0.1, 0.5, 1.0])
def test_equivalence_is_that_of_statsmodels_where_every_cluster_is_one_value(seed: int, margin: float) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=30), rng.normal(size=30)
    ones = np.ones(30)
    found = paired_bootstrap_difference((first, ones), (second, ones), rng=rng)
    assert found is not None
    p_value = equivalence_p_value(found.difference, margin=margin, standard_error=found.standard_error, clusters=30)
    expected, lower, upper = ttost_paired(first, second, -margin, margin)
    assert p_value == pytest.approx(expected)
    one_sided = not_above_p_value(found.difference, margin=margin, standard_error=found.standard_error, clusters=30)
    assert one_sided == pytest.approx(upper[1])
    assert p_value == pytest.approx(max(lower[1], upper[1]))


def test_the_standard_error_is_that_of_a_mean_where_every_cluster_is_one_value() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=50), rng.normal(size=50)
    found = paired_bootstrap_difference((first, np.ones(50)), (second, np.ones(50)), rng=rng)
    assert found is not None
    assert found.standard_error == pytest.approx(float(scipy_stats.sem(first - second)))


def test_where_no_cluster_differs_the_margin_needs_a_share_of_unseen_ones() -> None:
    # By hand: each of 100 clusters would have shown a difference with probability 0.05, and none did.
    found = not_above_p_value(0.0, margin=0.05, standard_error=0.0, clusters=100)
    assert found == pytest.approx(0.95**100)


def test_where_all_clusters_differ_alike_those_unseen_must_undo_it() -> None:
    # By hand: at -0.2 a quarter of unseen clusters with 1 would be needed to reach 0.1: (0.1 + 0.2) / (1 + 0.2).
    found = not_above_p_value(-0.2, margin=0.1, standard_error=0.0, clusters=10)
    assert found == pytest.approx(0.75**10)
    assert not_above_p_value(0.3, margin=0.1, standard_error=0.0, clusters=10) == 1.0
    assert not_above_p_value(0.0, margin=2.0, standard_error=0.0, clusters=10) == 0.0


@pytest.mark.parametrize("function", [not_above_p_value, equivalence_p_value])
def test_one_cluster_shows_nothing(function: object) -> None:
    assert callable(function)
    assert function(0.0, margin=0.05, standard_error=0.1, clusters=1) is None


@pytest.mark.parametrize(("margin", "error"), [(0.0, 0.1), (-1.0, 0.1), (math.inf, 0.1), (0.1, -0.1)])
def test_impossible_margins_and_errors_are_refused(margin: float, error: float) -> None:
    with pytest.raises(ValueError, match="margin above 0"):
        not_above_p_value(0.0, margin=margin, standard_error=error, clusters=10)


@pytest.mark.parametrize("clusters", [20, 100, 2000])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_the_detectable_difference_has_the_power_that_statsmodels_gives_it(clusters: int, alpha: float) -> None:
    found = minimum_detectable_difference(0.1 / math.sqrt(clusters), clusters, alpha=alpha, power=0.8)
    assert found is not None
    power = TTestPower().power(found / 0.1, clusters, alpha)
    assert power == pytest.approx(0.8, abs=0.02)


def test_nothing_is_detectable_by_one_cluster_or_without_spread() -> None:
    assert minimum_detectable_difference(0.1, 1) is None
    assert minimum_detectable_difference(0.0, 100) is None


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_effect_size_of_shares_is_that_of_statsmodels(first: float, second: float) -> None:
    assert cohen_h(first, second) == pytest.approx(float(proportion_effectsize(first, second)), abs=1e-7)


def test_a_share_beyond_one_has_no_effect_size() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        cohen_h(1.2, 0.5)


def test_the_sign_flip_test_counts_all_exchanges_of_whole_clusters() -> None:
    # Plain enumeration: exchange the arms of each cluster or not, and look at the difference of the pooled rates,
    # weighted as both totals together demand.
    first = np.array([[1, 4], [0, 2], [3, 3], [2, 5], [1, 1]], dtype=float)
    second = np.array([[0, 3], [0, 2], [1, 4], [2, 2], [0, 6]], dtype=float)

    def statistic(one: np.ndarray[tuple[int, ...], np.dtype[np.float64]], other: object) -> float:
        two = np.asarray(other)
        totals = one[:, 1].sum(), two[:, 1].sum()
        weight = totals[0] * totals[1] / sum(totals)
        return float(abs(weight * (one[:, 0].sum() / totals[0] - two[:, 0].sum() / totals[1])))

    observed = statistic(first, second)
    reached = 0
    for signs in itertools.product([False, True], repeat=5):
        swap = np.array(signs)[:, np.newaxis]
        reached += statistic(np.where(swap, second, first), np.where(swap, first, second)) >= observed - 1e-12
    found = paired_sign_flip((first[:, 0], first[:, 1]), (second[:, 0], second[:, 1]), rng=np.random.default_rng(0))
    assert found is not None
    assert found.method == "exact"
    assert found.p_value == pytest.approx(reached / 32)


def test_the_sign_flip_test_of_many_clusters_approaches_that_of_random_signs() -> None:
    rng = np.random.default_rng(5)
    totals = rng.integers(1, 6, 2000)
    first, second = rng.binomial(totals, 0.3), rng.binomial(totals, 0.32)
    normal = paired_sign_flip((first, totals), (second, totals), rng=rng)
    assert normal is not None
    assert normal.method == "normal"
    few = paired_sign_flip((first[:300], totals[:300]), (second[:300], totals[:300]), rng=rng)
    assert few is not None
    assert few.method == "random"
    signs = np.random.default_rng(6).choice([-1, 1], size=(4_000, 2000))
    rate = (first.sum() + second.sum()) / (2 * totals.sum())
    pulls = (first - rate * totals) - (second - rate * totals)
    expected = float(np.mean(np.abs(signs @ pulls) >= abs(pulls.sum())))
    assert normal.p_value == pytest.approx(expected, abs=0.03)


def test_the_sign_flip_test_is_undefined_without_a_total_or_a_difference() -> None:
    rng = np.random.default_rng(0)
    assert paired_sign_flip(([0, 0], [0, 0]), ([1, 0], [1, 1]), rng=rng) is None
    assert paired_sign_flip(([1, 0], [1, 1]), ([1, 0], [1, 1]), rng=rng) is None
    assert paired_sign_flip(([0, 0], [1, 2]), ([0, 0], [2, 1]), rng=rng) is None


def test_a_single_cluster_has_no_standard_error() -> None:
    found = paired_bootstrap_difference(([1], [2]), ([0], [3]), rng=np.random.default_rng(0))
    assert found is not None
    assert found.standard_error == 0.0
