"""Which facts an answer uses."""

from __future__ import annotations

import pytest
from hand_made_answers import HandMade, hand_made, read

from hallumeter.dialogue.judges.context import judge_context
from hallumeter.dialogue.judges.settings import load_settings
from hallumeter.dialogue.records import PatientSlots

REQUIREMENTS = load_settings(None).requirements


def used(answer: str, turn: int | str, **slots: object) -> dict[str, float]:
    facts = PatientSlots(**slots)  # type: ignore[arg-type]
    uses, _ = judge_context(read(answer), facts, turn, requirements=REQUIREMENTS)
    return {use.slot: use.confidence for use in uses}


@pytest.mark.parametrize("case", hand_made(), ids=lambda case: case.id)
def test_the_use_of_facts_in_hand_made_answers_is_the_one_marked_by_hand(case: HandMade) -> None:
    uses, _ = judge_context(read(case.answer), case.slots, case.turn, requirements=REQUIREMENTS)
    assert {use.slot: use.confidence for use in uses} == case.expected.cus


def test_a_turn_may_be_a_number_or_a_text() -> None:
    assert used("You are 67 years old.", "1", age=67) == used("You are 67 years old.", 1, age=67) == {"age": 1.0}


def test_a_turn_that_the_settings_do_not_know_requires_nothing() -> None:
    assert used("You are 67 years old.", 9, age=67) == {}


def test_required_facts_that_the_record_lacks_are_left_out_and_named() -> None:
    slots = PatientSlots(age=67, primary_condition="", key_meds=())
    uses, missing = judge_context(read("You are 67."), slots, 1, requirements=REQUIREMENTS)
    assert [use.slot for use in uses] == ["age"]
    assert missing == ("sex", "primary_condition")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("67세이십니다.", 1.0),
        ("You are 66 years old.", 1.0),
        ("You are 62 years old.", 0.5),  # wrong, and in the same decade
        ("You are in your sixties.", 0.5),
        ("60대이시군요.", 0.5),
        ("Older adults recover slowly.", 0.5),
        ("You are in your forties.", 0.0),
        ("You are 167 cm tall.", 0.0),
        ("Your mother is 67 years old.", 0.0),
    ],
)
def test_an_age_is_used_by_its_value_its_decade_or_its_stage_of_life(answer: str, expected: float) -> None:
    assert used(answer, 1, age=67) == {"age": expected}


@pytest.mark.parametrize(("answer", "expected"), [("You are a man.", 1.0), ("You are a woman.", 0.0), ("Hello.", 0.0)])
def test_sex_is_used_explicitly_or_not_at_all(answer: str, expected: float) -> None:
    assert used(answer, 1, sex="남성") == {"sex": expected}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("당뇨병 관리가 중요합니다.", 1.0),
        ("People with diabetes should walk.", 1.0),
        ("Watch your blood sugar.", 0.5),
        ("혈당을 재세요.", 0.5),
        ("You do not have diabetes.", 0.0),
        ("Your father has diabetes.", 0.0),
        ("Type 1 diabetes is another disease.", 0.0),
        ("Watch your blood pressure.", 0.0),
    ],
)
def test_a_condition_is_used_by_name_or_by_words_that_only_it_has(answer: str, expected: float) -> None:
    assert used(answer, 4, primary_condition="Type 2 diabetes mellitus") == {"primary_condition": expected}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Keep taking Lipitor.", 1.0),
        ("The statin can stay.", 0.5),
        ("콜레스테롤약은 그대로 드세요.", 0.5),
        ("Statins such as atorvastatin help.", 0.5),
        ("You are not taking atorvastatin.", 0.0),
    ],
)
def test_a_drug_is_used_by_any_name_or_by_its_class(answer: str, expected: float) -> None:
    assert used(answer, 4, key_meds=("Atorvastatin 20 MG",)) == {"active_meds": expected}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Your LDL of 130 mg/dL is high.", 1.0),
        ("Your LDL of 3.4 mmol/L is high.", 1.0),
        ("Your LDL of 190 mg/dL is high.", 0.5),
        ("Have your LDL checked.", 0.5),
        ("Have your HDL checked.", 0.0),
    ],
)
def test_a_lab_is_used_by_its_right_value_or_by_its_name(answer: str, expected: float) -> None:
    assert used(answer, 4, key_labs={"ldl": "130mg/dL"}) == {"labs": expected}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("관상동맥우회술을 받으셨군요.", 1.0),
        ("After your CABG, rest.", 1.0),
        ("After your coronary artery bypass, rest.", 1.0),
        ("You never had a bypass surgery.", 0.0),
        ("Rest well.", 0.0),
    ],
)
def test_a_procedure_is_used_by_any_of_its_names(answer: str, expected: float) -> None:
    slots = {"major_procedures": ("Coronary artery bypass grafting (procedure)",)}
    assert used(answer, 2, **slots) == {"major_procedures": expected}


def test_what_no_lexicon_knows_is_used_by_the_words_of_the_record() -> None:
    slots = {"primary_condition": "Frobnitz syndrome of the elbow (disorder)"}
    assert used("Frobnitz syndrome of the elbow is rare.", 4, **slots) == {"primary_condition": 1.0}
    assert used("Elbows are fine.", 4, **slots) == {"primary_condition": 0.0}


def test_of_several_elements_the_best_counts_and_its_place_is_told() -> None:
    slots = PatientSlots(key_labs={"hba1c": "7.2%", "ldl": "130mg/dL"})
    answer = "Have your HbA1c checked; your LDL is 130 mg/dL."
    (use,), _ = judge_context(read(answer), slots, 4, requirements=REQUIREMENTS)
    assert use.confidence == 1.0
    assert use.start is not None
    assert answer[use.start : use.end] == "LDL is 130 mg/dL"
    assert use.value == "hba1c 7.2%, ldl 130mg/dL"
