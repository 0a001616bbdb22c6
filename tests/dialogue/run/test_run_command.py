"""`hallumeter dialogue run` as it is typed: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from dialogue_runs import document, events, written

from hallumeter.cli.main import main
from misbehaving_server import MisbehavingServer


def typed(folder: Path, *arguments: object, systems: list[Any] | None = None, **settings: Any) -> Result:
    path = folder / "experiment.yaml"
    path.write_text(json.dumps(document(folder, systems, **settings)), encoding="utf-8")
    return command("--config", path, *arguments)


def command(*arguments: object) -> Result:
    result = CliRunner().invoke(main, ["dialogue", "run", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result


def test_it_says_how_many_answered_and_where_the_events_are(tmp_path: Path) -> None:
    written(tmp_path, 2)
    result = typed(tmp_path)
    assert result.exit_code == 0
    place = tmp_path / "runs" / "run" / "events.jsonl"
    assert result.stdout == f"llm: 10 answers\nagent: 10 answers\nevents: {place}\n"
    again = typed(tmp_path)
    assert (again.exit_code, again.stdout) == (0, result.stdout)
    assert "this run is finished" in again.stderr


def test_options_stand_over_the_file(tmp_path: Path) -> None:
    written(tmp_path, 4)
    options = ("--run_id", "short", "--max-patients", 2, "--max_turns", 3, "--out", tmp_path / "elsewhere")
    assert typed(tmp_path, *options).exit_code == 0
    assert len(events(tmp_path / "elsewhere" / "short")) == 2 * 3 * 2


def test_a_dry_run_asks_nobody_and_writes_nothing(tmp_path: Path) -> None:
    written(tmp_path, 2)
    systems = [{"mode": "llm", "model": "openai:some-model"}, {"mode": "agent"}]
    result = typed(tmp_path, "--dry-run", systems=systems)
    assert result.exit_code == 0
    assert "2 patients, 10 questions" in result.stdout
    assert "give --price MODEL=IN/OUT" in result.stdout
    assert result.stdout.endswith("total cost: price unknown\n")
    priced = typed(tmp_path, "--dry-run", "--price", "openai:some-model=1/2", systems=systems).stdout
    assert "$1 in, $2 out per million tokens (given by the user)" in " ".join(priced.split())
    assert priced.splitlines()[-1].startswith("total cost: $0.0")
    assert not (tmp_path / "runs").exists()


def test_failures_are_named_and_what_to_do_about_them(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path, 1, turns=3)
    misbehaving_server.play(first=("ok", "server_error"))
    systems = [{"mode": "llm", "model": f"{misbehaving_server.openai}#m", "retries": 0, "concurrency": 1}]
    result = typed(tmp_path, systems=systems)
    assert result.exit_code == 0
    assert "llm: 2 answers, 1 failed" in result.stdout
    assert "llm, patient p0, turn 2: status 500: something broke" in result.stderr
    assert "--retry-failed" in result.stderr
    assert "3 calls (0 repeated)" in result.stderr
    assert typed(tmp_path, "--quiet", systems=systems).stderr == ""
    result = typed(tmp_path, "--retry-failed", systems=systems)
    assert "llm: 3 answers\n" in result.stdout


def test_a_run_in_which_nobody_answered_is_unmeasured(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path, 1, turns=2)
    misbehaving_server.play(otherwise="bad_request")
    result = typed(tmp_path, systems=[{"mode": "llm", "model": f"{misbehaving_server.openai}#m"}])
    assert result.exit_code == 3
    assert "llm: 0 answers, 2 failed" in result.stdout


def test_a_budget_that_is_reached_is_said_and_the_rest_is_unmeasured(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    written(tmp_path, 1)
    name = f"{misbehaving_server.openai}#m"
    systems = [{"mode": "llm", "model": name, "concurrency": 1}]
    result = typed(tmp_path, "--budget", 0.3, "--price", f"{name}=1000/1000", systems=systems)
    assert result.exit_code == 3
    assert "resume with the same command and a larger --budget" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--config", "missing.yaml"), "missing.yaml"),
        (("--config", "experiment.yaml", "--price", "cheap"), "expected MODEL=IN/OUT"),
        (("--config", "experiment.yaml", "--price", "m=cheap"), "is no price"),
        (("--config", "experiment.yaml", "--run-id", "a/b"), "cannot be the name of a folder"),
        (("--config", "experiment.yaml", "--max-patients", "0"), "--max-patients"),
        ((), "--config"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, 1)
    typed(tmp_path, "--dry-run")
    result = command(*arguments)
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert words in line


def test_all_faults_of_the_file_are_in_the_one_line(tmp_path: Path) -> None:
    path = tmp_path / "experiment.yaml"
    path.write_text("systems: [{mode: lm}]\nsede: 1\nquestions: q.txt\n", encoding="utf-8")
    result = command("--config", path)
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert "experiment.yaml:1:18: systems.0.mode: expected one of 'llm', 'agent', found 'lm'" in line
    assert "experiment.yaml:2:1: sede: unknown key; did you mean 'seed'?" in line


def test_the_help_page_has_examples() -> None:
    result = command("--help")
    assert result.exit_code == 0
    assert "hallumeter dialogue run --config experiment.yaml --dry-run" in result.stdout
