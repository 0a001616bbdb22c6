"""A system that fails: what becomes of the turn, of the turns after it, and of the other patients."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dialogue_runs import Document, document, events, lines, modes_of, run, script, timeless, write_rows, written

from hallumeter.dialogue.run.scoring import METRICS
from hallumeter.errors import SettingsError
from misbehaving_server import MisbehavingServer

CODES = {
    "server_error": "server_error",
    "stall": "timeout",
    "reset": "connection",
    "cut_off": "truncated_reply",
    "truncated": "truncated_reply",
    "rate_limited": "rate_limited",
    "empty": "empty_reply",
    "content_filter": "content_filter",
    "bad_request": "refused_request",
    "html": "truncated_reply",
}
"""Behaviours of the server, and the code of the failure that each becomes."""


def asked_of(server: MisbehavingServer, folder: Path, *, timeout: float = 30, **settings: Any) -> Document:
    system = {"mode": "llm", "model": f"{server.openai}#m", "timeout": timeout, "retries": 0, "concurrency": 1}
    return document(folder, [system], **settings)


@pytest.mark.parametrize("behaviour", CODES)
def test_a_turn_that_fails_has_no_answer_and_no_metric_and_the_others_go_on(
    behaviour: str, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    written(tmp_path, 1)
    misbehaving_server.play(first=("ok", behaviour), stall_seconds=3)
    # Only who is to be too slow is given little time: on a busy machine everyone is slow.
    outcome = run(asked_of(misbehaving_server, tmp_path, timeout=1 if behaviour == "stall" else 30))
    assert (modes_of(outcome)[0].answered, modes_of(outcome)[0].failed) == (4, 1)
    found = events(outcome.folder)
    failed = found[1]
    assert [event["answer"] is None for event in found] == [False, True, False, False, False]
    assert failed["metrics"] == dict.fromkeys(METRICS)
    assert failed["metadata"]["failure"] == CODES[behaviour]
    assert found[4]["metrics"]["CUS_improved"] is not None
    [failure] = lines(outcome.folder / "failures.jsonl")
    assert failure["code"] == CODES[behaviour]
    assert failure["record_id"] == "llm:p0:2"
    assert "patient p0, turn 2" in failure["message"]


def test_the_history_says_nothing_of_a_turn_that_failed(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path, 1)
    misbehaving_server.play(first=("ok", "server_error"))
    run(asked_of(misbehaving_server, tmp_path))
    asked = [call.body["messages"] for call in misbehaving_server.seen()]
    questions = [turn["question"] for turn in script(0)["turns"]]
    assert [message["role"] for message in asked[4]] == ["system", *["user", "assistant"] * 3, "user"]
    said = [message["content"] for message in asked[4] if message["role"] == "user"]
    assert said == [questions[0], questions[2], questions[3], questions[4]]


def test_a_fault_that_passes_is_tried_again(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path, 1, turns=2)
    misbehaving_server.play(first=("server_error", "reset", "ok", "ok"))
    outcome = run(document(tmp_path, [{"mode": "llm", "model": f"{misbehaving_server.openai}#m", "retries": 2}]))
    assert modes_of(outcome)[0].failed == 0
    assert len(misbehaving_server.log()) == 4
    assert outcome.spending.retries == 2


def test_failed_turns_are_asked_again_only_when_that_is_wanted_and_with_them_the_turns_after_them(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    written(tmp_path, 2)
    given = asked_of(misbehaving_server, tmp_path)
    misbehaving_server.play()
    run({**given, "run_id": "clean"})
    misbehaving_server.play(first=("ok", "ok", "ok", "server_error"))  # turn 1 of both, then turn 2 of p0 and of p1
    assert modes_of(run(given))[0].failed == 1
    misbehaving_server.play()
    assert modes_of(run(given))[0].failed == 1
    assert misbehaving_server.log() == []
    outcome = run(given, is_retrying=True)
    assert modes_of(outcome)[0].failed == 0
    assert len(misbehaving_server.log()) == 4, "turns 2 to 5 of one patient"
    expected = [{**event, "run_id": "run"} for event in timeless(outcome.folder.with_name("clean"))]
    assert timeless(outcome.folder) == expected
    assert not (outcome.folder / "journal.sqlite").exists()


@pytest.mark.parametrize(("behaviour", "words"), [("bad_key", "no such key"), ("unknown_model", "no such model")])
def test_what_every_further_call_would_meet_ends_the_run_with_one_line_and_keeps_what_was_answered(
    behaviour: str, words: str, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    written(tmp_path, 1)
    given = asked_of(misbehaving_server, tmp_path)
    misbehaving_server.play(first=("ok", "ok"), otherwise=behaviour)
    with pytest.raises(SettingsError, match=words):
        run(given)
    misbehaving_server.play()
    assert modes_of(run(given))[0].answered == 5
    assert len(misbehaving_server.log()) == 3


def test_one_patient_who_cannot_be_answered_does_not_hold_up_the_others(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    written(tmp_path, 3)
    misbehaving_server.play(shares={"server_error": 0.4})
    outcome = run(asked_of(misbehaving_server, tmp_path))
    counted = modes_of(outcome)[0]
    assert counted.answered + counted.failed == 15
    assert counted.answered > 0
    assert counted.failed > 0
    assert len(lines(outcome.folder / "failures.jsonl")) == counted.failed
    assert all(set(event["metrics"].values()) == {None} for event in events(outcome.folder) if event["answer"] is None)


def test_a_budget_stops_the_run_and_a_larger_one_goes_on(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path, 2)
    prices = {f"{misbehaving_server.openai}#m": "1000/1000"}
    given = asked_of(misbehaving_server, tmp_path, prices=prices)
    misbehaving_server.play()
    first = run({**given, "budget": 1.0})
    asked = len(misbehaving_server.log())
    assert first.stopped == "budget"
    assert 0 < asked < 10
    assert modes_of(first)[0].answered == asked
    unasked = [event for event in events(first.folder) if event["answer"] is None]
    assert len(unasked) == 10 - asked
    assert {event["metadata"]["failure"] for event in unasked} == {"budget_reached"}
    assert {failure["code"] for failure in lines(first.folder / "failures.jsonl")} == {"budget_reached"}
    second = run({**given, "budget": 1000.0})
    assert second.stopped is None
    assert modes_of(second)[0].answered == 10
    assert len(misbehaving_server.log()) == 10
    assert second.spending.spent_usd > first.spending.spent_usd > 1.0
    spent = sum(event["usage"]["estimated_cost_usd"] for event in events(second.folder))
    assert spent == pytest.approx(second.spending.spent_usd)


def test_a_budget_is_refused_for_a_model_whose_price_nobody_knows(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    written(tmp_path, 1)
    with pytest.raises(SettingsError, match="prices"):
        run(asked_of(misbehaving_server, tmp_path, budget=1.0))


def test_log_probabilities_give_a_perplexity(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    # The server says of every token that its log-probability is -0.25; exp(0.25) by hand.
    written(tmp_path, 1, turns=1)
    found = events(run(asked_of(misbehaving_server, tmp_path, perplexity="logprobs")).folder)
    assert found[0]["metrics"]["perplexity"] == pytest.approx(1.2840254166877414)
    assert events(run(asked_of(misbehaving_server, tmp_path, run_id="off")).folder)[0]["metrics"]["perplexity"] is None


def test_a_setting_that_the_model_does_not_take_is_said(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path, 1, turns=1)
    misbehaving_server.play(refuses=("temperature",))
    assert "temperature" in run(asked_of(misbehaving_server, tmp_path)).notices[0]


def test_a_key_never_reaches_a_file(
    misbehaving_server: MisbehavingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALLUMETER_API_KEY", "sk-very-secret-key")
    written(tmp_path, 1, turns=2)
    misbehaving_server.play(first=("ok", "server_error"))
    outcome = run(asked_of(misbehaving_server, tmp_path))
    assert misbehaving_server.seen()[0].headers["authorization"] == "Bearer sk-very-secret-key"
    for path in outcome.folder.iterdir():
        assert b"sk-very-secret-key" not in path.read_bytes(), path.name


def test_lines_that_cannot_be_used_are_failures_and_the_rest_is_asked(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "scripts.jsonl", [script(0), {**script(1), "turns": []}, script(2), script(0)])
    with path.open("a", encoding="utf-8") as stream:
        stream.write('{"patient_id": "p9", "turns": 5}\nnot JSON\n')
    outcome = run(document(tmp_path))
    assert [event["patient_id"] for event in events(outcome.folder)][::10] == ["p0", "p2"]
    messages = [failure["message"] for failure in lines(outcome.folder / "failures.jsonl")]
    assert [message.split(": ")[0] for message in messages] == [f"scripts.jsonl:{line}" for line in (2, 4, 5, 6)]
    assert "no turns" in messages[0]
    assert "earlier line" in messages[1]
    assert "expected a list, found a whole number" in messages[2]
    assert "not valid JSON" in messages[3]
    assert len(lines(outcome.folder / "scripts.jsonl")) == 2
