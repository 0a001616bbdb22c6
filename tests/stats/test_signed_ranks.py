"""The signed-rank test and its estimate, against scipy, plain enumeration and a published example."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from hallumeter.stats import ranks as signed_ranks
from hallumeter.stats.bootstrap import FloatArray
from hallumeter.stats.ranks import SignedRankTest, wilcoxon_signed_rank

small_differences = st.lists(st.integers(-4, 4), min_size=1, max_size=9)


def signed_rank_of(differences: list[float] | FloatArray, *, confidence: float = 0.95) -> SignedRankTest:
    return wilcoxon_signed_rank(differences, np.zeros(len(differences)), confidence=confidence)


def walsh_means(values: FloatArray) -> FloatArray:
    """Every mean of two values, each also with itself, by plain enumeration."""
    rows, columns = np.triu_indices(len(values))
    return np.sort((values[rows] + values[columns]) / 2)


def test_a_published_example_comes_out_as_printed() -> None:
    # Hollander and Wolfe 1973, pages 27 to 35: nine patients before and after; V = 40, so 5 on the other side.
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    test = wilcoxon_signed_rank(before, after)
    assert (test.statistic, test.pairs, test.zeros, test.is_exact) == (5.0, 9, 0, True)
    assert test.p_value == pytest.approx(20 / 512)
    assert test.median_difference == pytest.approx(0.46)
    assert test.interval is not None
    assert (test.interval.low, test.interval.high) == pytest.approx((0.010, 0.786))
    assert test.interval.method == "signed_rank"


@pytest.mark.parametrize("count", [1, 2, 5, 12, 25, 26, 49, 50])
def test_without_ties_up_to_fifty_pairs_are_counted_as_scipy_counts_them(count: int) -> None:
    differences = np.random.default_rng(count).normal(0.3, 1, count)
    expected = scipy_stats.wilcoxon(differences, method="exact")
    test = signed_rank_of(differences)
    assert test.is_exact
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p_value == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("count", [51, 193, 2_000])
@pytest.mark.parametrize("decimals", [0, 1, 15])
def test_more_pairs_are_approximated_as_scipy_does_with_ties_and_continuity_corrected(
    count: int, decimals: int
) -> None:
    differences = np.random.default_rng(count).normal(0.1, 1, count).round(decimals)
    changed = differences[differences != 0]
    if len(changed) <= 50:
        differences = np.concatenate([differences, changed])
    expected = scipy_stats.wilcoxon(differences, correction=True)
    test = signed_rank_of(differences)
    assert not test.is_exact
    assert test.zeros == np.count_nonzero(differences == 0)
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p_value == pytest.approx(expected.pvalue, rel=1e-10)


@given(small_differences)
def test_with_ties_the_p_value_is_the_share_of_all_signs_at_least_as_extreme(differences: list[int]) -> None:
    changed = [float(value) for value in differences if value]
    test = signed_rank_of(np.array(differences, dtype=float))
    assert (test.pairs, test.zeros) == (len(differences), len(differences) - len(changed))
    if not changed:
        assert (test.statistic, test.p_value, test.undefined) == (None, None, "no pair differs")
        return
    ranks = scipy_stats.rankdata(np.abs(changed))
    sums = [float(np.dot(signs, ranks)) for signs in itertools.product([0, 1], repeat=len(ranks))]
    assert test.statistic is not None
    assert test.p_value == min(1.0, 2 * sum(value <= test.statistic for value in sums) / len(sums))
    assert test.undefined is None


@given(small_differences)
def test_the_estimate_is_the_median_of_all_means_of_two_with_pairs_that_do_not_differ(differences: list[int]) -> None:
    values = np.array(differences, dtype=float)
    assert signed_rank_of(values).median_difference == np.median(walsh_means(values))


@given(small_differences)
def test_exchanging_the_arms_turns_the_signs_and_nothing_else(differences: list[int]) -> None:
    forward = signed_rank_of(np.array(differences, dtype=float))
    backward = wilcoxon_signed_rank(np.zeros(len(differences)), differences)
    assert (forward.statistic, forward.p_value) == (backward.statistic, backward.p_value)
    assert forward.median_difference is not None
    assert forward.median_difference == -(backward.median_difference or 0.0)
    if forward.interval is not None:
        assert backward.interval is not None
        assert (forward.interval.low, forward.interval.high) == (-backward.interval.high, -backward.interval.low)


def test_six_pairs_are_the_fewest_with_an_interval_and_it_is_their_range() -> None:
    # By hand: 2 of 32 signs are all alike, more than 1 in 20; of 64 they are 2, fewer.
    assert signed_rank_of([1.0, 2, 3, 4, 5]).interval is None
    test = signed_rank_of([1.0, 2, 3, 4, 5, 9])
    assert test.interval is not None
    assert (test.interval.low, test.interval.high) == (1.0, 9.0)


def test_a_higher_confidence_widens_the_interval() -> None:
    differences = np.random.default_rng(1).normal(0, 1, 30)
    narrow, wide = (
        signed_rank_of(differences, confidence=0.8).interval,
        signed_rank_of(differences, confidence=0.99).interval,
    )
    assert narrow is not None
    assert wide is not None
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("count", [12, 50, 60])
def test_the_interval_holds_what_the_test_would_not_reject(count: int) -> None:
    # A value just inside an end leaves a p-value above 0.05 when it is taken off, one just outside does not.
    differences = np.random.default_rng(count).normal(0.5, 1, count)
    interval = signed_rank_of(differences).interval
    assert interval is not None
    for end, outward in ((interval.low, -1e-9), (interval.high, 1e-9)):
        inside, outside = (signed_rank_of(differences - end + step).p_value for step in (outward, -outward))
        assert inside is not None
        assert outside is not None
        assert inside > 0.05 >= outside


@pytest.mark.parametrize("decimals", [0, 1, 15])
def test_many_pairs_are_selected_without_holding_all_means(decimals: int, monkeypatch: pytest.MonkeyPatch) -> None:
    differences = np.random.default_rng(7).normal(0.2, 1, 400).round(decimals)
    at_once = signed_rank_of(differences)
    monkeypatch.setattr(signed_ranks, "_SUMS_AT_ONCE", 100)
    assert signed_rank_of(differences) == at_once
    assert at_once.median_difference == np.median(walsh_means(differences))


def test_thousands_of_pairs_that_hardly_differ_are_selected_too() -> None:
    # By hand: nine pairs in ten are equal, so the means of two are 0 in 81 of 100 cases.
    differences = np.zeros(4_000)
    differences[:400] = np.random.default_rng(8).normal(0, 1, 400)
    test = signed_rank_of(differences)
    assert (test.median_difference, test.zeros) == (0.0, 3_600)
    assert test.interval is not None
    assert (test.interval.low, test.interval.high) == (0.0, 0.0)


def test_no_difference_is_undefined_but_has_an_estimate() -> None:
    test = wilcoxon_signed_rank([0.1, 0.2], [0.1, 0.2])
    assert test == SignedRankTest(None, None, 2, 2, True, 0.0, None, "no pair differs")


def test_no_pairs_leave_everything_undefined() -> None:
    assert wilcoxon_signed_rank([], []) == SignedRankTest(None, None, 0, 0, True, None, None, "there are no pairs")


def test_sums_of_ranks_that_are_equal_have_a_p_value_of_one() -> None:
    assert signed_rank_of([1.0, -1.0]).p_value == 1.0
    balanced = np.concatenate([np.arange(1, 61), -np.arange(1, 61)]).astype(float)
    assert signed_rank_of(balanced).p_value == 1.0


def test_lists_that_do_not_pair_are_refused() -> None:
    with pytest.raises(ValueError, match=r"same pairs in the same order, found shapes \(2,\) and \(1,\)"):
        wilcoxon_signed_rank([1, 2], [1])
    with pytest.raises(ValueError, match="same pairs"):
        wilcoxon_signed_rank([[1, 2]], [[1, 2]])
    with pytest.raises(ValueError, match="must be finite"):
        wilcoxon_signed_rank([1, math.nan], [1, 2])
    with pytest.raises(ValueError, match="confidence"):
        wilcoxon_signed_rank([1, 2], [1, 1], confidence=1)
