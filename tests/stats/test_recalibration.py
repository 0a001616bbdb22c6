"""Probabilities that are mapped, against scipy and scikit-learn; labels that were drawn unevenly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize, stats
from sklearn.isotonic import isotonic_regression

from hallumeter.stats.allocation import label_weights
from hallumeter.stats.calibration import ENOUGH_FOR_ISOTONIC, cross_fitted, isotonic_map, logistic_map, recalibrate


def drawn(number: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    probabilities = np.round(rng.random(number), 2)
    truth = (rng.random(number) < probabilities**2).astype(float)
    return probabilities, truth, rng.integers(1, 5, number).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_an_isotonic_map_is_that_of_scipy_and_of_scikit_learn(seed: int) -> None:
    probabilities, truth, weights = drawn(300, seed)
    knots, places = np.unique(probabilities, return_inverse=True)
    sizes = np.bincount(places, weights)
    means = np.bincount(places, weights * truth) / sizes
    found = isotonic_map(probabilities, truth, weights)
    assert found.of(knots) == pytest.approx(optimize.isotonic_regression(means, weights=sizes).x)
    assert found.of(knots) == pytest.approx(isotonic_regression(means, sample_weight=sizes))
    assert len(found.knots) < len(knots)
    assert found.of(np.array([-1.0, 2.0])).tolist() == [found.values[0], found.values[-1]]


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_a_map_rises_and_stays_between_0_and_1(rows: list[tuple[float, bool]]) -> None:
    probabilities, truth = np.array([each for each, _ in rows]), np.array([float(each) for _, each in rows])
    found = isotonic_map(probabilities, truth, np.ones(len(rows))).of(np.linspace(0, 1, 11))
    assert (np.diff(found) >= 0).all()
    mapped = logistic_map(probabilities, truth, np.ones(len(rows))).of(np.linspace(0, 1, 11))
    for each in (found, mapped):
        assert ((each >= 0) & (each <= 1)).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_logistic_map_has_the_least_log_loss_with_platt_targets(seed: int) -> None:
    probabilities, truth, weights = drawn(200, seed)
    odds = np.log(np.clip(probabilities, 1e-6, 1 - 1e-6)) - np.log1p(-np.clip(probabilities, 1e-6, 1 - 1e-6))
    scale = len(weights) / weights.sum()
    true, false = scale * (weights @ truth), scale * (weights @ (1 - truth))
    targets = np.where(truth == 1, (true + 1) / (true + 2), 1 / (false + 2))

    def loss(line: NDArray[np.float64]) -> float:
        values = line[0] * odds + line[1]
        return float(weights @ (np.logaddexp(0, values) - targets * values))

    best = optimize.minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-8})
    found = logistic_map(probabilities, truth, weights)
    assert (found.slope, found.intercept) == pytest.approx(tuple(best.x), abs=1e-4)


def test_a_logistic_map_is_finite_where_truth_is_parted_and_level_where_probabilities_are_the_same() -> None:
    parted = logistic_map(np.array([0.0, 0.1, 0.9, 1.0]), np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4))
    assert parted.of(np.array([0.0]))[0] < 0.5 < parted.of(np.array([1.0]))[0]
    same = logistic_map(np.full(4, 0.3), np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4))
    assert same.of(np.array([0.3]))[0] == pytest.approx(0.5)


def test_a_step_that_goes_too_far_is_halved() -> None:
    # All probabilities but one are the same: the first full step of Newton overshoots.
    probabilities = np.array([0.5] * 2 + [1.0])
    found = logistic_map(probabilities, np.array([1.0, 1.0, 0.0]), np.array([1e-3, 1e-3, 1e3]))
    assert np.isfinite(found.of(probabilities)).all()


def test_many_labels_carry_any_rising_map() -> None:
    assert recalibrate(*drawn(ENOUGH_FOR_ISOTONIC)).method == "isotonic"
    assert recalibrate(*drawn(ENOUGH_FOR_ISOTONIC - 1)).method == "logistic"


def test_what_is_mapped_was_not_fitted_on() -> None:
    probabilities, truth, weights = drawn(60)
    clusters = np.repeat(np.arange(20), 3)
    found = cross_fitted(probabilities, truth, weights, clusters=clusters, rng=np.random.default_rng(3))
    assert found is not None
    # Another truth of one cluster changes what others become, never what it becomes itself.
    other = truth.copy()
    other[clusters == 7] = 1 - other[clusters == 7]
    again = cross_fitted(probabilities, other, weights, clusters=clusters, rng=np.random.default_rng(3))
    assert again is not None
    assert (found[clusters == 7] == again[clusters == 7]).all()
    assert (found != again).any()


def test_a_single_cluster_cannot_be_left_out() -> None:
    clusters = np.zeros(60, dtype=np.int64)
    assert cross_fitted(*drawn(60), clusters=clusters, rng=np.random.default_rng(0)) is None


@pytest.mark.parametrize("labelled", [(30, 5, 2), (25, 24, 26), (10, 0, 40)])
def test_uneven_labels_are_those_that_scipy_finds_uneven(labelled: tuple[int, ...]) -> None:
    strata = np.repeat([4, 5, 9], 100)
    is_labelled = np.concatenate([np.arange(100) < count for count in labelled])
    table = np.array([labelled, [100 - count for count in labelled]])
    p_value = stats.chi2_contingency(table, correction=False).pvalue
    found = label_weights(strata, is_labelled)
    assert found.is_even == (p_value > 0.01)
    expected = [1.0 if found.is_even else 100 / count if count else 0.0 for count in labelled]
    assert found.weights.tolist() == np.repeat(expected, 100).tolist()


def test_labels_of_everything_of_nothing_and_of_one_stratum_are_even() -> None:
    strata = np.repeat([0, 1], 50)
    for is_labelled in (np.ones(100, dtype=bool), np.zeros(100, dtype=bool)):
        assert label_weights(strata, is_labelled).is_even
    assert label_weights(np.zeros(100, dtype=np.int64), np.arange(100) < 3).is_even
    assert label_weights(np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)).is_even
