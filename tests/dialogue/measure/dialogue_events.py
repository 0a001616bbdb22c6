"""Events for tests: patients whose answers are right in one mode and wrong in the other."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

FACTS: dict[str, object] = {
    "age": 67,
    "sex": "male",
    "primary_condition": "Type 2 diabetes mellitus",
    "key_meds": ["Metformin 500 MG"],
    "key_labs": {"hba1c": "7.2%"},
    "key_vitals": {"bp_systolic": "131mmHg", "bp_diastolic": "79mmHg"},
}
QUESTIONS = {
    1: "I am 67 years old and male. I have type 2 diabetes.",
    2: "I take metformin. My HbA1c was 7.2%. My blood pressure was 131/79 mmHg.",
    3: "How should I exercise?",
}
RIGHT = {
    1: "You are a 67-year-old man, and you have type 2 diabetes.",
    2: "You are currently taking metformin, your HbA1c is 7.2% and your blood pressure is 131/79 mmHg.",
    3: "With your diabetes and an HbA1c of 7.2%, walk gently for 30 minutes, five days a week. Stop if you are dizzy.",
}
WRONG = {
    1: "You are a 76-year-old woman, and you have asthma.",
    2: "You are currently taking warfarin, and your HbA1c is 9.9%.",
    3: "Anything goes, and a beer afterwards is fine.",
}


def event(patient: str, turn: int, mode: str, answer: str | None, **others: object) -> dict[str, object]:
    return {
        "run_id": "r",
        "mode": mode,
        "patient_id": patient,
        "turn_id": turn,
        "question": {"question_id": f"{patient}:{turn}", "text": QUESTIONS[turn]},
        "answer": answer,
        "slots_truth": FACTS,
        **others,
    }


def two_modes(patients: int = 4) -> list[dict[str, object]]:
    """The plain model is wrong of every second patient, the agent never."""
    return [
        event(f"p{number}", turn, mode, WRONG[turn] if mode == "llm" and number % 2 else RIGHT[turn])
        for number in range(patients)
        for turn in QUESTIONS
        for mode in ("llm", "agent")
    ]


def written(path: Path, events: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in events), encoding="utf-8")
    return path
