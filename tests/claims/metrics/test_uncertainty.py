"""Uncertainty of judges: what the three readings have in common, what is refused, and what is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from hallumeter.claims.metrics.uncertainty import (
    UncertaintyMethod,
    decompose,
    entropy_of,
    mean_aleatoric,
    mean_entropy,
    mean_epistemic,
    mean_total,
    semantic_entropy,
    shannon_entropy,
    uncertainty,
)
from hallumeter.errors import RecordError, SettingsError
from hallumeter.records.columns import UncertaintySums
from hallumeter.records.rate import Rate
from metric_inputs import METHODS, claim_samples

Samples = NDArray[np.float64]


@settings(max_examples=150)
@given(claim_samples)
def test_the_information_form_is_entropy_of_the_mean_and_mean_entropy(samples: Samples) -> None:
    epistemic, aleatoric = (float(part[0]) for part in decompose(samples[np.newaxis]))
    assert aleatoric == pytest.approx(float(scipy_stats.entropy(samples, axis=1).mean()), abs=1e-9)
    assert epistemic + aleatoric == pytest.approx(float(scipy_stats.entropy(samples.mean(axis=0))), abs=1e-9)
    assert epistemic >= 0


@settings(max_examples=150)
@given(claim_samples)
def test_the_variance_form_is_the_law_of_total_variance(samples: Samples) -> None:
    epistemic, aleatoric = (float(part[0]) for part in decompose(samples[np.newaxis], "variance"))
    mean = samples.mean(axis=0)
    assert epistemic + aleatoric == pytest.approx(float((mean * (1 - mean)).sum()), abs=1e-9)
    assert epistemic >= 0
    assert aleatoric >= 0


@settings(max_examples=150)
@given(claim_samples)
def test_the_literal_form_never_reaches_its_own_thresholds(samples: Samples) -> None:
    # 2 (K - 1) / K**2 with K = 3 outcomes.
    epistemic, aleatoric = (float(part[0]) for part in decompose(samples[np.newaxis], "literal"))
    assert epistemic + aleatoric <= 4 / 9 + 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_many_claims_at_once_equal_one_at_a_time(method: UncertaintyMethod) -> None:
    samples = np.random.default_rng(0).dirichlet([1, 1, 1], size=(5, 4))
    epistemic, aleatoric = decompose(samples, method)
    for claim, drawn in enumerate(samples):
        single = uncertainty(drawn[0].tolist(), drawn.tolist(), method=method)
        assert single.epistemic == pytest.approx(epistemic[claim], abs=1e-12)
        assert single.aleatoric == pytest.approx(aleatoric[claim], abs=1e-12)
        assert single.total == single.epistemic + single.aleatoric
        assert single.shannon_entropy == shannon_entropy(drawn[0].tolist())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("samples", [[], [[1.0, 0.0, 0.0]]])
def test_fewer_than_two_samples_say_nothing_about_disagreement(
    method: UncertaintyMethod, samples: list[list[float]]
) -> None:
    given_alone = uncertainty([0.7, 0.2, 0.1], samples, method=method)
    assert given_alone.epistemic == 0.0
    assert given_alone.aleatoric == given_alone.total
    repeated = uncertainty([0.7, 0.2, 0.1], [[0.7, 0.2, 0.1]] * 2, method=method)
    assert given_alone.aleatoric == pytest.approx(repeated.aleatoric)


def test_a_certain_prediction_has_no_entropy_not_even_a_negative_zero() -> None:
    assert shannon_entropy([1.0, 0.0, 0.0]) == 0.0
    assert math.copysign(1, shannon_entropy([1, 0])) == 1.0
    assert entropy_of(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist() == pytest.approx([0.0, math.log(2)])


@pytest.mark.parametrize("faulty", [[0.7, 0.7], [], [1.5, -0.5], [math.nan, 1.0], [math.inf, 0.0]])
def test_what_is_no_distribution_is_refused(faulty: list[float]) -> None:
    with pytest.raises(RecordError, match=r"^probabilities \[.*expected numbers >= 0 that add up to 1$"):
        shannon_entropy(faulty)
    with pytest.raises(RecordError, match=r"^inference_samples \[.*expected numbers >= 0 that add up to 1$"):
        uncertainty([0.5, 0.5], [[0.5, 0.5], faulty])


def test_distributions_over_different_outcomes_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"distributions over \[2, 3\] outcomes cannot be compared"):
        uncertainty([0.5, 0.5], [[0.5, 0.5], [0.5, 0.3, 0.2]])
    with pytest.raises(SettingsError, match=r"distributions over \[2, 3\] outcomes cannot be compared"):
        uncertainty([0.5, 0.3, 0.2], [[0.5, 0.5], [0.5, 0.5]])


def test_an_unknown_method_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"'entropic'; choose one of information, variance, literal$"):
        uncertainty([1.0], method="entropic")  # type: ignore[arg-type]


def test_semantic_entropy_without_answers_is_undefined() -> None:
    assert semantic_entropy([]) is None
    assert semantic_entropy([], []) is None


@pytest.mark.parametrize("logs", [[-1.0], [-1.0, math.nan], [-1.0, -math.inf], [-1.0, -1.0, -1.0]])
def test_semantic_entropy_refuses_log_probabilities_that_do_not_fit_the_answers(logs: list[float]) -> None:
    with pytest.raises(SettingsError, match="expected 2 finite log-probabilities, one per answer, found"):
        semantic_entropy([0, 1], logs)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(-3, 3), st.floats(-30, 0)), min_size=1, max_size=10))
def test_semantic_entropy_agrees_with_scipy(answers: list[tuple[int, float]]) -> None:
    clusters, logs = [cluster for cluster, _ in answers], [log for _, log in answers]
    masses = dict.fromkeys(clusters, 0.0)
    for cluster, log in answers:
        masses[cluster] += math.exp(log)
    assert semantic_entropy(clusters, logs) == pytest.approx(
        float(scipy_stats.entropy(list(masses.values()))), abs=1e-9
    )
    shares = [clusters.count(cluster) for cluster in masses]
    assert semantic_entropy(clusters) == pytest.approx(float(scipy_stats.entropy(shares)), abs=1e-9)


def test_means_divide_sums_by_the_claims_that_had_a_distribution() -> None:
    sums = UncertaintySums(
        np.array([2, 0, 1]), np.array([1.0, 0, 0.5]), np.array([0.2, 0, 0.1]), np.array([0.4, 0, 0.2])
    )
    assert mean_entropy(sums).pooled == Rate(1.5, 3)
    assert mean_epistemic(sums).value == pytest.approx(0.1)
    assert mean_aleatoric(sums).value == pytest.approx(0.2)
    assert mean_total(sums).value == pytest.approx(0.3)
    assert mean_total(sums[1:2]).value is None
    assert len(sums[:2]) == 2


def test_a_single_sample_is_checked_although_it_cannot_be_split() -> None:
    with pytest.raises(RecordError, match="inference_samples"):
        uncertainty([0.7, 0.2, 0.1], [[7, 7, 7]])


def test_an_entropy_is_never_below_zero_when_a_sum_is_a_millionth_off() -> None:
    assert shannon_entropy([1.0000005]) == 0.0
