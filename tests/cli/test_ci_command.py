"""`hallumeter ci`, and the files that call it: the action, the GitLab job, the hook of pre-commit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml

from hallumeter.cli.main import main

ROOT = Path(__file__).parents[2]
GOOD = {"id": "a", "response": "The tower is 330 m high.", "evidence": "The tower is 330 m high."}
BAD = {"id": "b", "response": "The tower is 999 m high.", "evidence": "The tower is 330 m high."}
STRICT = 'name = "strict"\n[[bounds]]\nmetric = "mihr"\nat_most = 0.1\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "policy.toml").write_text(STRICT, encoding="utf-8")
    for name, row in (("good", GOOD), ("bad", BAD)):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row), encoding="utf-8")
    return tmp_path


def code(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["ci", *words])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_the_exit_code_is_that_of_the_gate(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert code("good.jsonl", "--judge", "rules", "--policy", "policy.toml") == 0
    assert "Gate: passed" in capsys.readouterr().out
    assert (
        code("bad.jsonl", "--judge", "rules", "--policy", "policy.toml", "--junit", "g.xml", "--sarif", "g.sarif") == 1
    )
    printed = capsys.readouterr().out
    assert "Gate: FAILED" in printed
    assert "1 claim is not supported, such as:" in printed
    assert ET.parse(place / "g.xml").getroot().get("failures") == "1"
    assert json.loads((place / "g.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert sorted(path.name for path in place.iterdir() if path.is_dir()) == [], "without --out no run is kept"


def test_a_regression_outweighs_a_bound_that_is_kept(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{**GOOD, "id": f"r{number}"} for number in range(40)]
    worse = [{**BAD, "id": f"r{number}"} for number in range(40)]
    for name, given in (("before", rows), ("after", worse)):
        (place / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in given), encoding="utf-8")
    assert code("before.jsonl", "--judge", "rules", "--out", "main-run") == 0
    assert "run folder: main-run" in capsys.readouterr().err
    assert code("after.jsonl", "--judge", "rules", "--baseline", "main-run") == 1
    assert "Unsupported claims (MiHR) is worse by more than chance" in capsys.readouterr().out


def test_what_is_inconclusive_fails_unless_it_is_allowed(place: Path) -> None:
    assert code("good.jsonl", "--judge", "rules", "--out", "main-run") == 0
    (place / "worse.jsonl").write_text(json.dumps({**BAD, "id": "a"}), encoding="utf-8")
    assert code("worse.jsonl", "--judge", "rules", "--baseline", "main-run") == 3
    assert code("worse.jsonl", "--judge", "rules", "--baseline", "main-run", "--allow-inconclusive") == 0


def test_nothing_measured_is_no_pass(place: Path) -> None:
    (place / "empty.jsonl").write_text(json.dumps({**GOOD, "response": ""}), encoding="utf-8")
    assert code("empty.jsonl", "--judge", "rules") == 3


def test_a_workflow_gets_annotations_a_summary_and_outputs(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place / "summary.md"))
    monkeypatch.setenv("GITHUB_OUTPUT", str(place / "outputs"))
    assert code("bad.jsonl", "--judge", "rules", "--policy", "policy.toml", "--out", "run") == 1
    printed = capsys.readouterr().out
    assert printed.startswith("::error title=hallumeter gate::mihr: broken")
    assert "bad.jsonl,line=1" in printed
    summary = (place / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("### Hallucination gate: FAILED")
    assert "`bad.jsonl:1` The tower is 999 m high." in summary
    assert (place / "outputs").read_text(encoding="utf-8") == "run=run\nreport=run/report.html\n"
    assert code("good.jsonl", "--judge", "rules", "--policy", "policy.toml") == 0
    assert capsys.readouterr().out.startswith("::notice title=hallumeter gate::mihr: passed")


def test_annotations_name_files_in_other_folders(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    (place / "eval").mkdir()
    (place / "bad.jsonl").rename(place / "eval/bad.jsonl")
    words = ["--policy", "policy.toml", "--sarif", "g.sarif"]
    assert code("eval/bad.jsonl", "--judge", "rules", "--out", "run", *words) == 1
    assert "::error file=eval/bad.jsonl,line=1," in capsys.readouterr().out
    assert '"uri": "eval/bad.jsonl"' in (place / "g.sarif").read_text(encoding="utf-8")
    assert code("--run", "run", "--source", "eval", "--policy", "policy.toml") == 1
    assert "::error file=eval/bad.jsonl,line=1," in capsys.readouterr().out


def test_a_workflow_without_a_policy_gets_warnings_and_the_outcome_of_the_comparison(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert code("bad.jsonl", "--judge", "rules", "--out", "main-run") == 0
    assert "::warning file=bad.jsonl,line=1,title=refuted::record b" in capsys.readouterr().out
    (place / "other.jsonl").write_text(json.dumps({**GOOD, "id": "b"}), encoding="utf-8")
    assert code("other.jsonl", "--judge", "rules", "--baseline", "main-run") == 3
    assert "::warning title=hallumeter compare::inconclusive. Unsupported claims" in capsys.readouterr().out
    assert code("good.jsonl", "--judge", "rules") == 0
    assert "::" not in capsys.readouterr().out


def test_the_summary_names_the_surest_claims_first_with_and_without_a_policy(place: Path) -> None:
    surer = "The tower might perhaps, as some visitors of the place have suggested, have been built by a Mr Eiffel."
    rows = [BAD, {**BAD, "id": "s", "response": surer}]
    (place / "two.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    assert code("two.jsonl", "--judge", "rules", "--out", "run", "--summary", "bare.md") == 0
    assert code("--run", "run", "--policy", "policy.toml", "--summary", "held.md") == 1
    probabilities = [
        json.loads(line)["unsupported_probability"]
        for line in (place / "run/verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert probabilities[0] < probabilities[1]
    for name in ("bare.md", "held.md"):
        summary = (place / name).read_text(encoding="utf-8")
        assert summary.index("1. `two.jsonl:2` The tower might") < summary.index("2. `two.jsonl:1` The tower is 999 m")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give files of answers, or a finished run"),
        (["good.jsonl", "--run", "run"], "give files of answers, or a finished run"),
        (["good.jsonl", "--junit", "g.xml"], "need a policy"),
        (["good.jsonl", "--baseline", "absent", "--judge", "rules"], "absent"),
        (["absent.jsonl", "--judge", "rules"], "absent.jsonl"),
        (["good.jsonl", "--policy", "absent.toml"], "absent.toml"),
        (["good.jsonl", "--policy", "good.jsonl"], "good.jsonl"),
        (["good.jsonl", "--policy", "policy.toml", "--sarif", "nowhere/g.sarif"], "nowhere: no such folder"),
        (["good.jsonl", "--summary", "."], "is a folder"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(
    place: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert code(*words, *([] if "--run" in words else ["--out", "kept"])) == 2
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert not (place / "kept").exists(), "nothing is audited for a step that cannot end"


def action() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8")))


def played(place: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The script of the action as a runner would start it, with the program of this environment."""
    step = next(step for step in action()["runs"]["steps"] if step.get("id") == "measure")
    given = {name: spec["default"] for name, spec in action()["inputs"].items()} | {
        name.replace("_", "-"): text for name, text in inputs.items()
    }
    variables = {
        name: given[text.removeprefix("${{ inputs.").removesuffix(" }}")] for name, text in step["env"].items()
    }
    github = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_OUTPUT": str(place / "outputs"),
        "GITHUB_STEP_SUMMARY": str(place / "s.md"),
    }
    paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=place,
        env={**os.environ, **variables, **github, "PATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(shutil.which("bash") is None, reason="the action is written for bash")
def test_the_script_of_the_action_measures_and_says_where(place: Path) -> None:
    ended = played(place, files="good.jsonl\nbad.jsonl\n", judge="rules", policy="policy.toml")
    assert ended.returncode == 1, ended.stderr
    assert "::error" in ended.stdout
    outputs = dict(line.split("=", 1) for line in (place / "outputs").read_text(encoding="utf-8").splitlines())
    assert set(outputs) == set(action()["outputs"])
    assert all((place / path).exists() for path in outputs.values())
    assert "FAILED" in (place / "s.md").read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("bash") is None, reason="the action is written for bash")
def test_a_file_name_cannot_become_a_command_of_the_action(place: Path) -> None:
    ended = played(place, files="$(touch owned);`touch owned`", judge="rules")
    assert ended.returncode == 2
    assert not (place / "owned").exists()
    (place / "--help").write_text(json.dumps(BAD), encoding="utf-8")
    assert "Usage:" not in played(place, files="--help", judge="rules").stdout, "nor an option"


@pytest.mark.skipif(shutil.which("bash") is None, reason="the action is written for bash")
def test_the_action_names_the_sarif_file_only_when_there_is_one(place: Path) -> None:
    assert played(place, files="absent.jsonl", judge="rules", policy="policy.toml").returncode == 2
    assert not (place / "outputs").exists()


@pytest.mark.skipif(shutil.which("bash") is None, reason="the action is written for bash")
@pytest.mark.parametrize(("extras", "asked"), [("onnx,llm", "/action[onnx,llm]"), ("", "/action")])
def test_the_action_installs_the_extras_that_are_asked_for(place: Path, extras: str, asked: str) -> None:
    (place / "python").write_text('#!/bin/sh\necho "$@"\n', encoding="utf-8")
    (place / "python").chmod(0o755)
    step = action()["runs"]["steps"][0]
    variables = {"EXTRAS": extras, "GITHUB_ACTION_PATH": "/action", "PATH": f"{place}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run(["bash", "-ec", step["run"]], env=variables, capture_output=True, text=True, check=True)
    assert ended.stdout == f"-m pip install --quiet {asked}\n"


def test_inputs_of_the_action_reach_its_script_only_as_variables() -> None:
    for step in action()["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert all(text.startswith("${{ inputs.") for text in step["env"].values())


def test_the_gitlab_job_and_the_hook_call_what_exists(capsys: pytest.CaptureFixture[str]) -> None:
    job = yaml.safe_load((ROOT / "examples/gitlab-ci.yml").read_text(encoding="utf-8"))["hallumeter"]
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    with pytest.raises(SystemExit):
        main(["ci", "--help"])
    known = capsys.readouterr().out
    for line in (job["script"][-1], hook["entry"]):
        assert line.startswith("hallumeter ci ")
        assert all(word in known for word in line.split() if word.startswith("--"))
