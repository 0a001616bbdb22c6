"""The responder without a model: the same for the same seed, forgetful as `llm`, mindful as `agent`."""

from __future__ import annotations

import re

import pytest

from hallumeter.dialogue.records import PatientSlots
from hallumeter.dialogue.run.messages import readings, words_in
from hallumeter.dialogue.run.responders import OfflineResponder, facts_of
from hallumeter.dialogue.run.systems import Turn

SLOTS = PatientSlots(
    age=67,
    sex="male",
    sex_code="M",
    primary_condition="Type 2 Diabetes Mellitus",
    comorbidities=("Hypertension",),
    key_meds=("Metformin", "Warfarin"),
    key_vitals={"bp_systolic": "131mmHg", "bp_diastolic": "87mmHg", "weight": "80kg"},
    key_labs={"hba1c": "6.24%", "glucose": "112mg/dL"},
    major_procedures=("Colonoscopy",),
    chief_symptom="fatigue",
)
PATIENTS = [f"patient-{number}" for number in range(40)]
every_language = pytest.mark.parametrize("language", ["ko", "en"])


def answer(
    turn: int, mode: str, *, patient: str = "p", language: str = "en", seed: int = 0, slots: PatientSlots | None = SLOTS
) -> str:
    asked = Turn(
        messages=(),
        patient_id=patient,
        turn_id=turn,
        question="?",
        language=language,
        mode=mode,  # type: ignore[arg-type]
        seed=seed,
        slots=slots,
    )
    return OfflineResponder().respond(asked).text


@every_language
def test_the_same_patient_turn_and_seed_give_the_same_answer(language: str) -> None:
    for mode in ("llm", "agent"):
        for turn in range(1, 6):
            first = answer(turn, mode, language=language)
            assert first == answer(turn, mode, language=language)
            assert first.strip()


def test_another_seed_gives_other_answers() -> None:
    answers = [[answer(turn, "llm", seed=seed) for turn in range(1, 6)] for seed in range(8)]
    assert len({tuple(each) for each in answers}) > 4


@every_language
@pytest.mark.parametrize("turn", [3, 4])
def test_the_plain_model_forgets_in_turns_3_and_4_what_the_agent_remembers(language: str, turn: int) -> None:
    for patient in PATIENTS:
        said = answer(turn, "llm", patient=patient, language=language)
        assert not any(fact in said for fact in ("Type 2 Diabetes Mellitus", "Metformin", "6.24%"))
        reminded = answer(turn, "agent", patient=patient, language=language)
        assert all(fact in reminded for fact in ("Type 2 Diabetes Mellitus", "Metformin"))
    values = ["6.24%" in answer(turn, "agent", patient=patient, language=language) for patient in PATIENTS]
    assert 0 < sum(values) < len(values), "it is reminded of the value, and does not always use it"


@every_language
def test_the_plain_model_invents_now_and_then_and_the_agent_never(language: str) -> None:
    words = words_in(language)
    invented = [*words.inventions.drugs.values(), *words.inventions.conditions.values(), "8.74%"]  # 6.24 * 1.4
    shares = {}
    for mode in ("llm", "agent"):
        said = [answer(turn, mode, patient=patient, language=language) for patient in PATIENTS for turn in (2, 4, 5)]
        shares[mode] = sum(any(word in text for word in invented) for text in said) / len(said)
    assert 0.1 < shares["llm"] < 0.6
    assert shares["agent"] == 0


@every_language
def test_nothing_is_invented_that_the_patient_has(language: str) -> None:
    words = words_in(language)
    drugs = {facts_of(SLOTS, words, draw=draw)["invented_drug"] for draw in range(200)}
    assert words.inventions.drugs["warfarin"] not in drugs
    assert len(drugs) == len(words.inventions.drugs) - 1


@every_language
@pytest.mark.parametrize("slots", [None, PatientSlots(), PatientSlots(age=40), PatientSlots(key_labs={"x": "high"})])
def test_a_patient_of_whom_little_is_known_is_answered_too(language: str, slots: PatientSlots | None) -> None:
    for mode in ("llm", "agent"):
        for turn in range(1, 8):
            for patient in PATIENTS[:8]:
                said = answer(turn, mode, patient=patient, language=language, slots=slots)
                assert said.strip()
                assert not re.search(r"[{}|]|None", said)


def test_readings_are_said_with_their_names_and_units() -> None:
    assert readings(SLOTS.key_vitals, words_in("en")) == [("blood pressure", "131/87 mmHg"), ("weight", "80kg")]
    assert readings({"bp_systolic": "high", "bp_diastolic": "87mmHg"}, words_in("ko")) == [
        ("수축기 혈압", "high"),
        ("이완기 혈압", "87mmHg"),
    ]
