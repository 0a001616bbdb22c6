"""Programs written for judge-auditor run with only the import line changed, and give its numbers.

Expected values were worked out by hand from the definitions unless a test names another source.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter import HallumeterError, RecordError, SettingsError
from hallumeter.compat import judge_auditor
from hallumeter.compat.judge_auditor import (
    Claim,
    ClaimType,
    ClaimVerificationMatrix,
    ClaimVerificationMatrixBuilder,
    ConsensusF1Result,
    FalseAcceptanceCalculator,
    FleissKappaResult,
    HallucinationMetricsCalculator,
    HallucinationMetricsConfig,
    HallucinationProfile,
    MiHRResult,
    ReliabilityLevel,
    UncertaintyResult,
    Verdict,
    VerdictLabel,
)
from hallumeter.extractors import AbstentionDetector
from hallumeter.metrics.uncertainty import UncertaintyMethod
from hallumeter.policy import JUDGE_AUDITOR

SUPPORTED = Verdict(VerdictLabel.SUPPORTED, 0.9, [], "Supported")
REFUTED = Verdict(VerdictLabel.REFUTED, 0.8, [], "Refuted")
UNCLEAR = Verdict(VerdictLabel.NOT_ENOUGH_INFO, 0.5, [], "Unclear")
OF_LETTER = {"S": SUPPORTED, "R": REFUTED, "N": UNCLEAR}

calculator = HallucinationMetricsCalculator()


def verdicts_of(letters: str) -> list[Verdict]:
    return [OF_LETTER[letter] for letter in letters]


def claims_of(*texts: str) -> list[Claim]:
    return [Claim(text, (0, len(text)), ClaimType.FACTUAL) for text in texts]


def matrix_of(model_claims: Mapping[str, Sequence[str]]) -> ClaimVerificationMatrix:
    return ClaimVerificationMatrixBuilder().build_matrix(
        {model: claims_of(*texts) for model, texts in model_claims.items()}
    )


THREE_MODELS = {"a": ["A", "B", "X"], "b": ["A", "B"], "c": ["A", "C"]}


# Claims


def test_two_of_three_claims_are_unsupported_when_one_is_refuted_and_one_unclear() -> None:
    mihr = calculator.compute_mihr([SUPPORTED, REFUTED, UNCLEAR])
    assert mihr == MiHRResult(2 / 3, 2, 3, has_claims=True)
    assert f"MiHR: {mihr.value:.2%}" == "MiHR: 66.67%"
    assert calculator.compute_factscore([SUPPORTED, REFUTED, UNCLEAR]) == 1 / 3


def test_mihr_and_factscore_are_undefined_without_claims() -> None:
    assert calculator.compute_mihr([]) == MiHRResult(None, 0, 0, has_claims=False)
    assert calculator.compute_factscore([]) is None


def test_one_of_two_responses_has_a_hallucination() -> None:
    mahr = calculator.compute_mahr([[SUPPORTED], [REFUTED]])
    assert (mahr.value, mahr.responses_with_hallucinations, mahr.total_responses) == (0.5, 1, 2)


def test_responses_may_be_given_by_name() -> None:
    assert calculator.compute_mahr({"first": [SUPPORTED], "second": [UNCLEAR, REFUTED]}).value == 0.5


def test_a_response_without_claims_counts_as_clean_in_mahr() -> None:
    mahr = calculator.compute_mahr([[REFUTED], [], []])
    assert (mahr.value, mahr.responses_with_hallucinations, mahr.total_responses) == (1 / 3, 1, 3)
    assert calculator.compute_mahr([[]]).value == 0


def test_mahr_is_undefined_without_responses() -> None:
    assert calculator.compute_mahr([]).value is None
    assert calculator.compute_mahr({}).total_responses == 0


def test_claims_are_pooled_and_responses_are_not() -> None:
    responses = [verdicts_of("R"), verdicts_of("S" * 9)]
    assert calculator.compute_mihr([verdict for response in responses for verdict in response]).value == 0.1
    assert calculator.compute_mahr(responses).value == 0.5


@given(st.text("SRN"))
def test_factscore_is_one_minus_mihr_and_both_count_every_verdict(letters: str) -> None:
    mihr, factscore = calculator.compute_mihr(verdicts_of(letters)), calculator.compute_factscore(verdicts_of(letters))
    assert mihr.total_claims == len(letters)
    assert mihr.unsupported_claims == len(letters) - letters.count("S")
    if mihr.value is None:
        assert factscore is None
    else:
        assert factscore == pytest.approx(1 - mihr.value, abs=1e-15)


# Consensus


def test_claims_of_three_models_become_a_matrix_in_order_of_first_appearance() -> None:
    matrix = matrix_of(THREE_MODELS)
    assert [claim.text for claim in matrix.claims] == ["A", "B", "X", "C"]
    assert matrix.models == ["a", "b", "c"]
    assert matrix.support_matrix == [[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("model", "expected"), [("a", (2 / 3, 1, 0.8)), ("b", (1, 1, 1)), ("c", (0.5, 0.5, 0.5)), ("stranger", (0, 0, 0))]
)
def test_consensus_scores_of_three_models(model: str, expected: tuple[float, float, float]) -> None:
    found = calculator.compute_consensus_f1(matrix_of(THREE_MODELS), model)
    assert (found.precision, found.recall, found.f1) == pytest.approx(expected)


def test_a_model_alone_agrees_with_nobody_but_makes_all_consensus_claims() -> None:
    assert calculator.compute_consensus_f1(matrix_of({"a": ["A"]}), "a") == ConsensusF1Result(0, 1, 0)


def test_with_two_models_every_claim_is_consensus() -> None:
    profile = calculator.generate_hallucination_profile([SUPPORTED], claim_matrix=matrix_of({"a": ["A"], "b": ["B"]}))
    assert [claim.text for claim in profile.consensus_claims] == ["A", "B"]
    assert profile.disputed_claims == []


def test_a_model_without_claims_has_precision_0_not_an_undefined_one() -> None:
    matrix = matrix_of({"a": ["A"], "b": ["A"], "silent": []})
    assert calculator.compute_consensus_f1(matrix, "silent") == ConsensusF1Result(0, 0, 0)


def test_recall_is_0_without_consensus_claims_even_when_two_of_five_models_agree() -> None:
    matrix = matrix_of({"a": ["A"], "b": ["A"], "c": ["C"], "d": ["D"], "e": ["E"]})
    assert calculator.compute_consensus_f1(matrix, "a") == ConsensusF1Result(1, 0, 0)


def test_the_first_spelling_of_a_claim_is_kept() -> None:
    matrix = matrix_of({"gpt-4": ["Paris is the capital.", "Lyon"], "claude": ["  paris is\nthe capital", "Lyon!"]})
    assert [claim.text for claim in matrix.claims] == ["Paris is the capital.", "Lyon"]
    assert matrix.support_matrix == [[1, 1], [1, 1]]


def test_with_verdicts_only_supported_claims_count_and_claims_beyond_the_last_verdict_are_present() -> None:
    matrix = ClaimVerificationMatrixBuilder().build_matrix(
        {"a": claims_of("A", "B", "C", "D"), "b": claims_of("B", "D")}, {"a": verdicts_of("SRN")}
    )
    assert matrix.support_matrix == [[1, 0], [0, 1], [0, 0], [1, 1]]


def test_refuted_claims_leave_the_models_own_count_when_verdicts_are_given() -> None:
    claims = {"a": claims_of("A", "B"), "b": claims_of("A")}
    matrix = ClaimVerificationMatrixBuilder().build_matrix(claims, {"a": verdicts_of("SR")})
    assert calculator.compute_consensus_f1(matrix, "a").precision == 1


def test_a_claim_stated_twice_by_a_model_is_one_row_and_supported_if_either_statement_is() -> None:
    builder = ClaimVerificationMatrixBuilder()
    assert builder.build_matrix({"a": claims_of("A", "a.")}, {"a": verdicts_of("SR")}).support_matrix == [[1]]
    assert builder.build_matrix({"a": claims_of("A", "a.")}, {"a": verdicts_of("RS")}).support_matrix == [[1]]


def test_no_claims_make_an_empty_matrix() -> None:
    matrix = matrix_of({})
    assert (matrix.claims, matrix.models, matrix.support_matrix) == ([], [], [])
    assert calculator.generate_hallucination_profile([], claim_matrix=matrix).consensus_f1 is None
    assert matrix_of({"a": []}).support_matrix == []


@given(st.dictionaries(st.sampled_from("abcd"), st.lists(st.sampled_from(["X", "x.", "Y", "Z"]))))
def test_a_matrix_has_one_row_per_distinct_claim_and_one_column_per_model(model_claims: dict[str, list[str]]) -> None:
    matrix = matrix_of(model_claims)
    distinct = {text[0].upper() for texts in model_claims.values() for text in texts}
    assert len(matrix.support_matrix) == len(matrix.claims) == len(distinct)
    for claim, row in zip(matrix.claims, matrix.support_matrix, strict=True):
        held = [claim.text[0].upper() in {text[0].upper() for text in texts} for texts in model_claims.values()]
        assert row == [int(is_held) for is_held in held]


def test_verdicts_that_belong_to_no_claim_are_refused() -> None:
    builder = ClaimVerificationMatrixBuilder()
    with pytest.raises(RecordError, match="verdicts for 'b', but no claims; models with claims: a"):
        builder.build_matrix({"a": claims_of("A")}, {"b": [SUPPORTED]})
    with pytest.raises(RecordError, match="'a' has 1 claims but 2 verdicts"):
        builder.build_matrix({"a": claims_of("A")}, {"a": verdicts_of("SS")})


@pytest.mark.parametrize("rows", [[[1]], [[1, 2]], [[1, 0], [1, 0]]], ids=["narrow", "not binary", "a row too many"])
def test_a_matrix_that_does_not_fit_its_claims_and_models_is_refused(rows: list[list[int]]) -> None:
    with pytest.raises(RecordError, match="expected 0 or 1 for each of 2 models|1 claims, but 2 rows"):
        ClaimVerificationMatrix(claims_of("A"), ["a", "b"], rows)


# Agreement

# Ten subjects, fourteen raters, five categories: the example of the Wikipedia article on Fleiss' kappa.
WIKIPEDIA = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip
# Thirty patients, six psychiatrists, five diagnoses: Fleiss 1971, one digit per diagnosis.
DIAGNOSES = (
    "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 "
    "00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
)
FLEISS = [[int(digit) for digit in row] for row in DIAGNOSES.split()]


@pytest.mark.parametrize(
    ("table", "observed", "expected", "kappa", "word"),
    [
        (WIKIPEDIA, 0.378022, 0.212755, 0.209931, "fair"),
        (FLEISS, 0.555556, 0.219938, 0.430245, "moderate"),
        ([[7, 1], [3, 5]], 0.607143, 0.531250, 0.161905, "poor"),
        ([[6, 1, 0], [0, 7, 0]], 0.857143, 0.510204, 0.708333, "substantial"),
        ([[2, 1, 0]], 0.333333, 0.555556, -0.5, "poor"),
        ([[1, 1, 1], [1, 1, 1]], 0, 0.333333, -0.5, "poor"),
        ([[3, 0, 0], [0, 3, 0]], 1, 0.5, 1, "almost_perfect"),
        ([[2, 1, 0], [3, 0, 0]], 0.666667, 0.722222, -0.2, "poor"),
    ],
)
def test_kappa_and_its_parts(table: list[list[int]], observed: float, expected: float, kappa: float, word: str) -> None:
    found = calculator.compute_fleiss_kappa(table)
    parts = (found.observed_agreement, found.expected_agreement, found.kappa)
    assert parts == pytest.approx((observed, expected, kappa), abs=5e-7)
    assert (found.interpretation, found.is_undefined, found.error_message) == (word, False, None)


def test_kappa_is_undefined_when_every_judge_always_gives_one_label_and_says_that_agreement_was_total() -> None:
    found = calculator.compute_fleiss_kappa([[3, 0, 0], [3, 0, 0]])
    assert (found.kappa, found.interpretation, found.is_undefined) == (None, "undefined", True)
    assert (found.observed_agreement, found.expected_agreement) == (1, 1)
    assert found.error_message is not None
    assert "one category" in found.error_message


def test_a_kappa_of_exactly_four_fifths_is_substantial() -> None:
    # Po = 18/20, Pe = 1/2, kappa = (0.9 - 0.5) / 0.5.
    found = calculator.compute_fleiss_kappa([[2, 0]] * 9 + [[0, 2]] * 9 + [[1, 1]] * 2)
    assert (found.kappa, found.interpretation) == (0.8, "substantial")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], "no items"),
        ([[2, 1], [1, 1, 1]], r"rows .* have \[2, 3\] entries"),
        ([[2, 1], [1, 1]], r"different numbers of ratings \(2, 3\)"),
        ([[1, 0]], "at least two judges, found 1"),
        ([[0, 0]], "at least two judges, found 0"),
        ([[]], "at least two judges, found 0"),
    ],
)
def test_kappa_of_an_unusable_table_is_undefined_and_says_why(table: list[list[int]], message: str) -> None:
    assert_undefined(calculator.compute_fleiss_kappa(table), message)


def assert_undefined(found: FleissKappaResult, message: str) -> None:
    assert (found.kappa, found.interpretation, found.is_undefined) == (None, "undefined", True)
    assert (found.observed_agreement, found.expected_agreement) == (None, None)
    assert found.error_message is not None
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(found.error_message)


@pytest.mark.parametrize("table", [[[2, -1]], [[1.5, 0.5]], [[math.nan, 2]], [2, 1, 0]])
def test_a_table_of_impossible_counts_is_refused(table: list[list[int]]) -> None:
    with pytest.raises(RecordError, match="a count table has one row per claim"):
        calculator.compute_fleiss_kappa(table)


@pytest.mark.parametrize(
    ("judges", "message"),
    [
        ({}, "no judges"),
        ({"judge1": "SR"}, "at least two judges, found 1"),
        ({"judge1": "", "judge2": ""}, "no items"),
        ({"judge1": "SR", "judge2": "S"}, r"unequal numbers of verdicts \(judge1: 2, judge2: 1\)"),
    ],
)
def test_kappa_of_judges_who_cannot_be_compared_is_undefined_and_says_why(judges: dict[str, str], message: str) -> None:
    panel = {judge: verdicts_of(letters) for judge, letters in judges.items()}
    assert_undefined(calculator.compute_fleiss_kappa_from_verdicts(panel), message)


def test_verdicts_of_judges_are_counted_claim_by_claim() -> None:
    panel = {"judge1": verdicts_of("SSRN"), "judge2": verdicts_of("SRRN"), "judge3": verdicts_of("SSRS")}
    table = [[3, 0, 0], [2, 1, 0], [0, 3, 0], [1, 0, 2]]
    assert calculator.compute_fleiss_kappa_from_verdicts(panel) == calculator.compute_fleiss_kappa(table)


# Uncertainty

THREE_SAMPLES = [[0.7, 0.2, 0.1], [0.65, 0.25, 0.1], [0.72, 0.18, 0.1]]
CERTAIN, OPPOSED, EVEN, LEANING = [[1, 0], [1, 0]], [[1, 0], [0, 1]], [[0.5, 0.5]] * 2, [[0.9, 0.1], [0.1, 0.9]]


@pytest.mark.parametrize(
    ("samples", "method", "expected"),
    [
        (THREE_SAMPLES, "literal", (0.000578, 0.066200, 0.066778)),
        (THREE_SAMPLES, "variance", (0.001733, 0.468067, 0.469800)),
        (THREE_SAMPLES, "information", (0.002660, 0.811368, 0.814028)),
        (CERTAIN, "literal", (0, 0.25, 0.25)),
        (CERTAIN, "variance", (0, 0, 0)),
        (CERTAIN, "information", (0, 0, 0)),
        (OPPOSED, "literal", (0.25, 0.25, 0.5)),
        (OPPOSED, "variance", (0.5, 0, 0.5)),
        (OPPOSED, "information", (0.693147, 0, 0.693147)),
        (EVEN, "literal", (0, 0, 0)),
        (EVEN, "variance", (0, 0.5, 0.5)),
        (EVEN, "information", (0, 0.693147, 0.693147)),
        (LEANING, "literal", (0.16, 0.16, 0.32)),
        (LEANING, "variance", (0.32, 0.18, 0.5)),
        (LEANING, "information", (0.368064, 0.325083, 0.693147)),
    ],
)
def test_uncertainty_is_split_by_the_chosen_method(
    samples: list[list[float]], method: UncertaintyMethod, expected: tuple[float, float, float]
) -> None:
    chosen = HallucinationMetricsCalculator(HallucinationMetricsConfig(uncertainty_method=method))
    found = chosen.compute_uncertainty(samples[0], samples)
    assert (found.epistemic, found.aleatoric, found.total) == pytest.approx(expected, abs=5e-7)
    assert found.method == method


def test_without_samples_all_uncertainty_is_aleatoric_and_equals_the_entropy() -> None:
    found = calculator.compute_uncertainty([0.7, 0.2, 0.1])
    assert found.shannon_entropy == pytest.approx(0.801819, abs=5e-7)
    assert found.total == found.aleatoric == found.shannon_entropy
    assert (found.epistemic, found.is_high_uncertainty, found.method) == (0, True, "information")


@pytest.mark.parametrize(("method", "aleatoric"), [("variance", 0.46), ("literal", 0.0622222)])
@pytest.mark.parametrize("samples", [None, [], [[0.2, 0.3, 0.5]]], ids=["none", "empty", "a single one"])
def test_with_fewer_than_two_samples_the_other_methods_read_the_probabilities(
    method: UncertaintyMethod, aleatoric: float, samples: list[list[float]] | None
) -> None:
    # Variance: 0.7 * 0.3 + 0.2 * 0.8 + 0.1 * 0.9; literal: the variance of 0.7, 0.2 and 0.1 around 1/3.
    chosen = HallucinationMetricsCalculator(HallucinationMetricsConfig(uncertainty_method=method))
    found = chosen.compute_uncertainty([0.7, 0.2, 0.1], inference_samples=samples)
    assert (found.epistemic, found.aleatoric) == pytest.approx((0, aleatoric), abs=5e-8)


@pytest.mark.parametrize(
    ("probabilities", "samples"),
    [
        ([0.7, 0.7], None),
        ([1.2, -0.2], None),
        ([math.nan, 1], None),
        ([], None),
        ([0.5, 0.5], [[0.5, 0.5], [0.9, 0.9]]),
        ([0.5, 0.5], [[0.5, 0.5], [0.5, 0.25, 0.25]]),
    ],
)
def test_what_is_not_a_distribution_is_refused(probabilities: list[float], samples: list[list[float]] | None) -> None:
    with pytest.raises(HallumeterError, match="expected numbers >= 0 that add up to 1|give all the same outcomes"):
        calculator.compute_uncertainty(probabilities, samples)


# Profile


def test_a_profile_holds_all_that_the_inputs_allow() -> None:
    profile = calculator.generate_hallucination_profile(
        verdicts=[SUPPORTED, REFUTED, UNCLEAR],
        response_verdicts=[[SUPPORTED], [REFUTED]],
        claim_matrix=matrix_of(THREE_MODELS),
        judge_verdicts={"judge1": verdicts_of("SR"), "judge2": verdicts_of("SR")},
        probabilities=[0.7, 0.2, 0.1],
        inference_samples=THREE_SAMPLES,
    )
    assert (profile.reliability.value, profile.is_high_risk) == ("low", True)
    assert profile.mihr is not None
    assert profile.mihr.value == 2 / 3
    assert profile.mahr is not None
    assert profile.mahr.value == 0.5
    assert profile.factscore == 1 / 3
    assert profile.consensus_f1 is not None
    means = (profile.consensus_f1.precision, profile.consensus_f1.recall, profile.consensus_f1.f1)
    assert means == pytest.approx((0.722222, 0.833333, 0.766667), abs=5e-7)
    assert profile.fleiss_kappa is not None
    assert profile.fleiss_kappa.kappa == 1
    assert profile.uncertainty is not None
    assert profile.uncertainty.is_high_uncertainty
    assert [claim.text for claim in profile.consensus_claims] == ["A", "B"]
    assert [claim.text for claim in profile.disputed_claims] == ["X", "C"]
    assert profile.measured == ["mihr", "mahr", "factscore", "consensus_f1", "fleiss_kappa", "uncertainty"]
    assert profile.reasons == ["mihr is 0.667, above 0.3", "uncertainty_total is 0.814, above 0.8"]
    assert HallucinationProfile.from_json(profile.to_json()) == profile


def test_a_claim_that_every_judge_refuted_is_disputed() -> None:
    matrix = ClaimVerificationMatrixBuilder().build_matrix({"a": claims_of("A")}, {"a": [REFUTED]})
    profile = calculator.generate_hallucination_profile([REFUTED], claim_matrix=matrix)
    assert (profile.disputed_claims, profile.consensus_claims) == (claims_of("A"), [])


def test_nothing_measured_is_unknown_and_never_high() -> None:
    profile = calculator.generate_hallucination_profile([])
    assert (profile.reliability.value, profile.is_high_risk, profile.measured) == ("unknown", False, [])
    profile = calculator.generate_hallucination_profile([], response_verdicts=[], judge_verdicts={})
    assert (profile.reliability, profile.measured) == (ReliabilityLevel.UNKNOWN, [])


def test_parts_without_a_threshold_say_nothing_about_reliability() -> None:
    profile = calculator.generate_hallucination_profile([], response_verdicts=[[SUPPORTED]])
    assert (profile.reliability, profile.measured) == (ReliabilityLevel.UNKNOWN, ["mahr"])


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("S" * 17 + "R" * 3, "high"),  # 0.15 is still good
        ("S" * 8 + "R" * 2, "medium"),
        ("S" * 7 + "R" * 3, "medium"),  # 0.3 is not above 0.3
        ("S" * 69 + "R" * 31, "low"),
        ("SRN", "low"),
    ],
)
def test_reliability_by_mihr_alone(letters: str, expected: str) -> None:
    profile = calculator.generate_hallucination_profile(verdicts_of(letters))
    assert profile.reliability.value == expected
    assert profile.is_high_risk is (expected == "low")


def panel(agreeing: str, *, disagreeing: int) -> dict[str, list[Verdict]]:
    """Two judges who give the same labels, and on as many further claims differ both ways."""
    return {
        "judge1": verdicts_of(agreeing + "SR" * disagreeing),
        "judge2": verdicts_of(agreeing + "RS" * disagreeing),
    }


@pytest.mark.parametrize(
    ("judges", "expected"),
    [
        (panel("SR" * 4, disagreeing=1), "high"),  # Po = 0.8, Pe = 0.5, kappa = 0.6
        (panel("SR" * 3, disagreeing=1), "medium"),  # Po = 0.75: kappa = 0.5
        (panel("SR" * 7, disagreeing=3), "medium"),  # Po = 0.7: kappa = 0.4, which is not below 0.4
        (panel("SR" * 2, disagreeing=1), "low"),  # Po = 2/3: kappa = 1/3
        (panel("SSSS", disagreeing=0), "high"),  # undefined
    ],
)
def test_reliability_by_kappa_beside_a_good_mihr(judges: dict[str, list[Verdict]], expected: str) -> None:
    profile = calculator.generate_hallucination_profile(verdicts_of("SSSS"), judge_verdicts=judges)
    assert profile.reliability.value == expected


def test_kappa_without_mihr_is_never_high() -> None:
    profile = calculator.generate_hallucination_profile([], judge_verdicts=panel("SR", disagreeing=0))
    assert (profile.reliability, profile.measured) == (ReliabilityLevel.MEDIUM, ["fleiss_kappa"])


def test_an_undefined_kappa_never_raises_a_risk() -> None:
    profile = calculator.generate_hallucination_profile([SUPPORTED], judge_verdicts={"judge1": [SUPPORTED]})
    assert (profile.is_high_risk, profile.reliability.value) == (False, "high")
    assert profile.measured == ["mihr", "factscore"]
    assert profile.fleiss_kappa is not None
    assert profile.fleiss_kappa.error_message == "needs at least two judges, found 1"


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    # Entropies by hand in nats: 0.325, 0.639 and 1.040.
    [([0.9, 0.1], "high"), ([0.8, 0.1, 0.1], "medium"), ([0.5, 0.25, 0.25], "low")],
)
def test_reliability_by_uncertainty_beside_a_good_mihr(probabilities: list[float], expected: str) -> None:
    profile = calculator.generate_hallucination_profile([SUPPORTED], probabilities=probabilities)
    assert profile.reliability.value == expected


def test_samples_without_probabilities_are_not_read() -> None:
    profile = calculator.generate_hallucination_profile([SUPPORTED], inference_samples=OPPOSED)
    assert profile.uncertainty is None
    assert "uncertainty" not in profile.measured


def test_verdicts_may_be_read_only_once() -> None:
    assert calculator.generate_hallucination_profile(iter([SUPPORTED, REFUTED])).factscore == 0.5


def test_the_default_thresholds_are_those_of_the_policy() -> None:
    assert HallucinationMetricsConfig().policy == JUDGE_AUDITOR


@pytest.mark.parametrize(
    ("threshold", "letters", "expected"),
    [
        (0.2, "SSSR", "low"),
        (0.2, "SSSSR", "medium"),  # 0.2 is not above 0.2
        (0.15, "S" * 17 + "R" * 3, "high"),
        (0.1, "S" * 9 + "R", "high"),  # stricter than the bound for high: whatever is not low is high
        (0.1, "S" * 8 + "R", "low"),
        (0, "S", "high"),
        (1, "R", "medium"),
    ],
)
def test_the_mihr_threshold_can_be_set(threshold: float, letters: str, expected: str) -> None:
    chosen = HallucinationMetricsCalculator(HallucinationMetricsConfig(mihr_high_risk_threshold=threshold))
    assert chosen.generate_hallucination_profile(verdicts_of(letters)).reliability.value == expected


def test_the_other_thresholds_can_be_set() -> None:
    chosen = HallucinationMetricsCalculator(
        HallucinationMetricsConfig(kappa_low_threshold=0.7, uncertainty_high_threshold=0.3)
    )
    assert chosen.compute_uncertainty([0.9, 0.1]).is_high_uncertainty  # 0.325 nats
    profile = chosen.generate_hallucination_profile([SUPPORTED], judge_verdicts=panel("SR" * 4, disagreeing=1))
    assert profile.is_high_risk  # kappa 0.6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mihr_high_risk_threshold": 30}, "mihr_high_risk_threshold is 30; expected a number from 0 to 1"),
        ({"kappa_low_threshold": math.nan}, "kappa_low_threshold is nan; expected a number from -1 to 1"),
        ({"uncertainty_high_threshold": -1}, "uncertainty_high_threshold is -1; expected a number from 0 up"),
        ({"uncertainty_method": "guess"}, "'guess'; expected one of information, variance, literal"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        HallucinationMetricsConfig(**settings)  # type: ignore[arg-type]


# Strategies for whole profiles

letters = st.text("SRN", max_size=8)
distributions = st.lists(st.integers(1, 9), min_size=3, max_size=3).map(lambda ws: [w / sum(ws) for w in ws])
configs = st.builds(
    HallucinationMetricsConfig,
    st.floats(0, 1), st.floats(-1, 1), st.floats(0, 2), st.sampled_from(get_args(UncertaintyMethod)),
)  # fmt: skip
claims = st.builds(
    lambda text, start, length, kind: Claim(text, (start, start + length), kind),
    st.text(), st.integers(0, 99), st.integers(0, 99), st.sampled_from(ClaimType),
)  # fmt: skip


@st.composite
def profiles(draw: st.DrawFn) -> tuple[HallucinationMetricsConfig, HallucinationProfile]:
    config = draw(configs)
    judge_count, claim_count = draw(st.integers(0, 3)), draw(st.integers(0, 4))
    votes = st.text("SRN", min_size=claim_count, max_size=claim_count).map(verdicts_of)
    judges = {f"judge{number}": draw(votes) for number in range(judge_count)}
    model_claims = st.dictionaries(st.text(max_size=3), st.lists(claims, max_size=3), max_size=3)
    profile = HallucinationMetricsCalculator(config).generate_hallucination_profile(
        verdicts_of(draw(letters)),
        draw(st.none() | st.lists(letters.map(verdicts_of), max_size=3)),
        draw(st.none() | model_claims.map(ClaimVerificationMatrixBuilder().build_matrix)),
        draw(st.none() | st.just(judges)),
        draw(st.none() | distributions),
        draw(st.none() | st.lists(distributions, max_size=3)),
    )
    return config, profile


@given(profiles())
def test_a_profile_survives_json_unchanged(drawn: tuple[HallucinationMetricsConfig, HallucinationProfile]) -> None:
    _, profile = drawn
    for indent in (None, 0, 2):
        again = HallucinationProfile.from_json(profile.to_json(indent=indent))
        assert again == profile
        for claim in again.disputed_claims + again.consensus_claims:
            assert isinstance(claim.source_span, tuple)
            assert isinstance(claim.claim_type, ClaimType)


@given(profiles())
def test_high_risk_means_beyond_a_threshold_and_implies_low(
    drawn: tuple[HallucinationMetricsConfig, HallucinationProfile],
) -> None:
    config, profile = drawn
    assert profile.mihr is not None
    rate = profile.mihr.value
    kappa = profile.fleiss_kappa.kappa if profile.fleiss_kappa else None
    total = profile.uncertainty.total if profile.uncertainty else None
    is_high_risk = (
        (rate is not None and rate > config.mihr_high_risk_threshold + 1e-12)
        or (kappa is not None and kappa < config.kappa_low_threshold - 1e-12)
        or (total is not None and total > config.uncertainty_high_threshold + 1e-12)
    )
    assert profile.is_high_risk is is_high_risk
    assert (profile.reliability is ReliabilityLevel.LOW) is is_high_risk
    assert (profile.reliability is ReliabilityLevel.UNKNOWN) is (rate is kappa is total is None)
    if profile.reliability is ReliabilityLevel.HIGH:
        assert rate is not None
        assert rate <= 0.15 + 1e-12
        assert kappa is None or kappa >= 0.6 - 1e-12
        assert total is None or total <= 0.5 + 1e-12


def test_the_json_of_a_profile_is_plain_and_can_be_indented() -> None:
    profile = calculator.generate_hallucination_profile([REFUTED], judge_verdicts={})
    plain = json.loads(profile.to_json(indent=2))
    assert plain["reliability"] == "low"
    assert plain["mihr"] == {"value": 1.0, "unsupported_claims": 1, "total_claims": 1, "has_claims": True}
    assert plain["fleiss_kappa"]["kappa"] is None
    assert profile.to_json(indent=2).startswith('{\n  "mihr"')


@pytest.mark.parametrize(
    "text", ["", "[]", '{"reliability": "superb", "is_high_risk": false}', '{"reliability": "low"}']
)
def test_a_text_that_is_no_profile_is_refused(text: str) -> None:
    with pytest.raises(RecordError, match="not a hallucination profile"):
        HallucinationProfile.from_json(text)


def test_a_profile_that_is_high_risk_and_reliable_cannot_be_made() -> None:
    for level, is_high_risk in product(ReliabilityLevel, (True, False)):
        if is_high_risk and level is not ReliabilityLevel.LOW:
            with pytest.raises(RecordError, match="a high-risk profile has low reliability"):
                HallucinationProfile(reliability=level, is_high_risk=True)
        else:
            assert HallucinationProfile(reliability=level, is_high_risk=is_high_risk).reliability is level


def test_a_text_that_no_file_can_hold_is_reported_when_it_is_written() -> None:
    profile = calculator.generate_hallucination_profile([SUPPORTED], claim_matrix=matrix_of({"a": ["half \ud83d"]}))
    with pytest.raises(RecordError, match="cannot be written as UTF-8"):
        profile.to_json()


# Abstention


def test_a_refusal_about_something_that_does_not_exist_is_right() -> None:
    found = FalseAcceptanceCalculator().evaluate_abstention(
        query="Tell me about X", response="I don't know about X.", is_nonexistent=True
    )
    assert (found.did_abstain, found.is_false_acceptance, found.cue) == (True, False, "I don't know")
    assert (found.query, found.is_nonexistent_entity) == ("Tell me about X", True)


@pytest.mark.parametrize(
    ("response", "did_abstain"),
    [
        ("X was a famous painter of the nineteenth century.", False),
        ("There is no doubt that X was a great painter.", False),
        ("The unknown hero X won the battle.", False),
        ("I’m not sure.", True),
        ("잘 모르겠습니다.", True),
        ("", True),
        ("  \n", True),
    ],
)
def test_words_that_only_look_like_a_refusal_are_told_from_real_ones(response: str, did_abstain: bool) -> None:
    found = FalseAcceptanceCalculator().evaluate_abstention("Tell me about X", response, True)
    assert (found.did_abstain, found.is_false_acceptance) == (did_abstain, not did_abstain)


def test_an_answer_about_something_that_exists_is_no_false_acceptance() -> None:
    assert not FalseAcceptanceCalculator().evaluate_abstention("Who?", "Paris is a city.", False).is_false_acceptance


def test_one_of_two_invented_things_is_accepted_and_real_ones_are_ignored() -> None:
    found = FalseAcceptanceCalculator().evaluate_and_compute_far(
        queries=["Tell me about X", "Tell me about Y", "Tell me about Paris"],
        responses=["X was a famous inventor.", "I don't know about Y.", "Paris is the capital of France."],
        is_nonexistent_flags=[True, True, False],
    )
    assert (found.value, found.failed_abstentions, found.correct_refusals) == (0.5, 1, 1)
    assert found.total_nonexistent_queries == 2
    assert [result.is_false_acceptance for result in found.abstention_results] == [True, False, False]


@pytest.mark.parametrize("flags", [[], [False]])
def test_false_acceptance_is_undefined_when_everything_exists(flags: list[bool]) -> None:
    found = FalseAcceptanceCalculator().evaluate_and_compute_far(["q"] * len(flags), ["r"] * len(flags), flags)
    assert (found.value, found.failed_abstentions, found.total_nonexistent_queries) == (None, 0, 0)


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(RecordError, match="2 queries, 1 responses and 1 flags"):
        FalseAcceptanceCalculator().evaluate_and_compute_far(["q", "q"], ["r"], [True])


def test_another_detector_can_be_used() -> None:
    counting = FalseAcceptanceCalculator(AbstentionDetector(extra_cues=["ask my lawyer"]))
    assert counting.evaluate_abstention("Tell me about X", "Ask my lawyer.", True).did_abstain


# Records


def test_a_verdict_and_a_claim_are_built_by_position() -> None:
    verdict = Verdict(VerdictLabel.SUPPORTED, 0.9, ["passage 1"], "Supported")
    assert (verdict.label, verdict.confidence, verdict.evidence, verdict.reasoning) == (
        VerdictLabel.SUPPORTED, 0.9, ["passage 1"], "Supported",
    )  # fmt: skip
    claim = Claim("Paris is the capital", (0, 20), ClaimType.FACTUAL)
    assert (claim.text, claim.source_span, claim.claim_type) == ("Paris is the capital", (0, 20), ClaimType.FACTUAL)
    assert [kind.name for kind in ClaimType] == ["FACTUAL", "TEMPORAL", "NUMERICAL", "LOGICAL", "COMMONSENSE"]


def test_impossible_verdicts_and_claims_are_refused() -> None:
    with pytest.raises(RecordError, match="expected one of VerdictLabel.SUPPORTED"):
        Verdict("MAYBE", 0.9, [], "")  # type: ignore[arg-type]
    with pytest.raises(RecordError, match=r"confidence of a verdict is 90; expected a number from 0 to 1"):
        Verdict(VerdictLabel.SUPPORTED, 90, [], "")
    with pytest.raises(RecordError, match=r"spans 5..2"):
        Claim("Paris", (5, 2), ClaimType.FACTUAL)
    with pytest.raises(RecordError, match=r"source_span is \(1, 2, 3\); expected \(start, end\)"):
        Claim("Paris", (1, 2, 3), ClaimType.FACTUAL)  # type: ignore[arg-type]


def test_a_label_as_text_and_a_span_as_list_are_understood() -> None:
    assert Verdict("REFUTED", 0.8).label is VerdictLabel.REFUTED  # type: ignore[arg-type]
    assert Claim("Paris", [0, 5]) == Claim("Paris", (0, 5), ClaimType.FACTUAL)  # type: ignore[arg-type]


def test_public_names_are_sorted_and_documented() -> None:
    assert judge_auditor.__all__ == sorted(judge_auditor.__all__)
    assert all(getattr(judge_auditor, name).__doc__ for name in judge_auditor.__all__)
    assert UncertaintyResult.__struct_fields__[-1] == "method"
