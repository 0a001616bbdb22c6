"""The benchmark that runs several tools with one scripted judge, as far as it needs no other tool."""

from __future__ import annotations

import json
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from peers.answers import COUNT, TROUBLES, kind_of, rows
from peers.judge_server import JudgeServer
from peers.run import HERE, Tool, measured


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def test_answers_hold_eight_of_each_trouble() -> None:
    kinds = [kind_of(number) for number in range(COUNT)]
    assert len(rows()) == COUNT
    assert [kinds.count(trouble) for trouble in TROUBLES] == [8] * 5
    assert kinds.count("right") == kinds.count("wrong") == 80


def test_hallumeter_gives_numbers_only_for_what_was_judged(server: JudgeServer) -> None:
    found = measured(Tool("hallumeter", "", sys.executable, {}), server, range(152, 200, 5))
    assert {name: score for name, score in found.scores.items() if score is not None} == {
        "152": 1.0,
        "157": 0.5,
        "187": 1.0,
    }
    assert found.right() == 2
    assert found.numbers() == {"cut_short": 1}
    assert found.numbers(is_silent=True) == {}
    assert found.noted == {"177", "182", "187", "192", "197"}
    assert found.calls >= 7


def test_a_question_that_the_judge_does_not_know_is_refused_and_kept(server: JudgeServer) -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Is it warm?"}]}).encode()
    with pytest.raises(urllib.error.HTTPError, match="400") as caught:
        urllib.request.urlopen(f"{server.address}/chat/completions", body, timeout=10)
    caught.value.close()
    assert len(server.unknown) == server.calls == 1


def test_each_script_marks_what_its_user_writes() -> None:
    names = sorted(path.stem.removeprefix("use_") for path in HERE.glob("use_*.py"))
    assert names == ["deepeval", "hallumeter", "promptfoo", "ragas", "trulens"]
    assert all(Tool(name, "", "", {}).lines() > 0 for name in names)
