"""Numbers worked by hand, published, or taken from an independent implementation, each with its source."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats
from statsmodels.stats.inter_rater import cohens_kappa as statsmodels_cohen
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from hallumeter.claims.metrics.consensus import consensus_scores, support_from_matrix
from hallumeter.claims.metrics.rates import (
    correct_refusal_rate,
    factual_precision,
    false_acceptance_rate,
    length_penalty,
    macro_hallucination_rate,
    mean_hallucination_rate,
    micro_hallucination_rate,
    over_refusal_rate,
    penalized_factual_precision,
    refuted_claim_rate,
)
from hallumeter.claims.metrics.uncertainty import UncertaintyMethod, semantic_entropy, shannon_entropy, uncertainty
from hallumeter.records.claim import Label, Verdict
from hallumeter.records.columns import Answers, Ratings
from hallumeter.stats.agreement import cohen_kappa, fleiss_kappa, gwet_ac1, krippendorff_alpha
from metric_inputs import label_counts, ratings

# Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76 (1971), table 1, as in the
# data set `diagnoses` of the R package irr: the diagnoses 1 to 5 that six psychiatrists gave each of thirty patients.
DIAGNOSES = (
    "444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333 144444 224445 "
    "333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224 111155 224444 133333 555555"
)
DIAGNOSIS_COUNTS = [[patient.count(label) for label in "12345"] for patient in DIAGNOSES.split()]

# The example of the English Wikipedia article on Fleiss' kappa: fourteen raters, ten subjects, five categories.
WIKIPEDIA = [
    *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
    *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
]

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011): four observers, twelve units, five labels, a dash
# where an observer was silent. The R package irrCAC documents the same ratings as cac.raw4raters.
OBSERVERS = ("123321412---", "1233224125-3", "-3332342251-", "12332441251-")
OBSERVER_COUNTS = [[unit.count(label) for label in "12345"] for unit in zip(*OBSERVERS, strict=True)]


@pytest.mark.parametrize(
    ("counts", "observed", "expected", "kappa"),
    [
        (WIKIPEDIA, 0.378022, 0.212755, 0.209931),
        (DIAGNOSIS_COUNTS, 0.555556, 0.219938, 0.430245),
        ([[7, 1], [3, 5]], 0.607143, 0.531250, 0.161905),
        ([[6, 1, 0], [0, 7, 0]], 0.857143, 0.510204, 0.708333),
        ([[2, 1, 0]], 0.333333, 0.555556, -0.5),
        ([[1, 1, 1], [1, 1, 1]], 0, 0.333333, -0.5),
        ([[3, 0, 0], [0, 3, 0]], 1, 0.5, 1),
    ],
)
def test_fleiss_kappa_and_its_parts_by_hand(
    counts: list[list[int]], observed: float, expected: float, kappa: float
) -> None:
    # The first two are published (0.210; 0.430); the others are short enough for paper.
    result = fleiss_kappa(counts)
    assert result.observed == pytest.approx(observed, abs=5e-7)
    assert result.expected == pytest.approx(expected, abs=5e-7)
    assert result.value == pytest.approx(kappa, abs=5e-7)
    assert result.claims == len(counts)
    assert result.undefined is None


def test_the_diagnoses_have_the_published_column_totals() -> None:
    # Fleiss 1971: 26 depression, 26 personality disorder, 30 schizophrenia, 55 neurosis, 43 other.
    assert np.sum(DIAGNOSIS_COUNTS, axis=0).tolist() == [26, 26, 30, 55, 43]


def test_the_diagnoses_have_the_published_z() -> None:
    # R, irr::kappam.fleiss(diagnoses): kappa = 0.430, z = 17.65183.
    result = fleiss_kappa(DIAGNOSIS_COUNTS)
    assert result.value is not None
    assert result.null_standard_error is not None
    assert result.value / result.null_standard_error == pytest.approx(17.65183, abs=5e-6)


def test_the_first_fifteen_diagnoses_have_the_coefficients_that_irrcac_documents() -> None:
    # R, irrCAC: distrib.6raters, with pa, pe and the standard error of Fleiss' kappa.
    counts = DIAGNOSIS_COUNTS[:15]
    fleiss, alpha, ac1 = fleiss_kappa(counts), krippendorff_alpha(counts), gwet_ac1(counts)
    assert fleiss.value == pytest.approx(0.4139265, abs=5e-8)
    assert fleiss.observed == pytest.approx(0.5511111, abs=5e-8)
    assert fleiss.expected == pytest.approx(0.2340741, abs=5e-8)
    assert fleiss.standard_error == pytest.approx(0.08119291, abs=5e-9)
    assert alpha.value == pytest.approx(0.4204384, abs=5e-8)
    assert ac1.value == pytest.approx(0.4448007, abs=5e-8)
    assert ac1.expected == pytest.approx(0.1914815, abs=5e-8)


def test_every_rating_in_one_category_leaves_kappa_undefined_but_keeps_the_observed_agreement() -> None:
    result = fleiss_kappa([[3, 0, 0], [3, 0, 0]])
    assert result.value is None
    assert (result.observed, result.expected, result.claims) == (1.0, 1.0, 2)
    assert result.undefined == "every rating falls in one category, so agreement by chance is already total"


def test_krippendorffs_example_with_missing_ratings() -> None:
    # Krippendorff 2011, nominal: alpha = .743. irrCAC: 0.74342.
    result = krippendorff_alpha(OBSERVER_COUNTS)
    assert result.value == pytest.approx(0.743421, abs=5e-7)
    assert result.claims == 11
    # By hand: 40 pairable ratings, observed disagreement 8 / 40, expected 1 - (9*8 + 13*12 + 10*9 + 5*4 + 3*2) / 1560.
    assert result.observed == pytest.approx(1 - 8 / 40)
    assert result.expected == pytest.approx((9 * 8 + 13 * 12 + 10 * 9 + 5 * 4 + 3 * 2) / (40 * 39))


def test_gwets_ac1_on_the_example_of_krippendorff() -> None:
    # irrCAC, gwet.ac1.raw(cac.raw4raters): pa = 0.8181818, pe = 0.1903212, AC1 = 0.77544.
    result = gwet_ac1(OBSERVER_COUNTS)
    assert result.observed == pytest.approx(0.8181818, abs=5e-8)
    assert result.expected == pytest.approx(0.1903212, abs=5e-8)
    assert result.value == pytest.approx(0.77544, abs=5e-6)
    assert result.claims == 11


def pair_of_judges(confusion: list[list[int]]) -> Ratings:
    size = len(confusion)
    patterns = np.array([(row, column) for row in range(size) for column in range(size)], dtype=np.int8)
    return Ratings(patterns, np.array(confusion, dtype=np.int64).ravel(), ("first", "second"))


def test_cohens_kappa_of_the_textbook_example() -> None:
    # By hand: Po = 35 / 50, Pe = 0.5 * 0.6 + 0.5 * 0.4 = 0.5, kappa = 0.2 / 0.5.
    result = cohen_kappa(pair_of_judges([[20, 5], [10, 15]]), 0, 1)
    assert [result.observed, result.expected] == pytest.approx([0.7, 0.5])
    assert result.claims == 50
    assert result.value == pytest.approx(0.4)


def test_cohens_kappa_of_the_abstractors() -> None:
    # irrCAC, cont3x3abstractors: 0.7964094; and with both judges pooled, AC1 0.8493305 and alpha 0.7972585.
    judges = pair_of_judges([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    assert cohen_kappa(judges, 0, 1).value == pytest.approx(0.7964094, abs=5e-8)
    assert gwet_ac1(judges.counts(), judges.multiplicities).value == pytest.approx(0.8493305, abs=5e-8)
    assert krippendorff_alpha(judges.counts(), judges.multiplicities).value == pytest.approx(0.7972585, abs=5e-8)


@settings(max_examples=200)
@given(st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=2, max_size=15))
def test_fleiss_kappa_agrees_with_statsmodels(votes: list[list[int]]) -> None:
    counts = np.array([[row.count(label) for label in range(4)] for row in votes])
    assume((counts.sum(axis=0) > 0).sum() > 1)
    assert fleiss_kappa(counts).value == pytest.approx(statsmodels_fleiss(counts), rel=1e-9, abs=1e-12)


@settings(max_examples=200)
@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_cohens_kappa_agrees_with_statsmodels(confusion: list[list[int]]) -> None:
    table = np.array(confusion)
    both_always_one = table.max() == table.sum()
    assume(not both_always_one)
    expected = statsmodels_cohen(table, return_results=False)
    assert cohen_kappa(pair_of_judges(confusion), 0, 1).value == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=30))
def test_alpha_of_two_judges_is_scotts_pi_with_its_correction_for_few_ratings(votes: list[tuple[int, int]]) -> None:
    # Krippendorff 2011: alpha = 1 - (1 - pi) * (ratings - 1) / ratings; Scott's pi is Fleiss' kappa of two judges.
    counts = ratings(votes).counts()
    weights = ratings(votes).multiplicities
    assume(len({vote for pair in votes for vote in pair}) > 1)
    pi = statsmodels_fleiss(np.repeat(counts, weights, axis=0))
    few = 2 * len(votes)
    assert krippendorff_alpha(counts, weights).value == pytest.approx(1 - (1 - pi) * (few - 1) / few, abs=1e-9)


def noisy_votes(claims: int, judges: int) -> NDArray[np.int64]:
    """Votes on three labels by judges that are right three times in four; the numbers do not matter."""
    rng = np.random.default_rng(1)
    truth = rng.choice(3, size=claims, p=[0.6, 0.25, 0.15])
    guesses = rng.integers(3, size=(claims, judges))
    return np.where(rng.random((claims, judges)) < 0.75, truth[:, np.newaxis], guesses)


def test_the_standard_error_of_fleiss_kappa_agrees_with_a_jackknife() -> None:
    votes = noisy_votes(200, 4)
    counts = np.stack([(votes == label).sum(axis=1) for label in range(3)], axis=1)
    left_out = np.array([statsmodels_fleiss(np.delete(counts, claim, axis=0)) for claim in range(200)])
    jackknife = math.sqrt(199 / 200 * ((left_out - left_out.mean()) ** 2).sum())
    assert fleiss_kappa(counts).standard_error == pytest.approx(jackknife, rel=0.03)


def test_the_null_standard_error_agrees_with_votes_drawn_at_random() -> None:
    # The permutation behind Fleiss, Nee and Landis 1979: votes keep their labels and lose their claims.
    rng = np.random.default_rng(2)
    votes = np.repeat([0, 1, 2], [240, 100, 60])
    kappas = []
    for _ in range(400):
        shuffled = rng.permutation(votes).reshape(100, 4)
        kappas.append(statsmodels_fleiss(np.stack([(shuffled == label).sum(axis=1) for label in range(3)], axis=1)))
    some = np.stack([(votes.reshape(100, 4) == label).sum(axis=1) for label in range(3)], axis=1)
    assert fleiss_kappa(some).null_standard_error == pytest.approx(float(np.std(kappas)), rel=0.1)


def test_entropy_of_the_published_distribution_in_nats_and_bits() -> None:
    # judge-auditor's example: H(0.7, 0.2, 0.1) = 0.801819 nats = 1.156780 bits.
    entropy = shannon_entropy([0.7, 0.2, 0.1])
    assert entropy == pytest.approx(0.801819, abs=5e-7)
    assert entropy / math.log(2) == pytest.approx(1.156780, abs=5e-7)


@settings(max_examples=200)
@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=8).filter(any))
def test_entropy_agrees_with_scipy(weights: list[int]) -> None:
    shares = np.array(weights) / sum(weights)
    assert shannon_entropy(shares.tolist()) == pytest.approx(float(scipy_stats.entropy(shares)), rel=1e-9, abs=1e-12)


THREE_SAMPLES = ((0.7, 0.2, 0.1), (0.65, 0.25, 0.1), (0.72, 0.18, 0.1))


@pytest.mark.parametrize(
    ("samples", "method", "epistemic", "aleatoric", "total"),
    [
        (THREE_SAMPLES, "literal", 0.000578, 0.066200, 0.066778),
        (THREE_SAMPLES, "variance", 0.001733, 0.468067, 0.469800),
        (THREE_SAMPLES, "information", 0.002660, 0.811368, 0.814028),
        (((1, 0), (1, 0)), "literal", 0, 0.25, 0.25),
        (((1, 0), (1, 0)), "variance", 0, 0, 0),
        (((1, 0), (1, 0)), "information", 0, 0, 0),
        (((1, 0), (0, 1)), "literal", 0.25, 0.25, 0.5),
        (((1, 0), (0, 1)), "variance", 0.5, 0, 0.5),
        (((1, 0), (0, 1)), "information", 0.693147, 0, 0.693147),
        (((0.5, 0.5), (0.5, 0.5)), "literal", 0, 0, 0),
        (((0.5, 0.5), (0.5, 0.5)), "variance", 0, 0.5, 0.5),
        (((0.5, 0.5), (0.5, 0.5)), "information", 0, 0.693147, 0.693147),
        (((0.9, 0.1), (0.1, 0.9)), "literal", 0.16, 0.16, 0.32),
        (((0.9, 0.1), (0.1, 0.9)), "variance", 0.32, 0.18, 0.5),
        (((0.9, 0.1), (0.1, 0.9)), "information", 0.368064, 0.325083, 0.693147),
    ],
)
def test_uncertainty_by_hand(
    samples: tuple[tuple[float, ...], ...], method: UncertaintyMethod, epistemic: float, aleatoric: float, total: float
) -> None:
    # Worked from the three formulas: Kendall and Gal (variance), Depeweg et al. (information), judge-auditor (literal).
    found = uncertainty(samples[0], samples, method=method)
    assert found.epistemic == pytest.approx(epistemic, abs=6e-7)
    assert found.aleatoric == pytest.approx(aleatoric, abs=6e-7)
    assert found.total == pytest.approx(total, abs=6e-7)
    assert found.method == method


def test_semantic_entropy_by_hand() -> None:
    # Two answers of one meaning and one of another: -(2/3 log 2/3 + 1/3 log 1/3).
    assert semantic_entropy([7, 7, 3]) == pytest.approx(math.log(3) - 2 / 3 * math.log(2))
    assert semantic_entropy([0, 0, 1, 1]) == pytest.approx(math.log(2))
    assert semantic_entropy([4, 4, 4]) == 0.0


def test_semantic_entropy_weighs_answers_by_their_probabilities() -> None:
    # Probabilities 1/2, 1/4 and 1/4, the last two of one meaning: two meanings of mass 1/2, however they are scaled.
    logs = [math.log(0.5), math.log(0.25), math.log(0.25)]
    assert semantic_entropy([0, 1, 1], logs) == pytest.approx(math.log(2))
    assert semantic_entropy([0, 1, 1], [log - 5_000 for log in logs]) == pytest.approx(math.log(2))


def verdicts(*labels: Label, record_id: str = "r1") -> list[Verdict]:
    return [Verdict(record_id, f"c{number}", "human", label) for number, label in enumerate(labels)]


def test_three_verdicts_of_judge_auditor() -> None:
    # judge-auditor: SUPPORTED, REFUTED, NOT_ENOUGH_INFO give MiHR 2/3 and FactScore 1/3.
    given_verdicts = verdicts(Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_INFO)
    assert micro_hallucination_rate(given_verdicts).value == pytest.approx(2 / 3)
    assert factual_precision(given_verdicts).value == pytest.approx(1 / 3)
    assert refuted_claim_rate(given_verdicts).value == pytest.approx(1 / 3)


def test_two_responses_of_judge_auditor() -> None:
    # judge-auditor: responses [SUPPORTED] and [REFUTED] give MaHR 0.5.
    two = [*verdicts(Label.SUPPORTED), *verdicts(Label.REFUTED, record_id="r2")]
    assert macro_hallucination_rate(two).value == 0.5


def test_pooling_and_averaging_differ_when_responses_differ_in_length() -> None:
    # One of one, and none of nine: pooled 0.1, averaged as in HaluEval 2.0 0.5, responses 0.5.
    counts = label_counts([(0, 1, 0, 0, 0), (9, 0, 0, 0, 0)])
    assert micro_hallucination_rate(counts).value == 0.1
    assert mean_hallucination_rate(counts).value == 0.5
    assert macro_hallucination_rate(counts).value == 0.5


@pytest.mark.parametrize(
    ("claims", "penalty"), [(1, 0.000123), (2, 0.018316), (5, 0.367879), (9, 0.894839), (10, 1.0), (11, 1.0)]
)
def test_the_length_penalty_of_factscore(claims: int, penalty: float) -> None:
    # Min et al. 2023 with gamma 10: exp(1 - 10 / claims) up to ten claims.
    assert length_penalty(np.array([claims]))[0] == pytest.approx(penalty, abs=5e-7)


def test_the_penalised_precision_of_the_catalog() -> None:
    # Five claims, four supported: 0.8 * exp(-1).
    counts = label_counts([(4, 1, 0, 0, 0)])
    assert penalized_factual_precision(counts).value == pytest.approx(0.8 * math.exp(-1))
    assert penalized_factual_precision(counts, gamma=0).value == 0.8


def test_consensus_of_three_models_by_hand() -> None:
    # a says A B X, b says A B, c says A C; rows A 111, B 110, X 100, C 001; consensus by half of three: A and B.
    matrix = [[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 1]]
    scores = consensus_scores(support_from_matrix(matrix, ["a", "b", "c"]))
    precisions, recalls = [score.precision.value for score in scores], [score.recall.value for score in scores]
    assert precisions == pytest.approx([2 / 3, 1, 0.5])
    assert recalls == pytest.approx([1, 1, 0.5])
    f1s = [score.f1 for score in scores]
    assert f1s == pytest.approx([0.8, 1, 0.5])
    means = [np.mean([value for value in values if value is not None]) for values in (precisions, recalls, f1s)]
    assert means == pytest.approx([0.722222, 0.833333, 0.766667], abs=5e-7)


def test_consensus_of_the_others_by_hand() -> None:
    # Half of two others is one. Others' consensus for a: A B C; for b: A B X C; for c: A B X.
    matrix = [[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 1]]
    scores = consensus_scores(support_from_matrix(matrix, ["a", "b", "c"]), is_left_out=True)
    assert [(score.precision.count, score.precision.total) for score in scores] == [(2, 3), (2, 2), (1, 2)]
    assert [(score.recall.count, score.recall.total) for score in scores] == [(2, 3), (2, 4), (1, 3)]
    assert [score.f1 for score in scores] == pytest.approx([2 / 3, 2 / 3, 0.4])


def test_false_acceptance_of_judge_auditor() -> None:
    # "X was…" and "I don't know about Y." on two entities that do not exist: one of two is accepted.
    answers = Answers.of([(False, False), (False, True), (True, True), (True, False), (True, False)])
    assert false_acceptance_rate(answers).value == 0.5
    assert correct_refusal_rate(answers).value == 0.5
    assert over_refusal_rate(answers).value == pytest.approx(1 / 3)
