"""From numbers to an opinion: can these responses be relied on? With hallumeter, and for users of judge-auditor.

The second half uses `hallumeter.compat.judge_auditor`, which has the names that programs for judge-auditor know.
"""

import hallumeter
from hallumeter.compat.judge_auditor import (
    HallucinationMetricsCalculator,
    HallucinationMetricsConfig,
    Verdict,
    VerdictLabel,
)

# Two judges on the same eight claims of four responses; they differ on the sixth.
S, R, N = "SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO"
labels = {"judge-1": [S, S, R, S, S, N, S, S], "judge-2": [S, S, R, S, S, S, S, S]}
rows = [
    {"record_id": f"response-{number // 2}", "claim_id": str(number), "judge": judge, "label": label}
    for judge, given in labels.items()
    for number, label in enumerate(given)
]
summary = hallumeter.measure(rows)

print("With hallumeter: two policies, the same numbers. judge-auditor looks at the numbers alone, hallumeter")
print("also at what the undecided claim and so small a sample leave possible.\n")
for name, profile in summary.profile.items():
    print(f"  {name}: reliability {profile.reliability}, high risk: {profile.is_high_risk}")
    print(f"    measured: {', '.join(profile.measured)}")
    for reason in profile.reasons:
        print(f"    - {reason}")

# A program written for judge-auditor: only the import line is new. Its MiHR rests on one judge's verdicts.
judge_verdicts = {
    judge: [Verdict(VerdictLabel[label], 0.9, [], "") for label in given] for judge, given in labels.items()
}
calculator = HallucinationMetricsCalculator(HallucinationMetricsConfig(mihr_high_risk_threshold=0.2))
report = calculator.generate_hallucination_profile(
    verdicts=judge_verdicts["judge-1"],
    judge_verdicts=judge_verdicts,
    probabilities=[0.9, 0.05, 0.05],
)
print("\nWith the names of judge-auditor, and a stricter threshold of 20%\n")
print(f"  Reliability: {report.reliability.value}, high risk: {report.is_high_risk}")
for reason in report.reasons:
    print(f"    - {reason}")
print(report.to_json(indent=2))
