"""Areas under ROC curves against other implementations, brute force and a published table."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu, norm
from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score

from hallumeter.stats.discrimination import (
    Areas,
    area_difference,
    area_interval,
    area_under_curve,
    areas_under_curves,
    cross_fitted_flags,
    decisions,
)

FloatArray = NDArray[np.float64]


def clustered(seed: int, clusters: int = 40) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Two scores with ties for units whose clusters err together."""
    rng = np.random.default_rng(seed)
    of_unit = np.repeat(np.arange(clusters), rng.integers(1, 6, clusters))
    shared = rng.normal(size=clusters)[of_unit]
    truth = (rng.normal(size=len(of_unit)) + rng.normal(size=clusters)[of_unit] > 0.4).astype(np.float64)
    scores = [np.round(truth + shared + rng.normal(size=len(of_unit)), 1) for _ in range(2)]
    return np.stack(scores, axis=1), truth, of_unit


@pytest.mark.parametrize("seed", range(5))
def test_the_area_is_that_of_mann_whitney_and_of_sklearn(seed: int) -> None:
    scores, truth, _ = clustered(seed)
    found = area_under_curve(scores[:, 0], truth)
    true, false = scores[truth == 1, 0], scores[truth == 0, 0]
    assert found == pytest.approx(mannwhitneyu(true, false).statistic / (len(true) * len(false)), abs=1e-12)
    assert found == pytest.approx(roc_auc_score(truth, scores[:, 0]), abs=1e-12)


def test_a_unit_on_which_people_disagree_counts_on_both_sides() -> None:
    rng = np.random.default_rng(3)
    scores, truth = rng.integers(0, 9, 60).astype(float), rng.choice([0, 0.25, 0.5, 1], 60)
    twice = np.concatenate([np.ones(60), np.zeros(60)])
    weights = np.concatenate([truth, 1 - truth])
    expected = roc_auc_score(twice, np.tile(scores, 2), sample_weight=weights)
    assert area_under_curve(scores, truth) == pytest.approx(expected, abs=1e-12)
    found = areas_under_curves(scores, truth, np.arange(60))
    assert found is not None
    assert found.values[0] == pytest.approx(expected, abs=1e-12)


def test_ratings_of_computed_tomographs_give_the_published_area_and_standard_error() -> None:
    # Hanley and McNeil (1982), table 1; Stata's manual prints 0.8932 and 0.0307 (DeLong) for the same 109 images.
    normal, abnormal = (33, 6, 6, 11, 2), (3, 2, 2, 11, 33)
    ratings = np.repeat(np.tile(np.arange(5), 2), [*normal, *abnormal])
    truth = np.repeat([0, 1], [sum(normal), sum(abnormal)])
    found = areas_under_curves(ratings, truth, np.arange(len(truth)))
    assert found is not None
    assert round(float(found.values[0]), 4) == 0.8932
    assert round(math.sqrt(found.covariance[0, 0]), 4) == 0.0307


def obuchowski(scores: FloatArray, truth: FloatArray, clusters: NDArray[np.int64]) -> FloatArray:
    """The formulas of Obuchowski (1997) pair by pair and cluster by cluster, for whole truths."""
    kinds = scores.shape[1]
    names = sorted(set(clusters.tolist()))
    true, false = np.flatnonzero(truth == 1), np.flatnonzero(truth == 0)
    wins = np.zeros((kinds, len(true), len(false)))
    for kind, (i, one), (j, other) in product(range(kinds), enumerate(true), enumerate(false)):
        above = scores[one, kind] - scores[other, kind]
        wins[kind, i, j] = 1.0 if above > 0 else 0.5 if above == 0 else 0.0
    area = wins.mean(axis=(1, 2))
    of_true = np.zeros((kinds, len(names)))
    of_false = np.zeros((kinds, len(names)))
    for kind in range(kinds):
        for place, name in enumerate(names):
            mine = [i for i, one in enumerate(true) if clusters[one] == name]
            theirs = [j for j, other in enumerate(false) if clusters[other] == name]
            of_true[kind, place] = sum(wins[kind, i].mean() - area[kind] for i in mine)
            of_false[kind, place] = sum(wins[kind, :, j].mean() - area[kind] for j in theirs)
    with_true, with_false = len(set(clusters[true].tolist())), len(set(clusters[false].tolist()))
    m, n, every = len(true), len(false), len(names)
    s10 = with_true / ((with_true - 1) * m) * of_true @ of_true.T
    s01 = with_false / ((with_false - 1) * n) * of_false @ of_false.T
    s11 = every / (every - 1) * of_true @ of_false.T
    covariance: FloatArray = s10 / m + s01 / n + (s11 + s11.T) / (m * n)
    return covariance


@pytest.mark.parametrize("seed", range(4))
def test_the_covariance_is_that_of_obuchowskis_formulas(seed: int) -> None:
    scores, truth, clusters = clustered(seed)
    found = areas_under_curves(scores, truth, clusters)
    assert found is not None
    assert found.covariance == pytest.approx(obuchowski(scores, truth, clusters), abs=1e-12)


@pytest.mark.long
def test_the_standard_error_is_about_that_of_drawing_whole_clusters_again() -> None:
    scores, truth, clusters = clustered(11, clusters=120)
    found = areas_under_curves(scores, truth, clusters)
    assert found is not None
    rng = np.random.default_rng(0)
    units = [np.flatnonzero(clusters == number) for number in range(120)]
    drawn = []
    for _ in range(400):
        again = np.concatenate([units[number] for number in rng.integers(0, 120, 120)])
        areas = [roc_auc_score(truth[again], scores[again, kind]) for kind in range(2)]
        drawn.append((areas[0], areas[0] - areas[1]))
    errors = np.std(drawn, axis=0)
    difference = area_difference(found, 0, 1)
    assert math.sqrt(found.covariance[0, 0]) == pytest.approx(errors[0], rel=0.12)
    assert difference.standard_error == pytest.approx(errors[1], rel=0.12)


def test_with_many_clusters_the_test_is_that_of_a_normal_variable() -> None:
    scores, truth, clusters = clustered(5, clusters=3000)
    found = areas_under_curves(scores[:, :1], truth, clusters)
    assert found is not None
    both = Areas(np.append(found.values, 0.5), np.pad(found.covariance, (0, 1)), 900, 900)
    difference = area_difference(both, 0, 1)
    z = difference.difference / difference.standard_error
    assert difference.p_value == pytest.approx(2 * norm.sf(abs(z)), abs=1e-6)


def test_scores_that_order_all_units_alike_do_not_differ() -> None:
    scores, truth, clusters = clustered(2)
    found = areas_under_curves(np.stack([scores[:, 0], np.exp(scores[:, 0])], axis=1), truth, clusters)
    assert found is not None
    difference = area_difference(found, 0, 1)
    assert (difference.difference, difference.p_value) == (0.0, 1.0)
    assert (difference.interval.low, difference.interval.high) == (0.0, 0.0)


def test_intervals_of_areas_stay_between_zero_and_one() -> None:
    found = areas_under_curves([5, 4, 1, 2, 3, 0], [1, 1, 1, 0, 0, 0], range(6))
    assert found is not None
    interval = area_interval(found, 0)
    assert interval is not None
    assert 0 < interval.low < found.values[0] < interval.high < 1


@pytest.mark.parametrize(("sign", "value"), [(1, 1.0), (-1, 0.0)])
def test_a_score_that_separates_few_units_is_not_sure_to_do_so(sign: int, value: float) -> None:
    units = 6
    scores = np.stack([sign * np.arange(2 * units), np.ones(2 * units)], axis=1)
    found = areas_under_curves(scores, np.repeat([0, 1], units), np.arange(2 * units))
    assert found is not None
    assert found.values[0] == value
    interval = area_interval(found, 0)
    assert interval is not None
    # What lies a t quantile of Newcombe's standard errors away, found by trying a fine grid.
    grid = np.linspace(0, 1, 100_001)[1:-1]
    between = (1 - grid) / (2 - grid) + grid / (1 + grid)
    error = np.sqrt(grid * (1 - grid) / units**2 * (1 + (units - 1) * between))
    least = grid[1 - grid <= 2.570582 * error].min()
    assert (interval.low if value else 1 - interval.high) == pytest.approx(least, abs=1e-4)
    assert 0 < area_difference(found, 0, 1).p_value < 0.05


def test_two_responses_of_each_kind_show_nothing() -> None:
    found = areas_under_curves([[4, 1], [3, 1], [2, 1], [1, 1]], [1, 1, 0, 0], range(4))
    assert found is not None
    assert area_difference(found, 0, 1).p_value > 0.1


def test_a_score_that_says_nothing_has_no_interval() -> None:
    found = areas_under_curves([1, 1, 1, 1], [1, 1, 0, 0], range(4))
    assert found is not None
    assert found.values.tolist() == [0.5]
    assert area_interval(found, 0) is None


@pytest.mark.parametrize(
    ("truth", "clusters"),
    [([1, 1, 1], [0, 1, 2]), ([0, 0, 0], [0, 1, 2]), ([1, 0, 0], [0, 1, 2]), ([1, 1, 0], [0, 1, 2]), ([], [])],
)
def test_areas_need_two_clusters_of_each_kind(truth: list[float], clusters: list[int]) -> None:
    assert areas_under_curves(np.arange(len(truth), dtype=float), truth, clusters) is None


@pytest.mark.parametrize("truth", [[1, 1], [0, 0], []])
def test_an_area_needs_both_kinds_of_unit(truth: list[float]) -> None:
    assert area_under_curve(np.arange(len(truth), dtype=float), truth) is None


def test_decisions_are_counted_as_by_sklearn() -> None:
    rng = np.random.default_rng(0)
    flags, truth = rng.integers(0, 2, 80).astype(bool), rng.integers(0, 2, 80)
    found = decisions(flags, truth)
    assert found.precision == pytest.approx(precision_score(truth, flags))
    assert found.recall == pytest.approx(recall_score(truth, flags))
    assert found.f1 == pytest.approx(f1_score(truth, flags))


def test_shares_of_nothing_are_undefined() -> None:
    nothing = decisions([False, False], [0, 0])
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)


def test_a_threshold_is_never_tried_on_the_clusters_that_chose_it() -> None:
    rng = np.random.default_rng(1)
    scores, truth = rng.normal(size=400), rng.integers(0, 2, 400)
    clusters = np.arange(400) // 4
    flags = cross_fitted_flags(scores, truth, clusters, rng=np.random.default_rng(7), folds=4)
    fold_of = np.random.default_rng(7).permutation(100)[clusters] % 4
    for fold in range(4):
        own, others = fold_of == fold, fold_of != fold
        tried = {value: f1_score(truth[others], scores[others] >= value) for value in scores[others]}
        best = max(value for value, found in tried.items() if found == max(tried.values()))
        assert (flags[own] == (scores[own] >= best)).all()


def test_one_cluster_chooses_no_threshold() -> None:
    assert not cross_fitted_flags([1.0, 2.0], [0, 1], [0, 0], rng=np.random.default_rng(0)).any()
    assert not len(cross_fitted_flags([], [], [], rng=np.random.default_rng(0)))


def test_what_cannot_be_a_score_or_a_truth_is_refused() -> None:
    with pytest.raises(ValueError, match="finite scores"):
        area_under_curve([1.0, math.nan], [0, 1])
    with pytest.raises(ValueError, match="found shapes"):
        area_under_curve([1.0], [0, 1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        area_under_curve([1.0, 2.0], [0, 2])
    with pytest.raises(ValueError, match="a cluster for each of 2 units, found 1"):
        areas_under_curves([1.0, 2.0], [0, 1], [0])
