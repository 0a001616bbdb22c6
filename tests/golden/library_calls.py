"""What the library says when it is called from Python: its own functions, and the compat entrances."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from given_files import ABSTENTIONS, ANSWERS, SAMPLED, VERDICTS

import hallumeter
from hallumeter import testing
from hallumeter.compat import absa, judge_auditor, medical, picarones


def _plain(thing: object) -> Any:
    """Structs, dataclasses and enums as JSON can say them."""
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
    return "<function>" if callable(thing) else str(thing)


LINES_SHOWN = 40


def shown(title: str, call: Callable[[], object], folder: Path) -> str:
    """The result of a call as JSON, or what it raises; long results are written to a file, which is digested."""
    try:
        result = call()
    except hallumeter.HallumeterError as error:
        return f">>> {title}\n{type(error).__name__}: {error}\n"
    text = json.dumps(json.loads(msgspec.json.encode(result, enc_hook=_plain)), indent=1, ensure_ascii=False)
    lines = text.splitlines()
    if len(lines) > LINES_SHOWN:
        name = f"{title.replace(' ', '-')}.json"
        (folder / name).write_text(text, encoding="utf-8")
        text = "\n".join([*lines[:LINES_SHOWN], f"... {len(lines)} lines in {name}"])
    return f">>> {title}\n{text}\n"


def library_calls(folder: Path) -> list[str]:
    """Every public function of the package, on small inputs."""
    verdicts, answers = [dict(row) for row in VERDICTS], [dict(row) for row in ANSWERS]
    rules = hallumeter.AuditSettings(judges=("rules",), workers=1)
    sampled = hallumeter.AuditSettings(judges=("rules",), samples="rules", workers=1)
    judge = testing.judge_that_says({"It stands in Paris.": "SUPPORTED"}, name="told")
    pages = [{"page": "1", "reference": "the cat sat on the mat", "response": "the cat sat on a mat and ate"}]
    bundled = testing.sample_responses()
    calls: list[tuple[str, Callable[[], object]]] = [
        ("measure rows", lambda: hallumeter.measure(verdicts)),
        ("measure file", lambda: hallumeter.measure(folder / "verdicts.jsonl")),
        ("measure abstentions", lambda: hallumeter.measure([dict(row) for row in ABSTENTIONS])),
        ("measure nothing", lambda: hallumeter.measure([])),
        ("measure missing file", lambda: hallumeter.measure("nowhere.jsonl")),
        ("measure settings", lambda: hallumeter.MeasureSettings(confidence=7.0)),
        ("read", lambda: list(hallumeter.read(folder / "answers.jsonl"))),
        ("audit", lambda: _run(hallumeter.audit(answers, settings=rules))),
        ("audit samples", lambda: _run(hallumeter.audit([dict(row) for row in SAMPLED], settings=sampled))),
        ("audit own judge", lambda: _run(hallumeter.audit(answers[:2], settings=rules_by(judge)))),
        ("transcripts", lambda: _run(hallumeter.transcripts(pages))),
        ("load nothing", lambda: hallumeter.load("nowhere")),
        ("sample responses", lambda: (len(bundled), bundled[0])),
        ("metrics", lambda: hallumeter.METRICS),
        ("labels", lambda: list(hallumeter.Label)),
    ]
    return [shown(title, call, folder) for title, call in calls]


def rules_by(judge: Any) -> hallumeter.AuditSettings:
    """An audit by a judge of one's own."""
    return hallumeter.AuditSettings(judges=(judge,), workers=1)


def _run(run: Any) -> object:
    return {"summary": run.summary, "failures": run.failures, "findings": list(run.findings())}


def compat_calls(folder: Path) -> list[str]:
    """The entrances for users of other packages, on the inputs of their guides."""
    label, verdict = judge_auditor.VerdictLabel, judge_auditor.Verdict
    calculator = judge_auditor.HallucinationMetricsCalculator()
    verdicts = [
        verdict(label.SUPPORTED, 0.9, [], "Stated in the sources"),
        verdict(label.REFUTED, 0.8, [], "That was Alexander Fleming"),
        verdict(label.NOT_ENOUGH_INFO, 0.5, [], "The sources do not say"),
    ]
    truth = "Icy commence le prologue de maistre Jehan Froissart"
    found = picarones.compute_hallucination_metrics(truth, truth + " lequel fut archive au greffe royal")
    text = "배터리는 좋지만 뷰가 별로"
    aspects = [{"term": "배터리", "span": {"start": 0, "end": 3}}, {"term": "화면", "span": {"start": 9, "end": 11}}]
    card = {"text_id": "1", "input_text": text, "stage1": {"ate": {"aspects": aspects}}}
    first, second = {"label": "positive", "confidence": 0.9}, {"label": "negative", "confidence": 0.6}
    abstention = judge_auditor.FalseAcceptanceCalculator()
    calls: list[tuple[str, Callable[[], object]]] = [
        ("compute_mihr", lambda: calculator.compute_mihr(verdicts)),
        ("compute_mihr nothing", lambda: calculator.compute_mihr([])),
        ("compute_mahr", lambda: calculator.compute_mahr([verdicts, verdicts[:1], []])),
        ("compute_factscore", lambda: calculator.compute_factscore(verdicts)),
        ("compute_uncertainty", lambda: calculator.compute_uncertainty([0.9, 0.05, 0.05])),
        ("profile", lambda: calculator.generate_hallucination_profile(verdicts=verdicts, probabilities=[0.9, 0.1])),
        ("abstention", lambda: abstention.evaluate_abstention("When?", "It was 1950.", True)),
        ("picarones", found.as_dict),
        ("picarones empty", lambda: picarones.compute_hallucination_metrics("a b c", "").as_dict()),
        ("picarones all", lambda: picarones.aggregate_hallucination_metrics([found])),
        ("filtered_aspects", lambda: absa.filtered_aspects(text, aspects)),
        ("make_scorecard", lambda: absa.make_scorecard(card)),
        ("aggregate_single_run", lambda: absa.aggregate_single_run([absa.make_scorecard(card)])),
        ("aggregate_single_run nothing", lambda: absa.aggregate_single_run([])),
        ("moderate", lambda: absa.moderate(first, second)),
        (
            "compute_advanced_metrics",
            lambda: medical.compute_advanced_metrics(
                answer="You are currently taking metformin and lisinopril. Walk briskly, and stop if you feel dizzy.",
                question="How should I exercise?",
                slots_truth={"key_meds": ["Metformin"], "primary_condition": "Type 2 diabetes mellitus"},
                turn_id=3,
            ),
        ),
    ]
    return [shown(title, call, folder) for title, call in calls]
