"""`hallumeter dialogue config` and `hallumeter dialogue lint`."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import refused, run, succeed

from hallumeter.dialogue.judges.settings import RULES_FILE, TURNS_FILE


def test_settings_are_copied_out_once_and_then_left_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    first = succeed("dialogue", "config", "--init", folder)
    assert first.stdout == f"wrote {folder / TURNS_FILE}\nwrote {folder / RULES_FILE}\n"
    (folder / RULES_FILE).write_text("# mine", encoding="utf-8")
    second = succeed("dialogue", "config", "--init", folder)
    assert second.stdout == ""
    assert f"{folder / RULES_FILE} exists and was kept" in second.stderr
    assert (folder / RULES_FILE).read_text(encoding="utf-8") == "# mine"


def test_settings_are_shown_as_text_and_as_json() -> None:
    result = succeed("dialogue", "config")
    assert "CSP_EX_001" in result.stdout
    assert "--init DIR copies them" in result.stderr
    shown = json.loads(succeed("dialogue", "config", "--format", "json").stdout)
    assert shown["turns"]["1"]["required_slots"] == {"age": 1.0, "sex": 1.0, "primary_condition": 2.0}


def test_settings_with_faults_are_refused_in_one_line_that_names_them_all(tmp_path: Path) -> None:
    (tmp_path / TURNS_FILE).write_text("turns: {1: {required_slots: [{slot: agee, weight: 0}]}}", encoding="utf-8")
    line = refused("dialogue", "config", tmp_path)
    assert f"{TURNS_FILE}:1:37: turns.1.required_slots.0.slot: 'agee' is not known; did you mean 'age'?" in line
    assert f"{TURNS_FILE}:1:51: turns.1.required_slots.0.weight: expected a number above 0, found 0" in line


def test_a_folder_is_either_shown_or_made(tmp_path: Path) -> None:
    assert "give either DIR or --init DIR" in refused("dialogue", "config", tmp_path, "--init", tmp_path)


def test_lint_of_what_ships_is_clean() -> None:
    assert succeed("dialogue", "lint").stdout == "no findings\n"


def test_lint_prints_findings_and_ends_with_one(tmp_path: Path) -> None:
    succeed("dialogue", "config", "--init", tmp_path)
    path = tmp_path / RULES_FILE
    path.write_text(path.read_text(encoding="utf-8").replace("penalty: -1.5", "penalty: 1.5"), encoding="utf-8")
    result = run("dialogue", "lint", tmp_path)
    assert result.exit_code == 1
    assert "rules.3.penalty: expected a number below 0, found 1.5\n\n1 error\n" in result.stdout
    shown = json.loads(run("dialogue", "lint", tmp_path, "--format", "json").stdout)
    assert shown["findings"][0]["code"] == "invalid"


def test_lint_of_what_cannot_be_read_ends_with_two(tmp_path: Path) -> None:
    (tmp_path / RULES_FILE).write_text("rules:\n\t- x", encoding="utf-8")
    result = run("dialogue", "lint", tmp_path)
    assert result.exit_code == 2
    assert result.stdout.startswith(f"{RULES_FILE}:2:1: error: a tab, where YAML wants spaces")
    assert "no such folder" in refused("dialogue", "lint", tmp_path / "absent")


def test_lint_counts_over_events(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text(
        json.dumps(
            {
                "run_id": "r", "mode": "llm", "patient_id": "p", "turn_id": 3, "question": "숨이 차요",
                "answer": "고강도 운동을 하세요.", "slots_truth": {},
            },
            ensure_ascii=False,
        ),
        encoding="utf-8",
    )  # fmt: skip
    text = succeed("dialogue", "lint", "--events", events).stdout
    assert "coverage over 1 event\n" in text
    assert "  CSP_EX_001              1         1\n" in text
