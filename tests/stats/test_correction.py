"""Corrected rates, against plain loops, statsmodels, scikit-learn and what PPI++ and Rogan and Gladen wrote."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats
from sklearn.metrics import recall_score
from statsmodels.stats.proportion import proportion_confint

from hallumeter.stats.correction import (
    ALL_ALIKE,
    NO_BETTER,
    NO_LABEL,
    ONE_CLUSTER,
    UNLABELLED_STRATUM,
    Estimate,
    LabelledUnits,
    effective_interval,
    jackknife,
    labels_for_width,
    prediction_powered_rate,
    rogan_gladen_rate,
    sensitivity,
    specificity,
)
from hallumeter.stats.intervals import wilson_interval

NAN = math.nan


def simulated(
    seed: int, *, responses: int = 300, rate: float = 0.2, skill: tuple[float, float] = (0.8, 0.9), share: float = 0.2
) -> LabelledUnits:
    """Claims of responses that err together, some of them labelled at random."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(responses), rng.integers(1, 8, responses))
    is_true = rng.random(len(clusters)) < rng.beta(rate * 3, (1 - rate) * 3, responses)[clusters]
    found, passed = skill
    is_flagged = np.where(is_true, rng.random(len(clusters)) < found, rng.random(len(clusters)) >= passed)
    truth = np.where(rng.random(len(clusters)) < share, is_true, NAN)
    return LabelledUnits(clusters, is_flagged.astype(np.int64), is_flagged, truth)


def by_hand(strata: list[int], truth: list[float], clusters: list[int] | None = None) -> LabelledUnits:
    """A few units; stratum 1 is flagged."""
    numbers = np.array(strata, dtype=np.int64)
    places = np.arange(len(strata)) if clusters is None else np.array(clusters)
    return LabelledUnits(places, numbers, numbers == 1, np.array(truth, dtype=float))


def known(estimate: Estimate) -> tuple[float, float, float]:
    """Value, and both ends of the interval."""
    assert estimate.value is not None
    assert estimate.interval is not None
    return estimate.value, estimate.interval.low, estimate.interval.high


@pytest.mark.parametrize("seed", range(5))
def test_with_two_strata_the_rate_is_that_of_ppi_with_its_best_weight(seed: int) -> None:
    units = simulated(seed)
    labelled = units.is_labelled
    truth, guesses = units.truth[labelled], units.is_flagged[labelled].astype(float)
    weight = np.cov(truth, guesses)[0, 1] / np.var(guesses, ddof=1)
    expected = truth.mean() + weight * (units.is_flagged.mean() - guesses.mean())
    assert prediction_powered_rate(units).value == pytest.approx(expected)


def test_the_interval_agrees_with_that_of_the_ppi_package_for_independent_units() -> None:
    # ppi-python 0.2.3, ppi_mean_ci on this data: 0.2234 (0.1873 to 0.2595), with unlabelled units held apart.
    rng = np.random.default_rng(0)
    is_true = rng.random(5000) < 0.2
    is_flagged = np.where(is_true, rng.random(5000) < 0.8, rng.random(5000) < 0.1)
    truth = np.where(rng.random(5000) < 0.06, is_true, NAN)
    units = LabelledUnits(np.arange(5000), is_flagged.astype(np.int64), is_flagged, truth)
    value, low, high = known(prediction_powered_rate(units))
    assert value == pytest.approx(0.2234, abs=5e-4)
    assert low == pytest.approx(0.1873, abs=3e-3)
    assert high == pytest.approx(0.2595, abs=3e-3)


@pytest.mark.parametrize("seed", range(3))
def test_the_standard_error_is_that_of_leaving_out_each_response(seed: int) -> None:
    units = simulated(seed, responses=60, share=0.5)
    left = []
    for cluster in range(60):
        kept = units.clusters != cluster
        part = LabelledUnits(units.clusters[kept], units.strata[kept], units.is_flagged[kept], units.truth[kept])
        left.append(prediction_powered_rate(part).value)
    spread = math.sqrt(59 * np.var(np.array(left, dtype=float)))
    found = prediction_powered_rate(units).standard_error
    # Beyond it lies only what labels that agree may hide.
    assert found is not None
    assert spread <= found <= spread * 1.1


def test_strata_may_be_labelled_at_different_rates() -> None:
    """Every flagged claim and a tenth of the others are labelled: the plain mean is far off, the rate is not."""
    units = simulated(1, responses=4000, share=1.0)
    rng = np.random.default_rng(0)
    is_hidden = ~units.is_flagged & (rng.random(len(units)) < 0.9)
    few = LabelledUnits(units.clusters, units.strata, units.is_flagged, np.where(is_hidden, NAN, units.truth))
    true_rate = units.truth.mean()
    value, low, high = known(prediction_powered_rate(few))
    assert abs(float(np.nanmean(few.truth)) - true_rate) > 0.2
    assert abs(value - true_rate) < 0.02
    assert low < true_rate < high


def test_weights_make_a_mean_over_responses() -> None:
    clusters = np.array([0, 0, 0, 1])
    truth = np.array([1.0, 0.0, 0.0, 1.0])
    units = LabelledUnits(
        clusters, np.zeros(4, np.int64), np.zeros(4, bool), truth, weights=np.array([1.0, 1.0, 1.0, 3.0]) / 3
    )
    assert prediction_powered_rate(units).value == pytest.approx((1 / 3 + 1) / 2)


def test_a_share_of_annotators_is_a_truth() -> None:
    assert prediction_powered_rate(by_hand([0, 0, 1, 1], [0, 0.5, 1, 1])).value == pytest.approx(0.625)


@pytest.mark.parametrize(
    ("units", "why"),
    [
        (by_hand([], []), NO_LABEL),
        (by_hand([0, 1], [NAN, NAN]), NO_LABEL),
        (by_hand([0, 1], [0, 1], clusters=[0, 0]), ONE_CLUSTER),
        (by_hand([0, 0, 1], [0, 0, NAN]), UNLABELLED_STRATUM),
    ],
)
def test_without_labels_where_they_are_needed_there_is_no_rate(units: LabelledUnits, why: str) -> None:
    for estimate in (prediction_powered_rate, sensitivity, specificity):
        assert estimate(units) == Estimate(None, undefined=why)
    assert labels_for_width(units, 0.05) is None


def test_labels_that_all_agree_do_not_show_that_the_judge_never_errs() -> None:
    """Twenty of 400 claims are labelled, none of them an error: up to a seventh may be."""
    units = by_hand([0] * 400, [0.0] * 20 + [NAN] * 380)
    value, low, high = known(prediction_powered_rate(units))
    assert (value, low) == (0.0, 0.0)
    assert high == pytest.approx(proportion_confint(0, 20, method="wilson")[1], rel=0.02)


def test_when_everything_is_labelled_and_alike_the_clusters_not_seen_remain() -> None:
    found = prediction_powered_rate(by_hand([0] * 30, [0.0] * 30))
    assert found.standard_error == 0
    assert found.interval is not None
    assert found.interval.method == "wilson_by_cluster"
    assert found.interval.high == pytest.approx(proportion_confint(0, 30, method="wilson")[1])


@given(st.floats(0.02, 0.98), st.integers(20, 5000))
def test_many_clusters_give_the_interval_of_wilson(rate: float, size: int) -> None:
    found = effective_interval(rate, math.sqrt(rate * (1 - rate) / size), clusters=10**7)
    if math.sqrt(rate * (1 - rate) / size) > min(rate, 1 - rate):
        return
    low, high = proportion_confint(rate * size, size, method="wilson")
    assert found.low == pytest.approx(low, abs=1e-5)
    assert found.high == pytest.approx(high, abs=1e-5)


def test_few_clusters_make_the_interval_wider_by_student() -> None:
    few, many = (effective_interval(0.5, 0.01, clusters=clusters) for clusters in (5, 10**7))
    factor = scipy_stats.t.ppf(0.975, 4) / scipy_stats.norm.ppf(0.975)
    assert (few.high - few.low) / (many.high - many.low) == pytest.approx(factor, rel=1e-3)


@given(st.floats(0, 1), st.floats(1e-6, 2), st.integers(2, 500))
def test_an_interval_holds_its_value_and_stays_between_0_and_1(value: float, error: float, clusters: int) -> None:
    found = effective_interval(value, error, clusters=clusters)
    assert -1e-12 <= found.low <= value + 1e-9
    assert value - 1e-9 <= found.high <= 1 + 1e-12


def test_error_rates_of_a_judge_are_recalls_when_all_is_labelled() -> None:
    units = simulated(3, share=1.0)
    truth = units.truth.astype(int)
    assert sensitivity(units).value == pytest.approx(recall_score(truth, units.is_flagged))
    assert specificity(units).value == pytest.approx(recall_score(1 - truth, ~units.is_flagged))


def test_error_rates_are_weighted_when_labels_were_drawn_by_verdict() -> None:
    """Begg and Greenes (1983): what was labelled less counts for more."""
    truth = [1, 1, 0, 0] + [0, 0, 0, 1] + [NAN] * 12
    units = by_hand([1] * 4 + [0] * 16, truth)
    # Flagged: 4 claims, half true. Passed: 16 claims, a quarter of the labelled true, so 4 in all.
    assert sensitivity(units).value == pytest.approx(2 / (2 + 4))
    assert specificity(units).value == pytest.approx(12 / (12 + 2))
    # Put into Rogan and Gladen's formula they give back the prediction-powered rate.
    found, passed = sensitivity(units).value, specificity(units).value
    assert found is not None
    assert passed is not None
    assert (4 / 20 + passed - 1) / (found + passed - 1) == pytest.approx(prediction_powered_rate(units).value)


def test_an_error_rate_needs_both_kinds_of_truth() -> None:
    units = by_hand([0, 0, 1, 1], [0, 0, 0, 0])
    assert sensitivity(units).undefined == ALL_ALIKE
    assert specificity(units).value == 0.5
    assert rogan_gladen_rate(units).undefined == ALL_ALIKE


def test_a_judge_that_finds_everything_may_still_miss_something() -> None:
    value, low, high = known(sensitivity(by_hand([0] * 50 + [1] * 10, [0.0] * 50 + [1.0] * 10)))
    assert value == 1.0
    assert high == pytest.approx(1.0)
    assert low == pytest.approx(proportion_confint(10, 10, method="wilson")[0])


def test_the_formula_of_rogan_and_gladen() -> None:
    """A fifth is flagged, sensitivity 0.9 and specificity 0.95: 0.15 of 0.85 is what is true."""
    labelled = [(1, 1.0)] * 9 + [(0, 1.0)] + [(0, 0.0)] * 19 + [(1, 0.0)]
    flagged, others = 200 - 10, 800 - 20
    strata = [stratum for stratum, _ in labelled] + [1] * flagged + [0] * others
    truth = [is_true for _, is_true in labelled] + [NAN] * (flagged + others)
    assert rogan_gladen_rate(by_hand(strata, truth)).value == pytest.approx((0.2 + 0.95 - 1) / (0.9 + 0.95 - 1))


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_of_rogan_and_gladen_holds_the_rates_that_a_test_does_not_reject(seed: int) -> None:
    """Fieller's ends are where (excess - rate * skill) lies as far from 0 as Student's t allows."""
    units = simulated(seed, responses=400, share=0.4)
    value, low, high = known(rogan_gladen_rate(units))
    assert low < value < high
    spread = scipy_stats.t.ppf(0.975, units.labelled_clusters - 1)
    for end in (low, high):
        distance, error = _tested(units, end)
        assert abs(distance / error) == pytest.approx(spread, rel=0.02)


def _tested(units: LabelledUnits, rate: float) -> tuple[float, float]:
    """How far the judge's rate is from what a true rate would make it, with the error of leaving out clusters."""

    def distance(kept: NDArray[np.bool_]) -> float:
        truth, flagged = units.truth[kept], units.is_flagged[kept]
        labelled = ~np.isnan(truth)
        found = flagged[labelled & (truth == 1)].mean()
        passed = (~flagged[labelled & (truth == 0)]).mean()
        return float(flagged.mean() + passed - 1 - rate * (found + passed - 1))

    clusters = np.unique(units.clusters)
    left = np.array([distance(units.clusters != cluster) for cluster in clusters])
    error = math.sqrt((len(clusters) - 1) / len(clusters) * ((left - left.mean()) ** 2).sum())
    return distance(np.ones(len(units), bool)), error


def test_a_judge_near_chance_leaves_every_rate_possible() -> None:
    units = by_hand([1, 0, 1, 1, 0, 0] * 4 + [1, 0] * 40, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0] * 4 + [NAN] * 80)
    _, low, high = known(rogan_gladen_rate(units))
    assert (low, high) == (0.0, 1.0)


def test_a_judge_worse_than_chance_corrects_nothing() -> None:
    assert rogan_gladen_rate(by_hand([0, 0, 1, 1], [1, 1, 0, 0])).undefined == NO_BETTER


def test_rogan_and_gladen_need_labels_of_two_responses() -> None:
    assert rogan_gladen_rate(by_hand([0, 1], [NAN, NAN])).undefined == NO_LABEL
    assert rogan_gladen_rate(by_hand([0, 1], [0, 1], clusters=[0, 0])).undefined == ONE_CLUSTER


def test_weights_count_in_rogan_and_gladen_too() -> None:
    units = simulated(4, share=1.0)
    heavy = LabelledUnits(
        units.clusters, units.strata, units.is_flagged, units.truth, weights=np.ones(len(units)) + units.clusters % 3
    )
    assert rogan_gladen_rate(heavy).value == pytest.approx(np.average(units.truth, weights=heavy.weights))


def test_a_cluster_without_which_there_is_no_statistic_is_not_left_out() -> None:
    value, error = jackknife(np.array([[1.0, 1.0], [0.0, 0.0]]), lambda rows: rows[:, 0] / rows[:, 1])
    assert (value, error) == (1.0, 0.0)


@pytest.mark.parametrize("half_width", [0.015, 0.02, 0.03])
def test_as_many_labels_as_it_asks_for_give_the_width(half_width: float) -> None:
    units = simulated(7, responses=3000, share=0.02)
    need = labels_for_width(units, half_width)
    assert need is not None
    assert need.more is not None
    labelled = int(units.is_labelled.sum())
    enough = simulated(7, responses=3000, share=(labelled + need.more) / len(units))
    _, low, high = known(prediction_powered_rate(enough))
    assert (high - low) / 2 == pytest.approx(half_width, rel=0.15)


def test_no_number_of_labels_makes_few_responses_many() -> None:
    units = simulated(8, responses=50, share=0.5)
    need = labels_for_width(units, 0.001)
    assert need is not None
    assert need.more is None
    assert need.narrowest > 0.01


def test_where_nothing_is_found_clusters_must_be_alike_until_little_can_hide() -> None:
    units = by_hand([0] * 200, [0.0] * 20 + [NAN] * 180)
    need = labels_for_width(units, 0.03)
    assert need is not None
    assert need.more is not None
    reached = wilson_interval(0, 20 + need.more)
    assert reached is not None
    assert reached.high / 2 == pytest.approx(0.03, rel=0.02)
    done = labels_for_width(by_hand([0] * 200, [0.0] * 200), 0.03)
    assert done is not None
    assert done.more == 0
    too_much = labels_for_width(units, 0.001)
    assert too_much is not None
    assert too_much.more is None
