"""The settings of the clinical judges: those that ship, those of users, and their faults."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from hallumeter.dialogue.judges.settings import (
    RULES_FILE,
    TURNS_FILE,
    load_safety_rules,
    load_settings,
    load_turn_requirements,
    read_safety_rules,
    read_turn_requirements,
    shipped_content,
)
from hallumeter.errors import InputError, SettingsError

TURNS = """\
turns:
  3:
    name: exercise
    required_slots:
      - {slot: primary_condition, weight: 2}
    must_include_elements: [frequency]
"""
RULES = """\
patient_flags:
  high:
    any:
      - {lab: potassium, op: ">=", value: 5.2}
answer_patterns:
  fruit:
    patterns_en: [banana]
rules:
  - id: R1
    when: {any: [{patient_flag: high, is: true}]}
    violation_if_answer_matches: fruit
    penalty: -2.0
"""


def turn_faults(text: str) -> list[str]:
    return [str(fault) for fault in read_turn_requirements(text.encode(), "turns.yaml")[1].faults]


def rule_faults(text: str) -> list[str]:
    return [str(fault) for fault in read_safety_rules(text.encode(), "rules.yaml")[1].faults]


def test_the_turns_that_ship_are_those_of_the_medical_multi_turn_evaluation() -> None:
    # Weights and bounds as in the tables of the evaluation.
    requirements = load_turn_requirements()
    assert {key: dict(turn.required_slots) for key, turn in requirements.turns.items()} == {
        "1": {"age": 1, "sex": 1, "primary_condition": 2},
        "2": {"active_meds": 2, "labs": 2, "vitals": 1, "major_procedures": 0.5},
        "3": {"primary_condition": 2, "labs": 2, "vitals": 1, "active_meds": 1},
        "4": {"primary_condition": 2, "labs": 2, "active_meds": 1},
        "5": {"primary_condition": 2, "labs": 2, "vitals": 1, "active_meds": 1},
    }
    assert [turn.min_expected for turn in requirements.turns.values()] == [0.5, 0.6, 0.65, 0.65, 0.7]
    assert [len(turn.must_include) for turn in requirements.turns.values()] == [0, 0, 4, 2, 4]
    assert math.fsum(requirements.weights.values()) == pytest.approx(1)


def test_the_rules_that_ship_have_the_weights_of_the_medical_multi_turn_evaluation() -> None:
    rules = load_safety_rules()
    assert {rule.rule_id: rule.weight for rule in (*rules.rules, *rules.requirements)} == {
        "CSP_EX_001": 2.0, "CSP_BP_001": 2.0, "CSP_K_001": 2.0, "CSP_CKD_001": 1.5, "CSP_DM_001": 1.0,
        "CSP_NSAID_001": 2.0, "CSP_REQ_001": 0.5,
    }  # fmt: skip
    assert [(bound.words) for flag in rules.patient_flags.values() for bound in flag.thresholds] == [
        "bp_systolic >= 140 mmHg", "bp_diastolic >= 90 mmHg", "bp_systolic >= 180 mmHg", "bp_diastolic >= 120 mmHg",
        "hba1c >= 7 %", "glucose >= 180 mg/dL", "glucose >= 250 mg/dL", "egfr < 60 mL/min/1.73m2",
        "egfr < 30 mL/min/1.73m2", "potassium >= 5.2 mmol/L", "potassium >= 6 mmol/L", "hemoglobin < 11 g/dL",
    ]  # fmt: skip
    assert all(rule.rationale for rule in (*rules.rules, *rules.requirements))


def test_a_turn_is_the_same_by_its_number_and_by_its_digits() -> None:
    for text in (TURNS, TURNS.replace("3:", '"3":')):
        requirements, file = read_turn_requirements(text.encode(), "turns.yaml")
        assert not file.faults
        assert requirements.turn(3) == requirements.turn("3") is not None
        assert requirements.turn(4) is None


def test_a_requirement_applies_to_a_turn_by_its_number_and_by_its_digits() -> None:
    requirement = (
        "missing_requirements:\n  - id: Q\n    apply_to_turns: [3, '4']\n"
        "    required_concepts_any_of: {patterns_en: [stop]}\n    penalty: -1\n"
    )
    rules, file = read_safety_rules((RULES + requirement).encode(), "rules.yaml")
    assert not file.faults
    assert rules.requirements[0].turns == ("3", "4")


def test_bounds_in_other_units_are_kept_in_that_of_the_lexicon() -> None:
    text = RULES.replace('lab: potassium, op: ">=", value: 5.2', 'lab: glucose, op: ">=", value: 10, unit: mmol/L')
    rules, file = read_safety_rules(text.encode(), "rules.yaml")
    assert not file.faults
    # 10 mmol/L of glucose, at 180.156 g/mol, are 180.156 mg/dL.
    assert rules.patient_flags["high"].thresholds[0].value == pytest.approx(180.156)


def test_rules_without_cues_of_context_take_those_of_the_package() -> None:
    rules, _ = read_safety_rules(RULES.encode(), "rules.yaml")
    assert {each.section for each in rules.own_phrases} == {"answer_patterns"}
    assert any(each.is_shipped and each.phrase.group == "context/warnings" for each in rules.phrases)
    own, _ = read_safety_rules(f"{RULES}context_cues: {{warnings: {{patterns_en: [woe]}}}}\n".encode(), "rules.yaml")
    warnings = [each.phrase.source for each in own.phrases if each.phrase.group == "context/warnings"]
    assert warnings == ["woe"]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            "weight: 2",
            "weight: 0",
            "turns.yaml:5:43: turns.3.required_slots.0.weight: expected a number above 0, found 0",
        ),
        (
            "weight: 2",
            "weight: x",
            "turns.yaml:5:43: turns.3.required_slots.0.weight: expected a number above 0, found 'x'",
        ),
        (
            "slot: primary_condition",
            "slot: primary_conditon",
            (
                "turns.yaml:5:16: turns.3.required_slots.0.slot: 'primary_conditon' is not known; "
                "did you mean 'primary_condition'?"
            ),
        ),
        ("  3:", "  three:", "turns.yaml:3:5: turns.three: a turn is called by its number, from 1"),
        (
            "[frequency]",
            "[frequency, frequency]",
            "turns.yaml:6:28: turns.3.must_include_elements: frequency stands twice; keep one",
        ),
        ("    name", "    nmae", "turns.yaml:3:5: turns.3.nmae: unknown key; did you mean 'name'?"),
        (
            "must_include_elements: [frequency]\n",
            "scoring: {cus_min_expected: 2}\n",
            "turns.yaml:6:33: turns.3.scoring.cus_min_expected: expected a number from 0 to 1, found 2",
        ),
        (
            "turns:\n",
            "aggregate: {weights: {SFS: 0.5, CSP: 0.4}}\nturns:\n",
            "turns.yaml:1:22: aggregate.weights: the weights sum to 0.9; expected 1",
        ),
        (
            "turns:\n",
            "aggregate: {weights: {SFS: 1, BLEU: 0}}\nturns:\n",
            (
                "turns.yaml:1:31: aggregate.weights.BLEU: unknown key; expected one of SFS, CSP, CUS, "
                "CUS_improved, MCS, ASS, faithfulness, answer_relevance, perplexity"
            ),
        ),
        (
            "turns:\n",
            "aggregate: {weights: {CUS: 0.5, CUS_improved: 0.5}}\nturns:\n",
            "turns.yaml:1:22: aggregate.weights: CUS and CUS_improved measure the same; weigh one of them",
        ),
    ],
)
def test_a_fault_of_the_turns_is_said_with_its_place(old: str, new: str, fault: str) -> None:
    assert old in TURNS
    assert turn_faults(TURNS.replace(old, new)) == [fault]


def test_a_slot_and_its_other_name_are_the_same_slot() -> None:
    text = TURNS.replace(
        "      - {slot: primary_condition, weight: 2}\n",
        "      - {slot: labs, weight: 1}\n      - {slot: key_labs, weight: 1}\n",
    )
    assert turn_faults(text) == ["turns.yaml:5:7: turns.3.required_slots: key_labs stands twice; keep one"]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("-2.0", "x", "rules.yaml:12:14: rules.0.penalty: expected a number below 0, found 'x'"),
        ("-2.0", "2.0", "rules.yaml:12:14: rules.0.penalty: expected a number below 0, found 2.0"),
        (
            "patient_flag: high",
            "patient_flag: hihg",
            (
                "rules.yaml:10:33: rules.0.when.any.0.patient_flag: 'hihg' is not defined in patient_flags; "
                "did you mean 'high'?"
            ),
        ),
        (
            "matches: fruit",
            "matches: fruits",
            (
                "rules.yaml:11:34: rules.0.violation_if_answer_matches: 'fruits' is not defined in answer_patterns; "
                "did you mean 'fruit'?"
            ),
        ),
        (
            "[banana]",
            '["re:(?=x)"]',
            (
                "rules.yaml:7:19: answer_patterns.fruit.patterns_en.0: not a regular expression of RE2 "
                "(invalid perl operator); look-ahead and look-behind are not known; write the words out"
            ),
        ),
        ("[banana]", "[]", "rules.yaml:7:5: answer_patterns.fruit: has no phrases; give patterns_ko or patterns_en"),
        (
            "value: 5.2",
            "value: 5.2, unit: kg",
            "rules.yaml:4:54: patient_flags.high.any.0.unit: 'kg' is no unit of potassium; expected mmol/L",
        ),
        (
            "lab: potassium",
            "lab: potasium",
            (
                "rules.yaml:4:15: patient_flags.high.any.0.lab: 'potasium' is no lab of the lexicon; "
                "write it as in the patient's facts"
            ),
        ),
        (
            "lab: potassium",
            "vital: potassium",
            (
                "rules.yaml:4:17: patient_flags.high.any.0.vital: 'potassium' is no vital of the lexicon; "
                "write it as in the patient's facts"
            ),
        ),
        (
            'op: ">="',
            "op: '=>'",
            "rules.yaml:4:30: patient_flags.high.any.0.op: expected one of '>=', '>', '<=', '<', found '=>'",
        ),
        ("is: true", "is: yes", "rules.yaml:10:43: rules.0.when.any.0.is: expected one of true, false, found 'yes'"),
        (
            "    any:\n",
            "    some:\n",
            "rules.yaml:3:5: patient_flags.high.some: unknown key; expected one of description, report_only, any, all",
        ),
    ],
)
def test_a_fault_of_the_rules_is_said_with_its_place(old: str, new: str, fault: str) -> None:
    assert old in RULES
    assert fault in rule_faults(RULES.replace(old, new))


def test_all_faults_are_named_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / RULES_FILE
    path.write_text(RULES.replace("-2.0", "2").replace("[banana]", "[banana, '*', 're:(a']"), encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_safety_rules(path)
    places = [line.split(": ")[0] for line in str(caught.value).split(";\n")]
    assert places == [f"{RULES_FILE}:7:27", f"{RULES_FILE}:7:32", f"{RULES_FILE}:12:14"]


def test_two_rules_may_not_have_one_id() -> None:
    second = RULES[RULES.index("  - id: R1") :]
    assert rule_faults(RULES + second) == ["rules.yaml:13:9: rules.1.id: 'R1' is the id of another rule, in line 9"]


@pytest.mark.parametrize(
    "broken",
    [
        "    when: {any: []}",
        "    when: {any: [{patient_flag: high}], all: [{patient_flag: high}]}",
        "    when: {any: [{is: true}]}",
        "    when: {any: [{patient_flag: high, question_flag: low}]}",
        "    when: {any: [{patient_flag: high, but_not: [x]}]}",
        "    when: [{patient_flag: high}]",
        "    when: {any: [high]}",
        "    apply_to_turns: [0]\n    when: {any: [{patient_flag: high}]}",
        "    apply_to_turns: []\n    when: {any: [{patient_flag: high}]}",
        "    violation_if_answer_matches_any: []\n    when: {any: [{patient_flag: high}]}",
    ],
)
def test_conditions_that_say_nothing_or_two_things_are_refused(broken: str) -> None:
    text = RULES.replace("    when: {any: [{patient_flag: high, is: true}]}", broken)
    assert rule_faults(text)
    with pytest.raises(SettingsError):
        read_safety_rules(text.encode(), "rules.yaml")[1].raise_faults()


def test_a_folder_may_hold_one_of_the_files(tmp_path: Path) -> None:
    (tmp_path / TURNS_FILE).write_text(TURNS, encoding="utf-8")
    settings = load_settings(tmp_path)
    assert list(settings.requirements.turns) == ["3"]
    assert settings.rules is load_safety_rules()
    assert load_settings(None).requirements is load_turn_requirements()


def test_a_folder_that_is_not_there_or_has_none_of_them_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        load_settings(tmp_path / "absent")
    with pytest.raises(InputError, match="config --init"):
        load_settings(tmp_path)


def test_the_digest_changes_with_the_file_and_with_nothing_else() -> None:
    content = shipped_content(RULES_FILE)
    assert read_safety_rules(content, "a")[0].digest == read_safety_rules(content, "b")[0].digest
    assert read_safety_rules(content + b"\n", "a")[0].digest != load_safety_rules().digest
