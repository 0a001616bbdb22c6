"""Which condition comes first, and what it is called."""

from __future__ import annotations

import pytest
from script_facts import facts

from hallumeter.dialogue.script.facts import Notes
from patient_records import Json, condition


def names(*conditions: Json) -> list[str]:
    """The main condition and the others, as they stand in the slots."""
    found = facts(*conditions)
    assert found.comorbidities is not None
    return [each.words for each in (found.primary, *found.comorbidities) if each]


def test_the_weightiest_condition_is_the_main_one_whatever_its_place() -> None:
    listed = [
        condition("271737000", "Anemia (disorder)"),
        condition("44054006", "Diabetes"),
        condition("38341003", "Hypertension"),
    ]
    assert names(*listed) == names(*reversed(listed)) == ["Type 2 diabetes mellitus", "Hypertension", "Anemia"]


def test_of_equals_the_older_comes_first() -> None:
    unknown = [condition("1", "Zoonotic blight", since="2001"), condition("2", "Aerial blight", since="2002-03-04")]
    assert names(*unknown) == ["Zoonotic blight", "Aerial blight"]


def test_there_are_three_comorbidities_at_most() -> None:
    listed = [condition(str(number), f"Disease {number}", since=f"200{number}-01-01") for number in range(6)]
    assert names(*listed) == ["Disease 0", "Disease 1", "Disease 2", "Disease 3"]


def test_only_active_conditions_count_when_there_is_one() -> None:
    resolved = condition("44054006", "Diabetes", status="resolved")
    assert names(resolved, condition("38341003", "Hypertension", status="recurrence")) == ["Hypertension"]
    assert names(resolved, condition("38341003", "Hypertension", status="inactive")) == [
        "Type 2 diabetes mellitus",
        "Hypertension",
    ]


def test_a_condition_without_a_status_is_active_until_it_abates() -> None:
    bare = {key: value for key, value in condition("44054006", "Diabetes").items() if key != "clinicalStatus"}
    other = condition("38341003", "Hypertension")
    assert names(bare, other)[0] == "Type 2 diabetes mellitus"
    assert names({**bare, "abatementDateTime": "2012"}, other) == ["Hypertension"]


@pytest.mark.parametrize("status", ["refuted", "entered-in-error", "differential"])
def test_what_was_refuted_or_entered_in_error_is_left_out(status: str) -> None:
    wrong = condition("44054006", "Diabetes", verificationStatus={"coding": [{"code": status}]})
    assert names(wrong, condition("38341003", "Hypertension")) == ["Hypertension"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("72892002", "Normal pregnancy"),
        ("429007001", "History of cardiac arrest (situation)"),
        ("1", "Pregnancy (finding)"),
        ("2", "At risk of falls"),
        ("3", "Something seen (finding)"),
        ("4", "Family history of diabetes mellitus"),
    ],
)
def test_a_situation_is_never_the_main_condition_beside_a_disease(code: str, words: str) -> None:
    situation = condition(code, words, since="1990-01-01")
    assert names(situation, condition("444814009", "Viral sinusitis (disorder)"))[0] == "Viral sinusitis"
    assert len(names(situation)) == 1


def test_entries_that_say_nothing_about_health_are_left_out() -> None:
    entries = [condition("1", "Full-time employment (finding)"), condition("2", "Medication review due (situation)")]
    assert names(*entries, condition("38341003", "Hypertension")) == ["Hypertension"]
    assert facts(*entries).primary is None


def test_a_finding_that_means_a_disease_has_its_name() -> None:
    assert names(condition("162864005", "Body mass index 30+ - obesity (finding)")) == ["Obesity"]


def test_the_words_of_a_record_stay_where_they_mean_what_the_code_means() -> None:
    assert names(condition("53741008", "Coronary Heart Disease")) == ["Coronary Heart Disease"]


def test_a_code_without_words_is_enough() -> None:
    assert names(condition("38341003", None)) == ["Hypertension"]


def test_words_without_a_known_code_are_enough_and_are_ranked_by_the_lexicon() -> None:
    by_words = {**condition("x", None), "code": {"text": "Congestive heart failure"}}
    assert names(condition("38341003", "Hypertension"), by_words)[0] == "Congestive heart failure"


def test_an_unknown_condition_is_kept_by_its_words_and_counted() -> None:
    notes = Notes()
    found = facts(condition("999", "Purple spot syndrome (disorder)"), notes=notes)
    assert found.primary is not None
    assert (found.primary.words, found.primary.lexicon) == ("Purple spot syndrome", None)
    assert notes.unknown["condition"] == {"999 Purple spot syndrome (disorder)": 1}


def test_a_condition_with_neither_known_code_nor_words_is_said() -> None:
    notes = Notes()
    assert facts(condition("999", None), notes=notes).primary is None
    assert "nameless_condition" in {note.code for note in notes.notes}


def test_one_condition_that_stands_there_twice_counts_once() -> None:
    twice = [condition("38341003", "Hypertension", id="a"), condition("38341003", "Hypertension", id="b")]
    assert names(*twice) == ["Hypertension"]


def test_a_narrower_condition_has_the_rank_of_the_wider() -> None:
    listed = [
        condition("38341003", "Hypertension"),
        condition("88805009", "Chronic congestive heart failure (disorder)"),
    ]
    assert names(*listed) == ["Chronic congestive heart failure", "Hypertension"]
