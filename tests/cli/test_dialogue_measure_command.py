"""`hallumeter dialogue measure` at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import refused, run, succeed, write

FACTS = {"age": 67, "primary_condition": "Type 2 diabetes mellitus", "key_meds": ["Metformin"]}
ANSWERS = {
    "llm": "You are 76 years old and you are currently taking warfarin.",
    "agent": "You are 67 years old, you have diabetes and you are currently taking metformin.",
}


def events() -> list[dict[str, object]]:
    return [
        {"mode": mode, "patient_id": patient, "turn_id": 1, "question": "I am 67 years old. I take metformin.",
         "answer": answer, "slots_truth": FACTS, "metadata": {"ward": "A" if patient == "p1" else "B"}}
        for patient in ("p1", "p2", "p3")
        for mode, answer in ANSWERS.items()
    ]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "events.jsonl", events())


def test_a_table_tells_modes_turns_and_differences(path: Path) -> None:
    printed = succeed("dialogue", "measure", path).stdout
    assert printed.startswith("6 answers · 2 modes · 3 patients · 0 failures\n")
    for words in ("All answers", "By mode", "agent minus llm", "Fair: llm and agent were asked the same"):
        assert words in printed
    assert "agent is better" not in printed  # three patients cannot show it


def test_groups_are_told_when_asked_for(path: Path) -> None:
    assert "By ward" in succeed("dialogue", "measure", path, "--by", "ward").stdout


def test_json_is_the_summary(path: Path) -> None:
    summary = json.loads(succeed("dialogue", "measure", path, "--format", "json").stdout)
    assert summary["instrument"] == "dialogue"
    assert {row["metric"] for row in summary["dialogue"]["differences"]} == {
        "sfs", "csp", "cus_improved", "cus", "mcs", "ass",
    }  # fmt: skip


def test_markdown_and_csv_have_every_group(path: Path) -> None:
    assert "| agent minus llm | SFS |" in succeed("dialogue", "measure", path, "--format", "markdown").stdout
    lines = succeed("dialogue", "measure", path, "--format", "csv").stdout.splitlines()
    assert lines[0].startswith("mode,turn_id,metric,judge,count")
    assert any(line.startswith("agent,1,sfs,") for line in lines)


def test_a_run_folder_is_written_once(path: Path, tmp_path: Path) -> None:
    result = succeed("dialogue", "measure", path, "--out", tmp_path / "run")
    assert "report.html" in result.stderr
    assert {each.name for each in (tmp_path / "run").iterdir()} == {
        "claims.jsonl", "events.jsonl", "failures.jsonl", "manifest.json", "measurements.jsonl", "records.jsonl",
        "report.html", "summary.json", "verdicts.jsonl",
    }  # fmt: skip
    assert "exists already" in refused("dialogue", "measure", path, "--out", tmp_path / "run", "--quiet")


def test_scripts_are_kept_with_the_run(tmp_path: Path) -> None:
    turns = [{"turn_id": 1, "question": "I am 67 years old."}]
    scripts = write(tmp_path / "s.jsonl", [{"patient_id": "p1", "slots": FACTS, "turns": turns}])
    answers = write(tmp_path / "a.jsonl", [{"patient_id": "p1", "turn_id": 1, "answer": ANSWERS["llm"]}])
    succeed("dialogue", "measure", answers, "--scripts", scripts, "--out", tmp_path / "run")
    assert (tmp_path / "run" / "scripts.jsonl").read_bytes() == scripts.read_bytes()


def test_events_come_through_a_pipe() -> None:
    given = "".join(json.dumps(event) + "\n" for event in events())
    assert "6 answers" in succeed("dialogue", "measure", "-", given=given).stdout


def test_a_bad_line_is_said_and_the_rest_measured(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(json.dumps(events()[0]) + "\nnonsense\n", encoding="utf-8")
    result = succeed("dialogue", "measure", path)
    assert "events.jsonl:2: not valid JSON" in result.stderr
    assert "events.jsonl:2" in refused("dialogue", "measure", path, "--strict")


def test_modes_that_were_asked_differently_are_said_and_refused_when_strict(tmp_path: Path) -> None:
    path = write(tmp_path / "events.jsonl", events()[:-1])
    result = succeed("dialogue", "measure", path)
    assert "Not fair: llm and agent were not asked the same (1 difference)" in result.stdout
    assert "patient p3: only llm was asked" in result.stdout
    assert "not asked the same" in refused("dialogue", "measure", path, "--strict")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.jsonl"], "absent.jsonl: cannot be opened"),
        (["EVENTS", "--by", "colour"], "no event has the field 'colour'"),
        (["EVENTS", "--config", "nowhere"], "nowhere: no such folder"),
        (["EVENTS", "--confidence", "2"], "confidence is 2"),
        (["EVENTS", "--judge", "nobody"], "no judge is called 'nobody'"),
        (["EVENTS", "--reader", "json.loads"], "json.loads"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(path: Path, arguments: list[str], message: str) -> None:
    words = [str(path) if word == "EVENTS" else word for word in arguments]
    assert message in refused("dialogue", "measure", *words)


def test_no_file_at_all_asks_for_one() -> None:
    assert run("dialogue", "measure").exit_code == 2


def test_a_judge_that_needs_no_network_can_be_put_in_place_of_the_rules(path: Path) -> None:
    printed = succeed("dialogue", "measure", path, "--judge", "rules", "--format", "json").stdout
    signatures = {row["signature"] for row in json.loads(printed)["metrics"]}
    assert all("|judge:rules-2|" in signature for signature in signatures)
