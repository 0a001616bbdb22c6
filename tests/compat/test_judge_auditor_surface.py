"""The surface of judge-auditor: what its programs call, its values with `original=True`, and errors of its kinds."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_auditor_samples import REFUTED, SUPPORTED, THREE_MODELS, UNCLEAR, claims_of, matrix_of, verdicts_of

from hallumeter import HallumeterError
from hallumeter.compat import judge_auditor
from hallumeter.compat.judge_auditor import (
    AbstentionResult,
    Claim,
    ClaimConsensus,
    ClaimVerificationMatrix,
    ClaimVerificationMatrixBuilder,
    ConsensusF1Result,
    FalseAcceptanceCalculator,
    FalseAcceptanceRateResult,
    HallucinationMetricsCalculator,
    HallucinationMetricsConfig,
    HallucinationProfile,
    Issue,
    IssueSeverity,
    IssueType,
    KappaResult,
    MiHRResult,
    Passage,
    ReliabilityLevel,
    UncertaintyResult,
    Verdict,
    VerdictLabel,
)

calculator = HallucinationMetricsCalculator()
original = HallucinationMetricsCalculator(HallucinationMetricsConfig(original=True))

# Fields in order, with the defaults that judge-auditor gives them; ours may follow.
FIELDS = {
    "ConsensusF1Result": "precision recall f1",
    "KappaResult": "kappa interpretation observed_agreement expected_agreement is_undefined=False error_message=None",
    "UncertaintyResult": "shannon_entropy epistemic aleatoric total is_high_uncertainty",
    "MiHRResult": "value unsupported_claims total_claims has_claims",
    "MaHRResult": "value responses_with_hallucinations total_responses",
    "AbstentionResult": "query response is_nonexistent_entity did_abstain is_false_acceptance",
    "FalseAcceptanceRateResult": (
        "value failed_abstentions correct_refusals total_nonexistent_queries abstention_results=[]"
    ),
    "ClaimVerificationMatrix": "claims models support_matrix",
    "ClaimConsensus": "claim support_count total_models consensus_ratio is_consensus",
    "HallucinationProfile": (
        "mihr mahr factscore consensus_f1 fleiss_kappa uncertainty reliability disputed_claims=[] consensus_claims=[] "
        "is_high_risk=False"
    ),
    "Claim": "text source_span claim_type=ClaimType.FACTUAL",
    "Passage": "text source relevance_score",
    "Issue": "type severity description evidence=[]",
    "Verdict": "label confidence evidence=[] reasoning=",
    "HallucinationMetricsConfig": (
        "mihr_high_risk_threshold=0.3 kappa_low_threshold=0.4 uncertainty_high_threshold=0.8"
    ),
}


def default_of(each: dataclasses.Field[object]) -> str:
    if each.default_factory is not dataclasses.MISSING:
        return f"={each.default_factory()}"
    return "" if each.default is dataclasses.MISSING else f"={each.default}"


@pytest.mark.parametrize("name", FIELDS)
def test_fields_stand_in_the_order_and_with_the_defaults_of_judge_auditor(name: str) -> None:
    found = [each.name + default_of(each) for each in dataclasses.fields(getattr(judge_auditor, name))]
    expected = FIELDS[name].split()
    assert found[: len(expected)] == expected
    assert all("=" in added for added in found[len(expected) :])


# Parameters in order; those of ours that follow have defaults.
METHODS = {
    "HallucinationMetricsCalculator": {
        "compute_shannon_entropy": "probabilities",
        "compute_epistemic_uncertainty": "inference_samples",
        "compute_aleatoric_uncertainty": "inference_samples",
        "compute_uncertainty": "probabilities inference_samples=None",
        "flag_high_uncertainty": "uncertainty threshold=None",
        "compute_mihr": "verdicts",
        "compute_mahr": "response_verdicts",
        "is_high_risk": "mihr=None kappa=None uncertainty=None",
        "compute_factscore": "verdicts",
        "compute_consensus_f1": "matrix model_name consensus_threshold=0.5",
        "compute_average_consensus_f1": "matrix consensus_threshold=0.5",
        "compute_fleiss_kappa": "ratings num_categories",
        "interpret_kappa": "kappa",
        "compute_fleiss_kappa_from_verdicts": "judge_verdicts",
        "determine_reliability": "mihr=None kappa=None uncertainty=None",
        "generate_hallucination_profile": (
            "verdicts response_verdicts=None claim_matrix=None judge_verdicts=None probabilities=None "
            "inference_samples=None consensus_threshold=0.5"
        ),
    },
    "ClaimVerificationMatrix": {
        "get_claim_support_count": "claim_index",
        "get_model_claim_count": "model_index",
        "get_consensus_claims": "threshold=0.5",
        "get_disputed_claims": "threshold=0.5",
    },
    "ClaimVerificationMatrixBuilder": {
        "build_matrix": "model_claims model_verdicts=None",
        "compute_claim_consensus": "matrix threshold=0.5",
        "identify_disputed_claims": "matrix threshold=0.5",
        "identify_consensus_claims": "matrix threshold=0.5",
    },
    "FalseAcceptanceCalculator": {
        "__init__": "abstention_patterns=None case_sensitive=False",
        "evaluate_abstention": "query response is_nonexistent",
        "compute_far": "results",
        "evaluate_and_compute_far": "queries responses is_nonexistent_flags",
        "add_abstention_pattern": "pattern",
        "remove_abstention_pattern": "pattern",
        "get_abstention_patterns": "",
    },
    "HallucinationProfile": {"to_dict": "", "to_json": "indent=2", "from_dict": "data", "from_json": "json_str"},
}


@pytest.mark.parametrize(("owner", "method"), [(owner, name) for owner, names in METHODS.items() for name in names])
def test_methods_take_the_arguments_of_judge_auditor(owner: str, method: str) -> None:
    found = list(inspect.signature(getattr(getattr(judge_auditor, owner), method)).parameters.values())
    names = [each for each in found if each.name != "self"]
    for each, expected in zip(names, METHODS[owner][method].split(), strict=False):
        name, _, default = expected.partition("=")
        assert each.name == name
        assert each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert not default or str(each.default) == default
    assert all(each.default is not each.empty for each in names[len(METHODS[owner][method].split()) :])


def test_enumerations_are_strings_and_records_can_be_changed_and_copied() -> None:
    assert VerdictLabel.REFUTED == "REFUTED"
    assert json.dumps([IssueType.BIAS, IssueSeverity.HIGH, ReliabilityLevel.LOW]) == '["bias", "high", "low"]'
    assert f"{VerdictLabel.REFUTED!s}" == "VerdictLabel.REFUTED"
    verdict = Verdict(label=VerdictLabel.SUPPORTED, confidence=0.9)
    verdict.reasoning = "Stated"
    assert dataclasses.asdict(verdict)["reasoning"] == "Stated"
    assert dataclasses.replace(verdict, confidence=0.1).confidence == 0.1
    assert Issue(IssueType.BIAS, IssueSeverity.LOW, "One side only").evidence == []
    assert Passage("Paris is a city.", "Wikipedia:Paris", 0.8).relevance_score == 0.8


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Verdict("MAYBE", 0.9),  # type: ignore[arg-type]
        lambda: Verdict(VerdictLabel.SUPPORTED, 95),
        lambda: Claim("A", (5, 2)),
        lambda: ClaimVerificationMatrix(claims_of("A"), ["a"], []),
        lambda: FalseAcceptanceCalculator().evaluate_and_compute_far(["q"], [], []),
        lambda: HallucinationProfile.from_json("no profile"),
        lambda: HallucinationMetricsConfig(kappa_low_threshold=4),
        lambda: HallucinationMetricsConfig(uncertainty_method="guess"),  # type: ignore[arg-type]
        lambda: calculator.compute_shannon_entropy([0.9, 0.9]),
        lambda: calculator.compute_uncertainty([0.5, 0.5], [[0.5, 0.5], [1, 0, 0]]),
        lambda: calculator.compute_fleiss_kappa([2, 1, 0]),  # type: ignore[list-item]
        lambda: calculator.compute_fleiss_kappa([[2, -1]]),
        lambda: ClaimVerificationMatrixBuilder().build_matrix({}, {"a": [SUPPORTED]}),
    ],
)
def test_what_cannot_be_used_raises_a_value_error_that_hallumeter_knows_too(wrong: object) -> None:
    assert callable(wrong)
    with pytest.raises(ValueError, match=r".") as caught:
        wrong()
    assert isinstance(caught.value, HallumeterError)


# Claim matrices


def test_a_matrix_counts_the_models_of_a_claim_and_the_claims_of_a_model() -> None:
    matrix = matrix_of(THREE_MODELS)
    assert [matrix.get_claim_support_count(row) for row in (0, 1, 2, 3, 4, -1)] == [3, 2, 1, 1, 0, 0]
    assert [matrix.get_model_claim_count(column) for column in (0, 1, 2, 3, -1)] == [3, 2, 2, 0, 0]


@pytest.mark.parametrize(
    ("threshold", "agreed", "disputed"), [(0.5, "AB", "XC"), (2 / 3, "AB", "XC"), (1, "A", "BXC"), (0, "ABXC", "")]
)
def test_consensus_begins_at_the_threshold(threshold: float, agreed: str, disputed: str) -> None:
    matrix, builder = matrix_of(THREE_MODELS), ClaimVerificationMatrixBuilder()
    assert "".join(claim.text for claim in builder.identify_consensus_claims(matrix, threshold)) == agreed
    assert "".join(claim.text for claim in builder.identify_disputed_claims(matrix, threshold)) == disputed
    profile = calculator.generate_hallucination_profile([], claim_matrix=matrix, consensus_threshold=threshold)
    assert "".join(claim.text for claim in profile.consensus_claims) == agreed
    found = builder.compute_claim_consensus(matrix, threshold)
    assert found[1] == ClaimConsensus(matrix.claims[1], 2, 3, 2 / 3, is_consensus="B" in agreed)


def test_without_models_no_claim_is_disputed_or_agreed_and_scores_are_0() -> None:
    matrix = matrix_of({})
    assert ClaimVerificationMatrixBuilder().compute_claim_consensus(matrix) == []
    assert calculator.compute_average_consensus_f1(matrix) == ConsensusF1Result(0, 0, 0)


def test_the_consensus_threshold_decides_what_a_model_can_leave_out() -> None:
    matrix = matrix_of(THREE_MODELS)
    assert calculator.compute_consensus_f1(matrix, "c", 0.5).recall == 0.5
    assert calculator.compute_consensus_f1(matrix, "c", consensus_threshold=1).recall == 1
    mean = calculator.compute_average_consensus_f1(matrix)
    assert (mean.precision, mean.recall, mean.f1) == pytest.approx((0.722222, 0.833333, 0.766667), abs=5e-7)


def test_the_original_tells_claims_apart_by_a_period_and_takes_verdicts_as_they_come() -> None:
    claims = {"a": claims_of("Paris."), "b": claims_of(" paris. ", "Paris")}
    assert ClaimVerificationMatrixBuilder().build_matrix(claims).support_matrix == [[1, 1]]
    builder = ClaimVerificationMatrixBuilder(original=True)
    assert builder.build_matrix(claims).support_matrix == [[1, 1], [0, 1]]
    assert builder.build_matrix(claims, {"c": [REFUTED], "a": verdicts_of("RR")}).support_matrix == [[0, 1], [0, 1]]


# Risk and reliability


def kappa_of(value: float | None) -> KappaResult:
    return KappaResult(value, "", 0.7, 0.3, is_undefined=value is None)


def uncertainty_of(total: float) -> UncertaintyResult:
    return UncertaintyResult(0.5, total / 2, total / 2, total, is_high_uncertainty=total > 0.8)


@pytest.mark.parametrize(
    ("mihr", "kappa", "total", "ours", "theirs"),
    [
        (0.1, 0.7, 0.2, "high", "high"),
        (0.2, 0.7, 0.2, "medium", "high"),  # one part that is not good is enough here, two are needed there
        (0.2, 0.5, 0.2, "medium", "medium"),
        (0.2, 0.5, 0.6, "medium", "medium"),
        (0.5, 0.7, 0.2, "low", "low"),
        (0.1, 0.3, 0.2, "low", "low"),
        (0.1, 0.7, 0.9, "low", "low"),
        (0.3, 0.4, 0.8, "medium", "medium"),  # the thresholds themselves are no risk
        (None, None, None, "unknown", "high"),
        (None, 0.7, None, "medium", "high"),
    ],
)
def test_reliability_of_given_results(
    mihr: float | None, kappa: float | None, total: float | None, ours: str, theirs: str
) -> None:
    parts = (
        MiHRResult(mihr, 0, 10, has_claims=True),
        kappa_of(kappa),
        None if total is None else uncertainty_of(total),
    )
    for chosen, expected in ((calculator, ours), (original, theirs)):
        assert chosen.determine_reliability(*parts).value == expected
        assert chosen.is_high_risk(*parts) is (expected == "low")


def test_nothing_given_is_no_risk() -> None:
    assert not calculator.is_high_risk()
    assert (calculator.determine_reliability().value, original.determine_reliability().value) == ("unknown", "high")


def test_uncertainty_is_flagged_above_a_threshold_not_at_it() -> None:
    assert calculator.flag_high_uncertainty(uncertainty_of(0.81))
    assert not calculator.flag_high_uncertainty(uncertainty_of(0.8))
    assert calculator.flag_high_uncertainty(uncertainty_of(0.3), threshold=0.2)


# Values of the original


def test_the_original_gives_0_where_nothing_can_be_counted() -> None:
    assert (calculator.compute_mahr([]).value, original.compute_mahr([]).value) == (None, 0.0)
    ours, theirs = FalseAcceptanceCalculator().compute_far([]), FalseAcceptanceCalculator(original=True).compute_far([])
    assert (ours, theirs) == (FalseAcceptanceRateResult(None, 0, 0, 0), FalseAcceptanceRateResult(0.0, 0, 0, 0))
    assert original.compute_fleiss_kappa([]) == KappaResult(
        None, "undefined", 0.0, 0.0, is_undefined=True, error_message="No ratings provided"
    )


def test_the_original_calls_a_single_label_perfect_agreement() -> None:
    found = original.compute_fleiss_kappa([[3, 0], [3, 0]], 2)
    assert found == KappaResult(1.0, "almost_perfect", 1.0, 1.0)
    assert calculator.compute_fleiss_kappa([[3, 0], [3, 0]], 2).is_undefined
    unequal = original.compute_fleiss_kappa([[3, 0], [2, 0]], 2)
    assert unequal.error_message == "Item 1 has 2 raters, expected 3"


def test_the_number_of_categories_is_checked_when_it_is_given() -> None:
    assert calculator.compute_fleiss_kappa([[2, 1]], 3).error_message == "Row 0 has 2 categories, expected 3"
    assert calculator.compute_fleiss_kappa([[2, 1]], num_categories=2).kappa == pytest.approx(-0.5)


def test_the_original_calls_a_kappa_of_four_fifths_almost_perfect() -> None:
    words = [(calculator.interpret_kappa(kappa), original.interpret_kappa(kappa)) for kappa in (0.79, 0.8, 0.81)]
    assert words == [("substantial",) * 2, ("substantial", "almost_perfect"), ("almost_perfect",) * 2]


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([[1, 0], [1, 0]], (0, 0.25)),
        ([[1, 0], [0, 1]], (0.25, 0.25)),
        ([[0.5, 0.5], [0.5, 0.5]], (0, 0)),
        ([[0.5, 0.5], [1, 0, 0]], (0.0625, 0.111111)),  # of unequal length: the outcomes of the first
        ([[], [1.0]], (0, 0)),
        ([[0.5, 0.5]], (0, 0)),
        ([], (0, 0)),
    ],
)
def test_the_original_reads_uncertainty_literally(samples: list[list[float]], expected: tuple[float, float]) -> None:
    parts = (original.compute_epistemic_uncertainty(samples), original.compute_aleatoric_uncertainty(samples))
    assert parts == pytest.approx(expected, abs=5e-7)
    whole = original.compute_uncertainty([0.5, 0.5], samples)
    assert whole.total == pytest.approx(sum(expected), abs=5e-7)
    assert whole.shannon_entropy == pytest.approx(math.log(2))
    assert whole.method == "literal"


def test_of_one_distribution_the_original_knows_no_uncertainty() -> None:
    assert calculator.compute_uncertainty([0.5, 0.5]).total == pytest.approx(math.log(2))
    assert original.compute_uncertainty([0.5, 0.5]).total == 0


@given(st.lists(st.floats(0, 1), max_size=5))
def test_the_original_takes_the_entropy_of_any_numbers(numbers: list[float]) -> None:
    found = original.compute_shannon_entropy(numbers)
    assert found == pytest.approx(max(0, -sum(p * math.log(p) for p in numbers if p > 0)), abs=1e-9)


def test_nothing_has_no_uncertainty() -> None:
    assert calculator.compute_shannon_entropy([]) == 0
    assert calculator.compute_uncertainty([]).total == 0
    assert calculator.compute_epistemic_uncertainty([[0.5, 0.5]]) == 0
    assert calculator.compute_aleatoric_uncertainty([]) == 0


def test_the_parts_of_uncertainty_can_be_asked_for_one_by_one() -> None:
    samples = [[0.9, 0.1], [0.1, 0.9]]
    whole = calculator.compute_uncertainty(samples[0], samples)
    assert calculator.compute_epistemic_uncertainty(samples) == whole.epistemic
    assert calculator.compute_aleatoric_uncertainty(samples) == whole.aleatoric


def test_the_original_takes_any_threshold_and_reasons_name_what_is_not_good() -> None:
    lenient = HallucinationMetricsCalculator(HallucinationMetricsConfig(2, -3, 9, original=True))
    profile = lenient.generate_hallucination_profile(
        [REFUTED, UNCLEAR], judge_verdicts={"a": verdicts_of("SR"), "b": verdicts_of("RS")}
    )
    assert (profile.reliability.value, profile.is_high_risk) == ("medium", False)
    assert profile.reasons == ["mihr is not good", "fleiss_kappa is not good"]


def test_an_empty_input_of_a_profile_is_one_that_was_not_given() -> None:
    for chosen in (calculator, original):
        profile = chosen.generate_hallucination_profile([SUPPORTED], [], matrix_of({}), {}, [], [])
        parts = (profile.mahr, profile.consensus_f1, profile.fleiss_kappa, profile.uncertainty)
        assert parts == (None, None, None, None)


# Patterns of refusal


def test_the_patterns_in_use_can_be_read_added_to_and_removed_from() -> None:
    counting = FalseAcceptanceCalculator()
    before = counting.get_abstention_patterns()
    assert "i don't know" in before
    counting.add_abstention_pattern("ask my lawyer")
    counting.add_abstention_pattern("ask my lawyer")
    assert counting.abstention_patterns == [*before, "ask my lawyer"]
    assert counting.remove_abstention_pattern("ask my lawyer")
    assert not counting.remove_abstention_pattern("ask my lawyer")
    assert FalseAcceptanceCalculator().get_abstention_patterns() == before


def abstains(counting: FalseAcceptanceCalculator, response: str) -> bool:
    return counting.evaluate_abstention("Who?", response, True).did_abstain


def test_a_pattern_that_is_added_refuses_beside_all_others() -> None:
    counting = FalseAcceptanceCalculator()
    assert not abstains(counting, "Ask my lawyer.")
    counting.add_abstention_pattern("ask my lawyer")
    assert abstains(counting, "Ask my lawyer.")
    assert abstains(counting, "Je ne sais pas.")
    assert not abstains(counting, "The unknown hero won the battle.")


def test_patterns_of_the_users_own_decide_alone() -> None:
    counting = FalseAcceptanceCalculator(["No Data Available", "cannot verify"])
    assert counting.abstention_patterns == ["No Data Available", "cannot verify"]
    found = counting.evaluate_abstention("Who?", "There is no data available about it.", True)
    assert (found.did_abstain, found.cue) == (True, "No Data Available")
    assert not abstains(counting, "I don't know.")
    counting = FalseAcceptanceCalculator()
    counting.remove_abstention_pattern("unknown")
    assert abstains(counting, "X was, I'm not sure where, a painter.")
    assert not abstains(counting, "Unknown.")


def test_patterns_may_be_held_to_their_case() -> None:
    counting = FalseAcceptanceCalculator(case_sensitive=True)
    assert abstains(counting, "i don't know")
    assert not abstains(counting, "I DON'T KNOW")


def test_the_original_takes_any_pattern_anywhere_for_a_refusal() -> None:
    counting = FalseAcceptanceCalculator(original=True)
    assert abstains(counting, "The unknown hero won the battle.")
    assert not abstains(counting, "")
    assert not abstains(counting, "잘 모르겠습니다.")


def test_a_response_that_refuses_a_part_and_answers_is_a_false_acceptance_and_marked_as_partial() -> None:
    found = FalseAcceptanceCalculator().evaluate_abstention(
        "Who was X?", "I couldn't find her birth date. She was a Danish chemist who died in 1907.", True
    )
    assert (found.did_abstain, found.is_false_acceptance, found.is_partial) == (False, True, True)
    assert found.cue == "I couldn't find"


def test_a_pattern_without_words_is_refused() -> None:
    counting = FalseAcceptanceCalculator()
    counting.add_abstention_pattern("?!")
    with pytest.raises(ValueError, match="has no letter or digit"):
        abstains(counting, "Who?")


def test_results_given_by_hand_are_counted_as_they_are() -> None:
    results = [
        AbstentionResult("q", "r", is_nonexistent_entity=exists, did_abstain=refuses, is_false_acceptance=accepts)
        for exists, refuses, accepts in ((True, True, False), (True, False, True), (False, False, False))
    ]
    found = FalseAcceptanceCalculator().compute_far(results)
    assert (found.value, found.failed_abstentions, found.correct_refusals) == (0.5, 1, 1)
    assert found.abstention_results == results
