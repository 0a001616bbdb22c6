"""Which claims do several models share? With hallumeter, and for users of judge-auditor.

The second half uses `hallumeter.compat.judge_auditor`, which has the names that programs for judge-auditor know.
"""

import hallumeter
from hallumeter.compat.judge_auditor import (
    Claim,
    ClaimType,
    ClaimVerificationMatrixBuilder,
    HallucinationMetricsCalculator,
)

# Three models answered the same question (record_id).
answers = {
    "model-a": ["Paris is the capital of France.", "It lies on the Seine.", "It was founded in 1850."],
    "model-b": ["Paris is the capital of France", "It lies on the Seine."],
    "model-c": ["PARIS is the capital of France.", "It has a subway."],
}
refuted = "It was founded in 1850."
rows = [
    {
        "record_id": "What is Paris?",
        "model": model,
        "claim_id": f"{model}-{number}",
        "text": text,
        "label": "REFUTED" if text == refuted else "SUPPORTED",
    }
    for model, texts in answers.items()
    for number, text in enumerate(texts)
]
summary = hallumeter.measure(rows, by=("model",))

print("With hallumeter: case and final periods aside, equal claims are found by their text\n")
print(f"  {'model':9}{'precision':>12}{'recall':>12}{'F1':>12}")
for model in answers:
    found = {row.metric: row.value for row in summary.metrics if row.by == {"model": model}}
    scores = [found[f"consensus_{name}"] for name in ("precision", "recall", "f1")]
    print(f"  {model:9}" + "".join("   undefined" if score is None else f"{score:12.2f}" for score in scores))

# A program written for judge-auditor: only the import line is new.
claims = {model: [Claim(text, (0, len(text)), ClaimType.FACTUAL) for text in texts] for model, texts in answers.items()}
matrix = ClaimVerificationMatrixBuilder().build_matrix(claims)
calculator = HallucinationMetricsCalculator()

print("\nWith the names of judge-auditor: who states what, verdicts aside\n")
for claim, support in zip(matrix.claims, matrix.support_matrix, strict=True):
    print(f"  {support}  {claim.text}")
for model in matrix.models:
    score = calculator.compute_consensus_f1(matrix, model)
    print(f"  {model}: precision {score.precision:.2f}, recall {score.recall:.2f}, F1 {score.f1:.2f}")
print("\nAgreement is not truth: models trained on the same texts share their errors.")
