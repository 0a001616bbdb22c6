"""Are responses that other answers contradict more often wrong? Consistency and semantic entropy against human labels.

    python benchmarks/sample_consistency_validity.py DATA

DATA holds ragtruth and refchecker. No set at hand has several samples of one model, so the answers of the other models
to the same question stand in for them: an easier test than the real one, because models differ more than samples do.
A response is wrong when people marked a hallucination in it (RAGTruth), or found a claim of it that the reference does
not entail (RefChecker, by how much context the models were given). The area under the ROC curve is the probability that
a wrong response is less consistent than a right one, 0.5 by chance, with an interval by resampling questions. The
length of the response stands beside it: a figure that does no better than counting words tells nothing.
"""

import json
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from hallumeter.claims import samples as equivalence
from hallumeter.claims.metrics.samples import clusters_of_equivalent, consistency_of
from hallumeter.claims.metrics.uncertainty import semantic_entropy
from hallumeter.claims.samples import VectorEquivalence
from hallumeter.models.vectors import encode
from hallumeter.records.response import Response

THRESHOLDS = (0.7, 0.75, 0.8, 0.85, 0.9)
RESAMPLES = 300
FEWEST_ANSWERS = 3
Answer = tuple[str, bool]
"""A response, and whether it is wrong."""


class Scored(NamedTuple):
    """One response, the larger each score the more suspect."""

    question: int
    is_wrong: bool
    inconsistency: float
    entropy: float
    words: float


def ragtruth(data: Path) -> list[list[Answer]]:
    """Answers to each question, with human marks."""
    questions: dict[str, list[Answer]] = {}
    with (data / "ragtruth" / "merged" / "train_responses.jsonl").open(encoding="utf-8") as stream:
        for row in map(json.loads, stream):
            if row["task_type"] == "QA":
                questions.setdefault(row["source_id"], []).append((row["response"], bool(row["hallucinated"])))
    return list(questions.values())


def refchecker(data: Path, context: str) -> list[list[Answer]]:
    """Answers to each question, with human verdicts on their claims; answers without a claim are left out."""
    questions: dict[str, list[Answer]] = {}
    for path in sorted((data / "refchecker" / context).glob("*.json")):
        rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        for row in rows:
            claims = next((value for name, value in row.items() if name.endswith("_kg")), None) or []
            if claims:
                is_wrong = any(claim["human_label"] != "Entailment" for claim in claims)
                questions.setdefault(row["id"], []).append((row["response"], is_wrong))
    return list(questions.values())


def scored(questions: list[list[Answer]], threshold: float) -> list[Scored]:
    """Every response against the other answers to its question."""
    compared = VectorEquivalence(threshold)
    found = []
    for number, answers in enumerate(questions):
        texts = [text for text, _ in answers]
        is_same = compared.comparison(Response("question"), texts)
        for place, (text, is_wrong) in enumerate(answers):
            meanings = meanings_from(place, len(texts), is_same)
            consistency, entropy = consistency_of(meanings).value, semantic_entropy(meanings)
            assert consistency is not None
            assert entropy is not None
            found.append(Scored(number, is_wrong, -consistency, entropy, len(text.split())))
    return found


def meanings_from(place: int, count: int, is_same: Callable[[int, int], bool]) -> list[int]:
    """The meanings of all answers, the one at this place first."""
    order = [place, *(other for other in range(count) if other != place)]
    return clusters_of_equivalent(count, lambda one, other: is_same(order[one], order[other]))


def area(scores: NDArray[np.float64], is_wrong: NDArray[np.bool_]) -> float:
    """The area under the ROC curve, by ranks; equal scores count half."""
    wrong, right = int(is_wrong.sum()), int((~is_wrong).sum())
    return float((rankdata(scores)[is_wrong].sum() - wrong * (wrong + 1) / 2) / (wrong * right))


def with_interval(scores: Sequence[float], rows: list[Scored]) -> str:
    """The area and its 95 % interval by resampling questions."""
    values, is_wrong = np.array(scores), np.array([row.is_wrong for row in rows])
    members: dict[int, list[int]] = {}
    for place, row in enumerate(rows):
        members.setdefault(row.question, []).append(place)
    blocks, rng = list(members.values()), np.random.default_rng(0)
    areas = []
    for _ in range(RESAMPLES):
        drawn = np.concatenate([blocks[each] for each in rng.integers(len(blocks), size=len(blocks))])
        areas.append(area(values[drawn], is_wrong[drawn]))
    low, high = np.quantile(areas, [0.025, 0.975])
    return f"{area(values, is_wrong):.3f} ({low:.3f}–{high:.3f})"


def main(data: Path) -> None:
    """Print one table."""
    sets = {"RAGTruth QA": ragtruth(data)}
    for context in ("zero_context", "noisy_context", "accurate_context"):
        sets[f"RefChecker, {context.replace('_', ' ')}"] = refchecker(data, context)
    print("| set | responses | wrong | threshold | mean consistency | by consistency | by entropy | by words |")
    print("|" + " --- |" * 8)
    for name, questions in sets.items():
        enough = [answers for answers in questions if len(answers) >= FEWEST_ANSWERS]
        for threshold in THRESHOLDS:
            rows = scored(enough, threshold)
            cells = [name, str(len(rows)), f"{np.mean([row.is_wrong for row in rows]):.2f}", f"{threshold:g}"]
            cells += [f"{-np.mean([row.inconsistency for row in rows]):.2f}"]
            cells += [with_interval([getattr(row, each) for row in rows], rows) for each in Scored._fields[2:]]
            print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    remembered = cache(lambda texts: encode(list(texts)))
    # Every threshold compares the same vectors.
    with patch.object(equivalence, "encode", lambda texts: remembered(tuple(texts))):
        main(Path(sys.argv[1]))
