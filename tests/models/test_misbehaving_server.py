"""The server that the other tests rely on does what its script says."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from hallumeter.models.openai_compatible import OpenAICompatibleProvider
from hallumeter.models.protocol import Message, ProviderFault, ProviderSpec, Request
from misbehaving_server import (
    MisbehavingServer,
    Script,
    _misbehaving_process,
    judge_by_rule,
    misbehaving_server,
    server_in_thread,
)

__all__ = ["_misbehaving_process", "misbehaving_server"]


def ask(server: MisbehavingServer, text: str) -> str:
    provider = OpenAICompatibleProvider(ProviderSpec(name="x", model="m"), server.openai)
    try:
        return provider.complete(Request(messages=(Message("user", text),))).completions[0].text
    except ProviderFault as fault:
        return fault.code


def test_behaviours_are_drawn_in_their_shares_and_always_the_same_for_the_same_call() -> None:
    script = Script(shares={"reset": 0.1, "server_error": 0.2})
    drawn = [script.behaviour(number, str(number), 0) for number in range(1, 10_001)]
    shares = {name: count / 10_000 for name, count in Counter(drawn).items()}
    assert shares == pytest.approx({"ok": 0.7, "server_error": 0.2, "reset": 0.1}, abs=0.015)
    assert drawn == [script.behaviour(1, str(number), 0) for number in range(1, 10_001)]
    assert drawn != [script.behaviour(1, str(number), 1) for number in range(1, 10_001)], "a repetition draws anew"


def test_the_first_calls_meet_what_is_listed_and_all_are_in_the_log(misbehaving_server: MisbehavingServer) -> None:
    misbehaving_server.play(first=["server_error", "prose", "wrong_schema"])
    assert [ask(misbehaving_server, "hi") for _ in range(4)] == [
        "server_error",
        'Sure! Here it is:\n```json\n{"echo":"hi"}\n```\nI hope this helps.',
        '{"unexpected": true}',
        '{"echo":"hi"}',
    ]
    log = misbehaving_server.log()
    assert [(call.number, call.behaviour, call.is_answered) for call in log] == [
        (1, "server_error", False),
        (2, "prose", False),
        (3, "wrong_schema", False),
        (4, "ok", True),
    ]
    assert len({call.digest for call in log}) == 1


def test_the_judge_supports_what_stands_in_the_evidence_and_refutes_what_is_denied_there() -> None:
    evidence = [{"id": 1, "text": "Paris is large. Rome not is small."}]
    claims = [
        {"number": 1, "text": "Paris is large"},
        {"number": 2, "text": "Rome is small"},
        {"number": 3, "text": "Oslo"},
    ]
    asked = msgspec.json.encode({"evidence": evidence, "claims": claims}).decode()
    verdicts = msgspec.json.decode(judge_by_rule({"messages": [{"role": "user", "content": asked}]}))
    assert [verdicts[number]["label"] for number in "123"] == ["SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO"]
    assert verdicts["1"] == {"evidence_id": 1, "quote": "Paris is large", "label": "SUPPORTED", "note": ""}


def test_any_function_may_write_the_replies_of_a_server_in_a_thread() -> None:
    def shout(body: dict[str, Any]) -> str:
        return str(body["messages"][-1]["content"]).upper()

    with server_in_thread(shout) as server, ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: ask(server, text), ["a", "b", "c"])) == ["A", "B", "C"]
        assert len(server.log()) == 3
