"""The check of the settings: what it finds, where it says it is, and what it counts over events."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hallumeter.dialogue.judges.settings import RULES_FILE, TURNS_FILE, load_settings, shipped_content
from hallumeter.dialogue.lint.checks import LintReport
from hallumeter.dialogue.lint.folder import init_settings, lint_settings, lint_text, settings_summary, settings_text
from hallumeter.errors import InputError

RULES = """\
patient_flags:
  high:
    any:
      - {lab: potassium, op: ">=", value: 5.2}
question_flags:
  tired:
    patterns_en: [tired]
answer_patterns:
  fruit:
    patterns_en: [banana]
rules:
  - id: R1
    when: {any: [{patient_flag: high}, {question_flag: tired}]}
    violation_if_answer_matches: fruit
    penalty: -2.0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / RULES_FILE).write_text(RULES, encoding="utf-8")
    return tmp_path


def linted(folder: Path, old: str = "", new: str = "", events: Path | None = None) -> LintReport:
    path = folder / RULES_FILE
    assert old in RULES
    path.write_text(RULES.replace(old, new, 1) if old else RULES, encoding="utf-8")
    return lint_settings(folder, events)


def said(report: LintReport) -> list[str]:
    return [str(finding).removeprefix(f"{RULES_FILE}:") for finding in report.findings]


def test_the_files_that_ship_have_nothing_to_find() -> None:
    report = lint_settings()
    assert said(report) == []
    assert report.exit_code == 0
    assert lint_text(report) == "no findings\n"


def test_rules_of_a_user_may_have_nothing_to_find(folder: Path) -> None:
    assert said(linted(folder)) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "value: 5.2",
            "value: 52",
            [
                "3:5: error: patient flag 'high' can never be raised: no living patient has potassium >= 52 mmol/L",
            ],
        ),
        (
            "value: 5.2}",
            "value: 5.2}\n      - {lab: hba1c, op: '>=', value: 70}",
            ["5:9: error: no living patient has hba1c >= 70 %; is it meant in another unit?"],
        ),
        (
            '    any:\n      - {lab: potassium, op: ">=", value: 5.2}',
            '    all:\n      - {lab: egfr, op: ">", value: 60}\n      - {lab: egfr, op: "<", value: 30}',
            [
                (
                    "3:5: error: patient flag 'high' can never be raised: "
                    "no value is egfr > 60 mL/min/1.73m2 and egfr < 30 mL/min/1.73m2"
                ),
            ],
        ),
        (
            "any: [{patient_flag: high}, {question_flag: tired}]",
            "all: [{question_flag: tired}, {patient_flag: high}, {patient_flag: high, is: false}]",
            ["12:5: error: rule R1 can never apply: high must be there and be absent"],
        ),
        (
            "penalty: -2.0",
            "apply_to_turns: [9]\n    penalty: -2.0",
            ["12:5: error: R1 is for turn 9, but required_slots_by_turn.yaml has turns 1, 2, 3, 4, 5"],
        ),
        (
            "penalty: -2.0",
            "apply_to_turns: [4, 9]\n    penalty: -2.0",
            ["12:5: warning: R1 is for turn 9, but required_slots_by_turn.yaml has turns 1, 2, 3, 4, 5"],
        ),
        (
            "{patient_flag: high}, ",
            "",
            ["3:5: warning: no rule uses the patient flag 'high'; remove it, or say report_only: true"],
        ),
        (
            "  high:\n",
            "  high:\n    report_only: true\n",
            ["3:5: warning: a rule uses the patient flag 'high', which says report_only; remove that"],
        ),
        (", {question_flag: tired}", "", ["7:5: warning: no rule uses the question flag 'tired'; remove it or use it"]),
        (
            "  fruit:\n",
            "  nuts: {patterns_en: [almond]}\n  fruit:\n",
            ["9:9: warning: no rule uses the answer pattern 'nuts'; remove it or use it"],
        ),
        (
            "[banana]",
            "[banana, Banana, 'ripe-banana', ripe banana]",
            [
                "10:27: warning: 'Banana' says the same as 'banana' in line 10",
                "10:50: warning: 'ripe banana' says the same as 'ripe-banana' in line 10",
            ],
        ),
        (
            "[banana]",
            "[banana]\n    except_en: [ripe banana, apple]",
            ["11:30: warning: the exception 'apple' holds no phrase of its group, and changes nothing"],
        ),
        (
            "[banana]",
            "[banana, plum]\n    except_en: [banana]",
            ["10:19: error: an exception of its group always hides 'banana'"],
        ),
        (
            "[banana]",
            "['re:\\b바나나\\b']",
            [r"10:19: warning: \b after a Korean word lets no particle follow; leave it out"],
        ),
    ],
)
def test_what_can_be_read_and_is_wrong_is_found(folder: Path, old: str, new: str, expected: list[str]) -> None:
    report = linted(folder, old, new)
    assert said(report) == expected
    assert report.exit_code == int(any(": error:" in line for line in expected))


def test_a_rule_whose_flags_can_never_be_raised_can_never_apply(folder: Path) -> None:
    text = RULES.replace(", {question_flag: tired}", "").replace("value: 5.2", "value: 52")
    (folder / RULES_FILE).write_text(text, encoding="utf-8")
    codes = [finding.code for finding in lint_settings(folder).findings]
    assert codes == ["impossible-flag", "unused-flag", "never-fires"]


def test_flags_that_exclude_each_other_in_one_rule_are_seen(folder: Path) -> None:
    text = RULES.replace(
        "question_flags:", "  low: {any: [{lab: potassium, op: '<', value: 3.5}]}\nquestion_flags:"
    ).replace(
        "any: [{patient_flag: high}, {question_flag: tired}]",
        "all: [{patient_flag: high}, {patient_flag: low}, {question_flag: tired}]",
    )
    (folder / RULES_FILE).write_text(text, encoding="utf-8")
    assert said(lint_settings(folder)) == [
        "13:5: error: rule R1 can never apply: no value is potassium >= 5.2 mmol/L and potassium < 3.5 mmol/L"
    ]


def test_two_rules_that_say_the_same_are_seen(folder: Path) -> None:
    (folder / RULES_FILE).write_text(RULES + RULES[RULES.index("  - id") :].replace("R1", "R2"), encoding="utf-8")
    assert said(lint_settings(folder)) == ["16:5: warning: R2 says the same as R1"]


def test_faults_of_both_files_are_listed_with_their_places(folder: Path) -> None:
    (folder / TURNS_FILE).write_text("turns: {1: {required_slots: [{slot: agee, weight: 1}]}}", encoding="utf-8")
    report = linted(folder, "[banana]", "[banana, 're:(?=a)b', 're:a\\b b']")
    assert [str(finding).partition(": error: ")[0] for finding in report.findings] == [
        f"{TURNS_FILE}:1:37",
        f"{RULES_FILE}:10:27",
        f"{RULES_FILE}:10:40",
    ]
    assert report.exit_code == 1
    assert lint_text(report).endswith("\n\n3 errors\n")


def test_a_fault_does_not_bring_others_after_it(folder: Path) -> None:
    # A rule that was refused may be the one that uses the flag: nothing is said of that.
    assert [finding.code for finding in linted(folder, "patient_flag: high", "patient_flag: hihg").findings] == [
        "invalid"
    ]


@pytest.mark.parametrize("broken", [b"rules:\n\t- id: R1\n", b"\xff", b"", b"a: 1\n---\nb: 1\n", b"[" * 99])
def test_a_file_that_cannot_be_read_gives_code_two(folder: Path, broken: bytes) -> None:
    (folder / RULES_FILE).write_bytes(broken)
    report = lint_settings(folder)
    assert report.exit_code == 2
    assert {finding.code for finding in report.findings} == {"syntax"}


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        lint_settings(tmp_path / "absent")


def events_file(folder: Path, *events: object) -> Path:
    path = folder / "events.jsonl"
    lines = [event if isinstance(event, str) else json.dumps(event, ensure_ascii=False) for event in events]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def event(answer: object, question: object = "What may I eat?", **more: object) -> dict[str, object]:
    shared = {"run_id": "r", "mode": "llm", "patient_id": "p1", "turn_id": 4}
    return {**shared, "question": question, "answer": answer, **more}


HIGH = {"key_labs": {"potassium": "5.6 mmol/L"}}


def test_coverage_counts_how_often_each_rule_flag_and_phrase_is_met(folder: Path) -> None:
    events = events_file(
        folder,
        event("Eat a banana.", slots_truth=HIGH),
        event("Avoid bananas.", slots_truth=HIGH),
        event({"text": "Eat bananas.", "hash": "x"}, {"question_id": "q", "text": "I am tired."}),
        event("Sleep well.", slots_truth={}),
        event(None, slots_truth=HIGH),
        "not json",
    )
    coverage = linted(folder, events=events).coverage
    assert coverage is not None
    assert (coverage.events, coverage.unanswered, coverage.unusable, coverage.without_truth) == (4, 1, 1, 1)
    [rule] = coverage.rules
    assert (rule.applicable, rule.violated) == (3, 2)
    assert coverage.flags == {"high": 2, "tired": 1}
    assert {each.phrase: (each.events, each.violations) for each in coverage.phrases} == {
        "tired": (1, 0),
        "banana": (3, 2),
    }


def test_what_the_events_have_nothing_of_is_noted(folder: Path) -> None:
    report = linted(folder, "[banana]", "[banana, plum]", events_file(folder, event("Eat a banana.", slots_truth={})))
    assert said(report) == [
        "7:1: note: 1 of 1 phrases of tired are in none of the events: 'tired'",
        "10:1: note: 1 of 2 phrases of fruit are in none of the events: 'plum'",
        "12:5: note: R1 applies to none of the 1 events",
    ]
    assert report.exit_code == 0
    assert "  R1             0         0" in lint_text(report).splitlines()


def test_a_met_requirement_counts_for_the_phrase_that_meets_it(folder: Path) -> None:
    requirement = (
        "missing_requirements:\n  - id: Q1\n    apply_to_turns: [4]\n    penalty: -1\n"
        "    required_concepts_any_of: {patterns_en: [water]}\n"
    )
    (folder / RULES_FILE).write_text(RULES + requirement, encoding="utf-8")
    events = events_file(folder, event("Drink water.", slots_truth={}), event("Sleep.", slots_truth={}))
    coverage = lint_settings(folder, events).coverage
    assert coverage is not None
    assert [(rule.rule_id, rule.applicable, rule.violated) for rule in coverage.rules] == [("R1", 0, 0), ("Q1", 2, 1)]
    assert [(each.events, each.violations) for each in coverage.phrases if each.phrase == "water"] == [(1, 1)]


def test_events_are_not_counted_with_rules_that_have_faults(folder: Path) -> None:
    report = linted(folder, "-2.0", "2", events_file(folder, event("Eat a banana.", slots_truth=HIGH)))
    assert report.coverage is None


def test_events_without_any_answer_are_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="no event with an answer"):
        linted(folder, events=events_file(folder, event(None)))
    with pytest.raises(InputError, match="cannot be opened"):
        linted(folder, events=folder / "absent.jsonl")


def test_settings_are_copied_out_and_nothing_is_written_over(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "rules"
    written, kept = init_settings(folder)
    assert [path.name for path in written] == [TURNS_FILE, RULES_FILE]
    assert kept == []
    assert (folder / RULES_FILE).read_bytes() == shipped_content(RULES_FILE)
    (folder / RULES_FILE).write_text("mine", encoding="utf-8")
    (folder / TURNS_FILE).unlink()
    written, kept = init_settings(folder)
    assert ([path.name for path in written], [path.name for path in kept]) == ([TURNS_FILE], [RULES_FILE])
    assert (folder / RULES_FILE).read_text(encoding="utf-8") == "mine"


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="settings cannot be written there"):
        init_settings(tmp_path / "file" / "rules")


def test_the_summary_says_where_the_settings_come_from_and_what_they_say(folder: Path) -> None:
    summary = settings_summary(load_settings(folder), folder)
    text = settings_text(summary)
    assert f"{TURNS_FILE} as shipped" in text
    assert f"{RULES_FILE} {folder / RULES_FILE}" in text
    assert "  high: potassium >= 5.2 mmol/L" in text
    assert "      when patient_flag high or question_flag tired; violated by fruit" in text
    assert json.loads(json.dumps(summary))["rules"][0]["weight"] == 2.0


OTHER_TURNS = """\
schema_version: "1.0"
slot_definitions:
  vitals: [weight, bp_systolic]
turns:
  "4":
    name: "Meals"
    required_slots:
      - slot: labs
        weight: 2.0
    must_include_elements:
      - "rules_3_to_5"
      - "monitoring_metric"
    scoring:
      cus_min_expected: 0.65
  "5":
    required_slots:
      - slot: active_meds
        weight: 1.0
    must_include_elements:
      - "priorities_top3"
aggregate:
  weights:
    ragas_faithfulness: 0.15
    ragas_answer_relevance: 0.15
    perplexity: 0.10
    cus: 0.25
    sfs: 0.15
    csp: 0.10
    ass: 0.10
"""


def other_folder(folder: Path, turns: str = OTHER_TURNS) -> Path:
    """Files with the names that the medical multi-turn evaluation has for things."""
    rules = RULES.replace("{lab: potassium,", "{field: potassium,").replace(
        "value: 5.2}", 'value: 5.2}\n      - {field: bp_systolic, op: ">=", value: 180}'
    )
    (folder / RULES_FILE).write_text(f"description: >\n  what is unsafe\n{rules}", encoding="utf-8")
    (folder / TURNS_FILE).write_text(turns, encoding="utf-8")
    return folder


def test_the_names_of_the_medical_evaluation_are_read_as_they_are(folder: Path) -> None:
    settings = load_settings(other_folder(folder))
    assert [turn.must_include for turn in settings.requirements.turns.values()] == [
        ("three_to_five_rules", "monitoring_metric"),
        ("top_three_priorities",),
    ]
    assert settings.requirements.weights == {
        "faithfulness": 0.15, "answer_relevance": 0.15, "perplexity": 0.1, "CUS": 0.25, "SFS": 0.15, "CSP": 0.1,
        "ASS": 0.1,
    }  # fmt: skip
    [flag] = settings.rules.patient_flags.values()
    assert [bound.words for bound in flag.thresholds] == ["potassium >= 5.2 mmol/L", "bp_systolic >= 180 mmHg"]


def test_each_other_name_is_explained_once_and_is_no_error(folder: Path) -> None:
    report = lint_settings(other_folder(folder))
    assert report.exit_code == 0
    assert {finding.severity for finding in report.findings} == {"note"}
    assert [finding.message for finding in report.findings] == [
        "rules_3_to_5 is read as three_to_five_rules",
        "priorities_top3 is read as top_three_priorities",
        "ragas_faithfulness is read as faithfulness",
        "ragas_answer_relevance is read as answer_relevance",
        "cus is read as CUS",
        "sfs is read as SFS",
        "csp is read as CSP",
        "ass is read as ASS",
        "field is read as lab or vital, whichever the name is of",
    ]


def test_a_weight_under_both_of_its_names_is_refused(folder: Path) -> None:
    report = lint_settings(other_folder(folder, OTHER_TURNS.replace("    sfs: 0.15", "    SFS: 0.1\n    sfs: 0.05")))
    assert report.exit_code == 1
    assert any("aggregate.weights.sfs" in str(finding) for finding in report.findings)


def test_a_field_that_is_no_measurement_is_refused(folder: Path) -> None:
    report = linted(folder, "{lab: potassium,", "{field: mood,")
    assert any("'mood' is no lab or vital of the lexicon" in line for line in said(report))
