"""`hallumeter aspects replay` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hallumeter.cli.main import main
from misbehaving_server import server_in_thread

TEXTS = ("The battery is great but the screen is bad.", "배터리는 좋지만 화면이 별로예요.", "Nothing to say.")


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aspects")
    rows = [json.dumps({"text_id": f"s{number}", "text": text}) + "\n" for number, text in enumerate(TEXTS)]
    (folder / "reviews.jsonl").write_text("".join(rows), encoding="utf-8")
    given = {"data": {"input": str(folder / "reviews.jsonl")}, "output": str(folder), "run_id": "run"}
    (folder / "experiment.yaml").write_text(json.dumps(given), encoding="utf-8")
    result = CliRunner().invoke(main, ["aspects", "run", "--config", str(folder / "experiment.yaml")])
    assert result.exit_code == 0, result.output
    return folder / "run"


def replayed(*arguments: object) -> Result:
    result = CliRunner().invoke(main, ["aspects", "replay", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result


def test_it_says_what_changed_and_where_the_outputs_are(finished_run: Path, tmp_path: Path) -> None:
    result = replayed(finished_run, "--set", "enable_moderator=false", "--out", tmp_path / "other")
    assert result.exit_code == 0, result.stderr
    first, *figures, third, fourth = result.stdout.splitlines()
    assert first.startswith("3 sentences read, ")
    assert first.endswith("with another result than in the run")
    assert figures[0].split()[0] == "aspect_hallucination_rate"
    assert third == f"outputs: {tmp_path / 'other' / 'outputs.jsonl'}"
    assert fourth == f"report: {tmp_path / 'other' / 'report.html'}"


def test_offline_answers_that_were_computed_anew_are_counted(finished_run: Path, tmp_path: Path) -> None:
    result = replayed(finished_run, "--set", "enable_validator=false", "--out", tmp_path / "other")
    assert "answers of offline agents were computed anew" in result.stderr
    quiet = replayed(finished_run, "--set", "enable_validator=false", "--out", tmp_path / "quiet", "--quiet")
    assert (quiet.exit_code, quiet.stderr) == (0, "")


def test_nothing_set_is_the_run_again_beside_it(finished_run: Path) -> None:
    result = replayed(finished_run)
    assert "0 with another result than in the run" in result.stdout
    assert finished_run.with_name("run-replay").is_dir()
    again = replayed(finished_run)
    assert again.exit_code == 2
    assert "exists already" in again.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [("model=openai:m", "switches, thresholds, patterns"), ("enable_debate=2", "one of true, false")],
)
def test_what_cannot_be_set_is_refused_in_one_line(change: str, words: str, finished_run: Path) -> None:
    result = replayed(finished_run, "--set", change)
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert words in line


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    result = replayed(tmp_path / "nowhere")
    assert result.exit_code == 2
    assert "no such folder" in result.stderr


def test_old_answers_of_a_model_are_counted_or_fail(tmp_path: Path) -> None:
    with server_in_thread(lambda _: '{"agent": "epm", "proposed_edits": []}') as server:
        (tmp_path / "reviews.txt").write_text(TEXTS[0] + "\n", encoding="utf-8")
        given = {
            "data": {"input": str(tmp_path / "reviews.txt")},
            "output": str(tmp_path),
            "run_id": "run",
            "model": "offline",
            "agents": {"epm": f"{server.openai}#m"},
        }
        (tmp_path / "experiment.yaml").write_text(json.dumps(given), encoding="utf-8")
        result = CliRunner().invoke(main, ["aspects", "run", "--config", str(tmp_path / "experiment.yaml")])
        assert result.exit_code == 0, result.output
    result = replayed(tmp_path / "run", "--set", "enable_validator=false")
    assert result.exit_code == 0
    assert "their old answers were used: epm 1; meta.replayed names them" in result.stderr
    exact = replayed(tmp_path / "run", "--set", "enable_validator=false", "--exact", "--out", tmp_path / "exact")
    assert exact.exit_code == 3
    assert "sentence line-1 (seed 0), epm: it would be told something else" in exact.stderr
