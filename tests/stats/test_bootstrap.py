"""Intervals by resampling: coverage, properties, and what is done where resampling would be dishonest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special as scipy_special
from scipy import stats as scipy_stats

from hallumeter.stats.bootstrap import FloatArray, bootstrap_statistic, cluster_bootstrap_interval, resampled_rates
from hallumeter.stats.intervals import Interval, wilson_interval

cells = st.integers(1, 12).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total)))
clusters = st.lists(cells, min_size=2, max_size=40)
Clusters = list[tuple[int, int]]


def interval_of(
    counts: object, totals: object, *, seed: int = 0, resamples: int = 2_000, confidence: float = 0.95
) -> Interval:
    interval = cluster_bootstrap_interval(
        np.asarray(counts),
        np.asarray(totals),
        rng=np.random.default_rng(seed),
        resamples=resamples,
        confidence=confidence,
    )
    assert interval is not None
    return interval


def linearized_by_hand(counts: FloatArray, totals: FloatArray) -> tuple[float, float]:
    """The standard interval of a ratio of means on the log-odds scale, written out with scipy."""
    n, rate = len(counts), counts.sum() / totals.sum()
    variance = n / (n - 1) * ((counts - rate * totals) ** 2).sum() / totals.sum() ** 2
    margin = scipy_stats.t.ppf(0.975, n - 1) * np.sqrt(variance) / (rate * (1 - rate))
    log_odds = scipy_special.logit(rate)
    return float(scipy_special.expit(log_odds - margin)), float(scipy_special.expit(log_odds + margin))


def test_the_bootstrap_approaches_the_linearized_interval_of_a_ratio() -> None:
    rng = np.random.default_rng(3)
    totals = rng.integers(1, 16, 300).astype(float)
    counts = rng.binomial(totals.astype(int), 0.2).astype(float)
    low, high = linearized_by_hand(counts, totals)
    interval = interval_of(counts, totals, resamples=20_000)
    assert interval.method == "cluster_bootstrap"
    assert interval.low == pytest.approx(low, abs=0.03 * (high - low))
    assert interval.high == pytest.approx(high, abs=0.03 * (high - low))


def test_many_continuous_cells_use_the_linearized_interval() -> None:
    rng = np.random.default_rng(4)
    totals = rng.gamma(2.0, size=9_000)
    counts = totals * rng.beta(1, 4, size=9_000)
    interval = interval_of(counts, totals)
    assert interval.method == "cluster_linearized"
    assert (interval.low, interval.high) == pytest.approx(linearized_by_hand(counts, totals), rel=1e-9)


def test_claims_that_move_together_widen_the_interval() -> None:
    # 50 responses of 10 claims, half of them wholly wrong: as much information as 50 claims, not 500.
    together = interval_of([10, 0] * 25, [10] * 50)
    apart = wilson_interval(250, 500)
    of_clusters = wilson_interval(25, 50)
    assert apart is not None
    assert of_clusters is not None
    assert together.high - together.low > 3 * (apart.high - apart.low)
    assert together.high - together.low == pytest.approx(of_clusters.high - of_clusters.low, rel=0.1)


@pytest.mark.long
def test_forty_clusters_are_covered_about_as_often_as_promised() -> None:
    # The full table is in benchmarks/interval_coverage.py; plain percentiles reach 89 % here.
    rng = np.random.default_rng(5)
    held, replicates = 0, 400
    for _ in range(replicates):
        totals = rng.integers(1, 16, 40)
        counts = rng.binomial(totals, rng.beta(0.05 * 4, 0.95 * 4, 40))
        interval = cluster_bootstrap_interval(counts, totals, rng=rng, resamples=500)
        held += interval is not None and interval.low <= 0.05 <= interval.high
    assert 0.91 < held / replicates < 0.98


@settings(max_examples=50)
@given(clusters, st.integers(0, 3))
def test_the_interval_holds_the_rate_within_zero_and_one(drawn: Clusters, seed: int) -> None:
    counts, totals = zip(*drawn, strict=True)
    interval = interval_of(counts, totals, seed=seed, resamples=200)
    assert 0 <= interval.low <= sum(counts) / sum(totals) <= interval.high <= 1
    assert interval.low < interval.high


@settings(max_examples=50)
@given(clusters, st.randoms(use_true_random=False))
def test_the_order_of_clusters_does_not_matter(drawn: Clusters, random: object) -> None:
    shuffled = list(drawn)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    counts, totals = zip(*drawn, strict=True)
    assert interval_of(counts, totals, resamples=200) == interval_of(*zip(*shuffled, strict=True), resamples=200)


@settings(max_examples=50)
@given(clusters)
def test_the_interval_of_the_complement_is_the_complement(drawn: Clusters) -> None:
    # By another seed, because the cells sort the other way round: equal within the noise of the resamples.
    counts, totals = (np.array(column) for column in zip(*drawn, strict=True))
    interval, mirrored = interval_of(counts, totals), interval_of(totals - counts, totals)
    assert interval.low == pytest.approx(1 - mirrored.high, abs=0.05)


@settings(max_examples=50)
@given(clusters, st.floats(0.5, 0.99), st.floats(0.5, 0.99))
def test_more_confidence_is_wider(drawn: Clusters, one: float, other: float) -> None:
    counts, totals = zip(*drawn, strict=True)
    narrow, wide = (interval_of(counts, totals, resamples=200, confidence=level) for level in sorted([one, other]))
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


def test_the_same_generator_state_gives_the_same_interval() -> None:
    counts, totals = [0, 1, 2, 0, 5], [3, 4, 2, 2, 9]
    assert interval_of(counts, totals, seed=8) == interval_of(counts, totals, seed=8)
    assert interval_of(counts, totals, seed=8) != interval_of(counts, totals, seed=9)


def test_clusters_without_a_total_are_left_out() -> None:
    assert interval_of([0, 0, 2, 0, 1], [3, 0, 4, 0, 1]) == interval_of([0, 2, 1], [3, 4, 1])


@pytest.mark.parametrize("clusters", [2, 10, 40])
def test_clusters_without_a_single_case_get_wilson_on_the_clusters(clusters: int) -> None:
    none, wilson = interval_of([0] * clusters, range(1, clusters + 1)), wilson_interval(0, clusters)
    all_of_them = interval_of(range(1, clusters + 1), range(1, clusters + 1))
    assert wilson is not None
    assert none == Interval(0.0, wilson.high, "wilson_by_cluster")
    assert all_of_them == Interval(1 - wilson.high, 1.0, "wilson_by_cluster")


def test_clusters_with_one_common_rate_do_not_claim_certainty() -> None:
    # By hand: Wilson's upper bound for 0 of 12 is z**2 / (12 + z**2); that share may move from 1/2 to 0 or to 1.
    unseen = 1.959963984540054**2 / (12 + 1.959963984540054**2)
    interval = interval_of([1, 2, 3] * 4, [2, 4, 6] * 4)
    assert interval.method == "wilson_by_cluster"
    assert (interval.low, interval.high) == pytest.approx((0.5 - unseen / 2, 0.5 + unseen / 2), rel=1e-12)


def test_rounding_of_weighted_counts_is_not_taken_for_spread() -> None:
    weights = np.array([0.1 + 0.2, 0.3, 0.7, 1e-3])
    assert interval_of(weights / 3, weights).method == "wilson_by_cluster"


def test_a_rate_that_rounds_to_one_does_not_claim_certainty() -> None:
    assert interval_of([1e17, 0.0], [1e17, 1.0]).method == "wilson_by_cluster"


def test_a_ratio_that_is_no_proportion_gets_a_symmetric_interval() -> None:
    interval = interval_of([5, -1, 2, 9, 4], [2, 2, 2, 3, 1])
    assert interval.low < 19 / 10 < interval.high
    assert (interval.low + interval.high) / 2 == pytest.approx(1.9, rel=1e-12)


def test_a_ratio_without_negative_counts_gets_an_interval_of_as_many_times_down_as_up() -> None:
    # By hand on the logarithm: the ratio, times or divided by exp of Student's quantile times the relative error.
    rng = np.random.default_rng(6)
    totals = rng.gamma(2.0, size=9_000)
    counts = totals * rng.lognormal(-1, 1, size=9_000)
    ratio = counts.sum() / totals.sum()
    variance = 9_000 / 8_999 * ((counts - ratio * totals) ** 2).sum() / totals.sum() ** 2
    times = np.exp(scipy_stats.t.ppf(0.975, 8_999) * np.sqrt(variance) / ratio)
    interval = interval_of(counts, totals)
    assert interval.method == "cluster_linearized"
    assert (interval.low, interval.high) == pytest.approx((ratio / times, ratio * times), rel=1e-9)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 12)), min_size=4, max_size=30))
def test_an_interval_of_a_ratio_is_above_zero_and_as_many_times_down_as_up(drawn: Clusters) -> None:
    counts, totals = (np.array(column) for column in zip(*drawn, strict=True))
    found = cluster_bootstrap_interval(counts, totals, rng=np.random.default_rng(0), resamples=200, is_share=False)
    if found is not None and found.method == "cluster_bootstrap":
        ratio = counts.sum() / totals.sum()
        assert 0 < found.low < ratio < found.high
        assert found.low * found.high == pytest.approx(ratio**2, rel=1e-9)


def test_skewed_error_rates_of_forty_pages_are_covered_nearly_as_often_as_promised() -> None:
    # Lognormal rates with a mean of 0.64, most pages below 1 and some far above. A symmetric interval reaches 90 %.
    rng = np.random.default_rng(7)
    truth = 0.5 * np.exp(0.7**2 / 2)
    held, replicates = 0, 400
    for _ in range(replicates):
        totals = rng.lognormal(7, 0.6, 40)
        interval = cluster_bootstrap_interval(
            totals * 0.5 * rng.lognormal(0, 0.7, 40), totals, rng=rng, resamples=300, is_share=False
        )
        held += interval is not None and interval.low <= truth <= interval.high
    assert 0.88 < held / replicates < 0.97


def test_a_ratio_that_happens_to_stay_below_one_may_still_have_an_interval_above() -> None:
    lengths, pages = [99, 100, 97, 100, 90], [100] * 5
    assert interval_of(lengths, pages).high < 1
    ratio = cluster_bootstrap_interval(lengths, pages, rng=np.random.default_rng(0), is_share=False)
    assert ratio is not None
    assert ratio.low < 0.972
    assert ratio.high > 1


def test_a_ratio_without_a_single_case_gets_wilson_on_the_clusters() -> None:
    none = cluster_bootstrap_interval([0, 0, 0], [2, 3, 4], rng=np.random.default_rng(0), is_share=False)
    assert none == interval_of([0, 0, 0], [2, 3, 4])
    same = cluster_bootstrap_interval([2, 3, 4], [2, 3, 4], rng=np.random.default_rng(0), is_share=False)
    assert same is None


@pytest.mark.parametrize("confidence", [0.95, 0.999999])
def test_two_ratios_far_apart_tell_nothing(confidence: float) -> None:
    rng = np.random.default_rng(0)
    assert cluster_bootstrap_interval([1, 90], [9, 9], rng=rng, confidence=confidence) is None
    assert cluster_bootstrap_interval([11, 10], [9, 9], rng=rng) is not None


@pytest.mark.parametrize(
    ("counts", "totals"), [([], []), ([1], [4]), ([1, 0], [4, 0]), ([6, 3, 3], [2, 1, 1])], ids=str
)
def test_one_cluster_or_one_ratio_beyond_proportions_is_undefined(counts: list[int], totals: list[int]) -> None:
    assert cluster_bootstrap_interval(counts, totals, rng=np.random.default_rng(0)) is None


@pytest.mark.parametrize("counts", [[], [0, 1]])
def test_too_few_resamples_and_impossible_confidence_are_refused_whatever_the_data(counts: list[int]) -> None:
    totals = [2] * len(counts)
    with pytest.raises(ValueError, match="at least 100 resamples are needed, found 99"):
        cluster_bootstrap_interval(counts, totals, rng=np.random.default_rng(0), resamples=99)
    with pytest.raises(ValueError, match="confidence must lie strictly"):
        cluster_bootstrap_interval(counts, totals, rng=np.random.default_rng(0), confidence=95)


def test_inputs_are_not_changed() -> None:
    counts, totals = np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0 + 2, 3.0])
    interval_of(counts, totals)
    assert counts.tolist() == [0, 1, 2]
    assert totals.tolist() == [1, 2, 3]


def test_resampled_rates_follow_the_binomial_of_equal_clusters() -> None:
    # Clusters of one claim: the resampled rate times 20 is binomial(20, 0.3).
    rates = resampled_rates([1] * 6 + [0] * 14, [1] * 20, rng=np.random.default_rng(1), resamples=20_000)
    observed = np.bincount(np.rint(rates * 20).astype(int), minlength=21)
    expected = 20_000 * scipy_stats.binom.pmf(np.arange(21), 20, 0.3)
    common = expected > 5
    distance = ((observed - expected)[common] ** 2 / expected[common]).sum()
    assert distance < scipy_stats.chi2.ppf(0.999, common.sum())


def test_resampled_rates_of_nothing_are_none() -> None:
    assert resampled_rates([0], [0], rng=np.random.default_rng(0)).tolist() == []


def share_of_first(weights: FloatArray) -> FloatArray:
    return np.asarray(weights[:, 0] / weights.sum(axis=1))


def test_a_statistic_of_patterns_gets_expanded_percentiles() -> None:
    # A share of 60 items is binomial; by hand: tail probability Phi(-sqrt(60/59) t(0.975, 59)) of binomial(60, 0.25).
    interval = bootstrap_statistic([15, 25, 20], share_of_first, rng=np.random.default_rng(2), resamples=20_000)
    tail = scipy_stats.norm.cdf(-np.sqrt(60 / 59) * scipy_stats.t.ppf(0.975, 59))
    expected = [float(scipy_stats.binom.ppf(p, 60, 0.25)) / 60 for p in (tail, 1 - tail)]
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((expected[0], expected[1]), abs=1 / 60 + 1e-12)
    assert interval.method == "item_bootstrap"


def test_the_statistic_sees_whole_items_that_add_up() -> None:
    seen: list[FloatArray] = []

    def remembered(weights: FloatArray) -> FloatArray:
        seen.extend(weights)
        return np.asarray(weights[:, 1])

    bootstrap_statistic([3, 0, 4], remembered, rng=np.random.default_rng(0), resamples=100)
    assert {int(weights.sum()) for weights in seen} == {7}
    assert not any(weights[1] for weights in seen)


def test_single_items_are_drawn_like_any_others() -> None:
    seen: list[FloatArray] = []

    def remembered(weights: FloatArray) -> FloatArray:
        seen.extend(weights)
        return np.asarray(weights[:, 1])

    bootstrap_statistic([1] * 12, remembered, rng=np.random.default_rng(0), resamples=20_000)
    assert {int(weights.sum()) for weights in seen} == {12}
    # How often one item is drawn is binomial(12, 1 / 12).
    drawn = np.array(seen)
    for item in (0, 11):
        observed = np.bincount(drawn[:, item].astype(int), minlength=6)[:6]
        expected = 20_000 * scipy_stats.binom.pmf(np.arange(6), 12, 1 / 12)
        assert ((observed - expected) ** 2 / expected).sum() < scipy_stats.chi2.ppf(0.9999, 5)
    assert np.cov(drawn[:, 0], drawn[:, 1])[0, 1] == pytest.approx(-1 / 12, abs=0.03)


def test_undefined_resamples_are_left_out_while_half_remain() -> None:
    def above(threshold: int) -> Interval | None:
        return bootstrap_statistic(
            [50, 50],
            lambda weights: np.where(weights[:, 0] > threshold, share_of_first(weights), np.nan),
            rng=np.random.default_rng(0),
        )

    interval = above(45)
    assert interval is not None
    assert interval.low > 0.45
    assert above(55) is None


@pytest.mark.parametrize("multiplicities", [[], [0, 0], [1, 0], [9, 0]], ids=str)
def test_a_statistic_of_one_item_or_without_spread_is_undefined(multiplicities: list[int]) -> None:
    assert bootstrap_statistic(multiplicities, share_of_first, rng=np.random.default_rng(0)) is None


@pytest.mark.parametrize("multiplicities", [[1.5, 2.0], [-1, 3], [[[1, 2]]], [True, False]], ids=str)
def test_multiplicities_that_are_no_whole_numbers_are_refused(multiplicities: list[float]) -> None:
    with pytest.raises(ValueError, match="one whole number, 0 or more, per pattern"):
        bootstrap_statistic(multiplicities, share_of_first, rng=np.random.default_rng(0))


def test_nested_items_are_drawn_with_their_whole_cluster() -> None:
    # Ten responses whose five claims all agree carry the information of ten claims, not of fifty.
    clusters = np.array([[5, 0]] * 5 + [[0, 5]] * 5)

    nested = bootstrap_statistic(clusters, share_of_first, rng=np.random.default_rng(0))
    alone = bootstrap_statistic(clusters.sum(axis=0), share_of_first, rng=np.random.default_rng(0))
    assert nested is not None
    assert alone is not None
    assert nested.method == "cluster_bootstrap"
    assert alone.method == "item_bootstrap"
    assert nested.high - nested.low > 1.8 * (alone.high - alone.low)
