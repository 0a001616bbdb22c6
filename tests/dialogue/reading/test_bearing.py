"""Of whom and of what time something is said."""

from __future__ import annotations

import pytest
from mentions_in_words import reader

from hallumeter.dialogue.reading.bearing import is_plainly_denied


def scopes(answer: str) -> dict[str, str]:
    return {
        each.name if each.value is None else f"{each.name} {each.value}": each.occurrences[0].scope
        for each in reader().read(answer).mentions
    }


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "My last patient's HbA1c was 9.8 %, yours is 7.4 %.",
            {"hba1c 9.8": "family", "hba1c 7.4": "asserted"},
        ),
        (
            "Another man I treat takes warfarin, but you take metformin.",
            {"sex male": "family", "warfarin": "family", "metformin": "asserted"},
        ),
        (
            "친구분이 72세이고 인슐린을 맞고 있더라도, 환자분은 67세이십니다.",
            {"age 72.0": "family", "insulin": "family", "age 67.0": "asserted"},
        ),
        (
            "보통 당화혈색소는 6.5% 정도가 좋지만 환자분은 7.4%입니다.",
            {"hba1c 6.5": "general", "hba1c 7.4": "asserted"},
        ),
        (
            "Your HbA1c went from 8.9 % last year to 7.4 % now.",
            {"hba1c 8.9": "past", "hba1c 7.4": "asserted"},
        ),
        ("Last year, your LDL was 190 mg/dL.", {"ldl 190.0": "past"}),
        ("당화혈색소가 작년 8.9%에서 현재 7.4%로 좋아졌습니다.", {"hba1c 8.9": "past", "hba1c 7.4": "asserted"}),
        ("You feel better since you stopped taking glipizide.", {"glipizide": "past"}),
        ("You were diagnosed with gout three years ago.", {"gout": "asserted"}),
        ("You and your mother have gout.", {"gout": "asserted"}),
        (
            "Your aunt had a stroke. 고모님이 뇌졸중을 앓으셨으므로 현재 혈압 138/84mmHg를 확인하겠습니다.",
            {"stroke": "family", "bp_systolic 138.0": "asserted", "bp_diastolic 84.0": "asserted"},
        ),
        (
            "아내분의 LDL 160mg/dL는 환자분의 96mg/dL보다 높습니다.",
            {"ldl 160.0": "family", "ldl 96.0": "asserted"},
        ),
        ("LDL이 100mg/dL보다 높습니다.", {"ldl 100.0": "general"}),
        (
            "A patient I saw today had an HbA1c of 11 %. Yours is 7.4 %.",
            {"hba1c 11.0": "family", "hba1c 7.4": "asserted"},
        ),
        ("Your HbA1c fell from 9.1 % in January to 7.4 %.", {"hba1c 9.1": "past", "hba1c 7.4": "asserted"}),
        ("지난번 8.2%였던 당화혈색소가 7.4%로 내려왔습니다.", {"hba1c 7.4": "asserted"}),
        ("아테놀롤을 리시노프릴로 바꿔 드렸습니다.", {"atenolol": "past", "lisinopril": "asserted"}),
        ("You finished your course of amoxicillin.", {"amoxicillin": "past"}),
        ("고혈압이 없다고 할 수는 없습니다.", {"hypertension": "asserted"}),
        (
            "지난 환자분의 당화혈색소는 9.8%였는데, 환자분은 7.4%입니다.",
            {"hba1c 9.8": "family", "hba1c 7.4": "asserted"},
        ),
        (
            "The man before you had an LDL of 190 mg/dL; yours is 96 mg/dL.",
            {"sex male": "family", "ldl 190.0": "family", "ldl 96.0": "asserted"},
        ),
        (
            "The textbook has a 30-year-old man on warfarin.",
            {"age 30.0": "family", "sex male": "family", "warfarin": "family"},
        ),
        ("A cousin of mine takes insulin.", {"insulin": "family"}),
        ("A 30-year-old woman is brought in by her coworker.", {"age 30.0": "asserted", "sex female": "asserted"}),
        ("You have gout, so we begin a trial of colchicine.", {"gout": "asserted", "colchicine": "advised"}),
        (
            "책자에 나오는 30세 남성은 와파린을 드십니다.",
            {"age 30.0": "family", "sex male": "family", "warfarin": "family"},
        ),
        ("LDL이 190mg/dL인 분들은 많습니다.", {"ldl 190.0": "family"}),
        ("At admission your LDL was 190 mg/dL.", {"ldl 190.0": "past"}),
        ("You took glyburide as a student.", {"glyburide": "past"}),
        ("입원 당시 LDL은 190mg/dL였습니다.", {"ldl 190.0": "past"}),
        (
            "In March your LDL was 190 mg/dL, and this month it is 96 mg/dL.",
            {"ldl 190.0": "past", "ldl 96.0": "asserted"},
        ),
        ("In March your LDL was 96 mg/dL.", {"ldl 96.0": "asserted"}),
        ("지난달 LDL은 190mg/dL였고 오늘은 96mg/dL입니다.", {"ldl 190.0": "past", "ldl 96.0": "asserted"}),
        ("We cannot rule out that you have gout.", {"gout": "hypothetical"}),
        ("통풍이 있다는 점은 부인할 수 없습니다.", {"gout": "asserted"}),
        ("It is a fallacy to think that you take insulin.", {"insulin": "negated"}),
        ("Don't listen to people who say you take insulin.", {"insulin": "negated"}),
        ("You might have been told that you have gout.", {"gout": "negated"}),
        ("통풍이 있다고 생각하면 오해입니다.", {"gout": "negated"}),
        ("통풍이 없다고는 말하기 어렵습니다.", {"gout": "asserted"}),
        ("인슐린은 복용하시는 약이 아닙니다.", {"insulin": "negated"}),
        ("The average LDL is 120 mg/dL.", {"ldl 120.0": "family"}),
        (
            "Compared with your son, whose LDL is 120 mg/dL, you have an LDL of 96 mg/dL.",
            {"ldl 120.0": "family", "ldl 96.0": "asserted"},
        ),
        ("Six years earlier your LDL was 190 mg/dL.", {"ldl 190.0": "past"}),
        ("Your surgeon had you on warfarin.", {"warfarin": "past"}),
        (
            "The gentleman I saw before you has an LDL of 190 mg/dL; yours is 96 mg/dL.",
            {"ldl 190.0": "family", "ldl 96.0": "asserted"},
        ),
        (
            "옆 침대에 계신 환자분은 LDL이 180 mg/dL이지만 환자분은 96 mg/dL입니다.",
            {"ldl 180.0": "family", "ldl 96.0": "asserted"},
        ),
        ("여기서 만난 분이 와파린을 드십니다.", {"warfarin": "family"}),
        ("환자분은 와파린을 드시는 분이십니다.", {"warfarin": "asserted"}),
        (
            "같은 방을 쓰시는 분은 칼륨이 6.2 mmol/L입니다. 본인 수치는 5.4 mmol/L입니다.",
            {"potassium 6.2": "family", "potassium 5.4": "asserted"},
        ),
        (
            "For most people your age we aim for an HbA1c of 7.0 %, and you are already at 7.4 %.",
            {"hba1c 7.0": "general", "hba1c 7.4": "asserted"},
        ),
        (
            "For most people your age we aim for an HbA1c of 7.0 %, and you should stay near 7.4 %.",
            {"hba1c 7.0": "general", "hba1c 7.4": "general"},
        ),
        ("보통 당화혈색소를 6.5% 아래로 두는데 지금 7.4%이십니다.", {"hba1c 6.5": "general", "hba1c 7.4": "asserted"}),
        (
            "건강한 여성의 헤모글로빈은 12 g/dL 이상인데, 환자분은 10.6 g/dL입니다.",
            {"sex female": "general", "hemoglobin 12.0": "general", "hemoglobin 10.6": "asserted"},
        ),
        (
            "지난겨울에는 LDL이 190mg/dL였는데 지금은 96mg/dL까지 낮아졌습니다.",
            {"ldl 190.0": "past", "ldl 96.0": "asserted"},
        ),
        ("LDL을 96mg/dL까지 낮추세요.", {"ldl 96.0": "general"}),
        (
            "2년 전만 해도 사구체여과율이 58이었으나 지금은 42로 떨어졌습니다.",
            {"egfr 58.0": "past", "egfr 42.0": "asserted"},
        ),
        (
            "처음 진료를 보셨을 때 LDL이 150 mg/dL였는데 지금은 96 mg/dL입니다.",
            {"ldl 150.0": "past", "ldl 96.0": "asserted"},
        ),
        ("Your weight went up to 64 kg from 60 kg.", {"weight 64.0": "asserted", "weight 60.0": "past"}),
        ("Your eGFR slipped from 55 to 42 mL/min/1.73m2.", {"egfr 55.0": "past", "egfr 42.0": "asserted"}),
        (
            "Because of hypoglycemia you stopped glimepiride.",
            {"hypoglycemia": "past", "glimepiride": "past"},
        ),
        ("You take lisinopril because of hypertension.", {"lisinopril": "asserted", "hypertension": "asserted"}),
        ("고혈압 때문에 리시노프릴을 드시고 계십니다.", {"hypertension": "asserted", "lisinopril": "asserted"}),
        ("You do not suffer from gout.", {"gout": "negated"}),
        (
            "Your doctor switched you from atenolol to carvedilol.",
            {"atenolol": "past", "carvedilol": "asserted"},
        ),
        (
            "You are 72 years old, take metformin and atorvastatin, and your HbA1c is 8.4 %.",
            {"age 72.0": "asserted", "metformin": "asserted", "atorvastatin": "asserted", "hba1c 8.4": "asserted"},
        ),
        (
            "You have diabetes, take metformin, and watch your diet.",
            {"diabetes mellitus": "asserted", "metformin": "advised"},
        ),
        ("Gout was ruled out in your case.", {"gout": "negated"}),
        ("Your chart lists gout. Nothing in your chart about asthma.", {"gout": "asserted", "asthma": "negated"}),
        ("차트 어디에도 통풍이라는 진단은 없습니다.", {"gout": "negated"}),
        ("통풍을 앓고 계신 것은 아닙니다.", {"gout": "negated"}),
    ],
)
def test_only_what_is_said_of_this_patient_today_is_asserted(answer: str, expected: dict[str, str]) -> None:
    assert scopes(answer) == expected


def test_a_sentence_that_nobody_would_write_is_left_as_it_is() -> None:
    filler = "and so it goes on and on " * 60
    assert scopes(f"Last year your LDL was 190 mg/dL {filler}.") == {"ldl 190.0": "asserted"}


@pytest.mark.parametrize(
    ("answer", "name", "expected"),
    [
        ("You don’t have any diabetes.", "diabetes", True),
        ("You are not taking metformin.", "metformin", True),
        ("환자분은 당뇨병이 없습니다.", "당뇨병", True),
        ("당뇨병은 없으시네요.", "당뇨병", True),
        ("If you don't have diabetes, eat as you like.", "diabetes", False),
        ("You do not have diabetes complications.", "diabetes", False),
        ("당뇨병이 없으시면 괜찮습니다.", "당뇨병", False),
        ("There's no diabetes on your chart.", "diabetes", True),
        ("There is no diabetes cure.", "diabetes", False),
        ("리시노프릴은 처방받으신 적이 없습니다.", "리시노프릴", True),
        ("İ: You do not have diabetes.", "diabetes", False),
        ("Metformin is not among your medicines.", "Metformin", True),
        ("You never took metformin.", "metformin", True),
        ("메트포르민은 한 번도 드신 적이 없습니다.", "메트포르민", True),
        ("No doctor has ever prescribed metformin.", "metformin", True),
        ("당뇨병 진단을 받으신 적도 없습니다.", "당뇨병", True),
        ("메트포르민은 처방 목록에 없습니다.", "메트포르민", True),
        ("Diabetes was excluded.", "Diabetes", True),
        ("Since you do not have diabetes, sugar is no matter.", "diabetes", True),
        ("Metformin has never been part of your treatment.", "Metformin", True),
    ],
)
def test_a_denial_is_plain_or_none(answer: str, name: str, *, expected: bool) -> None:
    start = answer.index(name)
    assert is_plainly_denied(answer, start, start + len(name)) is expected


@pytest.mark.parametrize(
    ("answer", "value", "unit"),
    [("You are 5 ft 3 in tall.", 63, "in"), ("키는 1m 60cm입니다.", 160, "cm")],
)
def test_a_height_in_two_units_is_one_value(answer: str, value: float, unit: str) -> None:
    [height] = reader().read(answer).mentions
    assert (height.name, height.value, height.unit) == ("height", value, unit)


def test_both_ends_of_a_range_of_blood_pressures_are_bounds() -> None:
    english = scopes("Readings between 120/70 and 135/85 mmHg are what we hope for.")
    korean = scopes("혈압은 120/70에서 135/85mmHg 사이가 바람직합니다.")
    assert set(english.values()) == set(korean.values()) == {"general"}
