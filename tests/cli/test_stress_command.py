"""`hallumeter stress` as a newcomer types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import refused, run, succeed, write

ROWS: list[dict[str, Any]] = [
    {"id": "en", "response": "x", "evidence": "The tower is 330 m high. It was built in 1889."},
    {"id": "fr", "response": "x", "evidence": "La tour mesure 330 mètres. Elle est ouverte avant 9h30."},
    {"id": "ko", "response": "x", "evidence": "서울의 인구는 약 940만 명이다. 회의는 3월 4일에 열렸다."},
]


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    return write(tmp_path / "answers.jsonl", ROWS)


def test_a_table_says_which_claims_were_used_and_what_was_caught(answers: Path) -> None:
    printed = succeed("stress", answers, "--resamples", 100).stdout
    assert "6 sentences of the evidence, which supports them by construction" in printed
    assert "from 3 records" in printed
    assert "embedded:full@3: mutation score" in printed
    assert "embedded:full@3: false alarms" in printed
    assert "95 % interval" in printed
    assert "\x1b" not in printed


def test_json_holds_the_whole_result(answers: Path) -> None:
    result = json.loads(succeed("stress", answers, "--format", "json", "--resamples", 100).stdout)
    assert (result["claims_from"], result["claims"], result["seed"]) == ("evidence", 6, 0)
    [judge] = result["judges"]
    assert {kind["kind"] for kind in judge["kinds"]} >= {"number", "negation", "unchanged", "case"}


def test_a_folder_is_written_once_and_never_over_another(answers: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert f"folder: {out}" in succeed("stress", answers, "--out", out, "--resamples", 100).stderr
    assert sorted(path.name for path in out.iterdir()) == ["stress.jsonl", "summary.json"]
    assert "exists already" in refused("stress", answers, "--out", out)


def test_no_temporary_folder_is_left_behind_when_the_input_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "empty.jsonl", [{"id": "a", "response": "x", "evidence": "!"}])
    assert "no usable sentence" in refused("stress", source, "--out", tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["empty.jsonl"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty"),
        ("not json\n", "no usable record found"),
        ('{"id": "a", "response": "x"}\n', "no record has evidence"),
        ('{"id": "a", "evidence": "It rains."}\n', "no row has a response"),
    ],
)
def test_an_input_that_cannot_be_used_is_refused_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    source = tmp_path / "answers.jsonl"
    source.write_text(content, encoding="utf-8")
    assert message in refused("stress", source)


def test_a_missing_file_and_an_unknown_judge_are_named(answers: Path, tmp_path: Path) -> None:
    assert "missing.jsonl" in refused("stress", tmp_path / "missing.jsonl")
    assert "no judge is called 'oracle'" in refused("stress", answers, "--judge", "oracle")
    assert "two judges are called" in refused("stress", answers, "--judge", "rules", "--judge", "rules")
    assert "limit is 0" in refused("stress", answers, "--limit", 0)


def test_a_judge_who_always_fails_leaves_nothing_measured(
    answers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_judge.py").write_text(
        "def judge(claim, evidence):\n    raise RuntimeError('down')\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    result = run("stress", answers, "--judge", "python:broken_judge.judge", "--resamples", 100)
    assert result.exit_code == 3
    assert "RuntimeError: down" in result.stderr
    assert "mutation score undefined: no verdict was given on an error" in " ".join(result.stdout.split())


def test_jsonl_is_read_from_the_standard_input() -> None:
    given = "".join(json.dumps(row) + "\n" for row in ROWS)
    assert "6 sentences" in succeed("stress", "-", "--quiet", "--resamples", 100, given=given).stdout


def test_more_claims_than_the_limit_are_said_to_be_left_out(answers: Path) -> None:
    printed = succeed("stress", answers, "--limit", 3, "--resamples", 100).stdout
    assert "3 of 6 sentences of the evidence" in printed
