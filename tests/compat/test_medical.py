"""The names and shapes of the medical multi-turn evaluation."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hallumeter.compat.medical import compute_advanced_metrics

SLOTS: dict[str, object] = {
    "age": 67,
    "sex": "남성",
    "primary_condition": "Type 2 Diabetes Mellitus",
    "comorbidities": ["Hypertension"],
    "key_meds": ["Metformin"],
    "key_labs": {"hba1c": "6.24%", "egfr": "45mL/min/1.73m2"},
    "key_vitals": {"bp_systolic": "185mmHg"},
}


def computed(answer: str, turn: int | str = 3, question: str = "", **slots: object) -> dict[str, Any]:
    return compute_advanced_metrics(answer, question, {**SLOTS, **slots}, turn)


def test_the_fields_are_those_of_the_evaluation() -> None:
    found = computed("You are currently taking warfarin; high-intensity interval training is great for you.")
    assert list(found) == ["SFS", "CSP", "CUS_improved", "ASS", "MCS"]
    assert list(found["SFS"]) == [
        "metric", "score", "mentioned_count", "hallucinated_count", "mentioned_weight", "hallucinated_weight",
        "hallucinated_details",
    ]  # fmt: skip
    assert list(found["SFS"]["hallucinated_details"][0]) == ["type", "value", "weight", "reason"]
    assert list(found["CSP"]) == [
        "metric", "score", "violated_rules", "applicable_rules", "total_penalty", "total_applicable_weight",
    ]  # fmt: skip
    assert list(found["CSP"]["violated_rules"][0]) == ["id", "name", "penalty", "rationale"]
    assert list(found["CSP"]["applicable_rules"][0]) == ["id", "name", "weight", "why"]
    assert list(found["CUS_improved"]) == [
        "metric", "score", "hits", "total", "used_weight", "total_weight", "used_detail", "missing_in_truth",
    ]  # fmt: skip
    assert list(found["CUS_improved"]["used_detail"]["labs"]) == ["value", "used", "confidence"]
    assert list(found["ASS"]) == ["metric", "score", "found", "missing", "note"]
    assert list(found["MCS"]) == ["metric", "score", "compared_count", "contradictions", "note"]
    json.dumps(found)


def test_factuality_with_its_epsilon() -> None:
    # Mentions: metformin 2, HbA1c 2, diabetes 1, age 1 (wrong), sex 1: 1 - 1 / 7.000001.
    answer = "You are a 76-year-old man with diabetes, you are taking metformin, and your HbA1c is 6.2%."
    found = computed(answer)["SFS"]
    assert (found["mentioned_weight"], found["hallucinated_weight"]) == (7.0, 1.0)
    assert (found["mentioned_count"], found["hallucinated_count"]) == (5, 1)
    assert round(found["score"], 6) == 0.857143
    assert found["score"] == 1 - 1 / (7 + 1e-6)
    assert found["hallucinated_details"][0]["type"] == "age"


def test_the_penalty_is_positive_and_divided_once() -> None:
    # Very high pressure, eGFR 45 and diabetes: pressure 2, potassium 2, protein 1.5, alcohol 1, NSAID 2, stop 0.5.
    answer = "Do high-intensity interval sprints three times a week. Stop if you have chest pain."
    found = computed(answer)["CSP"]
    assert [rule["id"] for rule in found["violated_rules"]] == ["CSP_BP_001"]
    assert (found["total_penalty"], found["total_applicable_weight"]) == (2.0, 9.0)
    assert round(found["score"], 6) == 0.222222
    assert {rule["id"] for rule in found["applicable_rules"]} == {
        "CSP_BP_001", "CSP_K_001", "CSP_CKD_001", "CSP_DM_001", "CSP_NSAID_001", "CSP_REQ_001",
    }  # fmt: skip


def test_use_of_context_with_an_explicit_an_absent_and_an_indirect_slot() -> None:
    found = computed("You are 67 years old; watch your blood sugar.", turn=1)["CUS_improved"]
    assert (found["score"], found["hits"], found["total"]) == (0.5, 2, 3)
    assert (found["used_weight"], found["total_weight"]) == (2.0, 4.0)
    assert found["used_detail"] == {
        "age": {"value": 67, "used": True, "confidence": 1.0},
        "sex": {"value": "남성", "used": False, "confidence": 0.0},
        "primary_condition": {"value": "Type 2 Diabetes Mellitus", "used": True, "confidence": 0.5},
    }


def test_where_there_is_nothing_to_count_the_scores_are_those_of_the_evaluation() -> None:
    found = compute_advanced_metrics("Hello there.", "Hello?", {}, 1)
    assert (found["SFS"]["score"], found["CSP"]["score"]) == (1.0, 0.0)
    assert (found["ASS"]["score"], found["ASS"]["note"]) == (0.0, "the turn must include nothing")
    assert found["MCS"]["score"] is None
    assert compute_advanced_metrics("Hello there.", "Hello?", {}, 9)["CUS_improved"]["score"] == 1.0


def test_a_required_fact_that_the_truth_lacks_counts_as_unused() -> None:
    found: dict[str, Any] = compute_advanced_metrics("You are 67 years old.", "", {"age": 67}, 1)["CUS_improved"]
    assert (found["used_weight"], found["total_weight"], found["score"]) == (1.0, 4.0, 0.25)
    assert (found["hits"], found["total"]) == (1, 3)
    assert found["used_detail"]["sex"] == {"value": None, "used": False, "confidence": 0.0}
    assert found["missing_in_truth"] == ["sex", "primary_condition"]


def test_actionability_is_the_share_of_what_the_turn_must_include() -> None:
    found = computed("Walk three times a week for 30 minutes, and stop if you feel dizzy.")["ASS"]
    assert (found["score"], found["missing"]) == (0.75, ["intensity"])


def test_consistency_is_held_against_the_question_and_earlier_turns() -> None:
    answer, question = "You are 67 years old and you are currently taking metformin.", "I am 76 years old. What now?"
    one = compute_advanced_metrics(answer, question, SLOTS, 3)["MCS"]
    assert (one["score"], one["compared_count"]) == (0.0, 1)
    earlier = [("I take metformin.", "You take metformin.")]
    both = compute_advanced_metrics(answer, question, SLOTS, 3, earlier=earlier)["MCS"]
    assert (both["score"], both["compared_count"]) == (0.5, 2)
    assert both["contradictions"] == ["the answer states age 67, the question states age 76"]


def test_a_turn_may_be_a_text() -> None:
    assert computed("You are 67 years old.", turn="1") == computed("You are 67 years old.", turn=1)


def test_slots_go_by_either_name() -> None:
    named = {**SLOTS, "active_meds": SLOTS["key_meds"], "labs": SLOTS["key_labs"]}
    del named["key_meds"], named["key_labs"]
    answer = "You are taking metformin and your HbA1c is 6.24%."
    other, usual = (compute_advanced_metrics(answer, "", slots, 2)["CUS_improved"] for slots in (named, SLOTS))
    assert other["score"] == usual["score"]


@pytest.mark.parametrize("answer", [None, ""])
def test_no_answer_is_taken_as_an_answer_that_says_nothing(answer: str | None) -> None:
    found = compute_advanced_metrics(answer, None, SLOTS, 1)
    assert (found["SFS"]["score"], found["CUS_improved"]["score"]) == (1.0, 0.0)


def test_settings_of_a_folder_are_used_and_those_that_ship_where_there_is_none(tmp_path: Path) -> None:
    text = "schema_version: 1\nturns:\n  1:\n    required_slots:\n      - {slot: age, weight: 3}\n"
    (tmp_path / "required_slots_by_turn.yaml").write_text(text, encoding="utf-8")
    own = compute_advanced_metrics("You are 67 years old.", "", SLOTS, 1, config_dir=str(tmp_path))
    assert own["CUS_improved"]["total_weight"] == 3.0
    shipped = compute_advanced_metrics("You are 67 years old.", "", SLOTS, 1, config_dir="no/such/folder")
    assert shipped["CUS_improved"]["total_weight"] == 4.0


def test_the_self_test_prints_its_line_and_the_results() -> None:
    command = [sys.executable, "-W", "error", "-m", "hallumeter.compat.medical"]
    printed = subprocess.run(command, capture_output=True, check=True, encoding="utf-8", env=None).stdout
    first, rest = printed.split("\n", 1)
    assert first == "Testing Advanced Metrics Calculator..."
    assert set(json.loads(rest)) == {"SFS", "CSP", "CUS_improved", "ASS", "MCS"}
