"""The questions of a script: what is told, what is withheld, and in which words."""

from __future__ import annotations

import re

import pytest
from script_facts import facts

from hallumeter.dialogue.script.facts import PatientFacts
from hallumeter.dialogue.script.pipeline import slots_of, turns_of, with_particle
from hallumeter.dialogue.script.tables import questions
from patient_records import blood_pressure, condition, observation, patient, procedure, request

LANGUAGES = ("en", "ko")
SEEDS = range(40)
DYSPNEA_OR_EDEMA = ("숨이", "호흡곤란", "부종", "붓", "shortness of breath", "dyspnea", "edema", "swelling")


@pytest.fixture(scope="module")
def known() -> PatientFacts:
    return facts(
        patient(birthDate="1952-01-01"),
        condition("44054006", "Diabetes"),
        request("860975", "24 HR Metformin hydrochloride 500 MG Extended Release Oral Tablet"),
        request("312961", "Simvastatin 20 MG Oral Tablet"),
        observation("4548-4", 6.24, "%"),
        blood_pressure(("8462-4", 84), ("8480-6", 131)),
        procedure("73761001", "Colonoscopy"),
    )


@pytest.fixture(scope="module")
def unknown() -> PatientFacts:
    return facts(patient(birthDate=None, gender="unknown"))


def asked(found: PatientFacts, language: str, turn: int) -> set[str]:
    """Every phrasing of a turn that some seed chooses."""
    return {turns_of(found, language, seed)[turn - 1].question for seed in SEEDS}


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_five_turns_with_several_phrasings_each(known: PatientFacts, language: str) -> None:
    assert [turn.turn_id for turn in turns_of(known, language, 1)] == [1, 2, 3, 4, 5]
    for turn in range(1, 6):
        assert len(asked(known, language, turn)) == len(questions(language).turns[str(turn)]) >= 3


@pytest.mark.parametrize(
    ("language", "turn", "told"),
    [
        ("en", 1, ["67 years old", "female", "type 2 diabetes mellitus", "fatigue"]),
        ("ko", 1, ["67세", "여성", "제2형 당뇨병", "피로"]),
        ("en", 2, ["metformin and simvastatin", "HbA1c 6.24%", "blood pressure 131/84mmHg", "colonoscopy"]),
        ("ko", 2, ["메트포르민, 심바스타틴", "당화혈색소 6.24%", "혈압 131/84mmHg", "대장내시경"]),
    ],
)
def test_every_phrasing_tells_the_facts_of_its_turn(
    known: PatientFacts, language: str, turn: int, told: list[str]
) -> None:
    for question in asked(known, language, turn):
        assert [fact for fact in told if fact not in question] == []
        assert "{" not in question


@pytest.mark.parametrize(
    ("language", "turn", "words"),
    [
        ("en", 3, ["intensity|hard", "warning signs", "walking", "strength", "interval"]),
        ("ko", 3, ["강도", "경고", "걷기", "근력", "인터벌"]),
        ("en", 4, ["three", "diet|eat", "rules"]),
        ("ko", 4, ["세 가지", "식단|식사|식이", "규칙|원칙"]),
        ("en", 5, ["4"]),
        ("ko", 5, ["4주", "계획"]),
    ],
)
def test_every_phrasing_asks_what_its_turn_is_for(
    known: PatientFacts, language: str, turn: int, words: list[str]
) -> None:
    for question in asked(known, language, turn):
        assert [word for word in words if not re.search(word, question)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_later_turns_withhold_what_was_told_before(known: PatientFacts, unknown: PatientFacts, language: str) -> None:
    for turn in (3, 4, 5):
        assert asked(known, language, turn) == asked(unknown, language, turn)
        for question in asked(known, language, turn):
            assert not any(cue in question for cue in DYSPNEA_OR_EDEMA), "the question would call for a safety rule"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_not_known_leaves_no_hole(unknown: PatientFacts, language: str) -> None:
    for turn in range(1, 6):
        for question in asked(unknown, language, turn):
            assert question
            assert not re.search(r"[{}]|None|  | \.|: *\.", question)


@pytest.mark.parametrize(("language", "told"), [("en", "67 years old"), ("ko", "67세")], ids=LANGUAGES)
def test_age_is_told_without_the_sex(language: str, told: str) -> None:
    found = facts(patient(birthDate="1952-01-01", gender=None), observation("4548-4", 6, "%"))
    assert all(told in question and "male" not in question for question in asked(found, language, 1))


def test_a_drug_of_the_past_is_not_said_to_be_taken_now() -> None:
    found = facts(request("860975", None, status="stopped"))
    for question in asked(found, "en", 2):
        assert "metformin" in question
        assert not re.search(r"currently take|I am taking|Right now I am on|For medicines I take", question)
    for question in asked(found, "ko", 2):
        assert re.search("복용했던|먹은|처방받은|먹었습니다", question)


def test_the_same_seed_and_patient_give_the_same_questions(known: PatientFacts) -> None:
    assert turns_of(known, "ko", 7) == turns_of(known, "ko", 7)
    assert len({turns_of(known, "ko", seed) for seed in SEEDS}) > 10


def test_slots_name_sex_and_symptom_in_the_language_and_the_rest_in_english(known: PatientFacts) -> None:
    korean, english = slots_of(known, "ko"), slots_of(known, "en")
    assert (korean.sex, korean.chief_symptom) == ("여성", "피로")
    assert (english.sex, english.chief_symptom) == ("female", "fatigue")
    assert korean.primary_condition == english.primary_condition == "Type 2 diabetes mellitus"
    assert korean.key_meds == ("Metformin", "Simvastatin")
    assert (korean.age, korean.sex_code, korean.comorbidities) == (67, "F", ())
    assert korean.key_vitals == {"bp_systolic": "131mmHg", "bp_diastolic": "84mmHg"}
    assert (korean.key_labs, korean.major_procedures) == ({"hba1c": "6.24%"}, ("Colonoscopy",))


def test_slots_that_are_not_known_are_none(unknown: PatientFacts) -> None:
    slots = slots_of(unknown, "en")
    assert slots.chief_symptom == "discomfort"
    others = [slots.age, slots.sex, slots.sex_code, slots.primary_condition, slots.comorbidities, slots.key_meds]
    assert [*others, slots.key_vitals, slots.key_labs, slots.major_procedures] == [None] * 9


def test_names_keep_their_capitals_in_the_middle_of_a_sentence() -> None:
    found = facts(condition("26929004", "Alzheimer's disease (disorder)"))
    assert all("Alzheimer's disease" in question for question in asked(found, "en", 1))
    found = facts(condition("53741008", "Coronary Heart Disease"))
    assert all("coronary heart disease" in question for question in asked(found, "en", 1))


@pytest.mark.parametrize(
    ("word", "forms", "expected"),
    [
        ("고혈압", "을/를", "고혈압을"),
        ("천식", "이/가", "천식이"),
        ("피로", "이/가", "피로가"),
        ("당뇨병", "으로/로", "당뇨병으로"),
        ("편두통", "과/와", "편두통과"),
        ("서울", "으로/로", "서울로"),
        ("제2형 당뇨병(성인)", "을/를", "제2형 당뇨병(성인)을"),
        ("당뇨병 2형", "이/가", "당뇨병 2형이"),
        ("Metformin", "을/를", "Metformin을"),
        ("Warfarin Sodium", "을/를", "Warfarin Sodium을"),
        ("Furosemide", "을/를", "Furosemide를"),
        ("Galantamine", "을/를", "Galantamine을"),
        ("Metoprolol", "으로/로", "Metoprolol로"),
        ("HDL", "은/는", "HDL은"),
        ("COPD", "은/는", "COPD는"),
        ("B12", "을/를", "B12를"),
        ("B6", "을/를", "B6을"),
        ("98mg/dL", "으로/로", "98mg/dL로"),
        ("84kg", "이/가", "84kg이"),
        ("6.24%", "이/가", "6.24%가"),
        ("", "이/가", "가"),
    ],
)
def test_particles_follow_the_last_sound(word: str, forms: str, expected: str) -> None:
    assert with_particle(word, forms) == expected
