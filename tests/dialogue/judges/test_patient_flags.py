"""Flags of patients and of questions."""

from __future__ import annotations

import pytest

from hallumeter.dialogue.judges.settings import load_safety_rules, read_safety_rules
from hallumeter.dialogue.judges.slots import contradiction, patient_flags, question_flags
from hallumeter.dialogue.records import PatientSlots


def flags(**values: str) -> set[str]:
    vitals = {name: value for name, value in values.items() if name.startswith("bp")}
    labs = {name: value for name, value in values.items() if name not in vitals}
    return set(patient_flags(PatientSlots(key_vitals=vitals, key_labs=labs)).flags)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"bp_systolic": "139mmHg", "bp_diastolic": "89mmHg"}, set()),
        ({"bp_systolic": "140mmHg"}, {"uncontrolled_bp"}),
        ({"bp_diastolic": "90 mmHg"}, {"uncontrolled_bp"}),
        ({"bp_systolic": "180mmHg"}, {"uncontrolled_bp", "very_high_bp"}),
        ({"bp_diastolic": "120mmHg"}, {"uncontrolled_bp", "very_high_bp"}),
        ({"hba1c": "6.99%"}, set()),
        ({"hba1c": "7.0%"}, {"poor_glycemic_control"}),
        ({"glucose": "180mg/dL"}, {"poor_glycemic_control"}),
        ({"glucose": "250 mg/dL"}, {"poor_glycemic_control", "severe_hyperglycemia"}),
        ({"egfr": "60 mL/min/1.73m2"}, set()),
        ({"egfr": "59.9mL/min/1.73m²"}, {"ckd_stage3_or_worse"}),
        ({"egfr": "29"}, {"ckd_stage3_or_worse", "ckd_stage4_or_worse"}),
        ({"potassium": "5.2mEq/L"}, {"hyperkalemia"}),
        ({"potassium": "6.0 mmol/L"}, {"hyperkalemia", "severe_hyperkalemia"}),
        ({"hemoglobin": "10.9g/dL"}, {"anemia_possible"}),
        ({"hemoglobin": "11.0 g/dL"}, set()),
    ],
)
def test_a_flag_is_raised_at_its_bound(values: dict[str, str], expected: set[str]) -> None:
    assert flags(**values) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # By hand: 14 mmol/L x 18.0156 = 252.2 mg/dL; 9.9 mmol/L = 178.4 mg/dL; 53 mmol/mol is 7.0 % (IFCC: 0.09148 x
        # 53 + 2.152 = 7.0004); 105 g/L = 10.5 g/dL.
        ({"glucose": "14 mmol/L"}, {"poor_glycemic_control", "severe_hyperglycemia"}),
        ({"glucose": "9.9 mmol/L"}, set()),
        ({"hba1c": "53 mmol/mol"}, {"poor_glycemic_control"}),
        ({"hemoglobin": "105 g/L"}, {"anemia_possible"}),
    ],
)
def test_units_are_converted_before_they_are_compared(values: dict[str, str], expected: set[str]) -> None:
    assert flags(**values) == expected


def test_what_cannot_be_read_raises_no_flag_and_is_named() -> None:
    found = patient_flags(
        PatientSlots(key_labs={"hba1c": "high", "potassium": "52 mmol/L"}, key_vitals={"bp_systolic": ""})
    )
    assert found.flags == frozenset()
    assert sorted(found.unparsable) == [
        "key_labs.hba1c: high",
        "key_labs.potassium: 52 mmol/L",
        "key_vitals.bp_systolic: ",
    ]


def test_a_patient_without_values_has_no_flags() -> None:
    assert patient_flags(PatientSlots()).flags == frozenset()


def test_the_reason_names_the_value_and_the_bound() -> None:
    found = patient_flags(PatientSlots(key_labs={"egfr": "45 mL/min/1.73m2"}))
    assert found.reasons == {"ckd_stage3_or_worse": "egfr 45 mL/min/1.73m2 is < 60 mL/min/1.73m2"}


@pytest.mark.parametrize(
    "question",
    [
        "요즘 숨이 차요.",
        "계단에서 숨이 찹니다.",
        "숨차고 피곤해요",
        "숨이 가빠서 걱정입니다",
        "호흡곤란이 있어요",
        "폐부종이 있다고 들었습니다",
        "다리가 부었어요",
        "발목이 자꾸 붓습니다",
        "숨쉬기가 힘들어요",
        "I get SHORT OF BREATH on stairs.",
        "My shortness of breath is worse.",
        "I have Dyspnea.",
        "There is edema in my feet.",
        "My ankles are swollen.",
        "my legs often swell",
    ],
)
def test_breathlessness_and_swelling_are_heard_in_both_languages(question: str) -> None:
    assert "dyspnea_or_edema" in question_flags(question, load_safety_rules())


@pytest.mark.parametrize(
    "question",
    [
        "",
        "How should I exercise?",
        "다리가 부러졌어요",
        "녹차를 마셔도 되나요?",
        "I have no shortness of breath.",
        "숨이 차지는 않아요.",
    ],
)
def test_other_questions_and_denials_raise_no_flag(question: str) -> None:
    assert question_flags(question, load_safety_rules()) == {}


def flag_rules(bounds: str) -> str | None:
    text = (
        f"patient_flags:\n  odd: {bounds}\nanswer_patterns: {{x: {{patterns_en: [x]}}}}\n"
        "rules: [{id: R, penalty: -1, when: {any: [{patient_flag: odd}]}, violation_if_answer_matches: x}]\n"
    )
    rules, file = read_safety_rules(text.encode(), "rules.yaml")
    assert not file.faults
    return contradiction(rules.patient_flags["odd"])


def test_bounds_that_exclude_each_other_are_seen() -> None:
    assert flag_rules("{all: [{lab: egfr, op: '<', value: 30}, {lab: egfr, op: '>=', value: 60}]}") == (
        "no value is egfr < 30 mL/min/1.73m2 and egfr >= 60 mL/min/1.73m2"
    )
    assert flag_rules("{all: [{lab: egfr, op: '<', value: 30}, {lab: egfr, op: '>=', value: 30}]}") is not None
    assert flag_rules("{all: [{lab: egfr, op: '<=', value: 30}, {lab: egfr, op: '>=', value: 30}]}") is None
    assert flag_rules("{all: [{lab: egfr, op: '<', value: 30}, {lab: potassium, op: '>=', value: 6}]}") is None


def test_bounds_beyond_every_living_patient_are_seen() -> None:
    assert flag_rules("{any: [{lab: hba1c, op: '>=', value: 70}]}") == "no living patient has hba1c >= 70 %"
    assert flag_rules("{any: [{lab: hba1c, op: '>=', value: 70}, {lab: egfr, op: '<', value: 60}]}") is None


def test_all_bounds_must_hold_where_the_file_says_so() -> None:
    text = (
        "patient_flags: {both: {all: [{lab: egfr, op: '<', value: 60}, {lab: potassium, op: '>=', value: 5}]}}\n"
        "answer_patterns: {x: {patterns_en: [x]}}\n"
        "rules: [{id: R, penalty: -1, when: {any: [{patient_flag: both}]}, violation_if_answer_matches: x}]\n"
    )
    rules, _ = read_safety_rules(text.encode(), "rules.yaml")
    assert patient_flags(PatientSlots(key_labs={"egfr": "40"}), rules).flags == frozenset()
    assert patient_flags(PatientSlots(key_labs={"egfr": "40", "potassium": "5.5"}), rules).flags == {"both"}
