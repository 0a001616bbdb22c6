"""Five programs as users of judge-auditor write them: with the import lines changed they run, and print its numbers."""

from __future__ import annotations

import contextlib
import io
import re

import pytest

BASICS = """
from llm_judge_auditor.components.hallucination_metrics import (
    HallucinationMetricsCalculator,
    HallucinationMetricsConfig,
)
from llm_judge_auditor.models import Verdict, VerdictLabel

calculator = HallucinationMetricsCalculator()
verdicts = [
    Verdict(VerdictLabel.SUPPORTED, 0.95, ["Passage 1"], "Stated"),
    Verdict(VerdictLabel.REFUTED, 0.9, ["Passage 2"], "Denied"),
    Verdict(label=VerdictLabel.NOT_ENOUGH_INFO, confidence=0.6),
    Verdict(label=VerdictLabel.SUPPORTED, confidence=0.8),
]
mihr = calculator.compute_mihr(verdicts)
print(f"MiHR {mihr.value:.2%}, {mihr.unsupported_claims}/{mihr.total_claims}, claims: {mihr.has_claims}")
mahr = calculator.compute_mahr([verdicts, verdicts[:1], verdicts[3:]])
print(f"MaHR {mahr.value:.2%}, {mahr.responses_with_hallucinations}/{mahr.total_responses}")
print(f"FactScore {calculator.compute_factscore(verdicts):.2%}")
print(f"high risk: {calculator.is_high_risk(mihr=mihr)}")
print(f"reliability: {calculator.determine_reliability(mihr=mihr).value}")
lenient = HallucinationMetricsCalculator(config=HallucinationMetricsConfig(mihr_high_risk_threshold=0.6))
print(f"lenient: {lenient.is_high_risk(mihr=mihr)}, {lenient.config.mihr_high_risk_threshold}")
print(f"no claims: {calculator.compute_mihr([]).value}")
"""
CONSENSUS = """
from llm_judge_auditor.components.hallucination_metrics import (
    ClaimVerificationMatrixBuilder,
    HallucinationMetricsCalculator,
)
from llm_judge_auditor.models import Claim, ClaimType, Verdict, VerdictLabel

claims = {
    "gpt": [Claim("Oslo is in Norway", (0, 17), ClaimType.FACTUAL), Claim("It has 700,000 people", (18, 39))],
    "claude": [Claim("Oslo is in Norway", (0, 17), ClaimType.FACTUAL)],
    "llama": [Claim("Oslo is in Norway", (0, 17)), Claim("It was founded in 1048", (18, 40), ClaimType.TEMPORAL)],
}
builder = ClaimVerificationMatrixBuilder()
matrix = builder.build_matrix(claims)
for index, claim in enumerate(matrix.claims):
    print(f"{claim.text}: {matrix.get_claim_support_count(index)}/{len(matrix.models)} ({claim.claim_type.value})")
for consensus in builder.compute_claim_consensus(matrix, threshold=0.5):
    print(f"{consensus.consensus_ratio:.2f} {consensus.is_consensus}")
print([claim.text for claim in builder.identify_disputed_claims(matrix)])
calculator = HallucinationMetricsCalculator()
for model in matrix.models:
    found = calculator.compute_consensus_f1(matrix, model, consensus_threshold=0.5)
    print(f"{model}: P={found.precision:.2f} R={found.recall:.2f} F1={found.f1:.2f}")
print(f"mean F1 {calculator.compute_average_consensus_f1(matrix).f1:.3f}")
kappa = calculator.compute_fleiss_kappa(ratings=[[3, 0, 0], [2, 1, 0], [0, 3, 0]], num_categories=3)
print(f"kappa {kappa.kappa:.4f} {kappa.interpretation} Po={kappa.observed_agreement:.4f}")
alone = calculator.compute_fleiss_kappa_from_verdicts({"judge": [Verdict(VerdictLabel.SUPPORTED, 0.9)]})
print(f"{alone.is_undefined} {alone.error_message[:19]}")
"""
UNCERTAINTY = """
from llm_judge_auditor.components.hallucination_metrics import (
    HallucinationMetricsCalculator,
    HallucinationMetricsConfig,
)

calculator = HallucinationMetricsCalculator()
print(f"H {calculator.compute_shannon_entropy([0.5, 0.5]):.4f} {calculator.compute_shannon_entropy([1.0, 0.0]):.4f}")
samples = [[0.9, 0.1], [0.1, 0.9]]
print(f"epistemic {calculator.compute_epistemic_uncertainty(samples):.4f}")
print(f"aleatoric {calculator.compute_aleatoric_uncertainty(samples):.4f}")
result = calculator.compute_uncertainty(probabilities=samples[0], inference_samples=samples)
print(f"total {result.total:.4f} {result.is_high_uncertainty}")
print(f"flagged {calculator.flag_high_uncertainty(result, threshold=0.3)}")
strict = HallucinationMetricsCalculator(HallucinationMetricsConfig(uncertainty_high_threshold=0.1))
print(f"strict {strict.compute_uncertainty([0.9, 0.1], samples).is_high_uncertainty}")
"""
PROFILE = """
import json

from llm_judge_auditor.components.hallucination_metrics import (
    ClaimVerificationMatrix,
    HallucinationMetricsCalculator,
    HallucinationProfile,
    ReliabilityLevel,
)
from llm_judge_auditor.models import Claim, Verdict, VerdictLabel

good, bad = Verdict(VerdictLabel.SUPPORTED, 0.9), Verdict(VerdictLabel.REFUTED, 0.8)
matrix = ClaimVerificationMatrix(
    claims=[Claim("A", (0, 1)), Claim("B", (2, 3))], models=["m1", "m2"], support_matrix=[[1, 1], [0, 0]]
)
profile = HallucinationMetricsCalculator().generate_hallucination_profile(
    verdicts=[good, good, bad],
    response_verdicts=[[good], [bad]],
    claim_matrix=matrix,
    judge_verdicts={"j1": [good, bad, good], "j2": [good, bad, bad]},
    probabilities=[0.8, 0.1, 0.1],
    consensus_threshold=0.5,
)
print(f"{profile.mihr.value:.2%} {profile.mahr.value:.2%} {profile.factscore:.2%} {profile.consensus_f1.f1:.2f}")
print(f"{profile.fleiss_kappa.kappa:.4f} {profile.fleiss_kappa.interpretation}")
print(f"{profile.reliability.value} {profile.reliability == ReliabilityLevel.LOW} {profile.is_high_risk}")
print([claim.text for claim in profile.consensus_claims], [claim.text for claim in profile.disputed_claims])
data = json.loads(profile.to_json())
print(data["reliability"], data["disputed_claims"][0]["source_span"])
print(HallucinationProfile.from_json(profile.to_json(indent=None)) == profile)
print(HallucinationProfile.from_dict(profile.to_dict()).mihr.total_claims)
"""
FALSE_ACCEPTANCE = """
from llm_judge_auditor.components.hallucination_metrics import FalseAcceptanceCalculator

calculator = FalseAcceptanceCalculator()
result = calculator.evaluate_abstention(
    query="Who is Orla Venn?", response="Orla Venn was a Danish chemist.", is_nonexistent=True
)
print(f"{result.query} {result.did_abstain} {result.is_false_acceptance}")
far = calculator.evaluate_and_compute_far(
    queries=["Who is Orla Venn?", "What is the Brask effect?", "Who is Marie Curie?"],
    responses=["Orla Venn was a Danish chemist.", "I don't know. There is no record of it.", "A physicist."],
    is_nonexistent_flags=[True, True, False],
)
print(f"FAR {far.value:.2%}, {far.correct_refusals} + {far.failed_abstentions} of {far.total_nonexistent_queries}")
print([each.did_abstain for each in far.abstention_results if each.is_nonexistent_entity])
print(f"{calculator.compute_far(far.abstention_results[:1]).value:.0%}")
own = FalseAcceptanceCalculator(abstention_patterns=["no reliable source"])
own.add_abstention_pattern("insufficient evidence")
print(own.evaluate_abstention("What?", "There is insufficient evidence.", True).did_abstain)
print(own.remove_abstention_pattern("insufficient evidence"), own.get_abstention_patterns())
strict = FalseAcceptanceCalculator(case_sensitive=True)
print(strict.evaluate_abstention("What?", "I DON'T KNOW", True).did_abstain)
try:
    calculator.evaluate_and_compute_far(["a", "b"], ["c"], [True])
except ValueError as error:
    print("ValueError")
"""
PRINTED = {
    BASICS: """MiHR 50.00%, 2/4, claims: True
MaHR 33.33%, 1/3
FactScore 50.00%
high risk: True
reliability: low
lenient: False, 0.6
no claims: None""",
    CONSENSUS: """Oslo is in Norway: 3/3 (factual)
It has 700,000 people: 1/3 (factual)
It was founded in 1048: 1/3 (temporal)
1.00 True
0.33 False
0.33 False
['It has 700,000 people', 'It was founded in 1048']
gpt: P=0.50 R=1.00 F1=0.67
claude: P=1.00 R=1.00 F1=1.00
llama: P=0.50 R=1.00 F1=0.67
mean F1 0.778
kappa 0.5500 moderate Po=0.7778
True Fewer than 2 judges""",
    PROFILE: """33.33% 50.00% 66.67% 1.00
0.3333 fair
low True True
['A'] ['B']
low [2, 3]
True
3""",
    FALSE_ACCEPTANCE: """Who is Orla Venn? False True
FAR 50.00%, 1 + 1 of 2
[False, True]
100%
True
True ['no reliable source']
False
ValueError""",
}
# Entropies by hand: of (0.5, 0.5) ln 2, of (0.9, 0.1) 0.3251; the original takes variances: 0.16 and 0.16.
UNCERTAIN = """H 0.6931 0.0000
epistemic 0.3681
aleatoric 0.3251
total 0.6931 False
flagged True
strict True"""
UNCERTAIN_ORIGINAL = """H 0.6931 0.0000
epistemic 0.1600
aleatoric 0.1600
total 0.3200 False
flagged True
strict True"""


def run(program: str) -> str:
    """What a program prints when its import lines, and nothing else, are changed."""
    changed = re.sub(
        r"from llm_judge_auditor\.(components\.hallucination_metrics|models) import",
        "from hallumeter.compat.judge_auditor import",
        program,
    )
    assert "llm_judge_auditor" not in changed
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(changed, "program", "exec"), {"__name__": "__main__"})
    return printed.getvalue().strip()


@pytest.mark.parametrize("program", PRINTED, ids=["basics", "consensus", "profile", "false acceptance"])
def test_a_program_for_judge_auditor_runs_with_its_import_lines_changed(program: str) -> None:
    assert run(program) == PRINTED[program]


def test_a_program_on_uncertainty_prints_the_sounder_form_and_the_original_one_on_request() -> None:
    assert run(UNCERTAINTY) == UNCERTAIN
    literal = re.sub(r"Calculator\(\)", "Calculator(HallucinationMetricsConfig(original=True))", UNCERTAINTY)
    literal = literal.replace("threshold=0.1)", "threshold=0.1, original=True)")
    assert run(literal) == UNCERTAIN_ORIGINAL
