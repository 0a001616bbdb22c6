"""A run with probabilities, and labels for some of it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from compared_runs import run_of

RECORDS = 400


def labelled_run(
    folder: Path, *, records: int = RECORDS, claims: int = 3, is_asked: Callable[[float], float] = lambda _: 1.0
) -> Path:
    """A run of records with claims, and `labels.csv` with those that are asked for; a judge that tells something."""
    rng = np.random.default_rng(11)
    rows, labels = [], []
    for record in range(records):
        mood = rng.normal(0, 0.7)
        for claim in range(claims):
            latent = rng.normal(-2.5, 1.5) + mood
            truth = rng.random() < 1 / (1 + np.exp(-2 * latent))
            probability = round(float(1 / (1 + np.exp(-(latent + rng.normal(0, 0.5))))), 4)
            names = {"record_id": f"r{record}", "claim_id": f"r{record}-{claim}"}
            rows.append(
                {
                    **names,
                    "label": "REFUTED" if probability > 0.5 else "SUPPORTED",
                    "unsupported_probability": probability,
                    "judge": "j",
                    "task": "QA" if record % 4 else "chat",
                }
            )
            if rng.random() < is_asked(probability):
                labels.append({**names, "label": "REFUTED" if truth else "SUPPORTED"})
    run_of(folder, rows)
    write_labels(folder.with_name("labels.csv"), labels)
    return folder


def write_labels(path: Path, labels: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, ["record_id", "claim_id", "label", "annotator"])
        writer.writeheader()
        writer.writerows(labels)
    return path


def truth_beyond(path: Path, threshold: float, run: Path) -> float:
    """The share hallucinated of the labelled claims that a threshold accepts, counted one by one."""
    accepted = {
        row["claim_id"]
        for row in map(json.loads, (run / "verdicts.jsonl").read_text(encoding="utf-8").splitlines())
        if row["unsupported_probability"] <= threshold
    }
    with path.open(encoding="utf-8") as stream:
        said = [row["label"] == "REFUTED" for row in csv.DictReader(stream) if row["claim_id"] in accepted]
    return float(np.mean(said))
