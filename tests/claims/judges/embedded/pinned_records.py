"""The claims of ``pinned_claims.jsonl``, and what the model in the package says of them.

A row has the name of its ``task`` and what was ``expected`` of each tier. The claims of one task are judged together.
A row with a ``claim_id`` is a sentence of an answer in the bundled sample ``rag_answers.jsonl``, whose task is called
``record@model``; all sentences of that answer are judged, and this one is pinned. Any other row has its own ``text``
and ``evidence``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from embedded_tasks import TIERS, task_of, verdicts_of

from hallumeter.records.claim import Claim, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.testing import sample_responses

PATH = Path(__file__).parent / "pinned_claims.jsonl"
Row = dict[str, Any]


def pinned_rows() -> list[Row]:
    return [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]


def said_of(rows: Sequence[Row]) -> list[dict[str, Row]]:
    """What each tier says of each row, in the form in which it is written down."""
    said: list[dict[str, Row]] = [{} for _ in rows]
    for tier in TIERS:
        verdicts = {name: verdicts_of(tier, task) for name, task in _tasks(rows).items()}
        for number, row in enumerate(rows):
            (verdict,) = [each for each in verdicts[row["task"]] if each.claim_id == claim_id_of(row)]
            said[number][tier] = _written(verdict)
    return said


def claim_id_of(row: Row) -> str:
    return str(row.get("claim_id", row.get("text")))


def _tasks(rows: Sequence[Row]) -> dict[str, JudgeTask]:
    answers = _answers()
    tasks = {}
    for name in dict.fromkeys(row["task"] for row in rows):
        together = [row for row in rows if row["task"] == name]
        tasks[name] = answers[name] if "claim_id" in together[0] else _own_task(together)
    return tasks


def answered_tasks() -> list[JudgeTask]:
    """Every answer of the sample with all of its sentences."""
    return list(_answers().values())


def _own_task(rows: Sequence[Row]) -> JudgeTask:
    (evidence,) = {tuple(row["evidence"]) for row in rows}
    task = task_of(tuple(row["text"] for row in rows), *evidence)
    claims = [Claim("r", str(claim.text), start=claim.start, end=claim.end, text=claim.text) for claim in task.claims]
    return JudgeTask(task.response, tuple(claims))


def _answers() -> dict[str, JudgeTask]:
    lines = resources.files("hallumeter.samples").joinpath("rag_answers.jsonl").read_text(encoding="utf-8")
    claims: dict[str, list[Claim]] = {}
    for row in map(json.loads, lines.splitlines()):
        name = f"{row['record_id']}@{row['model']}"
        claim = Claim(name, row["claim_id"], start=row["start"], end=row["end"], text=row["text"])
        claims.setdefault(name, []).append(claim)
    return {each.record_id: JudgeTask(each, tuple(claims[each.record_id])) for each in sample_responses()}


def _written(verdict: Verdict) -> Row:
    return {
        "label": verdict.label.value,
        "reason": verdict.reason,
        "start": verdict.start,
        "end": verdict.end,
        "probability": verdict.unsupported_probability,
    }
