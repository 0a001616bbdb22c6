"""How unsure is a judge, and of what kind is its doubt?

Each verdict may carry the judge's probabilities for SUPPORTED, REFUTED and NOT_ENOUGH_INFO, and those of repeated
inference. Where the repetitions contradict each other, more knowledge could help (epistemic); where each of them is
unsure by itself, it could not (aleatoric).
"""

import hallumeter

cases = {
    "sure": [[0.98, 0.01, 0.01], [0.97, 0.02, 0.01], [0.99, 0.005, 0.005]],
    "leaning": [[0.70, 0.20, 0.10], [0.65, 0.25, 0.10], [0.72, 0.18, 0.10]],
    "always torn": [[0.34, 0.33, 0.33], [0.33, 0.34, 0.33], [0.33, 0.33, 0.34]],
    "contradicts itself": [[0.98, 0.01, 0.01], [0.01, 0.98, 0.01], [0.01, 0.01, 0.98]],
}
rows = [
    {
        "record_id": case,
        "case": case,
        "claim_id": "1",
        "label": "SUPPORTED",
        "probabilities": samples[0],
        "inference_samples": samples,
    }
    for case, samples in cases.items()
]
# Any field of the rows can be grouped by.
summary = hallumeter.measure(rows, by=("case",))

columns = ("shannon_entropy", "uncertainty_total", "uncertainty_epistemic", "uncertainty_aleatoric")
print("Uncertainty in nats; with three labels it is at most 1.099\n")
print("                      first answer    total = epistemic + aleatoric")
for case in cases:
    found = {row.metric: row.value for row in summary.metrics if row.by == {"case": case}}
    numbers = "  ".join(f"{found[column]:10.3f}" for column in columns)
    print(f"  {case:20}{numbers}")

print("\nThe first answer alone cannot tell 'sure' from 'contradicts itself'. Repeating the inference can.")
