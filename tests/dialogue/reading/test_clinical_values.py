"""Labs, vitals, ages and sexes: which numbers are values of which names, in which unit, and which are none."""

from __future__ import annotations

import pytest
from mentions_in_words import mentions_in, reader

READINGS = [
    ("HbA1c (당화혈색소)는 7.2%", "hba1c", 7.2, "%", 7.2),
    ("A1c of 7.2", "hba1c", 7.2, None, 7.2),
    ("HbA1c 7,2 %", "hba1c", 7.2, "%", 7.2),
    ("HbA1c was 7.2 percent", "hba1c", 7.2, "percent", 7.2),
    ("HbA1c is seven point two percent", "hba1c", 7.2, "percent", 7.2),
    ("당화혈색소 7.2 퍼센트", "hba1c", 7.2, "퍼센트", 7.2),
    ("당화혈색소 7.2%였으며", "hba1c", 7.2, "%", 7.2),
    ("LDL-C: 130 mg/dL", "ldl", 130, "mg/dL", 130),
    ("혈당 180", "glucose", 180, None, 180),
    ("혈당180", "glucose", 180, None, 180),
    ("공복혈당이 126mg/dL", "glucose", 126, "mg/dL", 126),
    ("Glucose 7.8", "glucose", 7.8, None, 140.5),  # mg/dL would be the glucose of nobody alive
    ("수축기 혈압 150", "bp_systolic", 150, None, 150),
    ("pulse is 106/min", "heart_rate", 106, "/min", 106),
    ("맥박은 분당 72회", "heart_rate", 72, "/min", 72),
    ("심박수가 88회/분이므로", "heart_rate", 88, "회/분", 88),
    ("호흡수는 22회입니다", "respiratory_rate", 22, "/min", 22),
    ("She weighs 80 kg", "weight", 80, "kg", 80),
    ("Height 5 ft 7 in", "height", 67, "in", 170.18),
    ("height: 5'7\"", "height", 67, "in", 170.18),
    ("167 cm tall", "height", 167, "cm", 167),
    ("WBC 12,000/mm3", "wbc", 12000, "/mm3", 12),
    ("platelets 245 x 10^9/L", "platelets", 245, "x 10^9/L", 245),
    ("혈소판 15만", "platelets", 150000, None, 150),
    ("백혈구는 8천입니다", "wbc", 8000, None, 8),
    ("체온 38.2도", "temperature", 38.2, "도", 38.2),
    ("temperature of 100.6 °F", "temperature", 100.6, "°F", 38.11),
    ("HbA1c 55", "hba1c", 55, None, 7.18),  # mmol/mol, for no HbA1c is 55 %
    ("HbA1c is 150", "hba1c", 150, None, 15.87),
    ("potassium 400", "potassium", 400, None, None),
    ("glucose of 198 mmol/L", "glucose", 198, "mmol/L", 3567.1),  # as stated, however absurd
    ("eGFR 45", "egfr", 45, None, 45),
    ("pH 7.31", "arterial_ph", 7.31, None, 7.31),
    ("urine pH 6.5", "urine_ph", 6.5, None, 6.5),
    ("PT 13 seconds", "pt", 13, "seconds", 13),
    ("CO2 of 22", "bicarbonate", 22, None, 22),
    ("ejection fraction of 35%", "ejection_fraction", 35, "%", 35),
    ("안압이 24 mmHg", "intraocular_pressure", 24, "mmHg", 24),
    ("lithium level was 0.8 mmol/L", "lithium_level", 0.8, "mmol/L", 0.8),
    ("eGFR는 26 mL/min/1.73m²", "egfr", 26, "mL/min/1.73m²", 26),
    ("INR is 2.4", "inr", 2.4, None, 2.4),
    ("| HbA1c | 7.8% |", "hba1c", 7.8, "%", 7.8),
    ("Your LDL, drawn in the clinic last week, was 96 mg/dL.", "ldl", 96, "mg/dL", 96),
    ("Your LDL on atorvastatin is 70 mg/dL.", "ldl", 70, "mg/dL", 70),
]


@pytest.mark.parametrize(("text", "name", "value", "unit", "slot_value"), READINGS)
def test_a_value_is_read_as_stated_and_in_the_unit_of_its_slot(
    text: str, name: str, value: float, unit: str | None, slot_value: float | None
) -> None:
    """The values of slots are worked out by hand from the molar masses and definitions of the units."""
    (found,) = (each for each in reader().read(text).mentions if each.kind in {"lab", "vital"})
    assert (found.name, found.value, found.unit) == (name, value, unit)
    assert found.slot_value == (None if slot_value is None else pytest.approx(slot_value, rel=1e-3))


@pytest.mark.parametrize(
    "text",
    [
        "BP 150/95 mmHg",
        "BP150/95",
        "혈압150/95",
        "150/95의 혈압",
        "혈압이 150에서 95",
        "혈압이 150에 95입니다",
        "blood pressure is 150 over 95",
        "blood pressure was one fifty over ninety five",
        "At home 150/95 mmHg was measured.",
        "수축기 혈압은 150, 이완기 혈압은 95",
        "systolic 150 and diastolic 95",
    ],
)
def test_a_blood_pressure_is_two_vitals(text: str) -> None:
    assert mentions_in(text) == {"bp_systolic:150": "asserted", "bp_diastolic:95": "asserted"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HbA1c should be below 7%", {"hba1c:7": "general"}),
        ("HbA1c < 7%", {"hba1c:7": "general"}),
        ("당화혈색소 6.5% 미만", {"hba1c:6.5": "general"}),
        ("glucose 70-100 mg/dL", {"glucose:70": "general", "glucose:100": "general"}),
        ("혈당 70~100 mg/dL", {"glucose:70": "general", "glucose:100": "general"}),
        ("혈당 70에서 100 사이", {"glucose:70": "general", "glucose:100": "general"}),
        ("glucose between 70 and 130 mg/dL", {"glucose:70": "general", "glucose:130": "general"}),
        ("glucose of 80 to 130 mg/dL", {"glucose:80": "general", "glucose:130": "general"}),
        ("HbA1c rose from 7.1% to 7.9%", {"hba1c:7.1": "past", "hba1c:7.9": "asserted"}),
        ("HbA1c가 7.1%에서 7.9%로", {"hba1c:7.1": "past", "hba1c:7.9": "asserted"}),
        ("Your LDL (goal below 100) is 130", {"ldl:100": "general", "ldl:130": "asserted"}),
    ],
)
def test_bounds_and_both_ends_of_a_range_are_general_but_of_a_change_the_first_is_past(
    text: str, expected: dict[str, str]
) -> None:
    assert mentions_in(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Take 500 mg twice daily and check potassium again in 4 weeks.",
        "체중을 4 kg 감량하고 혈압을 하루 2번 재세요.",
        "Lower your HbA1c by 1%.",
        "Keep sodium under 2,300 mg a day.",
        "Check your blood pressure 3 times a week at 7 am.",
        "Your glucose was checked on 12/08 and in May 2023.",
        "혈당은 2024년 3월 12일에 쟀습니다.",
        "Your blood pressure is fine. 30 minutes of walking helps.",
        "Retest your uric acid in 3 months.",
        "HbA1c",
        "지난 3개월의 당화혈색소",
    ],
)
def test_doses_dates_durations_and_changes_are_no_values(text: str) -> None:
    assert not [each for each in reader().read(text).mentions if each.kind in {"lab", "vital"}]


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("You are 67 years old.", 67),
        ("a 67-year-old patient", 67),
        ("a 67 year old patient", 67),
        ("You are 67 years of age.", 67),
        ("a 67 y/o patient", 67),
        ("a patient aged 67", 67),
        ("Age: 67", 67),
        ("seventy six years old", 76),
        ("a sixty-seven-year-old patient", 67),
        ("67세", 67),
        ("만 67세이신 환자분", 67),
        ("67살입니다", 67),
        ("예순일곱 살", 67),
        ("칠십 세로", 70),
        ("육십칠 세", 67),
        ("쉰 살", 50),
        ("연세는 67", 67),
    ],
)
def test_an_age_is_a_number_with_the_words_for_it(text: str, years: int) -> None:
    assert mentions_in(text) == {f"age:{years}": "asserted"}


@pytest.mark.parametrize(
    "text",
    [
        "3 years ago",
        "for 2 years",
        "10년 전",
        "10년간",
        "20 years of smoking",
        "스쿼트 3세트",
        "세 번",
        "19세기",
        "167 cm",
        "60대",
        "managed 30",
    ],
)
def test_years_that_passed_and_other_numbers_are_no_ages(text: str) -> None:
    assert not mentions_in(text)


@pytest.mark.parametrize("text", ["At age 45 it began.", "since the age of 45", "45세 때", "45세에 시작된", "45세부터"])
def test_an_age_at_which_something_happened_is_not_how_old_the_patient_is(text: str) -> None:
    assert mentions_in(text) == {"age:45": "mentioned"}


@pytest.mark.parametrize(
    ("text", "sex"),
    [("a female", "female"), ("a woman", "female"), ("a male", "male"), ("a man", "male"), ("여성입니다", "female"),
     ("남자 환자분", "male"), ("여자분", "female"), ("남성이시므로", "male"), ("male/female", None)],
)  # fmt: skip
def test_a_word_for_a_sex_stands_alone(text: str, sex: str | None) -> None:
    expected = {"sex:male": "asserted", "sex:female": "asserted"} if sex is None else {f"sex:{sex}": "asserted"}
    assert mentions_in(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Management of mankind",
        "male pattern hair loss",
        "여성호르몬 치료",
        "남성형",
        "menopause",
        "He and she and her",
        "남자친구",
        "그녀는",
    ],
)
def test_words_with_a_sex_inside_of_them_say_nothing_of_it(text: str) -> None:
    assert not [each for each in reader().read(text).mentions if each.kind == "sex"]


def test_values_of_one_name_are_as_many_mentions_as_there_are_values() -> None:
    text = "HbA1c 7.2%, later HbA1c 8.2%, then again HbA1c of 7.2."
    places = {each.value: len(each.occurrences) for each in reader().read(text).mentions}
    assert places == {7.2: 2, 8.2: 1}


def test_a_value_reaches_from_its_name_to_its_unit() -> None:
    text = "오늘 당화혈색소가 7.2%입니다."
    (place,) = reader().read(text).mentions[0].occurrences
    assert text[place.start : place.end] == "당화혈색소가 7.2%"
