"""How right is the judge that works by rules? On RAGTruth's training answers, beside two baselines.

    python benchmarks/rules_judge_validity.py FOLDER

FOLDER holds train_responses.jsonl and train_sources.jsonl. Claims are the sentences of the answers; a claim is
unsupported when it touches a span that people marked, and an answer when it has any. Eleven sources that other material
was made from are left out. The coefficients are fitted by `python -m training.rules_judge`, on some of these answers
too: what it prints of the fold held back is the fair figure.
"""

import json
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hallumeter.claims.extractors.statements import SentenceExtractor
from hallumeter.claims.judges.rules.judge import RulesJudge
from hallumeter.claims.judges.rules.statement import MISMATCHES
from hallumeter.records.claim import Label, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Passage, Response
from hallumeter.stats.intervals import wilson_interval
from hallumeter.stats.ranks import average_ranks

LEFT_OUT = frozenset(
    {"12219", "12331", "12362", "12389", "14364", "15119", "15199", "15325", "15408", "15506", "15554"}
)
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Answer(NamedTuple):
    """An answer with what people marked in it and what the judge said."""

    source: str
    task: str
    response: Response
    is_hallucinated: bool
    verdicts: list[Verdict]
    unsupported: list[bool]
    """For each claim, whether it touches a marked span."""


def evidence_of(source: dict[str, object]) -> tuple[str | None, tuple[Passage, ...]]:
    """The question and the passages of a source."""
    given = source["source_info"]
    if isinstance(given, str):
        return None, (Passage("p1", given),)
    assert isinstance(given, dict)
    if "passages" not in given:
        return None, (Passage("p1", json.dumps(given, ensure_ascii=False)),)
    parts = [part for part in re.split(r"passage \d+:", str(given["passages"])) if part.strip()]
    return str(given["question"]), tuple(Passage(f"p{number}", part) for number, part in enumerate(parts, 1))


def judged(folder: Path) -> list[Answer]:
    """All answers, judged; prints the speed."""
    lines = (folder / "train_sources.jsonl").read_text(encoding="utf-8").splitlines()
    sources = {source["source_id"]: evidence_of(source) for source in map(json.loads, lines)}
    judge, extractor = RulesJudge(), SentenceExtractor()
    answers, seconds = [], 0.0
    for number, line in enumerate((folder / "train_responses.jsonl").read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        if row["source_id"] in LEFT_OUT:
            continue
        question, passages = sources[row["source_id"]]
        response = Response(f"r{number}", question, row["response"], passages)
        claims = tuple(extractor.extract(response))
        started = time.process_time()
        verdicts = judge.judge(JudgeTask(response, claims))
        seconds += time.process_time() - started
        spans = [(label["start"], label["end"]) for label in row["labels"]]
        unsupported = [
            any(start < (claim.end or 0) and (claim.start or 0) < end for start, end in spans) for claim in claims
        ]
        kept = [verdict for verdict in verdicts if isinstance(verdict, Verdict)]
        answers.append(Answer(row["source_id"], row["task_type"], response, bool(row["labels"]), kept, unsupported))
    count = sum(len(answer.verdicts) for answer in answers)
    print(f"{len(answers)} answers, {count} claims, {count / seconds:,.0f} claims per second of one core")
    return answers


def rate(count: int, total: int) -> str:
    """A share with its Wilson interval."""
    interval = wilson_interval(count, total)
    if interval is None:
        return "–"
    return f"{count / total:.3f} ({interval.low:.3f}–{interval.high:.3f}), {count} of {total}"


def auroc(scores: Floats, truth: Flags) -> float:
    """The chance that a positive has a higher score than a negative."""
    positives = int(truth.sum())
    negatives = len(truth) - positives
    return float((average_ranks(scores)[truth].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def f1(flagged: Flags, truth: Flags) -> float:
    """Harmonic mean of precision and recall."""
    return float(2 * (flagged & truth).sum() / (flagged.sum() + truth.sum()))


def best_f1(scores: Floats, truth: Flags) -> float:
    """The largest F1 over all thresholds, which flatters the score a little."""
    return max(f1(scores >= threshold, truth) for threshold in np.unique(scores))


def worst(answer: Answer) -> float:
    """The probability of the worst claim; 0 when there is none."""
    return max((verdict.unsupported_probability or 0.0 for verdict in answer.verdicts), default=0.0)


def report_answers(answers: list[Answer]) -> None:
    """One line for each task."""
    print("\n| answers | count | hallucinated | judge F1 | AUROC | always F1 | length best F1 | length AUROC |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for task in ("all", *sorted({answer.task for answer in answers})):
        chosen = [answer for answer in answers if task in {"all", answer.task}]
        truth = np.array([answer.is_hallucinated for answer in chosen])
        bad = {Label.REFUTED, Label.NOT_ENOUGH_INFO}
        flagged = np.array([any(verdict.label in bad for verdict in answer.verdicts) for answer in chosen])
        scores = np.array([worst(answer) for answer in chosen])
        length = np.array([float(len(answer.response.response or "")) for answer in chosen])
        cells = [task, str(len(chosen)), f"{truth.mean():.3f}", f"{f1(flagged, truth):.3f}"]
        cells += [f"{auroc(scores, truth):.3f}", f"{f1(np.ones_like(truth), truth):.3f}"]
        cells += [f"{best_f1(length, truth):.3f}", f"{auroc(length, truth):.3f}"]
        print("| " + " | ".join(cells) + " |")


def report_claims(answers: list[Answer]) -> None:
    """One line for each label and reason: how often people found the claim unsupported."""
    pairs = [pair for answer in answers for pair in zip(answer.verdicts, answer.unsupported, strict=True)]
    total = sum(is_true for _, is_true in pairs)
    scores = np.array([verdict.unsupported_probability or 0.0 for verdict, _ in pairs])
    print(f"\nclaims: {total / len(pairs):.3f} unsupported, AUROC {auroc(scores, np.array([t for _, t in pairs])):.3f}")
    print("\n| label | reason | truly unsupported | share of all unsupported |\n| --- | --- | --- | --- |")
    counts = Counter((verdict.label.value, verdict.reason or "") for verdict, _ in pairs)
    hits = Counter((verdict.label.value, verdict.reason or "") for verdict, is_true in pairs if is_true)
    for name, count in sorted(counts.items()):
        print(f"| {name[0]} | {name[1]} | {rate(hits[name], count)} | {hits[name] / total:.3f} |")
    chosen = [name for name in counts if name[1] in MISMATCHES]
    print(f"\nall mismatches: {rate(sum(hits[name] for name in chosen), sum(counts[name] for name in chosen))}")


def main(folder: Path) -> None:
    """Print everything."""
    answers = judged(folder)
    report_answers(answers)
    report_claims(answers)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
