"""Sentences and agents whose answers can be foreseen, and ways to run them and to compare what came out."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from child_programs import Child, started
from hallumeter.aspects.run.asking import calls_by_record
from hallumeter.aspects.run.experiment import experiment_of
from hallumeter.aspects.run.pipeline import AspectsOutcome, run_experiment
from hallumeter.run.journal import Journal
from hallumeter.run.progress import ProgressListener
from hallumeter.run.run_folder import JOURNAL

ROLES = 10
"""Questions for one sentence, with every step switched on."""
CHILD_SECONDS = 240
"""A program that takes longer hangs."""
POSITIVE, NEGATIVE = ("great", "good"), ("bad", "slow")
TERMS = ("battery", "screen", "delivery")

Document = dict[str, Any]


def sentence(number: int) -> Document:
    """A sentence with two aspects and its gold; no two are the same."""
    text = f"Order {number}: the battery is great but the screen is bad."
    gold = [
        {"aspect_term": "battery", "polarity": "positive", "span": _span(text, "battery")},
        {"aspect_term": "screen", "polarity": "negative", "span": _span(text, "screen")},
    ]
    return {"text_id": f"s{number}", "text": text, "language": "en", "gold_tuples": gold}


def write_rows(path: Path, rows: list[Document]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def written(folder: Path, sentences: int) -> Path:
    return write_rows(folder / "reviews.jsonl", [sentence(number) for number in range(sentences)])


def document(folder: Path, **settings: Any) -> Document:
    """An experiment on the sentences of a folder."""
    data = {"input": str(folder / "reviews.jsonl"), **settings.pop("data", {})}
    return {"data": data, "output": str(folder / "runs"), "run_id": "run", **settings}


def run(given: Document, *, progress: ProgressListener | None = None, **options: Any) -> AspectsOutcome:
    return run_experiment(experiment_of(given), progress=progress, **options)


def lines(path: Path) -> list[Document]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def outputs(folder: Path) -> list[Document]:
    return lines(folder / "outputs.jsonl")


def timeless(row: Document) -> Document:
    """A line of outputs or of traces without the time that it took."""
    return {**row, "usage": {**row["usage"], "latency_ms": None}}


def timeless_outputs(folder: Path) -> list[Document]:
    return [timeless(row) for row in outputs(folder)]


def timeless_files(folder: Path) -> dict[str, object]:
    """What the run itself writes, without times; figures are made of it, those of time among them."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    return {
        "outputs.jsonl": timeless_outputs(folder),
        "traces.jsonl": [timeless(row) for row in lines(folder / "traces.jsonl")],
        "manifest.json": {key: value for key, value in manifest.items() if key not in ("started", "finished", "files")},
        **{name: (folder / name).read_bytes() for name in ("experiment.json", "failures.jsonl")},
    }


def all_files(folder: Path) -> dict[str, bytes]:
    """Every file of a run but those that tell when it was made, and where."""
    told = {"manifest.json", "report.html", "experiment.json"}
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in told}


def answers_by_rule(body: Document) -> str:
    """What a language model replies that goes by the role and the text alone."""
    asked = next(json.loads(each["content"]) for each in body["messages"] if each["role"] == "user")
    text = asked.get("text") or asked.get("topic")
    return json.dumps(_REPLIES[asked["task"]](text))


def kept_calls(folder: Path) -> int:
    """How many answers the journal of a run has, also while it is written or after a kill."""
    if not (folder / JOURNAL).exists():
        return 0
    copy = folder.with_name("looked at")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    with Journal.begin_or_resume(copy / JOURNAL, settings=b"") as journal:
        return sum(len(own) for own in calls_by_record(journal).values())


def child(*arguments: object, folder: Path, command: str = "run") -> AbstractContextManager[Child]:
    return started("aspects", command, *arguments, folder=folder, environment={}, seconds=CHILD_SECONDS)


def wait_until(condition: Callable[[], bool], *, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)


def _span(text: str, term: str) -> Document:
    start = text.index(term)
    return {"start": start, "end": start + len(term)}


def _found(text: str) -> list[tuple[str, str]]:
    """Terms of a text, and what is felt about each: by the first word of feeling behind it."""
    found = []
    for term in TERMS:
        if term in text:
            after = text[text.index(term) :].replace(".", " ").split()
            felt = next((word for word in after if word in (*POSITIVE, *NEGATIVE)), None)
            polarity = "positive" if felt in POSITIVE else "negative" if felt in NEGATIVE else "neutral"
            found.append((term, polarity))
    return found


def _aspects(text: str) -> Document:
    found = [{"term": term, "span": _span(text, term), "confidence": 0.9} for term, _ in _found(text)]
    return {"aspects": found}


def _sentiments(text: str) -> Document:
    return {
        "aspect_sentiments": [
            {
                "aspect_term": {"term": term, "span": _span(text, term)},
                "polarity": polarity,
                "confidence": 0.8,
                "evidence": term,
                "polarity_distribution": {polarity: 0.8},
                "is_implicit": False,
            }
            for term, polarity in _found(text)
        ]
    }


def _validation(text: str) -> Document:
    risk = {"type": "CONTRAST", "scope": {"start": 0, "end": len(text)}, "severity": "low", "description": "but"}
    flip = {"target_aspect": "battery", "proposal_type": "FLIP_POLARITY", "rationale": "it is planted"}
    return {"structural_risks": [risk], "consistency_score": 0.6, "correction_proposals": [flip]}


def _edits(agent: str) -> Callable[[str], Document]:
    return lambda text: {
        "agent": agent,
        "proposed_edits": [
            {"op": "confirm_tuple", "target": {"aspect_term": term, "polarity": polarity}, "confidence": 0.7}
            for term, polarity in _found(text)
        ],
    }


def _summary(text: str) -> Document:
    tuples = [{"aspect_term": term, "polarity": polarity} for term, polarity in _found(text)]
    return {
        "final_patch": [],
        "final_tuples": tuples,
        "sentence_polarity": "mixed",
        "sentence_evidence_spans": ["battery"],
        "unresolved_conflicts": [],
        "aspect_evidence": {},
        "rationale": "both",
    }


def _aspect_review(text: str) -> Document:
    return {"aspect_review": [{"term": term, "action": "keep", "reason": "it is there"} for term, _ in _found(text)]}


def _sentiment_review(text: str) -> Document:
    items = [{"aspect_term": term, "action": "maintain", "reason": "it is so"} for term, _ in _found(text)]
    return {"sentiment_review": items}


def _last_validation(text: str) -> Document:
    return {
        "structural_risks": [],
        "correction_proposals": [],
        "consistency_score": 0.9,
        "final_validation": {"resolved_risks": ["CONTRAST"], "remaining_risks": [], "final_consistency_score": 0.9},
    }


_REPLIES: dict[str, Callable[[str], Document]] = {
    "ate": _aspects,
    "atsa": _sentiments,
    "validator": _validation,
    "epm": _edits("epm"),
    "tan": _edits("tan"),
    "cj": _edits("cj"),
    "debate_summary": _summary,
    "ate_review": _aspect_review,
    "atsa_review": _sentiment_review,
    "validator_review": _last_validation,
}
