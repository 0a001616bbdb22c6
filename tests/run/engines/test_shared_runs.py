"""Runs in shards that pay: one budget, one pace and one set of replies for all workers, here and on Spark."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clusters import descendants, wait_until

from child_programs import started
from hallumeter.run.ledger import LedgerAddress
from hallumeter.run.postgres_ledger import PostgresLedger
from misbehaving_server import MisbehavingServer, server_in_thread
from postgres_server import PASSWORD, QUOTED, PostgresServer

RECORDS = 24
CONCURRENCY = 2
pytest.importorskip("httpx2")


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for number in range(RECORDS):
            text = f"Town {number} has a tower."
            stream.write(json.dumps({"id": f"r{number}", "response": text, "evidence": [text]}) + "\n")
    return path


def words(answers: Path, server: MisbehavingServer, *further: object) -> list[object]:
    judge = f"{server.openai}#tiny"
    paid = ["--price", f"{judge}=1/1", "--concurrency", CONCURRENCY, "--no-cache"]
    return ["audit", answers, "--judge", judge, "--shards", 4, "--workers", 2, *paid, *further]


def run(folder: Path, *given: object, seconds: float = 300) -> tuple[int, str]:
    with started(*given, folder=folder, environment={}, seconds=seconds) as program:
        code, _, err = program.end()
    return code, err


def verdicts(folder: Path, run_folder: str) -> str:
    exported = f"{run_folder}-jsonl"
    code, err = run(folder, "export", run_folder, "--to", "jsonl", "--out", exported)
    assert code == 0, err
    return (folder / exported / "verdicts.jsonl").read_text(encoding="utf-8")


@pytest.mark.long
def test_a_killed_run_pays_again_for_no_more_than_the_calls_under_way(
    answers: Path, misbehaving_server: MisbehavingServer, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    misbehaving_server.play(latency_ms=150)
    ledger = ["--ledger", postgres_server.url(), "--budget", 1]
    whole = words(answers, misbehaving_server, "--out", "whole", *ledger)
    code, err = run(tmp_path, *whole)
    assert code == 0, err
    asked = len(misbehaving_server.log())
    assert asked == RECORDS
    killed = words(answers, misbehaving_server, "--out", "killed", *ledger)
    with started(*killed, folder=tmp_path, environment={}, seconds=300) as program:
        wait_until(lambda: len(misbehaving_server.log()) >= asked + RECORDS // 2)
        os.killpg(program.process.pid, signal.SIGKILL)  # the driver and its workers
    code, err = run(tmp_path, *killed, "--resume")
    assert code == 0, err
    again = Counter(call.digest for call in misbehaving_server.log()[asked:])
    assert sum(again.values()) <= RECORDS + CONCURRENCY
    assert len(again) == RECORDS
    assert verdicts(tmp_path, "killed") == verdicts(tmp_path, "whole")
    secrets = [PASSWORD.encode(), QUOTED.encode()]
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or not any(secret in path.read_bytes() for secret in secrets), path


def test_a_budget_is_that_of_all_shards_and_a_larger_one_goes_on(
    answers: Path, misbehaving_server: MisbehavingServer, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    misbehaving_server.play(latency_ms=10)
    given = words(answers, misbehaving_server, "--out", "run", "--ledger", postgres_server.url())
    code, err = run(tmp_path, *given, "--budget", 0.004)
    assert code == 2, err
    assert (
        err.strip()
        .splitlines()[-1]
        .endswith("the budget is used up; give a larger --budget and --resume: what was paid is kept")
    )
    few = len(misbehaving_server.log())
    assert 0 < few < RECORDS
    plan = json.loads((tmp_path / "run" / "plan.json").read_bytes())
    with PostgresLedger(LedgerAddress(postgres_server.url())) as ledger:
        spent = ledger.balance(plan["id"])
        assert 0 < spent.spent_micro_usd <= 4_000
        assert spent.spent_calls == few
    code, err = run(tmp_path, *given, "--budget", 1, "--resume")
    assert code == 0, err
    assert len(misbehaving_server.log()) == RECORDS


Words = Callable[[Path, str], list[object]]


def dialogue_words(folder: Path, model: str) -> list[object]:
    """A model is asked three questions about each of eight patients."""
    turns = [{"turn_id": turn, "question": f"What shall I do in week {turn}?"} for turn in (1, 2, 3)]
    rows = [{"patient_id": f"p{number}", "slots": {"age": 40 + number}, "turns": turns} for number in range(8)]
    (folder / "scripts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    system = {"mode": "agent", "model": model, "concurrency": CONCURRENCY}
    given = {"systems": [system], "multiturn_scripts": {"path": "scripts.jsonl"}, "retrieval": "words"}
    (folder / "dialogue.yaml").write_text(json.dumps(given), encoding="utf-8")
    return ["dialogue", "run", "--config", "dialogue.yaml"]


def aspects_words(folder: Path, model: str) -> list[object]:
    """A model finds the aspects of each of 24 sentences."""
    rows = [{"text_id": f"s{number}", "text": f"Order {number}: the battery is great."} for number in range(RECORDS)]
    (folder / "reviews.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    given = {"data": {"input": "reviews.jsonl"}, "agents": {"ate": model}, "concurrency": CONCURRENCY}
    (folder / "aspects.yaml").write_text(json.dumps(given), encoding="utf-8")
    return ["aspects", "run", "--config", "aspects.yaml"]


def results(folder: Path, name: str) -> list[dict[str, Any]]:
    """Events or outputs of a run, without what tells when they were made and in which run."""
    exported = f"{name}-jsonl"
    code, err = run(folder, "export", f"runs/{name}", "--to", "jsonl", "--out", exported)
    assert code == 0, err
    [path] = [path for path in (folder / exported).iterdir() if path.name in ("events.jsonl", "outputs.jsonl")]
    timed = ("usage", "timing_ms", "timestamps", "run_id")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row.get("meta", {}).pop("run_id", None)
    return [{name: value for name, value in row.items() if name not in timed} for row in rows]


@pytest.mark.parametrize("words_of", [dialogue_words, aspects_words])
def test_a_killed_worker_costs_no_call_but_those_under_way(words_of: Words, tmp_path: Path) -> None:
    with server_in_thread(lambda _: '{"aspects": []}') as server:
        model = f"{server.openai}#tiny"
        given = [*words_of(tmp_path, model), "--shards", 3, "--workers", 1, "--price", f"{model}=1/1", "--budget", 1]
        code, err = run(tmp_path, *given, "--run-id", "whole")
        assert code == 0, err
        assert len(server.log()) == RECORDS
        server.play(latency_ms=100)
        with started(*given, "--run-id", "killed", folder=tmp_path, environment={}, seconds=300) as program:
            wait_until(lambda: len(server.log()) >= 4)
            [worker] = [pid for pid, line in descendants(program.process.pid).items() if "spawn_main" in line]
            os.kill(worker, signal.SIGKILL)
            code, _, err = program.end()
        assert code == 0, err
        again = Counter(call.digest for call in server.log())
    assert len(again) == RECORDS
    assert sum(again.values()) <= RECORDS + CONCURRENCY
    assert results(tmp_path, "killed") == results(tmp_path, "whole")


@pytest.mark.parametrize("words_of", [dialogue_words, aspects_words])
def test_a_budget_ends_an_experiment_in_shards_and_a_larger_one_goes_on(words_of: Words, tmp_path: Path) -> None:
    with server_in_thread(lambda _: '{"aspects": []}') as server:
        model = f"{server.openai}#tiny"
        given = [
            *words_of(tmp_path, model),
            "--shards",
            3,
            "--workers",
            2,
            "--price",
            f"{model}=1000/1",
            "--run-id",
            "r",
        ]
        code, err = run(tmp_path, *given, "--budget", 6)
        assert code == 2, err
        assert "the budget is used up; give a larger --budget and --resume" in err
        assert 0 < len(server.log()) < RECORDS
        code, err = run(tmp_path, *given, "--budget", 1000, "--resume")
        assert code == 0, err
        assert max(Counter(call.digest for call in server.log()).values()) == 1
        assert len(server.log()) == RECORDS


def test_engines_elsewhere_need_a_shared_ledger_for_a_budget(
    answers: Path, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    pytest.importorskip("pyspark")
    given = words(answers, misbehaving_server, "--out", "run", "--engine", "spark", "--budget", 1)
    code, err = run(tmp_path, *given)
    assert code == 2
    assert "give --ledger postgresql://" in err
    code, err = run(tmp_path, *given, "--ledger", "mysql://ann:secret@db/runs")
    assert code == 2
    assert "expected a URL such as postgresql://" in err
    assert "secret" not in err
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed")
@pytest.mark.skipif(shutil.which("java") is None, reason="no Java: scripts/environment test installs it")
def test_an_audit_on_spark_has_the_verdicts_of_one_here(answers: Path, tmp_path: Path) -> None:
    given = ["audit", answers, "--judge", "embedded:fast", "--shards", 4, "--workers", 2]
    for engine in ("local", "spark"):
        code, err = run(tmp_path, *given, "--engine", engine, "--out", engine, seconds=600)
        assert code == 0, err
        assert "Traceback" not in err
    assert verdicts(tmp_path, "spark") == verdicts(tmp_path, "local")
    code, err = run(tmp_path, "audit", answers, "--judge", "embedded:fast", "--out", "plain")
    assert code == 0, err
    plain = (tmp_path / "plain" / "verdicts.jsonl").read_text(encoding="utf-8")
    assert (tmp_path / "spark-jsonl" / "verdicts.jsonl").read_text(encoding="utf-8") == plain
