"""The tables of the scripts agree with the clinical lexicon."""

from __future__ import annotations

from hallumeter.dialogue.reading.reader import condition_named, drug_named, measurement_named
from hallumeter.dialogue.script.facts import COMMON_LABS, VITALS
from hallumeter.dialogue.script.tables import (
    condition_ranks,
    conditions,
    conditions_by_snomed,
    drugs_by_rxnorm,
    measurement_labels,
    measurements_by_loinc,
    procedure_weights,
    questions,
)


def test_every_ranked_condition_is_in_the_lexicon() -> None:
    assert [name for name in condition_ranks() if name not in conditions() or condition_named(name) != name] == []


def test_every_lab_that_goes_with_a_condition_is_in_the_lexicon() -> None:
    labs = {lab for rank in condition_ranks().values() for lab in rank.labs}
    kinds = {name: getattr(measurement_named(name), "kind", None) for name in (*labs, *COMMON_LABS, *VITALS)}
    assert {name: kind for name, kind in kinds.items() if kind != ("vital" if name in VITALS else "lab")} == {}


def test_every_rank_has_a_symptom_in_both_languages() -> None:
    assert [rank.name for rank in condition_ranks().values() if not all(rank.symptom.values())] == []


def test_every_drug_of_the_table_of_codes_is_in_the_lexicon() -> None:
    named = {name for names in drugs_by_rxnorm().values() for name in names}
    assert [name for name in named if drug_named(name) != name] == []


def test_the_codes_that_records_use_are_known() -> None:
    expected = {
        "8480-6": "bp_systolic",
        "8462-4": "bp_diastolic",
        "4548-4": "hba1c",
        "2339-0": "glucose",
        "2345-7": "glucose",
        "18262-6": "ldl",
        "13457-7": "ldl",
        "2571-8": "triglyceride",
        "2160-0": "creatinine",
        "38483-4": "creatinine",
        "33914-3": "egfr",
        "2823-3": "potassium",
        "6298-4": "potassium",
        "718-7": "hemoglobin",
        "1742-6": "alt",
        "1920-8": "ast",
        "8867-4": "heart_rate",
        "9279-1": "respiratory_rate",
        "8302-2": "height",
        "29463-7": "weight",
        "39156-5": "bmi",
    }
    assert {code: measurements_by_loinc()[code].name for code in expected} == expected
    assert conditions_by_snomed()["44054006"] == "type 2 diabetes mellitus"


def test_both_languages_ask_alike() -> None:
    english, korean = questions("en"), questions("ko")
    assert english.turns.keys() == korean.turns.keys() == set("12345")
    assert english.labels.keys() == korean.labels.keys()
    assert set(VITALS) <= english.labels.keys()
    assert english.labels.keys() <= measurement_labels("en").keys() == measurement_labels("ko").keys()


def test_no_phrase_of_a_procedure_stands_twice() -> None:
    phrases = [row.phrase for row in procedure_weights()]
    assert len(phrases) == len(set(phrases))
    assert all(phrase == phrase.lower() for phrase in phrases)
