"""The panel model, against planted judges, a closed solution and an expectation maximisation in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hallumeter.stats.bootstrap import FloatArray
from hallumeter.stats.raters import (
    DawidSkene,
    JudgeAccuracy,
    RatingArray,
    dawid_skene,
    distinct_patterns,
    sensitivity_specificity,
)

SUPPORTED, REFUTED, NOT_ENOUGH = range(3)

PREVALENCE = np.array([0.6, 0.25, 0.15])
JUDGES = np.array(
    [
        [[0.90, 0.04, 0.06], [0.05, 0.90, 0.05], [0.10, 0.10, 0.80]],
        [[0.80, 0.10, 0.10], [0.20, 0.70, 0.10], [0.15, 0.15, 0.70]],
        [[0.95, 0.03, 0.02], [0.30, 0.60, 0.10], [0.30, 0.05, 0.65]],
        [[0.70, 0.10, 0.20], [0.05, 0.85, 0.10], [0.05, 0.15, 0.80]],
    ]
)

# Radiographs of 3,869 teeth read by five dentists, three of whom are tabulated here; 0 = sound, 1 = carious
# (Espeland and Handelman, Biometrics 45, 1989, 587-599).
DENTIST_PATTERNS = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
DENTIST_COUNTS = [2128, 1122, 54, 226, 36, 87, 7, 209]


def simulated_panel(items: int, missing: float, seed: int) -> RatingArray:
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=items, p=PREVALENCE)
    cumulative = JUDGES.cumsum(axis=2)[:, truth]
    ratings = (rng.random((len(JUDGES), items, 1)) > cumulative).sum(axis=2).T
    kept: RatingArray = np.where(rng.random(ratings.shape) < missing, -1, ratings).astype(np.int8)
    return kept


def plain_vote_shares(row: list[int], classes: int) -> list[float]:
    given_ratings = [rating for rating in row if rating >= 0]
    return [given_ratings.count(k) / len(given_ratings) for k in range(classes)]


def plain_step(
    ratings: list[list[int]], posteriors: list[list[float]], smoothing: float
) -> tuple[list[list[float]], list[float]]:
    """One step of expectation maximisation, item by item, without logarithms, arrays or patterns."""
    classes, judges = range(len(posteriors[0])), range(len(ratings[0]))
    items = list(zip(ratings, posteriors, strict=True))
    prevalence = [math.fsum(p[k] for p in posteriors) / len(items) for k in classes]

    def confusion(judge: int, k: int, rating: int) -> float:
        counts = [smoothing + math.fsum(p[k] for row, p in items if row[judge] == given) for given in classes]
        return counts[rating] / math.fsum(counts)

    cells = {(judge, k, rating): confusion(judge, k, rating) for judge in judges for k in classes for rating in classes}
    joint = [
        [prevalence[k] * math.prod(cells[j, k, row[j]] for j in judges if row[j] >= 0) for k in classes]
        for row in ratings
    ]
    return [[value / math.fsum(row) for value in row] for row in joint], prevalence


def fitted(ratings: RatingArray, **settings: float) -> DawidSkene:
    patterns, multiplicities, _ = distinct_patterns(ratings)
    return dawid_skene(patterns, multiplicities, classes=3, iterations=2_000, **settings)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_planted_judges_are_recovered(missing: float) -> None:
    result = fitted(simulated_panel(200_000, missing, seed=1))
    assert result.converged
    np.testing.assert_allclose(result.prevalence, PREVALENCE, atol=0.02)
    np.testing.assert_allclose(result.confusion, JUDGES, atol=0.03)


def test_planted_accuracies_are_recovered() -> None:
    # By hand from the planted panel: unsupported is refuted or not enough information, weighted 0.25 to 0.15.
    result = fitted(simulated_panel(200_000, 0.0, seed=2))
    accuracies = sensitivity_specificity(result, positive=[REFUTED, NOT_ENOUGH])
    assert accuracies[0].sensitivity == pytest.approx((0.25 * 0.95 + 0.15 * 0.90) / 0.40, abs=0.02)
    assert accuracies[0].specificity == pytest.approx(0.90, abs=0.02)
    assert accuracies[2].sensitivity == pytest.approx((0.25 * 0.70 + 0.15 * 0.70) / 0.40, abs=0.02)
    assert accuracies[2].specificity == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_each_step_agrees_with_expectation_maximisation_in_plain_python(seed: int) -> None:
    ratings = simulated_panel(120, 0.25, seed)
    ratings = ratings[(ratings >= 0).any(axis=1)]
    patterns, multiplicities, inverse = distinct_patterns(ratings)
    result = dawid_skene(patterns, multiplicities, classes=3, iterations=7, tolerance=0.0, smoothing=0.5)
    rows: list[list[int]] = ratings.tolist()
    posteriors, prevalence = [plain_vote_shares(row, 3) for row in rows], [0.0]
    for _ in range(7):
        posteriors, prevalence = plain_step(rows, posteriors, smoothing=0.5)
    assert (result.iterations, result.converged) == (7, False)
    np.testing.assert_allclose(result.posteriors[inverse], posteriors, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(result.prevalence, prevalence, rtol=1e-9)


def two_classes_three_judges() -> tuple[float, list[float], list[float]]:
    """Prevalence, sensitivities and specificities that reproduce the dentists' table, from its moments.

    With two classes and three judges there are as many parameters as free cells. With centred ratings x_j and
    prevalence p, cov(x_i, x_j) = p (1 - p) d_i d_j and E[x_1 x_2 x_3] = p (1 - p) (1 - 2 p) d_1 d_2 d_3, where
    d_j = sensitivity + specificity - 1.
    """
    table, weights = np.array(DENTIST_PATTERNS, dtype=float), np.array(DENTIST_COUNTS) / sum(DENTIST_COUNTS)
    means = weights @ table
    centred = table - means
    first, second, third = ((weights * centred[:, i] * centred[:, j]).sum() for i, j in ((0, 1), (0, 2), (1, 2)))
    triple = (weights * centred.prod(axis=1)).sum()
    # triple**2 / (product of covariances) = (1 - 2 p)**2 / (p (1 - p)), and carious teeth are the fewer.
    ratio = triple**2 / (first * second * third)
    prevalence = (1 - math.sqrt(ratio / (ratio + 4))) / 2
    variance = prevalence * (1 - prevalence)
    distances = [math.sqrt(value / variance) for value in (first * second / third, first * third / second)]
    distances.append(math.sqrt(second * third / first / variance))
    specificities = [1 - (mean - prevalence * d) for mean, d in zip(means, distances, strict=True)]
    sensitivities = [mean + (1 - prevalence) * d for mean, d in zip(means, distances, strict=True)]
    return float(prevalence), sensitivities, specificities


def test_three_dentists_agree_with_the_closed_solution() -> None:
    prevalence, sensitivities, specificities = two_classes_three_judges()
    result = dawid_skene(
        DENTIST_PATTERNS, DENTIST_COUNTS, classes=2, iterations=100_000, tolerance=1e-14, smoothing=1e-12
    )
    assert result.converged
    assert result.prevalence[1] == pytest.approx(prevalence, abs=1e-6)
    accuracies = sensitivity_specificity(result, positive=[1])
    assert [judge.sensitivity for judge in accuracies] == pytest.approx(sensitivities, abs=1e-6)
    assert [judge.specificity for judge in accuracies] == pytest.approx(specificities, abs=1e-6)


def test_the_fit_reproduces_a_table_that_it_has_enough_parameters_for() -> None:
    result = dawid_skene(
        DENTIST_PATTERNS, DENTIST_COUNTS, classes=2, iterations=100_000, tolerance=1e-14, smoothing=1e-12
    )
    expected = [
        sum(DENTIST_COUNTS)
        * sum(
            result.prevalence[k] * math.prod(result.confusion[judge, k, rating] for judge, rating in enumerate(row))
            for k in (0, 1)
        )
        for row in DENTIST_PATTERNS
    ]
    assert expected == pytest.approx(DENTIST_COUNTS, abs=0.01)


def test_a_good_judge_outvotes_two_poor_ones() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 20_000)
    noise = rng.random((20_000, 5)) < np.array([0.02, 0.4, 0.4, 0.1, 0.1])
    patterns, multiplicities, _ = distinct_patterns(np.where(noise, 1 - truth[:, np.newaxis], truth[:, np.newaxis]))
    result = dawid_skene(patterns, multiplicities, classes=2)
    outvoted = patterns.tolist().index([1, 0, 0, 0, 1])
    assert result.posteriors[outvoted].argmax() == 1


@pytest.mark.parametrize("rows", [[[0, 0, 0], [1, 1, 1], [1, 1, 0]], [[0, -1, 0], [1, 1, -1], [-1, -1, 2]]], ids=str)
def test_probabilities_add_up(rows: list[list[int]]) -> None:
    result = dawid_skene(rows, [5, 3, 2], classes=3)
    for shares in (result.posteriors, result.prevalence, result.confusion):
        np.testing.assert_allclose(shares.sum(axis=-1), 1.0, rtol=1e-12)


def test_the_split_of_items_over_equal_patterns_does_not_matter() -> None:
    together = dawid_skene([[0, 0, 1], [1, 1, 1]], [6, 4], classes=2)
    apart = dawid_skene([[0, 0, 1], [1, 1, 1], [0, 0, 1]], [2, 4, 4], classes=2)
    np.testing.assert_allclose(together.confusion, apart.confusion, rtol=1e-9)
    np.testing.assert_allclose(together.posteriors[0], apart.posteriors[2], rtol=1e-9)


def test_items_that_nobody_rated_get_the_prevalence_and_change_nothing() -> None:
    rated = dawid_skene([[0, 0, 1], [1, 1, 1]], [6, 4], classes=2)
    result = dawid_skene([[-1, -1, -1], [0, 0, 1], [1, 1, 1]], [100, 6, 4], classes=2)
    np.testing.assert_allclose(result.prevalence, rated.prevalence, rtol=1e-12)
    np.testing.assert_allclose(result.posteriors[0], result.prevalence, rtol=1e-12)


def test_a_class_that_nobody_names_has_no_share_and_no_accuracy() -> None:
    result = dawid_skene([[0, 0, 1], [1, 1, 1]], [6, 4], classes=3)
    assert result.prevalence[2] == 0.0
    np.testing.assert_allclose(result.confusion[:, 2], 1 / 3)
    assert all(judge.sensitivity is None for judge in sensitivity_specificity(result, positive=[2]))


def test_a_judge_without_ratings_has_no_accuracy() -> None:
    result = dawid_skene([[0, -1, 0], [1, -1, 1]], [6, 4], classes=2)
    assert sensitivity_specificity(result, positive=[1])[1] == JudgeAccuracy(None, None)
    assert result.rated[1].tolist() == [0.0, 0.0]
    assert result.rated[0].tolist() == pytest.approx([6.0, 4.0], abs=0.01)


def test_a_thousand_judges_do_not_underflow() -> None:
    rows = np.array([[0] * 1_000, [1] * 1_000, [0] * 501 + [1] * 499])
    result = dawid_skene(rows, [10, 10, 1], classes=2)
    assert np.isfinite(result.posteriors).all()
    assert result.posteriors[:2].argmax(axis=1).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("patterns", "multiplicities", "settings", "message"),
    [
        ([[0, 1], [0]], [1, 1], {}, "."),
        ([0, 1], [1, 1], {}, "one row per item and one column per judge"),
        ([[0.5, 1.0]], [1], {}, "whole numbers"),
        ([[0, -2]], [1], {}, r"-1 \(missing\) to 126, found -2 to 0"),
        ([[0, 300]], [1], {}, r"-1 \(missing\) to 126, found 0 to 300"),
        ([[0, 2]], [1], {}, "found 2 classes and a rating of 2"),
        ([[0, 0]], [1], {"classes": 1}, "two classes or more"),
        ([[0, 1]], [1, 2], {}, "each of the 1 patterns"),
        ([[0, 1]], [-1], {}, "0 or more"),
        ([[0, 1]], [math.nan], {}, "0 or more"),
        ([[-1, -1]], [3], {}, "no item was rated"),
        ([[0, 1]], [0], {}, "no item was rated"),
        ([[0, 1]], [1], {"iterations": 0}, "iterations must be 1 or more"),
        ([[0, 1]], [1], {"smoothing": 0.0}, "smoothing above 0"),
        ([[0, 1]], [1], {"tolerance": math.nan}, "tolerance 0 or more"),
    ],
)
def test_unusable_panels_are_refused(
    patterns: list[list[int]], multiplicities: list[float], settings: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        dawid_skene(patterns, multiplicities, **{"classes": 2, **settings})


@pytest.mark.parametrize("positive", [[], [0, 1], [2], [1, 1], [-1]], ids=str)
def test_positive_classes_must_be_some_but_not_all(positive: list[int]) -> None:
    result = dawid_skene([[0, 0, 1], [1, 1, 1]], [6, 4], classes=2)
    with pytest.raises(ValueError, match="some but not all of the classes 0 to 1"):
        sensitivity_specificity(result, positive)


narrow = arrays.arrays(np.int8, st.tuples(st.integers(1, 40), st.integers(1, 4)), elements=st.integers(-1, 2))
middle = arrays.arrays(np.int8, st.tuples(st.integers(1, 40), st.just(9)), elements=st.integers(-1, 3))
wide = arrays.arrays(np.int8, st.tuples(st.integers(1, 40), st.just(40)), elements=st.integers(-1, 3))


@given(st.one_of(narrow, middle, wide))
def test_distinct_patterns_are_the_distinct_rows_in_ascending_order(ratings: RatingArray) -> None:
    rows, counts = np.unique(ratings, axis=0, return_counts=True)
    patterns, multiplicities, inverse = distinct_patterns(ratings)
    assert patterns.dtype == np.int8
    assert patterns.tolist() == rows.tolist()
    assert multiplicities.tolist() == counts.tolist()
    assert patterns[inverse].tolist() == ratings.tolist()


def test_no_ratings_have_no_patterns() -> None:
    patterns, multiplicities, inverse = distinct_patterns(np.empty((0, 3), dtype=np.int8))
    assert patterns.shape == (0, 3)
    assert multiplicities.tolist() == []
    assert inverse.tolist() == []


def test_a_million_items_of_three_judges_are_sorted_into_patterns_at_once() -> None:
    ratings = np.random.default_rng(0).integers(-1, 3, (1_000_000, 3)).astype(np.int8)
    patterns, multiplicities, _ = distinct_patterns(ratings)
    assert len(patterns) == 64
    assert multiplicities.sum() == 1_000_000


def test_inputs_are_not_changed() -> None:
    patterns, multiplicities = np.array([[0, 0, 1], [1, 1, -1]], dtype=np.int8), np.array([6, 4])
    before: FloatArray = patterns.astype(np.float64)
    dawid_skene(patterns, multiplicities, classes=2)
    assert np.array_equal(patterns, before)
    assert multiplicities.tolist() == [6, 4]
