"""Patients and systems whose answers can be foreseen, and ways to run them and to compare what came out."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from child_programs import Child, started
from hallumeter.dialogue.run.asking import answers_by_conversation
from hallumeter.dialogue.run.experiment import experiment_of
from hallumeter.dialogue.run.finishing import Counted
from hallumeter.dialogue.run.pipeline import DialogueOutcome, run_experiment
from hallumeter.dialogue_judges import sentence_checker
from hallumeter.run.journal import Journal
from hallumeter.run.progress import ProgressListener
from hallumeter.run.run_folder import JOURNAL

TURNS = 5
CHILD_SECONDS = 240
"""A program that takes longer hangs."""
OFFLINE_PAIR = [{"mode": "llm"}, {"mode": "agent"}]

Document = dict[str, Any]


def script(number: int, *, language: str = "en", turns: int = TURNS) -> Document:
    """A patient who asks the same five things as all others, each in words of their own."""
    asked = [
        f"I am a {50 + number}-year-old woman with hypertension, patient {number}. I feel tired.",
        f"I take lisinopril, and my HbA1c is 6.{number}%. What comes first, asks patient {number}?",
        f"How hard may I exercise, asks patient {number}?",
        f"Which three rules for meals help most, asks patient {number}?",
        f"Please make a plan of four weeks for patient {number}.",
    ]
    slots = {
        "age": 50 + number,
        "sex": "female",
        "sex_code": "F",
        "primary_condition": "Hypertension",
        "key_meds": ["Lisinopril"],
        "key_labs": {"hba1c": f"6.{number}%"},
        "key_vitals": {"bp_systolic": "131mmHg", "bp_diastolic": "87mmHg"},
    }
    rows = [{"turn_id": place, "question": text} for place, text in enumerate(asked[:turns], 1)]
    return {"patient_id": f"p{number}", "language": language, "slots": slots, "turns": rows}


def write_rows(path: Path, rows: list[Document]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def written(folder: Path, patients: int, *, turns: int = TURNS) -> Path:
    return write_rows(folder / "scripts.jsonl", [script(number, turns=turns) for number in range(patients)])


def document(folder: Path, systems: list[Document] | None = None, **settings: Any) -> Document:
    """An experiment on the scripts of a folder, with facts looked up in the quick way."""
    return {
        "systems": systems or OFFLINE_PAIR,
        "multiturn_scripts": {"path": str(folder / "scripts.jsonl")},
        "output": str(folder / "runs"),
        "run_id": "run",
        "retrieval": "words",
        **settings,
    }


def run(given: Document, *, progress: ProgressListener | None = None, **options: Any) -> DialogueOutcome:
    return run_experiment(experiment_of(given), progress=progress, checker=sentence_checker, **options)


def modes_of(outcome: DialogueOutcome) -> tuple[Counted, ...]:
    assert outcome.finished is not None
    return outcome.finished.modes


def lines(path: Path) -> list[Document]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def events(folder: Path) -> list[Document]:
    return lines(folder / "events.jsonl")


def timeless(folder: Path) -> list[Document]:
    """The events of a run without the times, which differ between equal runs."""
    return [{**event, "timing_ms": None, "timestamps": None} for event in events(folder)]


def timeless_files(folder: Path) -> dict[str, object]:
    """Everything in a run folder, without times."""
    files: dict[str, object] = {
        path.name: path.read_bytes() for path in folder.iterdir() if path.name != "events.jsonl"
    }
    manifest = json.loads((folder / "manifest.json").read_bytes())
    files["manifest.json"] = {
        key: value for key, value in manifest.items() if key not in ("started", "finished", "files")
    }
    files["events.jsonl"] = timeless(folder)
    return files


def kept_answers(folder: Path, systems: int) -> int:
    """How many questions the journal of a run has something to say on, also while it is written or after a kill."""
    if not (folder / JOURNAL).exists():
        return 0
    copy = folder.with_name("looked at")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    with Journal.begin_or_resume(copy / JOURNAL, settings=b"") as journal:
        answered = [answers_by_conversation(journal, system) for system in range(systems)]
    return sum(len(own) for each in answered for own in each.values())


def child(*arguments: object, folder: Path) -> AbstractContextManager[Child]:
    return started("dialogue", "run", *arguments, folder=folder, environment={}, seconds=CHILD_SECONDS)


def wait_until(condition: Callable[[], bool], *, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)
