"""What `experiment.yaml` may say, and what is said of one that says something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hallumeter.dialogue.run.experiment import Experiment, document_of, experiment_of, read_experiment
from hallumeter.errors import InputError, SettingsError

SMALLEST: dict[str, Any] = {"systems": [{"mode": "llm"}], "multiturn_scripts": {"path": "scripts.jsonl"}}
FULL = """\
run_id: pilot
seed: 7
language: ko
output: results
temperature: 0.3
timeout: 30
budget: 2.5
prices:
  openai:gpt-4o-mini: 0.15/0.60
faithfulness: off
perplexity: logprobs
max_patients: 10
multiturn_scripts:
  enabled: true
  scripts_path: scripts_5turn.jsonl
systems:
  - name: plain
    mode: llm
    model: openai:gpt-4o-mini
    temperature: null
  - name: own
    mode: agent
    python: answers:reply
    concurrency: 4
  - name: program
    mode: llm
    command: [python, answer.py, 3]
    retries: 0
"""


def read(folder: Path, text: str) -> Experiment:
    path = folder / "experiment.yaml"
    path.write_text(text, encoding="utf-8")
    return read_experiment(path)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        read(folder, text)
    return str(caught.value)


def test_the_least_that_is_needed_is_a_mode_and_a_file_of_scripts() -> None:
    experiment = experiment_of(SMALLEST)
    assert experiment.systems[0].answers_by == "offline"
    assert experiment.systems[0].name == "llm"
    assert experiment.output == Path("runs")
    assert experiment.run_id is None
    assert experiment.scripts == Path("scripts.jsonl")


def test_settings_of_a_system_stand_over_those_at_the_top(tmp_path: Path) -> None:
    experiment = read(tmp_path, FULL)
    plain, own, program = experiment.systems
    assert (plain.temperature, own.temperature) == (None, 0.3)
    assert (plain.concurrency, own.concurrency, program.concurrency) == (8, 4, 1)
    assert {system.timeout for system in experiment.systems} == {30}
    assert (plain.retries, program.retries) == (4, 0)
    assert program.command == ("python", "answer.py", "3")
    assert experiment.scripts == Path("scripts_5turn.jsonl")
    assert experiment.faithfulness == "off"
    assert experiment.prices == {"openai:gpt-4o-mini": "0.15/0.60"}


def test_systems_that_share_a_mode_are_filed_under_their_names(tmp_path: Path) -> None:
    experiment = read(tmp_path, FULL)
    assert [experiment.mode_of(number) for number in range(3)] == ["plain", "agent", "program"]


@pytest.mark.parametrize("text", [FULL, "systems: [{mode: agent}]\nquestions: q.txt\n"])
def test_a_resolved_experiment_reads_as_the_same_again(tmp_path: Path, text: str) -> None:
    experiment = read(tmp_path, text)
    assert experiment_of(document_of(experiment)) == experiment


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("seed: 7", "sede: 7", "experiment.yaml:2:1: sede: unknown key; did you mean 'seed'?"),
        ("mode: agent", "mode: agnet", "experiment.yaml:22:11: systems.1.mode: expected one of 'llm', 'agent'"),
        ("temperature: null", "temprature: 1", "systems.0.temprature: unknown key; did you mean 'temperature'?"),
        ("seed: 7", "seed: -1", "seed: expected a whole number from 0, found -1"),
        ("seed: 7", "seed: 1.5", "seed: expected a whole number from 0"),
        ("budget: 2.5", "budget: 0", "budget: expected a number above 0, found 0"),
        ("timeout: 30", "timeout: soon", "timeout: expected a number above 0, found 'soon'"),
        ("0.15/0.60", "cheap", "'cheap' is no price"),
        ("run_id: pilot", "run_id: ../pilot", "cannot be the name of a folder"),
        ("faithfulness: off", "faithfulness: on", "faithfulness: expected one of 'off', 'embedded'"),
        ("enabled: true", "enabled: yes", "multiturn_scripts.enabled: expected one of true, false"),
        ("enabled: true", "path: other.jsonl", "path and scripts_path mean the same"),
        ("enabled: true", "enabled: false", "questions: and a file of questions is needed"),
        ("model: openai:gpt-4o-mini", "model: gpt-4o-mini", "'gpt-4o-mini' names no model"),
        ("model: openai:gpt-4o-mini", "model: http://u:p@host/v1#m", "holds a user name or a password"),
        ("model: openai:gpt-4o-mini", "model: http://host/v1", "names no model"),
        ("python: answers:reply", "python: answers:reply\n    model: offline", "has model and python"),
        ("name: own", "name: plain", "'plain' is the name of another system"),
        ("[python, answer.py, 3]", "[]", "expected a program and its arguments"),
        ("[python, answer.py, 3]", "python answer.py", "command: expected a list, found 'python answer.py'"),
    ],
)
def test_a_fault_is_told_with_its_place_and_what_was_expected(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in FULL
    assert words in refusal(tmp_path, FULL.replace(old, new, 1))


def test_a_name_that_is_the_mode_of_another_system_is_refused(tmp_path: Path) -> None:
    text = "systems: [{mode: llm, name: agent}, {mode: llm, name: b}, {mode: agent, name: c}]\nquestions: q.txt\n"
    assert "filed under 'agent'" in refusal(tmp_path, text)


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    message = refusal(tmp_path, FULL.replace("seed: 7", "seed: x").replace("mode: agent", "mode: x"))
    assert "seed: expected" in message
    assert "systems.1.mode: expected" in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("systems: [", "not YAML"),
        ("systems:\n\t- mode: llm\n", "a tab"),
        ("- 1\n", "expected a mapping"),
        ("seed: 1\n", "lacks 'systems'"),
        ("systems: []\nquestions: q.txt\n", "at least one system"),
        ("systems: [{mode: llm}]\n", "lacks multiturn_scripts"),
        ("systems: [{model: offline}]\nquestions: q.txt\n", "lacks 'mode'"),
        ("systems: [{mode: llm}]\nmultiturn_scripts: {path: s}\nquestions: q.txt\n", "questions of their own"),
        ("systems: [{mode: llm}]\nsystems: [{mode: llm}]\nquestions: q\n", "the key stands twice"),
    ],
)
def test_a_file_that_is_no_experiment_is_refused(tmp_path: Path, text: str, words: str) -> None:
    assert words in refusal(tmp_path, text)


def test_a_secret_in_the_file_is_refused_and_not_repeated(tmp_path: Path) -> None:
    message = refusal(tmp_path, FULL.replace("seed: 7", "api_key: sk-secret"))
    assert "api_key: unknown key" in message
    assert "sk-secret" not in message


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.yaml"):
        read_experiment(tmp_path / "missing.yaml")
