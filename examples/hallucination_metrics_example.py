"""MiHR, MaHR and FactScore of a few verdicts: with hallumeter, and for users of judge-auditor.

The second half uses `hallumeter.compat.judge_auditor`, which has the names that programs for judge-auditor know.
"""

import hallumeter
from hallumeter.compat.judge_auditor import HallucinationMetricsCalculator, Verdict, VerdictLabel

# One row per claim; record_id says which response it was taken from.
rows = [
    {"record_id": "Curie", "claim_id": "1", "text": "Marie Curie was born in Warsaw.", "label": "SUPPORTED"},
    {"record_id": "Curie", "claim_id": "2", "text": "She discovered penicillin.", "label": "REFUTED"},
    {"record_id": "Curie", "claim_id": "3", "text": "She liked long walks.", "label": "NOT_ENOUGH_INFO"},
    {"record_id": "Paris", "claim_id": "1", "text": "Paris is the capital of France.", "label": "SUPPORTED"},
    {"record_id": "Paris", "claim_id": "2", "text": "It lies on the Seine.", "label": "SUPPORTED"},
    {"record_id": "Paris", "claim_id": "3", "text": "It is the best city to live in.", "label": "UNDECIDED"},
]
summary = hallumeter.measure(rows)
names = {metric.id: metric.name for metric in hallumeter.METRICS}

print("With hallumeter: counts, and what the claim that the judge could not decide may change\n")
for row in summary.metrics:
    if row.metric in ("mihr", "mahr", "factscore") and row.value is not None and row.bounds is not None:
        counts = f"{row.count:.0f} of {row.total:.0f}"
        low, high = row.bounds
        print(f"  {row.metric:9}  {counts} = {row.value:6.2%}   {low:.0%} to {high:.0%} possible")
        print(f"             {names[row.metric]}")

# A program written for judge-auditor: only the import line is new.
supported = Verdict(VerdictLabel.SUPPORTED, 0.9, [], "Stated in the sources")
refuted = Verdict(VerdictLabel.REFUTED, 0.8, [], "That was Alexander Fleming")
unclear = Verdict(VerdictLabel.NOT_ENOUGH_INFO, 0.5, [], "The sources do not say")

calculator = HallucinationMetricsCalculator()
mihr = calculator.compute_mihr([supported, refuted, unclear, supported, supported])
mahr = calculator.compute_mahr([[supported, refuted, unclear], [supported, supported]])
factscore = calculator.compute_factscore([supported, refuted, unclear, supported, supported])

print("\nWith the names of judge-auditor\n")
print(f"  MiHR: {mihr.value:.2%} ({mihr.unsupported_claims} of {mihr.total_claims} claims)")
print(f"  MaHR: {mahr.value:.2%} ({mahr.responses_with_hallucinations} of {mahr.total_responses} responses)")
print(f"  FactScore: {factscore:.2%}")
print(f"  Without claims MiHR is {calculator.compute_mihr([]).value}, not 0: nothing was checked.")
