"""Programs written for judge-auditor run with only the import line changed, and give its numbers.

Expected values were worked out by hand from the definitions unless a test names another source.
"""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_auditor_samples import (
    OPPOSED,
    REFUTED,
    SUPPORTED,
    THREE_MODELS,
    THREE_SAMPLES,
    UNCLEAR,
    claims_of,
    matrix_of,
    verdicts_of,
)

from hallumeter import HallumeterError, RecordError
from hallumeter.claims.metrics.uncertainty import UncertaintyMethod
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
    MiHRResult,
    Verdict,
    VerdictLabel,
)
from hallumeter.text.abstention import AbstentionDetector

calculator = HallucinationMetricsCalculator()


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
    with pytest.raises(RecordError, match=r"expected 0 or 1 for each of 2 models|1 claims, but 2 rows"):
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
        ([], "^No ratings provided$"),
        ([[2, 1], [1, 1, 1]], "^Row 1 has 3 categories, expected 2$"),
        ([[2, 1], [1, 1]], "^Item 1 has 2 raters, expected 3$"),
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
    assert re.search(message, found.error_message)


@pytest.mark.parametrize("table", [[[2, -1]], [[1.5, 0.5]], [[math.nan, 2]], [2, 1, 0]])
def test_a_table_of_impossible_counts_is_refused(table: list[list[int]]) -> None:
    with pytest.raises(RecordError, match="a count table has one row per claim"):
        calculator.compute_fleiss_kappa(table)


@pytest.mark.parametrize(
    ("judges", "message"),
    [
        ({}, "^No judge verdicts"),
        ({"judge1": "SR"}, "at least two judges, found 1"),
        ({"judge1": "", "judge2": ""}, "^No items"),
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

CERTAIN, EVEN, LEANING = [[1, 0], [1, 0]], [[0.5, 0.5]] * 2, [[0.9, 0.1], [0.1, 0.9]]


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


@pytest.mark.parametrize(("method", "aleatoric"), [("variance", 0.46), ("literal", 0.0688889)])
@pytest.mark.parametrize("samples", [None, [], [[0.2, 0.3, 0.5]]], ids=["none", "empty", "a single one"])
def test_with_fewer_than_two_samples_the_other_methods_read_the_probabilities(
    method: UncertaintyMethod, aleatoric: float, samples: list[list[float]] | None
) -> None:
    # Variance: 0.7 * 0.3 + 0.2 * 0.8 + 0.1 * 0.9; literal: 0.54 / 3 - 1 / 9, the variance of the three.
    chosen = HallucinationMetricsCalculator(HallucinationMetricsConfig(uncertainty_method=method))
    found = chosen.compute_uncertainty([0.7, 0.2, 0.1], inference_samples=samples)
    assert (found.epistemic, found.aleatoric) == pytest.approx((0, aleatoric), abs=5e-7)


@pytest.mark.parametrize(
    ("probabilities", "samples"),
    [
        ([0.7, 0.7], None),
        ([1.2, -0.2], None),
        ([math.nan, 1], None),
        ([0.5, 0.5], [[0.5, 0.5], [0.9, 0.9]]),
        ([0.5, 0.5], [[0.5, 0.5], [0.5, 0.25, 0.25]]),
    ],
)
def test_what_is_not_a_distribution_is_refused(probabilities: list[float], samples: list[list[float]] | None) -> None:
    with pytest.raises(HallumeterError, match=r"expected numbers >= 0 that add up to 1|give all the same outcomes"):
        calculator.compute_uncertainty(probabilities, samples)


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
    counting = FalseAcceptanceCalculator(detector=AbstentionDetector(extra_cues=["ask my lawyer"]))
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
    with pytest.raises(RecordError, match="expected one of SUPPORTED, REFUTED, NOT_ENOUGH_INFO"):
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
