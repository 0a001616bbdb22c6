"""Nothing but the record matters to a verdict: not what came before, nor threads, processes or settings around it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import msgspec
import pytest
from embedded_tasks import TIERS, forget, task_of

from hallumeter.claims.judges.embedded.judge import EmbeddedJudge
from hallumeter.records.judging import JudgeTask
from hallumeter.run.engines.local import map_in_order

both_tiers = pytest.mark.parametrize("tier", TIERS)
TOWER = "The old tower of Paris was built in 1889 by Gustave Eiffel. It is 330 metres high and open to the public."
RECORD = json.dumps(
    {
        "name": "Blue Door",
        "city": "Lyon",
        "hours": {"Monday": "9:0-17:0", "Tuesday": "9:0-17:0"},
        "attributes": {"WiFi": "free", "OutdoorSeating": False},
    }
)
TASKS = (
    task_of(
        ("The tower was built in 1899.", "It is 330 metres high.", "Ann Lee painted it purple."),
        TOWER,
        question="How high is the tower?",
        record_id="tower",
    ),
    task_of(("Blue Door in Lyon has free WiFi.", "It is open until 9 PM on Monday.", "…"), RECORD, record_id="door"),
    task_of(("The tower is low. " * 60, "Paris is open to the public."), TOWER, RECORD, record_id="long"),
    task_of(("La vieille tour est dans le centre de Rome.",), "La vieille tour est dans Paris.", record_id="french"),
    task_of(("The tower is high.",), record_id="nothing"),
)


def said(task: JudgeTask, tier: str) -> bytes:
    return msgspec.json.encode(EmbeddedJudge(tier).judge(task))


@pytest.fixture(scope="module")
def expected() -> dict[str, list[bytes]]:
    return {tier: [said(task, tier) for task in TASKS] for tier in TIERS}


@both_tiers
def test_the_same_task_has_the_same_verdicts_again(tier: str, expected: dict[str, list[bytes]]) -> None:
    assert [said(task, tier) for task in TASKS] == expected[tier]
    judge = EmbeddedJudge(tier)
    assert [msgspec.json.encode(judge.judge(task)) for task in TASKS] == expected[tier]


@both_tiers
def test_the_order_of_the_tasks_does_not_matter(tier: str, expected: dict[str, list[bytes]]) -> None:
    order = list(range(len(TASKS)))
    random.Random(4).shuffle(order)
    for number in (*order, *reversed(order)):
        assert said(TASKS[number], tier) == expected[tier][number]


@both_tiers
@pytest.mark.parametrize("number", range(len(TASKS)))
def test_a_task_alone_is_judged_as_among_others(tier: str, number: int, expected: dict[str, list[bytes]]) -> None:
    forget()
    assert said(TASKS[number], tier) == expected[tier][number]


@both_tiers
def test_two_threads_at_once_say_what_one_says(tier: str, expected: dict[str, list[bytes]]) -> None:
    forget()
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(partial(said, tier=tier), TASKS * 3)) == expected[tier] * 3


@both_tiers
@pytest.mark.parametrize("is_loaded", [True, False], ids=["loaded before", "loaded there"])
def test_two_processes_say_what_one_says(tier: str, is_loaded: bool, expected: dict[str, list[bytes]]) -> None:
    assert expected[tier]
    if not is_loaded:
        forget()
    assert list(map_in_order(partial(said, tier=tier), TASKS * 2, workers=2)) == expected[tier] * 2


PROGRAM = """
import sys
import msgspec
from hallumeter.claims.judges.embedded.judge import EmbeddedJudge
from hallumeter.records.judging import JudgeTask

tasks = msgspec.json.decode(sys.stdin.buffer.read(), type=list[JudgeTask])
print(msgspec.json.encode([EmbeddedJudge(tier).judge(task) for tier in ("full", "fast") for task in tasks]).decode())
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_threads_of_the_numeric_libraries_and_the_hashing_of_texts_do_not_matter(
    threads: str, tmp_path: Path, expected: dict[str, list[bytes]]
) -> None:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONHASHSEED")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **dict.fromkeys(names, threads)},
        input=msgspec.json.encode(TASKS),
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    every = [*expected["full"], *expected["fast"]]
    assert done.stdout.strip() == b"[" + b",".join(every) + b"]"
