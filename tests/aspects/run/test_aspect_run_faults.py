"""An agent that fails: what becomes of its sentence, and of the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aspect_runs import (
    ROLES,
    Document,
    answers_by_rule,
    document,
    lines,
    outputs,
    run,
    sentence,
    timeless_outputs,
    write_rows,
    written,
)

from hallumeter.aspects.replay import replay_run
from hallumeter.errors import SettingsError
from misbehaving_server import MisbehavingServer, server_in_thread

CODES = {
    "server_error": "server_error",
    "stall": "timeout",
    "reset": "connection",
    "cut_off": "truncated_reply",
    "rate_limited": "rate_limited",
    "content_filter": "content_filter",
    "bad_request": "refused_request",
}
"""Behaviours of the server, and the code of the failure that each becomes."""


@pytest.fixture(scope="module")
def model() -> Iterator[MisbehavingServer]:
    with server_in_thread(answers_by_rule) as server:
        yield server


def asked_of(server: MisbehavingServer, folder: Path, **settings: Any) -> Document:
    usual = {"model": f"{server.openai}#m", "timeout": 30, "retries": 0, "concurrency": 1}
    return document(folder, **{**usual, **settings})


@pytest.mark.parametrize("behaviour", CODES)
def test_a_sentence_whose_agent_fails_has_no_result_and_is_not_neutral(
    behaviour: str, model: MisbehavingServer, tmp_path: Path
) -> None:
    written(tmp_path, 2)
    model.play(first=("ok", behaviour), stall_seconds=3)
    # Only who is to be too slow is given little time: on a busy machine everyone is slow.
    outcome = run(asked_of(model, tmp_path, timeout=1 if behaviour == "stall" else 30))
    assert outcome.finished is not None
    assert (outcome.finished.sentences, outcome.finished.failed) == (1, 1)
    failed = next(each for each in outputs(outcome.folder) if each["failed"] is not None)
    assert failed["final_result"] is None
    assert failed["moderator"] is None
    [failure] = lines(outcome.folder / "failures.jsonl")
    assert failure["code"] == CODES[behaviour]
    assert failure["record_id"] == failed["text_id"]
    broken = [each for each in lines(outcome.folder / "traces.jsonl") if each["stage_status"] == "failed"]
    assert [(each["role"], each["answer"], each["fault"]["code"]) for each in broken] == [
        (failure["step"], None, CODES[behaviour])
    ]


def test_replies_of_another_form_are_asked_for_again_and_then_fail(model: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path, 1)
    model.play(first=("wrong_schema", "prose"))
    outcome = run(asked_of(model, tmp_path))
    assert outcome.finished is not None
    assert outcome.finished.failed == 0
    assert lines(outcome.folder / "traces.jsonl")[0]["usage"]["repairs"] == 1
    assert any(note.startswith("ate: refused_reply") for note in outputs(outcome.folder)[0]["notes"])
    model.play(otherwise="wrong_schema")
    outcome = run(asked_of(model, tmp_path, run_id="never"))
    [failure] = lines(outcome.folder / "failures.jsonl")
    assert (failure["step"], failure["code"]) == ("ate", "unusable_reply")
    assert len(model.log()) == 3, "the question and two repairs"


def test_failed_sentences_are_read_again_only_when_that_is_wanted(model: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path, 2)
    model.play()
    clean = run(asked_of(model, tmp_path, run_id="clean")).folder
    model.play(first=("ok", "ok", "ok", "server_error"))
    given = asked_of(model, tmp_path)
    outcome = run(given)
    assert outcome.finished is not None
    assert outcome.finished.failed == 1
    answered = sum(call.is_answered for call in model.log())
    model.play()
    again = run(given)
    assert again.finished is not None
    assert again.finished.failed == 1
    assert model.log() == []
    last = run(given, is_retrying=True)
    assert last.finished is not None
    assert last.finished.failed == 0
    assert len(model.log()) == 2 * ROLES - answered, "answers from before are kept"
    expected = [{**each, "meta": {**each["meta"], "run_id": "run"}} for each in timeless_outputs(clean)]
    assert timeless_outputs(last.folder) == expected
    assert not (last.folder / "journal.sqlite").exists()
    assert all(each["stage_status"] == "ok" for each in lines(last.folder / "traces.jsonl"))


@pytest.mark.parametrize(("behaviour", "words"), [("bad_key", "no such key"), ("unknown_model", "no such model")])
def test_what_every_further_call_would_meet_ends_the_run_with_one_line_and_keeps_what_was_answered(
    behaviour: str, words: str, model: MisbehavingServer, tmp_path: Path
) -> None:
    written(tmp_path, 1)
    given = asked_of(model, tmp_path)
    model.play(first=("ok", "ok"), otherwise=behaviour)
    with pytest.raises(SettingsError, match=words):
        run(given)
    model.play()
    outcome = run(given)
    assert outcome.finished is not None
    assert outcome.finished.sentences == 1
    assert len(model.log()) == ROLES - 2


def test_some_sentences_that_fail_do_not_hold_up_the_others(model: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path, 12)
    model.play(shares={"server_error": 0.05})
    outcome = run(asked_of(model, tmp_path, concurrency=4))
    assert outcome.finished is not None
    assert outcome.finished.sentences + outcome.finished.failed == 12
    assert outcome.finished.sentences > 0
    assert outcome.finished.failed > 0
    found = outputs(outcome.folder)
    assert [each["text_id"] for each in found] == [f"s{number}" for number in range(12)]
    assert sum(each["failed"] is not None for each in found) == outcome.finished.failed


def test_a_budget_stops_the_run_and_a_larger_one_goes_on(model: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path, 4)
    given = asked_of(model, tmp_path, prices={f"{model.openai}#m": "1000/1000"})
    model.play()
    first = run({**given, "budget": 12.0})
    asked = len(model.log())
    assert first.stopped == "budget"
    assert 0 < asked < 4 * ROLES
    assert first.finished is not None
    assert first.finished.unasked >= 1
    unasked = [each for each in outputs(first.folder) if each["failed"] is not None]
    assert all(each["failed"].startswith("budget_reached") and each["final_result"] is None for each in unasked)
    assert {failure["code"] for failure in lines(first.folder / "failures.jsonl")} == {"budget_reached"}
    second = run({**given, "budget": 1000.0})
    assert second.stopped is None
    assert second.finished is not None
    assert second.finished.sentences == 4
    assert len(model.log()) == 4 * ROLES
    spent = sum(each["usage"]["cost_usd"] for each in outputs(second.folder))
    assert spent == pytest.approx(second.spending.spent_usd)


def test_a_budget_is_not_spent_on_the_beginnings_of_many_sentences(model: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path, 12)
    model.play(latency_ms=5)
    prices = {f"{model.openai}#m": "1000/1000"}
    outcome = run({**asked_of(model, tmp_path, prices=prices, budget=30.0), "concurrency": 8})
    assert outcome.finished is not None
    assert outcome.finished.sentences >= 2
    assert outcome.finished.sentences * ROLES <= len(model.log()) <= (outcome.finished.sentences + 1) * ROLES


def test_a_sentence_that_is_too_long_fails_without_a_call_and_is_counted(
    model: MisbehavingServer, tmp_path: Path
) -> None:
    write_rows(tmp_path / "reviews.jsonl", [sentence(0), {"text_id": "long", "text": "A long battery. " * 9}])
    model.play()
    outcome = run(asked_of(model, tmp_path, data={"max_length": 100}))
    assert outcome.finished is not None
    assert (outcome.finished.sentences, outcome.finished.failed) == (1, 1)
    assert len(model.log()) == ROLES
    assert outputs(outcome.folder)[1]["failed"].startswith("length: too_long: the text has 144 characters")
    [failure] = lines(outcome.folder / "failures.jsonl")
    assert (failure["record_id"], failure["step"], failure["code"]) == ("long", "length", "too_long")
    again = replay_run(outcome.folder, out=tmp_path / "again" / "run")
    assert lines(again.folder / "failures.jsonl") == [failure]
    assert timeless_outputs(again.folder) == timeless_outputs(outcome.folder)
    rows = {row.metric: row for row in outcome.summary.metrics if not row.by} if outcome.summary else {}
    assert rows["aspect_hallucination_rate"].failed == 1


def test_a_budget_is_refused_for_a_model_whose_price_nobody_knows(model: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path, 1)
    model.play()
    with pytest.raises(SettingsError, match=r"price of .* is not known"):
        run(asked_of(model, tmp_path, budget=1.0))
    assert model.log() == []


def test_settings_that_a_model_does_not_take_are_told(model: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path, 1)
    model.play(refuses=("temperature",))
    outcome = run(asked_of(model, tmp_path))
    assert any("does not take temperature" in notice for notice in outcome.notices)


def test_gold_and_other_fields_never_reach_an_agent(model: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path, 1)
    model.play()
    run(asked_of(model, tmp_path))
    seen = str([call.body for call in model.seen()])
    assert "gold" not in seen
    assert "s0" not in seen
