"""`hallumeter aspects run` as it is typed: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hallumeter.cli.main import main
from misbehaving_server import server_in_thread

TEXTS = ("The battery is great but the screen is bad.", "배터리는 좋지만 화면이 별로예요.")


def written(folder: Path, sentences: int = 2) -> Path:
    rows = [{"text_id": f"s{number}", "text": TEXTS[number % 2]} for number in range(sentences)]
    path = folder / "reviews.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def typed(folder: Path, *arguments: object, **settings: Any) -> Result:
    given = {"data": {"input": str(folder / "reviews.jsonl")}, "output": str(folder / "runs"), "run_id": "run"}
    path = folder / "experiment.yaml"
    path.write_text(json.dumps({**given, **settings}), encoding="utf-8")
    return command("--config", path, *arguments)


def command(*arguments: object) -> Result:
    result = CliRunner().invoke(main, ["aspects", "run", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result


def refused(result: Result) -> str:
    assert (result.exit_code, result.stdout) == (2, "")
    [line] = result.stderr.splitlines()
    assert line.startswith("hallumeter: ")
    return line


def test_it_says_how_many_were_read_and_where_the_outputs_are(tmp_path: Path) -> None:
    written(tmp_path)
    result = typed(tmp_path)
    assert result.exit_code == 0, result.stderr
    place = tmp_path / "runs" / "run"
    first, *figures, outputs, report = result.stdout.splitlines()
    assert first == "2 sentences read"
    assert figures[0].split() == ["aspect_hallucination_rate", "0.000", "0", "/", "2"]
    assert (outputs, report) == (f"outputs: {place / 'outputs.jsonl'}", f"report: {place / 'report.html'}")
    assert (place / "report.html").is_file()
    again = typed(tmp_path)
    assert (again.exit_code, again.stdout) == (0, result.stdout)
    assert "this run is finished" in again.stderr


def test_a_dry_run_imports_no_code_that_the_file_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    (tmp_path / "touchy_agent.py").write_text("open('touched', 'w').close()\n", encoding="utf-8")
    result = typed(tmp_path, "--dry-run", model="python:touchy_agent:answer")
    assert result.exit_code == 0, result.stderr
    assert "python:touchy_agent:answer" in result.stdout
    assert not (tmp_path / "touched").exists()
    assert "has no 'answer'" in refused(typed(tmp_path, model="python:touchy_agent:answer"))
    assert (tmp_path / "touched").exists()


def test_options_stand_over_the_file(tmp_path: Path) -> None:
    written(tmp_path, 4)
    result = typed(tmp_path, "--run_id", "short", "--max-sentences", 3, "--out", tmp_path / "elsewhere")
    assert result.exit_code == 0, result.stderr
    outputs = (tmp_path / "elsewhere" / "short" / "outputs.jsonl").read_text(encoding="utf-8")
    assert len(outputs.splitlines()) == 3


def test_a_dry_run_asks_nobody_and_writes_nothing(tmp_path: Path) -> None:
    written(tmp_path)
    models = {"model": "openai:some-model", "agents": {"ate": "offline"}}
    result = typed(tmp_path, "--dry-run", **models)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("run: 2 sentences\noffline (ate)\n")
    assert "give --price MODEL=IN/OUT" in result.stdout
    assert "reads by rules; no call is paid" in result.stdout
    assert result.stdout.endswith("total cost: price unknown\n")
    priced = typed(tmp_path, "--dry-run", "--price", "openai:some-model=1/2", **models).stdout
    assert "$1 in, $2 out per million tokens (given by the user)" in " ".join(priced.split())
    assert priced.splitlines()[-1].startswith("total cost: $0.0")
    assert not (tmp_path / "runs").exists()


def test_failures_are_named_and_what_to_do_about_them(tmp_path: Path) -> None:
    written(tmp_path)
    with server_in_thread(lambda _: "no json at all") as server:
        result = typed(tmp_path, model=f"{server.openai}#m", agents={"atsa": "offline"}, retries=0)
    assert result.exit_code == 3
    assert "0 sentences read, 2 failed" in result.stdout
    assert "sentence s0 (seed 0), ate: no usable reply" in result.stderr
    assert "--retry-failed" in result.stderr
    assert "6 calls" in result.stderr


def test_rows_that_cannot_be_used_are_named_and_quiet_says_nothing_of_them(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text(encoding="utf-8") + '{"text": ""}\n', encoding="utf-8")
    result = typed(tmp_path)
    assert result.exit_code == 0
    assert "reviews.jsonl:3: the text is empty" in result.stderr
    quiet = typed(tmp_path, "--quiet", "--run-id", "quiet")
    assert (quiet.exit_code, quiet.stderr) == (0, "")
    assert "reviews.jsonl:3" in refused(typed(tmp_path, "--strict", "--run-id", "strict"))


def test_every_fault_of_the_file_is_named_in_one_line(tmp_path: Path) -> None:
    written(tmp_path)
    said = refused(typed(tmp_path, seed=[1], pipeline={"enable_debate": 3}))
    assert "experiment.yaml:1:" in said
    assert "did you mean 'seeds'?" in said
    assert "one of true, false" in said


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"data": {"input": "nowhere.csv"}}, "nowhere.csv: no such file"),
        ({"model": "openai:m"}, "OPENAI_API_KEY"),
        ({"pipeline": {"prompts": "nowhere"}, "model": "http://127.0.0.1:9/v1#m"}, "nowhere: expected a folder"),
        ({"pipeline": {"debate_thresholds": "nowhere.json"}}, "nowhere.json"),
        ({"model": "python:nowhere:agent"}, "nowhere"),
        ({"pipeline": {"aux_hf_enabled": True, "aux_hf_checkpoint": "odd"}}, "no classifier is called 'odd'"),
    ],
)
def test_what_is_missing_is_said_in_one_line(
    settings: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    assert words in refused(typed(tmp_path, **settings))
    assert not (tmp_path / "runs").exists()


def test_a_leak_is_said_in_one_line_with_its_row(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text('{"text_id": "a", "text": "Good soup. [LABEL] positive"}\n', encoding="utf-8")
    assert "reviews.jsonl:1: the text holds the mark '[LABEL]'" in refused(typed(tmp_path))


@pytest.mark.parametrize(
    ("options", "words"),
    [(("--run-id", "../up"), "name of a folder"), (("--price", "dear"), "MODEL=IN/OUT"), (("--budget", "0"), "budget")],
)
def test_options_that_cannot_be_are_refused(options: tuple[str, ...], words: str, tmp_path: Path) -> None:
    written(tmp_path)
    assert words in refused(typed(tmp_path, *options))


def test_the_help_pages_have_examples() -> None:
    for words in ([], ["run"], ["replay"]):
        result = CliRunner().invoke(main, ["aspects", *words, "--help"])
        assert result.exit_code == 0
        assert "Examples:" in result.stdout
    assert CliRunner().invoke(main, ["aspects"]).stdout.startswith("Usage: hallumeter aspects")


def test_a_budget_that_is_reached_is_said(tmp_path: Path) -> None:
    written(tmp_path)
    with server_in_thread(lambda _: '{"aspects": []}') as server:
        name = f"{server.openai}#m"
        result = typed(tmp_path, "--budget", 0.001, "--price", f"{name}=1000/1000", agents={"ate": name}, concurrency=1)
    assert result.exit_code == 3
    assert "the budget is used up; resume with the same command and a larger --budget" in result.stderr
