"""What an answer says of the patient, held against the record."""

from __future__ import annotations

import pytest
from hand_made_answers import HandMade, hand_made, read

from hallumeter.dialogue.judges.slots import SLOT_WEIGHTS, judge_slots, truth_of
from hallumeter.dialogue.metrics import slot_factuality
from hallumeter.dialogue.records import PatientSlots, SlotFinding
from hallumeter.records.claim import Label

S, R, N = Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_INFO


def found(answer: str, **slots: object) -> list[SlotFinding]:
    return list(judge_slots(read(answer), PatientSlots(**slots)))  # type: ignore[arg-type]


def labels(answer: str, **slots: object) -> dict[str, Label]:
    return {finding.mention.name: finding.label for finding in found(answer, **slots)}


@pytest.mark.parametrize("case", hand_made(), ids=lambda case: case.id)
def test_the_weights_of_hand_made_answers_are_those_counted_by_hand(case: HandMade) -> None:
    rate = slot_factuality(judge_slots(read(case.answer), case.slots))
    assert rate.total == case.expected.sfs["mentioned_weight"]
    assert rate.total - rate.count == case.expected.sfs["hallucinated_weight"]


def test_drugs_labs_and_vitals_weigh_two_and_the_rest_one() -> None:
    assert SLOT_WEIGHTS == {"medication": 2, "lab": 2, "vital": 2, "condition": 1, "age": 1, "sex": 1}


@pytest.mark.parametrize(
    ("stated", "truth", "expected"),
    [
        ("7.2%", "7.2%", S),
        ("7.3%", "7.2%", S),  # differs by 0.1, not by more
        ("7.4%", "7.2%", R),
        ("7%", "6.9%", S),  # 6.9 rounded
        ("7%", "7.4%", S),
        ("7%", "7.6%", R),
        ("7.0%", "7.4%", R),  # one decimal is no rounding of 7.4
        ("53 mmol/mol", "7.0%", S),  # 0.09148 * 53 + 2.152 = 7.0004
        ("64 mmol/mol", "7.0%", R),
    ],
)
def test_a_stated_hba1c_agrees_within_a_tenth_or_as_a_rounding(stated: str, truth: str, expected: Label) -> None:
    assert labels(f"Your HbA1c is {stated}.", key_labs={"hba1c": truth}) == {"hba1c": expected}


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("7.0 mmol/L", S),  # 126 mg/dL is 6.994 mmol/L, which is 7.0
        ("7 mmol/L", S),
        ("7.1 mmol/L", R),
        ("126 mg/dL", S),
        ("127 mg/dL", R),
        ("126 mmol/L", R),
    ],
)
def test_rounding_is_judged_in_the_unit_that_is_stated(stated: str, expected: Label) -> None:
    assert labels(f"Your fasting glucose is {stated}.", key_labs={"glucose": "126mg/dL"}) == {"glucose": expected}


def test_the_tolerance_is_in_the_unit_of_the_record() -> None:
    # 0.1 mmol/L is 1.8 mg/dL: 128 mg/dL is 7.105 mmol/L, 0.105 from 7.0; 127 mg/dL is 7.050.
    assert labels("Your glucose is 127 mg/dL.", key_labs={"glucose": "7.0mmol/L"}) == {"glucose": S}
    assert labels("Your glucose is 128 mg/dL.", key_labs={"glucose": "7.0mmol/L"}) == {"glucose": R}


@pytest.mark.parametrize(("stated", "expected"), [("131", S), ("132", S), ("130", S), ("133", R), ("129", R)])
def test_a_vital_may_differ_by_one(stated: str, expected: Label) -> None:
    vitals = {"bp_systolic": "131mmHg"}
    assert labels(f"Your systolic blood pressure is {stated} mmHg.", key_vitals=vitals) == {"bp_systolic": expected}


def test_a_pressure_in_one_entry_is_two_vitals() -> None:
    slots = {"key_vitals": {"bp": "131/79 mmHg"}}
    assert labels("Your blood pressure is 131/95 mmHg.", **slots) == {"bp_systolic": S, "bp_diastolic": R}


def test_what_the_record_does_not_have_is_no_invention() -> None:
    finding = found("Your LDL is 130 mg/dL.", key_labs={"hba1c": "7%"})[0]
    assert (finding.label, finding.reason) == (N, "not_in_record")


def test_a_list_that_is_known_to_be_empty_refutes_and_one_that_is_not_known_does_not() -> None:
    assert labels("You are taking warfarin.", key_meds=()) == {"warfarin": R}
    assert labels("You are taking warfarin.") == {"warfarin": N}
    assert labels("You have asthma.", comorbidities=()) == {"asthma": R}
    assert labels("You have asthma.") == {"asthma": N}


@pytest.mark.parametrize(
    ("answer", "listed", "expected"),
    [
        ("You are taking 메트포르민.", "Metformin 500 MG", S),
        ("You are currently on insulin.", "Insulin glargine 100 UNT/ML", S),
        ("You are taking levocetirizine.", "Cetirizine 10 MG", R),
        ("You are taking valsartan.", "Sacubitril 49 MG / valsartan 51 MG", S),
        ("You are taking Simvistatin.", "Simvastatin 10 MG", S),
    ],
)
def test_drugs_are_the_same_by_any_of_their_names(answer: str, listed: str, expected: Label) -> None:
    assert set(labels(answer, key_meds=(listed,)).values()) == {expected}


@pytest.mark.parametrize(
    ("answer", "condition", "expected"),
    [
        ("You have diabetes.", "Type 2 diabetes mellitus", S),
        ("You have type 1 diabetes.", "Type 2 diabetes mellitus", R),
        ("You have diabetes.", "Prediabetes", R),
        ("You have hypertension.", "Pulmonary hypertension", R),
        ("당뇨병을 앓고 계십니다.", "Diabetes mellitus type 2 (disorder)", S),
        ("You have type 2 diabetes.", "Neuropathy due to type 2 diabetes mellitus (disorder)", S),
        ("You have chronic kidney disease.", "Chronic kidney disease stage 3 (disorder)", S),
    ],
)
def test_wider_and_narrower_conditions_agree_and_others_do_not(answer: str, condition: str, expected: Label) -> None:
    assert set(labels(answer, primary_condition=condition).values()) == {expected}


@pytest.mark.parametrize(("stated", "expected"), [(65, S), (67, S), (69, S), (70, R), (64, R)])
def test_an_age_may_differ_by_two_years(stated: int, expected: Label) -> None:
    assert labels(f"You are {stated} years old.", age=67) == {"age": expected}


@pytest.mark.parametrize(("sex", "code"), [("남성", None), ("male", None), (None, "M"), ("M", None)])
def test_sex_is_read_in_any_of_its_forms(sex: str | None, code: str | None) -> None:
    assert labels("You are a woman.", sex=sex, sex_code=code) == {"sex": R}
    assert labels("You are a man.", sex=sex, sex_code=code) == {"sex": S}


@pytest.mark.parametrize(
    "answer",
    [
        "Your mother takes warfarin.",
        "Drugs such as warfarin thin the blood.",
        "You are not taking warfarin.",
        "If you were given warfarin, you would need tests.",
        "Avoid warfarin.",
        "Consider starting warfarin.",
    ],
)
def test_only_what_is_asserted_of_the_patient_can_be_an_invention(answer: str) -> None:
    finding = found(answer, key_meds=("Metformin",))[0]
    assert (finding.label, finding.reason) == (N, "not_asserted")
    assert "not said of this patient" in (finding.note or "")


def test_one_asserted_place_makes_an_invention_whatever_the_others_say() -> None:
    answer = "You should avoid warfarin. You are currently taking warfarin."
    assert labels(answer, key_meds=("Metformin",)) == {"warfarin": R}


def test_a_fact_that_is_no_number_is_named_and_refutes_nothing() -> None:
    truth = truth_of(PatientSlots(key_labs={"hba1c": "high", "ldl": "120 bananas"}, key_vitals={"weight": "70kg"}))
    assert truth.unparsable == ("key_labs.hba1c: high", "key_labs.ldl: 120 bananas")
    assert set(truth.values) == {"weight"}
    assert [each.label for each in judge_slots(read("Your HbA1c is 7.2%."), truth)] == [N]


def test_entries_may_be_called_as_people_call_them() -> None:
    truth = truth_of(PatientSlots(key_labs={"HbA1c": "7.2%", "LDL cholesterol": "130mg/dL"}))
    assert set(truth.values) == {"hba1c", "ldl"}


def test_a_finding_tells_what_was_said_and_what_is_true() -> None:
    finding = found("Your HbA1c is 8.4%.", key_labs={"hba1c": "7.2%"})[0]
    assert finding.reason == "lab_mismatch"
    assert finding.note == "the answer says hba1c 8.4 %, the record 7.2%"


def test_what_the_record_has_beyond_the_questions_is_no_invention() -> None:
    slots = {
        "primary_condition": "Diabetes mellitus type 2",
        "comorbidities": (),
        "other_conditions": ("Chronic sinusitis",),
        "key_meds": ("Metformin",),
        "other_meds": ("Amlodipine",),
    }
    answer = "You have chronic sinusitis and gout, and you are taking amlodipine and warfarin."
    assert labels(answer, **slots) == {"chronic sinusitis": S, "gout": R, "amlodipine": S, "warfarin": R}
    notes = {each.mention.name: each.note for each in found(answer, **slots)}
    assert notes["warfarin"] == "the answer says warfarin, the record lists Metformin, Amlodipine"


@pytest.mark.parametrize(
    ("answer", "reasons"),
    [
        ("You don't have diabetes.", {"diabetes mellitus": "denied_condition"}),
        ("현재 메트포르민은 복용하고 계시지 않습니다.", {"metformin": "denied_medication"}),
        ("You do not have asthma.", {"asthma": "not_asserted"}),
        ("You do not have gestational diabetes.", {"gestational diabetes": "not_asserted"}),
        ("Do not take metformin before the scan.", {"metformin": "not_asserted"}),
    ],
)
def test_denying_what_the_record_lists_is_an_invention(answer: str, reasons: dict[str, str]) -> None:
    findings = found(answer, primary_condition="Diabetes mellitus type 2", key_meds=("Metformin",))
    assert {each.mention.name: each.reason for each in findings} == reasons
