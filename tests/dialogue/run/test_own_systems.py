"""A function and a program of the user's as systems: what they are told, what they may answer, and how they fail."""

from __future__ import annotations

import importlib
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dialogue_runs import Document, document, events, lines, modes_of, run, script, written

from hallumeter.errors import SettingsError

FUNCTIONS = """
import math, threading, time

seen = []
under_way = []
most = 0

def echo(messages, patient):
    seen.append((messages, patient))
    return f"{patient['mode']} {patient['turn_id']}: {len(messages)}"

def full(messages, patient):
    return {"text": "Walk daily.", "usage": {"input_tokens": 10, "output_tokens": 3, "cost_usd": 0.5},
            "metrics": {"faithfulness": 0.25, "answer_relevance": -0.1, "SFS": 0.0},
            "token_logprobs": [math.log(0.5), math.log(0.125)]}

def counted(messages, patient):
    global most
    under_way.append(1)
    most = max(most, len(under_way))
    time.sleep(0.02)
    under_way.pop()
    return "ok"

def slow(messages, patient):
    if patient["turn_id"] == 2:
        time.sleep(2)
    return "ok"

def broken(messages, patient):
    if patient["turn_id"] == 2:
        raise KeyError("a bug of the user's")
    return "ok"

def leaving(messages, patient):
    raise SystemExit(1)

def empty(messages, patient):
    return "  "

def number(messages, patient):
    return 7

def odd_usage(messages, patient):
    return {"text": "ok", "usage": {"input_tokens": -3}}

def half_a_character(messages, patient):
    return "broken \\ud83d emoji"

async def asynchronous(messages, patient):
    return "ok"
"""
ECHO = """
import json, sys

for line in sys.stdin:
    asked = json.loads(line)
    if asked["patient"]["turn_id"] == FAILING:
        BEHAVIOUR
    print(json.dumps({"text": f"{asked['patient']['question']}", "usage": {"output_tokens": 4}}), flush=True)
    AFTER
"""


@pytest.fixture
def functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module of the user's, in the current folder."""
    (tmp_path / "own_answers.py").write_text(FUNCTIONS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield importlib.import_module("own_answers")
    del sys.modules["own_answers"]


def program(folder: Path, behaviour: str = "pass", *, failing: int = 0, after: str = "pass") -> list[str]:
    path = folder / "answer.py"
    text = ECHO.replace("FAILING", str(failing)).replace("BEHAVIOUR", behaviour).replace("AFTER", after)
    path.write_text(text, encoding="utf-8")
    return [sys.executable, str(path)]


def function(name: str, **settings: Any) -> list[Document]:
    return [{"mode": "llm", "python": f"own_answers:{name}", **settings}]


def test_a_function_is_told_the_conversation_and_only_agents_are_told_the_facts(functions: Any, tmp_path: Path) -> None:
    written(tmp_path, 1, turns=2)
    systems = [{"mode": mode, "python": "own_answers:echo"} for mode in ("llm", "agent")]
    found = events(run(document(tmp_path, systems)).folder)
    assert [event["answer"] for event in found] == ["llm 1: 2", "agent 1: 2", "llm 2: 4", "agent 2: 4"]
    by_mode = {patient["mode"]: (messages, patient) for messages, patient in functions.seen}
    messages, patient = by_mode["llm"]
    questions = [turn["question"] for turn in script(0)["turns"]]
    assert [message["content"] for message in messages[1:]] == [questions[0], "llm 1: 2", questions[1]]
    assert patient["slots"] is None
    assert (patient["patient_id"], patient["question"], patient["language"]) == ("p0", questions[1], "en")
    messages, patient = by_mode["agent"]
    assert patient["slots"]["key_meds"] == ["Lisinopril"]
    assert "Current medication: Lisinopril" in messages[-1]["content"]
    assert messages[1]["content"] == questions[0], "the history holds the question alone"


def test_what_comes_with_an_answer_is_kept(functions: Any, tmp_path: Path) -> None:
    written(tmp_path, 1, turns=1)
    outcome = run(document(tmp_path, function("full")))
    [event] = events(outcome.folder)
    assert event["usage"] == {"input_tokens": 10, "output_tokens": 3, "estimated_cost_usd": 0.5}
    assert event["metrics"]["faithfulness"] == 0.25
    assert event["metrics"]["answer_relevance"] == -0.1
    # Geometric mean of 1/2 and 1/8 is 1/4, by hand.
    assert event["metrics"]["perplexity"] == pytest.approx(4.0)
    assert event["metrics"]["SFS"] != 0.0, "clinical metrics are measured, not taken over"
    assert outcome.spending.spent_usd == 0.5


@pytest.mark.parametrize(("concurrency", "most"), [(None, 1), (3, 3)])
def test_a_function_is_called_by_as_many_threads_as_the_experiment_says(
    functions: Any, tmp_path: Path, concurrency: int | None, most: int
) -> None:
    written(tmp_path, 6, turns=2)
    settings = {} if concurrency is None else {"concurrency": concurrency}
    run(document(tmp_path, function("counted", **settings)))
    assert functions.most == most


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("slow", "timeout", "no answer from python:own_answers:slow within 0.5 seconds"),
        ("broken", "system_error", 'raised KeyError: "a bug of the user\'s"'),
    ],
)
def test_a_function_that_fails_once_fails_in_that_turn(
    functions: Any, tmp_path: Path, name: str, code: str, words: str
) -> None:
    written(tmp_path, 1, turns=3)
    outcome = run(document(tmp_path, function(name, timeout=0.5)))
    assert [event["answer"] for event in events(outcome.folder)] == ["ok", None, "ok"]
    [failure] = lines(outcome.folder / "failures.jsonl")
    assert failure["code"] == code
    assert words in failure["message"]


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("leaving", "system_error", "SystemExit"),
        ("empty", "empty_reply", "empty text"),
        ("number", "bad_reply", "a int; expected a text"),
        ("odd_usage", "bad_reply", "-3; expected a number from 0"),
        ("asynchronous", "system_error", "asynchronous"),
    ],
)
def test_what_is_no_answer_is_a_failure(functions: Any, tmp_path: Path, name: str, code: str, words: str) -> None:
    written(tmp_path, 1, turns=1)
    outcome = run(document(tmp_path, function(name)))
    [event] = events(outcome.folder)
    assert event["answer"] is None
    assert set(event["metrics"].values()) == {None}
    [failure] = lines(outcome.folder / "failures.jsonl")
    assert failure["code"] == code
    assert words in failure["message"]


def test_half_a_character_is_replaced(functions: Any, tmp_path: Path) -> None:
    written(tmp_path, 1, turns=1)
    assert events(run(document(tmp_path, function("half_a_character"))).folder)[0]["answer"] == "broken ? emoji"


def test_a_function_that_is_not_there_is_named_before_anything_is_asked(functions: Any, tmp_path: Path) -> None:
    written(tmp_path, 1)
    with pytest.raises(SettingsError, match="has no 'missing'"):
        run(document(tmp_path, function("missing")))
    assert not (tmp_path / "runs").exists()


def test_a_program_is_asked_line_by_line_and_kept_for_the_next_question(tmp_path: Path) -> None:
    written(tmp_path, 2)
    found = events(run(document(tmp_path, [{"mode": "llm", "command": program(tmp_path)}])).folder)
    assert [event["answer"] for event in found] == [event["question"]["text"] for event in found]
    assert {event["usage"]["output_tokens"] for event in found} == {4}
    assert threading.active_count() < 20


def test_a_program_that_ends_after_each_answer_is_started_again(tmp_path: Path) -> None:
    written(tmp_path, 1)
    command = program(tmp_path, after="sys.exit(0)")
    outcome = run(document(tmp_path, [{"mode": "llm", "command": command}]))
    assert modes_of(outcome)[0].failed == 0


@pytest.mark.parametrize(
    ("behaviour", "code", "words"),
    [
        ("import time; time.sleep(60)", "timeout", "within 2 seconds"),
        (
            "sys.exit('no memory left')",
            "exited",
            "code 1 before it answered; its last words: no memory left",
        ),
        ("print('not json', flush=True); continue", "bad_reply", "'not json"),
        ('print(\'{"error": "overloaded"}\', flush=True); continue', "system_error", "says: overloaded"),
        ("print('[1, 2]', flush=True); continue", "bad_reply", "a list; expected a text"),
    ],
)
def test_a_program_that_fails_once_fails_in_that_turn(tmp_path: Path, behaviour: str, code: str, words: str) -> None:
    written(tmp_path, 1, turns=3)
    command = program(tmp_path, behaviour, failing=2)
    began = time.monotonic()
    outcome = run(document(tmp_path, [{"mode": "llm", "command": command, "timeout": 2 if code == "timeout" else 60}]))
    assert time.monotonic() - began < 50
    assert [event["answer"] is None for event in events(outcome.folder)] == [False, True, False]
    [failure] = lines(outcome.folder / "failures.jsonl")
    assert failure["code"] == code
    assert words in failure["message"]


def test_a_program_that_cannot_be_started_ends_the_run_with_one_line(tmp_path: Path) -> None:
    written(tmp_path, 1)
    with pytest.raises(SettingsError, match="cannot be started"):
        run(document(tmp_path, [{"mode": "llm", "command": [str(tmp_path / "nothing")]}]))
