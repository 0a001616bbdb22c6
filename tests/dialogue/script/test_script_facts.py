"""Age, sex, drugs, labs, vitals and procedures of a record."""

from __future__ import annotations

from datetime import date

import pytest
from script_facts import facts

from hallumeter.dialogue.script.facts import Notes
from patient_records import Json, blood_pressure, concept, condition, observation, patient, procedure, request


def said(notes: Notes) -> set[str]:
    return {note.code for note in notes.notes}


def test_age_is_that_of_the_last_day_of_the_record() -> None:
    assert facts(observation("4548-4", 6, "%", on="2019-06-14")).age == 68
    assert facts(observation("4548-4", 6, "%", on="2019-06-15T00:10:00+09:00")).age == 69


def test_age_is_that_of_the_day_asked_for() -> None:
    assert facts(observation("4548-4", 6, "%", on="2019-06-14"), as_of=date(2030, 1, 1)).age == 79


@pytest.mark.parametrize(
    ("birth", "age", "code"),
    [
        (None, None, "no_birth_date"),
        ("nineteen fifty", None, "bad_birth_date"),
        ("2050-01-01", None, "bad_birth_date"),
        ("1750-01-01", None, "bad_birth_date"),
        ("1950", 68, "part_birth_date"),
        ("1949-12", 69, "part_birth_date"),
    ],
)
def test_a_birth_date_that_is_missing_or_odd_is_said(birth: str | None, age: int | None, code: str) -> None:
    notes = Notes()
    assert facts(patient(birthDate=birth), observation("4548-4", 6, "%"), notes=notes).age == age
    assert code in said(notes)


def test_without_any_date_there_is_no_age() -> None:
    notes = Notes()
    assert facts(notes=notes).age is None
    assert "no_date" in said(notes)


def test_who_has_died_has_the_age_of_that_day() -> None:
    dead = patient(deceasedDateTime="2000-01-01")
    assert facts(dead, observation("4548-4", 6, "%")).age == 49


@pytest.mark.parametrize(("gender", "code"), [("male", "M"), ("female", "F"), ("other", None), (None, None)])
def test_sex_is_known_or_said_to_be_missing(gender: str | None, code: str | None) -> None:
    notes = Notes()
    assert facts(patient(gender=gender), notes=notes).sex_code == code
    assert ("no_sex" in said(notes)) is (code is None)


def drugs(*resources: Json) -> list[str]:
    found = facts(*resources).drugs
    return [each.words for each in found.drugs] if found else []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("24 HR Metformin hydrochloride 500 MG Extended Release Oral Tablet", ["Metformin"]),
        ("1 ML medroxyprogesterone acetate 150 MG/ML Injection", ["Medroxyprogesterone"]),
        ("120 ACTUAT Fluticasone propionate 0.044 MG/ACTUAT Metered Dose Inhaler", ["Fluticasone"]),
        ("NDA020800 0.3 ML Epinephrine 1 MG/ML Auto-Injector", ["Epinephrine"]),
        ("Simvistatin 10 MG", ["Simvastatin"]),
        ("Lasix 40mg", ["Furosemide"]),
        ("Acetaminophen 325 MG / HYDROcodone Bitartrate 7.5 MG Oral Tablet", ["Acetaminophen", "Hydrocodone"]),
        ("Amoxicillin 250 MG / Clavulanate 125 MG Oral Tablet", ["Amoxicillin/clavulanate"]),
        ("12 HR Zorblaxine 5 MG Oral Tablet", ["Zorblaxine"]),
    ],
)
def test_a_medication_is_known_by_its_ingredients(words: str, expected: list[str]) -> None:
    assert drugs(request("0", words)) == expected


def test_a_code_of_rxnorm_is_enough() -> None:
    assert drugs(request("860975", None)) == ["Metformin"]


def test_an_unknown_drug_is_counted_and_a_nameless_one_said() -> None:
    notes = Notes()
    facts(request("0", "Zorblaxine 5 MG"), request("1", None), notes=notes)
    assert notes.unknown["drug"] == {"0 Zorblaxine 5 MG": 1}
    assert "nameless_drug" in said(notes)


def test_a_medication_that_is_not_there_is_said() -> None:
    notes = Notes()
    pointing = {**request("1", None), "medicationReference": {"reference": "Medication/9"}}
    del pointing["medicationCodeableConcept"]
    assert facts(pointing, notes=notes).drugs is None
    assert ["points to Medication/9" in note.message for note in notes.notes if note.code == "nameless_drug"] == [True]


def test_active_requests_count_before_all_others() -> None:
    found = facts(
        request("1", "Metformin", on="2011-01-01"),
        request("2", "Warfarin", status="stopped", on="2018-01-01"),
    ).drugs
    assert found is not None
    assert ([each.words for each in found.drugs], found.are_current) == (["Metformin"], True)


def test_questions_name_three_drugs_and_the_others_stay_true() -> None:
    names = ("Metformin", "Warfarin", "Digoxin", "Lisinopril", "Simvastatin")
    requests = (request(name, name, on=f"201{place}-01-01") for place, name in enumerate(names))
    found = facts(*requests).drugs
    assert found is not None
    assert [each.words for each in found.drugs] == ["Simvastatin", "Lisinopril", "Digoxin"]
    assert [each.words for each in found.others] == ["Warfarin", "Metformin"]


def test_without_an_active_request_the_latest_count() -> None:
    dates = {"Metformin": "2011", "Warfarin": "2018", "Digoxin": "2015", "Ibuprofen": "2003"}
    found = facts(*(request(name, name, status="stopped", on=year) for name, year in dates.items())).drugs
    assert found is not None
    assert [each.words for each in found.drugs] == ["Warfarin", "Digoxin", "Metformin"]
    assert not found.are_current


def test_a_drug_for_the_main_condition_comes_first_and_each_counts_once() -> None:
    reason = [{"reference": "Condition/c-44054006"}]
    listed = [
        condition("44054006", "Diabetes"),
        request("1", "Loratadine 5 MG", on="2019-01-01"),
        request("2", "Metformin 500 MG", on="2010-01-01", reasonReference=reason),
        request("3", "Metformin 850 MG", on="2018-01-01"),
    ]
    assert drugs(*listed) == ["Metformin", "Loratadine"]


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "entered-in-error"},
        {"status": "cancelled"},
        {"status": "draft"},
        {"intent": "proposal"},
        {"doNotPerform": True},
        {"resourceType": "MedicationStatement", "status": "not-taken"},
    ],
)
def test_what_was_never_to_be_taken_is_left_out(fields: Json) -> None:
    assert facts({**request("1", "Metformin"), **fields}).drugs is None


def test_blood_pressure_is_told_by_codes_in_either_order() -> None:
    systolic, diastolic = ("8480-6", 131.0), ("8462-4", 84.0)
    expected = {"bp_systolic": "131mmHg", "bp_diastolic": "84mmHg"}
    for parts in ((systolic, diastolic), (diastolic, systolic)):
        found = facts(blood_pressure(*parts)).vitals
        assert {name: value.replace(".0", "") for name, value in found.items()} == expected


def test_the_latest_value_counts_whatever_its_place_and_its_time_zone() -> None:
    earlier = observation("4548-4", 9.1, "%", on="2019-03-02T01:00:00+09:00")
    later = observation("4548-4", 6.24, "%", on="2019-03-01T20:00:00-05:00")
    assert facts(earlier, later).labs == facts(later, earlier).labs == {"hba1c": "6.24%"}


@pytest.mark.parametrize(
    ("value", "shown"), [(6.2449, "6.24%"), (7, "7%"), (6.996, "7%"), (6.5, "6.5%"), (6.245, "6.25%")]
)
def test_values_have_the_decimals_that_were_written_and_two_at_most(value: float, shown: str) -> None:
    assert facts(observation("4548-4", value, "%")).labs == {"hba1c": shown}


@pytest.mark.parametrize(
    ("code", "value", "unit", "shown"),
    [
        ("2339-0", 5.5, "mmol/L", {"glucose": "99.09mg/dL"}),  # 5.5 x 18.0156
        ("4548-4", 53, "mmol/mol", {"hba1c": "7%"}),  # 53 x 0.09148 + 2.152 = 7.000
        ("33914-3", 88.2, "mL/min/{1.73_m2}", {"egfr": "88.2mL/min/1.73m2"}),
        ("33914-3", 88.2, "mL/min", {"egfr": "88.2mL/min/1.73m2"}),
        ("8331-1", 98.6, "[degF]", {"temperature": "37°C"}),
        ("29463-7", 150, "[lb_av]", {"weight": "68.04kg"}),  # 150 x 0.45359237
        ("6298-4", 4.4, "meq/L", {"potassium": "4.4mmol/L"}),
        ("2339-0", 90, None, {"glucose": "90mg/dL"}),
    ],
)
def test_values_are_given_in_the_unit_of_the_lexicon(code: str, value: float, unit: str, shown: Json) -> None:
    found = facts(observation(code, value, unit))
    assert {**found.labs, **found.vitals} == shown


@pytest.mark.parametrize(
    ("latest", "code"),
    [
        (observation("2339-0", 90, "parsec", on="2020"), "unit"),
        (observation("2339-0", 90_000, "mg/dL", on="2020"), "impossible"),
        (observation("2339-0", None, "mg/dL", on="2020"), "no_number"),
        ({**observation("2339-0", None, None, on="2020"), "valueString": "high"}, "no_number"),
        (observation("2339-0", 90, "mg/dL", on="2020", valueQuantity={"value": 90, "comparator": ">"}), "no_number"),
        (observation("2339-0", "NaN", "mg/dL", on="2020"), "no_number"),
    ],
    ids=["unit", "impossible", "empty", "text", "bound", "nan"],
)
def test_a_value_that_cannot_be_used_is_said_and_an_earlier_one_used(latest: Json, code: str) -> None:
    notes = Notes()
    assert facts(latest, observation("2339-0", 88, "mg/dL", on="2015"), notes=notes).labs == {"glucose": "88mg/dL"}
    assert said(notes) >= {code}


@pytest.mark.parametrize("status", ["entered-in-error", "cancelled"])
def test_observations_in_error_are_left_out(status: str) -> None:
    assert facts({**observation("2339-0", 90, "mg/dL"), "status": status}).labs == {}


def test_labs_are_those_of_the_main_condition_and_else_up_to_four_common_ones() -> None:
    codes = {
        "4548-4": "%",
        "2339-0": "mg/dL",
        "18262-6": "mg/dL",
        "2571-8": "mg/dL",
        "718-7": "g/dL",
        "6298-4": "mmol/L",
    }
    labs = [observation(code, 5 if unit == "mmol/L" else 12, unit) for code, unit in codes.items()]
    assert list(facts(condition("44054006", "Diabetes"), *labs).labs) == ["hba1c", "glucose"]
    assert list(facts(condition("38341003", "Hypertension"), *labs).labs) == ["ldl", "triglyceride"]
    assert list(facts(condition("271737000", "Anemia"), *labs).labs) == ["hemoglobin"]
    assert len(facts(condition("1", "Unheard-of disease"), *labs).labs) == 4
    assert list(facts(condition("44054006", "Diabetes"), labs[2]).labs) == ["ldl"]


def test_codes_that_the_lexicon_lacks_are_counted() -> None:
    notes = Notes()
    facts(observation("72514-3", 3, "{score}"), notes=notes)
    assert notes.unknown["observation"] == {"72514-3": 1}


def test_an_observation_is_never_told_by_its_words() -> None:
    misnamed = {**observation("0000-0", 6.2, "%"), "code": concept("0000-0", "Hemoglobin A1c", "http://loinc.org")}
    assert facts(misnamed).labs == {}


def procedures(*resources: Json) -> list[str] | None:
    found = facts(*resources).procedures
    return None if found is None else [each.words for each in found]


def test_procedures_of_weight_come_first_and_routine_is_left_out() -> None:
    listed = [
        procedure("428191000124101", "Documentation of current medications"),
        procedure("73761001", "Colonoscopy"),
        procedure("43075005", "Partial resection of colon"),
        procedure("127783003", "Spirometry (procedure)"),
    ]
    assert procedures(*listed) == ["Partial resection of colon", "Colonoscopy"]
    assert procedures(listed[0]) == []
    assert procedures() is None


@pytest.mark.parametrize("status", ["not-done", "entered-in-error"])
def test_procedures_that_were_not_done_are_left_out(status: str) -> None:
    assert procedures(procedure("73761001", "Colonoscopy", status=status)) is None


def test_what_is_dated_after_the_day_asked_for_is_left_out() -> None:
    notes = Notes()
    found = facts(
        condition("44054006", "Diabetes", since="2018-01-01"),
        condition("38341003", "Hypertension", since="2001-01-01", status="resolved", abatementDateTime="2015-01-01"),
        observation("2339-0", 80, "mg/dL", on="2009-01-01"),
        observation("2339-0", 180, "mg/dL", on="2019-01-01"),
        request("1", "Metformin", on="2018-01-01"),
        as_of=date(2010, 1, 1),
        notes=notes,
    )
    assert found.primary is not None
    assert (found.primary.words, found.drugs, found.labs) == ("Hypertension", None, {"glucose": "80mg/dL"})
    assert [note.message for note in notes.notes if note.code == "later"] == [
        "3 entries are dated after 2010-01-01 and left out"
    ]
