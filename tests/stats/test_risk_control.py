"""Thresholds that keep a promise: their tests against scipy and against all that can happen."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from hallumeter.stats.risk_control import (
    Candidates,
    Risk,
    ScoredUnits,
    binomial_lower_tail,
    candidates_for,
    conformal_place,
    fewest_clean_units,
    learn_then_test,
    log_purse,
    risk_p_value,
    risk_sums,
    risk_upper_bound,
)

RISKS: tuple[Risk, ...] = ("among_accepted", "of_all", "missed")
LIMIT = 0.3


def singles(scores: list[float], truth: list[float]) -> ScoredUnits:
    return ScoredUnits(np.array(scores), np.array(truth), np.arange(len(scores)), np.ones(len(scores)))


def nested(sizes: list[int], counts: list[int]) -> ScoredUnits:
    """Accepted units in clusters of these sizes, so many of them hallucinated."""
    truth = [float(place < count) for size, count in zip(sizes, counts, strict=True) for place in range(size)]
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    return ScoredUnits(np.zeros(len(truth)), np.array(truth), clusters, np.ones(len(truth)))


def p_of(units: ScoredUnits, limit: float = LIMIT, *, largest: float) -> float:
    return risk_p_value(risk_sums(units, "among_accepted", 0.5, largest=largest), limit)


def purse(units: ScoredUnits, limit: float, *, largest: float) -> float:
    return float(np.exp(log_purse(risk_sums(units, "among_accepted", 0.5, largest=largest), limit)))


def all_thresholds(units: ScoredUnits) -> Candidates:
    thresholds = np.unique(units.scores[np.isfinite(units.scores)])
    return candidates_for(thresholds, scores=units.scores, clusters=units.clusters, weights=units.weights)


def random_units(rng: np.random.Generator, clusters: int, *, size: int, skill: float = 1.0) -> ScoredUnits:
    """Units of clusters that err together, with scores that tell something."""
    sizes = rng.integers(1, size + 1, clusters)
    numbers = np.repeat(np.arange(clusters), sizes)
    latent = rng.normal(-1.5, 1.0, len(numbers)) + np.repeat(rng.normal(0, 1, clusters), sizes)
    truth = (rng.random(len(numbers)) < 1 / (1 + np.exp(-latent))).astype(float)
    scores = np.round(1 / (1 + np.exp(-skill * (latent + rng.normal(0, 1, len(numbers))))), 2)
    return ScoredUnits(scores, truth, numbers, np.ones(len(numbers)))


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.5, 0.99])
def test_the_binomial_tail_is_that_of_scipy(rate: float) -> None:
    for total, count in ((1, 0), (1, 1), (45, 0), (300, 9), (300, 299), (300, 300), (2000, 85)):
        assert binomial_lower_tail(count, total, rate) == pytest.approx(stats.binom.cdf(count, total, rate), rel=1e-9)


def test_units_of_different_clusters_are_tested_by_the_binomial() -> None:
    units = singles([0.1] * 60 + [0.9] * 40, [1.0, 0.0, 0.0] * 20 + [1.0] * 40)
    sums = {risk: risk_sums(units, risk, 0.5, largest=1) for risk in RISKS}
    assert all(each.is_binomial for each in sums.values())
    assert risk_p_value(sums["among_accepted"], 0.4) == pytest.approx(stats.binom.cdf(20, 60, 0.4))
    assert risk_p_value(sums["of_all"], 0.4) == pytest.approx(stats.binom.cdf(20, 100, 0.4))
    assert risk_p_value(sums["missed"], 0.4) == pytest.approx(stats.binom.cdf(20, 60, 0.4))


def test_the_bound_of_single_units_is_that_of_clopper_and_pearson() -> None:
    units = singles([0.1] * 60, [1.0, 0.0, 0.0] * 20)
    bound = risk_upper_bound(risk_sums(units, "among_accepted", 0.5, largest=1), 0.1)
    assert bound == pytest.approx(stats.beta.ppf(0.9, 21, 40))
    everything = singles([0.1] * 3, [1.0] * 3)
    assert risk_upper_bound(risk_sums(everything, "among_accepted", 0.5, largest=1), 0.1) == 1.0


def test_shares_and_weights_and_nested_units_are_tested_by_betting() -> None:
    shared = singles([0.1, 0.1], [0.0, 0.5])
    weighted = ScoredUnits(np.zeros(2), np.zeros(2), np.arange(2), np.array([1.0, 2.0]))
    for units in (shared, weighted, nested([2, 1], [0, 0])):
        assert not risk_sums(units, "among_accepted", 0.5, largest=2).is_binomial


def test_nothing_accepted_shows_nothing() -> None:
    units = singles([0.9], [0.0])
    assert risk_p_value(risk_sums(units, "among_accepted", 0.5, largest=1), 0.1) == 1.0
    assert risk_sums(units, "among_accepted", 0.5, largest=1).value is None


def test_the_stake_of_everything_may_be_lost() -> None:
    assert 0 < purse(nested([2, 2], [2, 2]), LIMIT, largest=2) < 1
    assert p_of(nested([2, 2], [2, 2]), largest=2) == 1.0


def test_more_accepted_in_a_cluster_than_was_said_is_refused() -> None:
    with pytest.raises(ValueError, match="said to be the most"):
        p_of(nested([3], [3]), largest=2)


def test_betting_is_right_for_clusters_that_err_together_whatever_happens() -> None:
    # All outcomes of nine clusters, each wholly hallucinated with the limit as chance: no purse grows on average.
    outcomes = [nested([2] * 9, [2] * bad + [0] * (9 - bad)) for bad in range(10)]
    chances = [stats.binom.pmf(bad, 9, LIMIT) for bad in range(10)]
    found = [(p_of(units, largest=2), chance) for units, chance in zip(outcomes, chances, strict=True)]
    purses = [purse(units, LIMIT, largest=2) for units in outcomes]
    assert np.dot(chances, purses) == pytest.approx(1)
    for level, _ in found:
        assert sum(chance for p, chance in found if p <= level) <= level + 1e-12


def test_betting_is_right_for_clusters_that_are_not_alike() -> None:
    # Six clusters, of three sizes and rates; the risk of all their units together is the limit.
    sizes, rates = [1, 2, 3, 1, 2, 3], [0.9, 0.3, 0.1, 0.9, 0.3, 0.1]
    limit = sum(map(float.__mul__, map(float, sizes), rates)) / sum(sizes)
    mean = 0.0
    for bad in product((0, 1), repeat=6):
        chance = float(np.prod([rate if is_bad else 1 - rate for rate, is_bad in zip(rates, bad, strict=True)]))
        counts = [size * is_bad for size, is_bad in zip(sizes, bad, strict=True)]
        mean += chance * purse(nested(sizes, counts), limit, largest=3)
    assert mean <= 1 + 1e-12


def test_betting_is_right_for_clusters_drawn_without_replacement() -> None:
    population = [(1, 1), (2, 1), (3, 0), (2, 2), (1, 0), (3, 1), (2, 0), (1, 0)]
    limit = sum(bad for _, bad in population) / sum(size for size, _ in population)
    purses = []
    for drawn in combinations(population, 5):
        units = nested([size for size, _ in drawn], [bad for _, bad in drawn])
        purses.append(purse(units, limit, largest=3))
    assert np.mean(purses) <= 1 + 1e-12


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_the_order_of_clusters_does_not_matter_and_the_bound_is_where_the_test_turns(
    clusters: list[tuple[int, int]],
) -> None:
    sizes, counts = [size for size, _ in clusters], [min(pair) for pair in clusters]
    sums = risk_sums(nested(sizes, counts), "among_accepted", 0.5, largest=4)
    turned = risk_sums(nested(sizes[::-1], counts[::-1]), "among_accepted", 0.5, largest=4)
    assert risk_p_value(sums, LIMIT) == pytest.approx(risk_p_value(turned, LIMIT))
    bound = risk_upper_bound(sums, 0.2)
    assert bound >= (sums.value or 0.0)
    if bound < 1:
        assert risk_p_value(sums, bound) <= 0.2 < risk_p_value(sums, bound - 1e-6)


def test_the_most_that_is_accepted_of_a_cluster_is_counted_over_all_units() -> None:
    rng = np.random.default_rng(5)
    units = random_units(rng, 40, size=6)
    weights = rng.integers(1, 4, len(units)).astype(float)
    thresholds = np.array([-1.0, 0.05, 0.2, 0.5, 1.0])
    found = candidates_for(thresholds, scores=units.scores, clusters=units.clusters, weights=weights)
    for threshold, largest in zip(thresholds, found.largest, strict=True):
        sums = np.bincount(units.clusters, weights=np.where(units.scores <= threshold, weights, 0.0))
        assert largest == max(sums.max(), weights.max())


def plainly(units: ScoredUnits, candidates: Candidates, *, limit: float, error: float) -> int | None:
    """Learn-then-Test as it is written: all p-values, then every sequence to its first failure."""
    p_values = [
        risk_p_value(risk_sums(units, "among_accepted", float(threshold), largest=float(largest)), limit)
        for threshold, largest in zip(candidates.thresholds, candidates.largest, strict=True)
    ]
    accepted = [(units.scores <= threshold).sum() for threshold in candidates.thresholds]
    fewest = np.log(error) / np.log(1 - limit)
    shares = [share for share in (1.0, 0.5, 0.25, 0.125) if share == 1 or accepted[-1] * share >= np.ceil(fewest)]
    wanted = [accepted[-1] * share for share in shares]
    starts = {next(place for place, count in enumerate(accepted) if count >= number) for number in wanted}
    passed = []
    for start in starts:
        for place in range(start, len(p_values)):
            if p_values[place] > error / len(starts):
                break
            passed.append(place)
    return max(passed, default=None)


@pytest.mark.parametrize("size", [1, 4])
def test_the_search_is_learn_then_test_with_several_starts(size: int) -> None:
    found = []
    for seed in range(12):
        units = random_units(np.random.default_rng(seed), 400, size=size)
        candidates = all_thresholds(units)
        place = learn_then_test(units, candidates, risk="among_accepted", limit=0.15, error=0.1).place
        assert place == plainly(units, candidates, limit=0.15, error=0.1)
        found.append(place)
    assert len(set(found)) > 3


def test_without_a_threshold_the_best_promise_is_the_smallest_bound_of_a_start() -> None:
    units = random_units(np.random.default_rng(1), 300, size=1)
    candidates = all_thresholds(units)
    refused = learn_then_test(units, candidates, risk="among_accepted", limit=0.02, error=0.1)
    assert refused.place is None
    assert refused.best_place is not None
    accepted = np.array([(units.scores <= threshold).sum() for threshold in candidates.thresholds])
    # 114 clean units are the least: of 300, all and half of them are starts.
    starts = [int(np.argmax(accepted >= number)) for number in (150, 300)]
    bounds = [
        risk_upper_bound(risk_sums(units, "among_accepted", float(candidates.thresholds[start]), largest=1), 0.05)
        for start in starts
    ]
    assert refused.best_bound == min(bounds) < 0.5
    assert refused.best_place == starts[int(np.argmin(bounds))]


@pytest.mark.parametrize("risk", ["of_all", "missed"])
def test_a_risk_that_grows_has_one_start_and_all_of_the_error(risk: Risk) -> None:
    units = random_units(np.random.default_rng(2), 500, size=1)
    candidates = all_thresholds(units)
    found = learn_then_test(units, candidates, risk=risk, limit=0.2, error=0.1)
    assert found.error == 0.1
    assert found.place is not None
    here, following = (
        risk_sums(units, risk, float(candidates.thresholds[place]), largest=1)
        for place in (found.place, found.place + 1)
    )
    assert risk_p_value(here, 0.2) <= 0.1 < risk_p_value(following, 0.2)


def test_nothing_to_choose_from_is_no_threshold() -> None:
    empty = Candidates(np.empty(0), np.empty(0))
    assert learn_then_test(singles([0.1], [0.0]), empty, risk="missed", limit=0.1, error=0.1).place is None
    nobody = ScoredUnits(np.empty(0), np.empty(0), np.empty(0, dtype=np.int64), np.empty(0))
    some = Candidates(np.array([0.5]), np.array([1.0]))
    assert learn_then_test(nobody, some, risk="among_accepted", limit=0.1, error=0.1).best_bound is None


@pytest.mark.parametrize("risk", ["of_all", "missed"])
@pytest.mark.parametrize("seed", range(5))
def test_a_conformal_threshold_keeps_the_risk_for_the_cluster_that_was_left_out(risk: Risk, seed: int) -> None:
    # The average over all ways to leave one cluster out is what the theorem speaks of, so it holds for any data.
    units = random_units(np.random.default_rng(seed), 60, size=4)
    candidates = all_thresholds(units)
    losses = []
    for cluster in range(60):
        rest, one = (_some(units, units.clusters != cluster), _some(units, units.clusters == cluster))
        place = conformal_place(rest, candidates, risk=risk, limit=0.15)
        threshold = -1.0 if place is None else float(candidates.thresholds[place])
        sums = risk_sums(one, risk, threshold, largest=4)
        losses.append(sums.bad - 0.15 * sums.whole)
    assert np.mean(losses) <= 0
    assert conformal_place(units, candidates, risk=risk, limit=0.15) is not None


def _some(units: ScoredUnits, rows: NDArray[np.bool_]) -> ScoredUnits:
    return ScoredUnits(units.scores[rows], units.truth[rows], units.clusters[rows], units.weights[rows])


def test_a_conformal_threshold_takes_every_label_into_account() -> None:
    clean = singles([0.1, 0.2, 0.3, 0.9], [0.0] * 4)
    every = all_thresholds(clean)
    assert conformal_place(clean, every, risk="of_all", limit=0.2) == 3  # 0 + 1 of 5
    assert conformal_place(clean, every, risk="of_all", limit=0.19) is None


def test_a_promise_on_average_needs_a_risk_that_grows_and_equal_weights() -> None:
    units = singles([0.1, 0.2], [0.0, 0.0])
    with pytest.raises(ValueError, match="need not grow"):
        conformal_place(units, all_thresholds(units), risk="among_accepted", limit=0.1)
    uneven = ScoredUnits(units.scores, units.truth, units.clusters, np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="not exchangeable"):
        conformal_place(uneven, all_thresholds(uneven), risk="of_all", limit=0.1)


def test_the_fewest_clean_units_are_just_enough() -> None:
    for limit, error in ((0.05, 0.1), (0.1, 0.1), (0.02, 0.05)):
        fewest = fewest_clean_units(limit, error)
        assert (1 - limit) ** fewest <= error < (1 - limit) ** (fewest - 1)


def broken_promises(*, size: int, repetitions: int) -> tuple[int, int]:
    """How often a chosen threshold has a true risk above the limit: by Learn-then-Test, and by the labels alone."""
    limit, grid = 0.15, np.arange(1, 41) / 40
    world = random_units(np.random.default_rng(99), 60_000, size=size)
    risks = [float(world.truth[world.scores <= threshold].mean()) for threshold in grid]
    broken = naive = 0
    for seed in range(repetitions):
        units = random_units(np.random.default_rng(1_000 + seed), 250, size=size)
        candidates = candidates_for(grid, scores=units.scores, clusters=units.clusters, weights=units.weights)
        place = learn_then_test(units, candidates, risk="among_accepted", limit=limit, error=0.1).place
        broken += place is not None and risks[place] > limit
        shares = [units.truth[units.scores <= threshold] for threshold in grid]
        kept = [number for number, share in enumerate(shares) if len(share) and share.mean() <= limit]
        naive += bool(kept) and risks[max(kept)] > limit
    return broken, naive


@pytest.mark.parametrize("size", [1, 5])
def test_the_promise_is_kept_where_the_labels_own_share_breaks_it(size: int) -> None:
    broken, naive = broken_promises(size=size, repetitions=120)
    assert broken <= 12
    assert naive > 30
