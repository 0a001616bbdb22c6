"""Paired differences, tests and corrections, against scipy, statsmodels and plain enumeration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from hallumeter.stats.bootstrap import FloatArray
from hallumeter.stats.significance import (
    PairedDifference,
    benjamini_hochberg,
    holm,
    mcnemar_mid_p,
    paired_bootstrap_difference,
    permutation_p_value,
)

Arm = tuple[ArrayLike, ArrayLike]
p_values = st.lists(st.floats(0, 1), max_size=30)


def difference_of(first: Arm, second: Arm, *, seed: int = 0, resamples: int = 2_000) -> PairedDifference:
    result = paired_bootstrap_difference(first, second, rng=np.random.default_rng(seed), resamples=resamples)
    assert result is not None
    return result


def simulated_arms(clusters: int, seed: int) -> tuple[Arm, Arm]:
    """Two models on the same questions, some of which are hard for both."""
    rng = np.random.default_rng(seed)
    totals = rng.integers(1, 10, clusters)
    difficulty = rng.beta(1, 3, clusters)
    return (rng.binomial(totals, difficulty), totals), (rng.binomial(totals, 0.7 * difficulty), totals)


def test_the_difference_is_that_of_the_pooled_rates() -> None:
    # By hand: 6 of 10 less 2 of 8.
    result = difference_of(([1, 2, 3], [2, 4, 4]), ([0, 1, 1], [3, 3, 2]))
    assert result.difference == pytest.approx(0.6 - 0.25)
    assert result.clusters == 3


def test_the_interval_approaches_the_paired_interval_of_linearized_residuals() -> None:
    # By hand: the mean of paired residuals has the variance of a mean; close to 0 the bounded scale hardly bends.
    (counts_a, totals), (counts_b, _) = simulated_arms(400, 1)
    a, b, t = np.asarray(counts_a), np.asarray(counts_b), np.asarray(totals)
    residuals = (a - b - (a.sum() - b.sum()) / t.sum() * t) / t.sum()
    margin = scipy_stats.t.ppf(0.975, 399) * math.sqrt(400 / 399 * (residuals**2).sum())
    result = difference_of((counts_a, totals), (counts_b, totals), resamples=20_000)
    assert result.interval is not None
    assert result.interval.method == "cluster_bootstrap"
    assert (result.interval.high - result.interval.low) / 2 == pytest.approx(margin, rel=0.03)


def test_what_both_arms_share_cancels_out() -> None:
    first, second = simulated_arms(200, 2)
    shuffled = np.random.default_rng(3).permutation(200)
    apart = tuple(np.asarray(column)[shuffled] for column in second)
    paired, unpaired = difference_of(first, second), difference_of(first, (apart[0], apart[1]))
    assert paired.difference == pytest.approx(unpaired.difference, abs=1e-15)
    assert paired.interval is not None
    assert unpaired.interval is not None
    assert paired.interval.high - paired.interval.low < 0.8 * (unpaired.interval.high - unpaired.interval.low)


def test_swapping_the_arms_swaps_the_sign() -> None:
    first, second = simulated_arms(60, 4)
    one, other = difference_of(first, second), difference_of(second, first)
    assert one.difference == -other.difference
    assert one.interval is not None
    assert other.interval is not None
    assert one.interval.low == pytest.approx(-other.interval.high, abs=0.01)


def test_the_interval_of_a_difference_stays_between_minus_one_and_one() -> None:
    result = difference_of(([3, 3, 2], [3, 3, 3]), ([0, 0, 0], [3, 3, 3]))
    assert result.interval is not None
    assert -1 < result.interval.low < result.difference < result.interval.high < 1


def test_a_run_against_itself_does_not_claim_certainty() -> None:
    # By hand: up to Wilson's upper bound for 0 of 3 of the clusters not seen may differ by up to 1 either way.
    arm: Arm = ([1, 0, 2], [2, 3, 3])
    unseen = 1.959963984540054**2 / (3 + 1.959963984540054**2)
    result = difference_of(arm, arm)
    assert result.difference == 0.0
    assert result.interval is not None
    assert result.interval.method == "wilson_by_cluster"
    assert (result.interval.low, result.interval.high) == pytest.approx((-unseen, unseen))


def test_a_cluster_may_lack_one_arm_but_not_both() -> None:
    first, second = ([1, 0, 0, 2, 0], [2, 3, 0, 4, 0]), ([0, 1, 1, 0, 0], [2, 2, 2, 0, 0])
    result = difference_of(first, second)
    assert result.clusters == 4
    assert result.difference == pytest.approx(3 / 9 - 2 / 6)


def test_resamples_in_which_an_arm_is_empty_are_left_out() -> None:
    # One of 20 clusters has a total in the second arm, and is missing from a third of the resamples.
    second = ([1] + [0] * 19, [2] + [0] * 19)
    result = difference_of(([1, 0] * 10, [2, 2] * 10), second)
    assert result.interval is not None
    assert result.interval.method == "cluster_bootstrap"


def test_an_arm_without_a_total_leaves_the_difference_undefined() -> None:
    assert paired_bootstrap_difference(([1], [2]), ([0], [0]), rng=np.random.default_rng(0)) is None
    assert paired_bootstrap_difference(([], []), ([], []), rng=np.random.default_rng(0)) is None


def test_one_cluster_has_a_difference_but_no_interval() -> None:
    assert difference_of(([1], [2]), ([0], [3])) == PairedDifference(0.5, None, 1, standard_error=0.0, differing=1)


def test_arms_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="same clusters in the same order, found 2 and 1"):
        difference_of(([1, 1], [2, 2]), ([0], [3]))


def enumerated(differences: list[float]) -> float:
    """The sign-flip test by brute force."""
    observed = abs(math.fsum(differences))
    flips = itertools.product([-1, 1], repeat=len(differences))
    sums = [abs(math.fsum(sign * value for sign, value in zip(signs, differences, strict=True))) for signs in flips]
    return sum(total >= observed - 1e-9 for total in sums) / len(sums)


@given(st.lists(st.integers(-20, 20).map(lambda tenths: tenths / 10), min_size=1, max_size=9))
def test_the_sign_flip_test_enumerates_all_signs_of_few_differences(differences: list[float]) -> None:
    assert permutation_p_value(differences, rng=np.random.default_rng(0)) == pytest.approx(enumerated(differences))


def test_the_sign_flip_test_agrees_with_scipy() -> None:
    differences = np.random.default_rng(5).normal(0.4, 1, 12)
    reference = scipy_stats.permutation_test([differences], np.sum, permutation_type="samples", n_resamples=2**12)
    exact = permutation_p_value(differences, rng=np.random.default_rng(0))
    assert exact == pytest.approx(reference.pvalue, rel=1e-12)


@pytest.mark.parametrize("kind", ["continuous", "few sizes"])
def test_the_sampled_sign_flip_test_approaches_the_normal_limit(kind: str) -> None:
    rng = np.random.default_rng(6)
    differences = rng.normal(0.08, 1, 400) if kind == "continuous" else rng.integers(-2, 4, 400) - 0.4
    differences = differences - differences.mean() + 0.09
    limit = 2 * scipy_stats.norm.sf(abs(differences.sum()) / math.sqrt((differences**2).sum()))
    sampled = permutation_p_value(differences, rng=rng, resamples=20_000)
    assert sampled == pytest.approx(limit, abs=0.012)


def test_the_sampled_sign_flip_test_never_claims_zero() -> None:
    assert permutation_p_value([1.0] * 100, rng=np.random.default_rng(0), resamples=999) == pytest.approx(1 / 1000)


def test_the_order_of_differences_does_not_matter() -> None:
    differences = np.random.default_rng(7).normal(0.1, 1, 50)
    forward, backward = (
        permutation_p_value(order, rng=np.random.default_rng(0)) for order in (differences, differences[::-1])
    )
    assert forward == backward


def test_ties_with_the_observed_sum_count_as_extreme() -> None:
    # By hand: 0.1 + 0.2 + 0.3 in any order; 2 of 8 signs reach the sum, whatever the rounding.
    for order in itertools.permutations([0.1, 0.2, 0.3]):
        assert permutation_p_value(order, rng=np.random.default_rng(0)) == 0.25


def test_no_differences_are_undefined_and_all_zero_is_no_evidence() -> None:
    assert permutation_p_value([], rng=np.random.default_rng(0)) is None
    assert permutation_p_value([0, 0, 0], rng=np.random.default_rng(0)) == 1.0


@pytest.mark.parametrize("differences", [[1.0, math.nan], [[1.0, 2.0]]], ids=str)
def test_unusable_differences_are_refused(differences: list[float]) -> None:
    with pytest.raises(ValueError, match="differences must be finite, one per pair"):
        permutation_p_value(differences, rng=np.random.default_rng(0))


def test_a_test_without_resamples_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one resample"):
        permutation_p_value([1.0], rng=np.random.default_rng(0), resamples=0)


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 1), (1, 5), (3, 12), (30, 14), (200, 260), (0, 900)])
def test_mcnemar_mid_p_is_the_exact_test_less_half_of_both_equal_tables(only_a: int, only_b: int) -> None:
    exact = mcnemar([[0, only_a], [only_b, 0]], exact=True).pvalue
    same = scipy_stats.binom.pmf(min(only_a, only_b), only_a + only_b, 0.5)
    assert mcnemar_mid_p(only_a, only_b) == pytest.approx(exact - same, rel=1e-9)
    assert mcnemar_mid_p(only_a, only_b) == mcnemar_mid_p(only_b, only_a)


def test_mcnemar_of_millions_of_pairs_does_not_overflow() -> None:
    smaller, larger = 10**6, 10**6 + 3_000
    pairs = smaller + larger
    reference = 2 * scipy_stats.binom.cdf(smaller, pairs, 0.5) - scipy_stats.binom.pmf(smaller, pairs, 0.5)
    assert mcnemar_mid_p(smaller, larger) == pytest.approx(reference, rel=1e-6)
    assert mcnemar_mid_p(0, 10**6) == 0.0


@pytest.mark.parametrize("each", [1, 7, 10**6])
def test_mcnemar_of_even_counts_is_no_evidence(each: int) -> None:
    assert mcnemar_mid_p(each, each) == 1.0


def test_mcnemar_without_discordant_pairs_is_undefined() -> None:
    assert mcnemar_mid_p(0, 0) is None


@pytest.mark.parametrize("pair", [(-1, 2), (1.5, 2), (math.nan, 2)], ids=str)
def test_impossible_discordant_counts_are_refused(pair: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="discordant pairs must be whole numbers"):
        mcnemar_mid_p(*pair)


@settings(max_examples=25)
@given(p_values)
def test_adjusted_p_values_agree_with_statsmodels(given_values: list[float]) -> None:
    for adjust, name in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        reference = multipletests(given_values, method=name)[1] if given_values else []
        np.testing.assert_allclose(adjust(given_values), reference, rtol=1e-12, atol=1e-300)


@given(p_values)
def test_adjusted_p_values_never_fall_and_never_pass_one(given_values: list[float]) -> None:
    family, discovery = holm(given_values), benjamini_hochberg(given_values)
    assert np.all(np.array(given_values) <= discovery + 1e-15)
    assert np.all(discovery <= family + 1e-15)
    assert np.all(family <= 1)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@pytest.mark.parametrize("values", [[0.1, math.nan], [0.1, 1.1], [-0.1], [[0.1, 0.2]]], ids=str)
def test_impossible_p_values_are_refused(adjust: Callable[[ArrayLike], FloatArray], values: list[float]) -> None:
    with pytest.raises(ValueError, match="p-values must be one list of numbers from 0 to 1"):
        adjust(values)
