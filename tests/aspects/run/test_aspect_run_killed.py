"""Runs that are killed or stopped: what was answered is kept, nothing is asked twice, and the end is the same."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from aspect_runs import (
    ROLES,
    answers_by_rule,
    child,
    document,
    kept_calls,
    outputs,
    timeless_files,
    wait_until,
    written,
)

from misbehaving_server import MisbehavingServer, server_in_thread

pytestmark = pytest.mark.long

SENTENCES = 14
CALLS = SENTENCES * ROLES
KILLS = 20
UNDER_WAY = 2
"""Calls that were begun and not kept when a program is killed: as many as it may have at once."""


@pytest.fixture(scope="module")
def model() -> Iterator[MisbehavingServer]:
    with server_in_thread(answers_by_rule) as server:
        yield server


def experiment_file(folder: Path, server: MisbehavingServer | None = None, *, sentences: int = SENTENCES) -> None:
    """The paths are taken from the folder in which the program runs."""
    who = {} if server is None else {"model": f"{server.openai}#m", "concurrency": 2}
    (folder / "experiment.json").write_text(json.dumps(document(Path(), **who)), encoding="utf-8")
    written(folder, sentences)


def finish(folder: Path) -> str:
    """Run to the end; gives what was printed."""
    with child("--config", "experiment.json", folder=folder) as program:
        code, out, error = program.end()
    assert code == 0, error
    return out


def kill_after(calls: int, server: MisbehavingServer, folder: Path) -> None:
    """Run, and kill the program when so many calls were answered."""
    with child("--config", "experiment.json", folder=folder) as program:
        wait_until(lambda: len(server.log()) >= calls or program.process.poll() is not None)
        program.signal(signal.SIGKILL)
        _, error = program.process.communicate()
        assert program.process.returncode == -signal.SIGKILL, error


def calls_that_came(server: MisbehavingServer) -> list[str]:
    """The hash of every call since the script was played; those of a dead process are all in by then."""
    time.sleep(0.3)
    return [call.digest for call in server.log()]


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL there")
def test_killed_at_any_moment_it_goes_on_asks_for_nothing_again_and_ends_the_same(
    model: MisbehavingServer, tmp_path: Path
) -> None:
    clean, folder = tmp_path / "clean", tmp_path / "killed"
    for each in (clean, folder):
        each.mkdir()
        experiment_file(each, model)
    model.play()
    finish(clean)
    assert len(set(calls_that_came(model))) == CALLS
    expected = timeless_files(clean / "runs" / "run")
    place = folder / "runs" / "run"
    rng = random.Random(11)
    kept = paid_twice = 0
    for _ in range(KILLS):
        model.play(latency_ms=40)
        kill_after(rng.randrange(1, 5), model, folder)
        asked = calls_that_came(model)
        now = kept_calls(place)
        assert len(asked) == len(set(asked)), "a question was asked twice in one run"
        assert kept <= now <= kept + len(asked)
        lost = kept + len(asked) - now
        assert lost <= UNDER_WAY, "more was lost than the calls under way"
        paid_twice += lost
        kept = now
    assert 0 < kept < CALLS
    assert not (place / "outputs.jsonl").exists()
    model.play()
    finish(folder)
    sys.stdout.write(f"{KILLS} kills: {paid_twice} of {CALLS} calls paid twice; {UNDER_WAY * KILLS} could be\n")
    # Every question is another call, so that as many as were left means that none was asked for the second time.
    last = calls_that_came(model)
    assert len(last) == len(set(last)) == CALLS - kept
    assert timeless_files(place) == expected
    assert not (place / "journal.sqlite").exists()


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL there")
def test_an_offline_run_that_was_killed_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    clean, folder = tmp_path / "clean", tmp_path / "killed"
    for each in (clean, folder):
        each.mkdir()
        experiment_file(each, sentences=400)
    finish(clean)
    place = folder / "runs" / "run"
    with child("--config", "experiment.json", folder=folder) as program:
        wait_until(lambda: (place / "journal.sqlite-wal").exists() or program.process.poll() is not None)
        wait_until(lambda: kept_calls(place) > 0 or program.process.poll() is not None)
        program.signal(signal.SIGKILL)
        program.process.communicate()
    finish(folder)
    assert timeless_files(place) == timeless_files(clean / "runs" / "run")
    assert len(outputs(place)) == 400


def test_ctrl_c_lets_calls_under_way_end_and_the_same_command_goes_on(model: MisbehavingServer, tmp_path: Path) -> None:
    experiment_file(tmp_path, model)
    model.play(latency_ms=150)
    with child("--config", "experiment.json", folder=tmp_path) as program:
        wait_until(lambda: len(model.log()) >= 3 or program.process.poll() is not None)
        program.signal(signal.SIGINT)
        code, out, error = program.end()
    assert code == 3, error
    assert out == ""
    assert "Traceback" not in error
    assert "the same command" in error
    answered = len(calls_that_came(model))
    assert kept_calls(tmp_path / "runs" / "run") == answered
    assert 3 <= answered < CALLS
    model.play()
    finish(tmp_path)
    assert len(model.log()) == CALLS - answered


def test_ctrl_c_stops_an_offline_run_too(tmp_path: Path) -> None:
    experiment_file(tmp_path, sentences=3000)
    place = tmp_path / "runs" / "run"
    with child("--config", "experiment.json", folder=tmp_path) as program:
        wait_until(lambda: (place / "journal.sqlite-wal").exists() or program.process.poll() is not None)
        program.signal(signal.SIGINT)
        code, out, error = program.end()
    assert (code, out) == (3, ""), error
    assert "Traceback" not in error
    assert "the same command" in error


def test_the_same_command_after_the_end_asks_nobody(model: MisbehavingServer, tmp_path: Path) -> None:
    experiment_file(tmp_path, model)
    model.play()
    first = finish(tmp_path)
    before = (tmp_path / "runs" / "run" / "outputs.jsonl").read_bytes()
    model.play()
    assert finish(tmp_path) == first
    assert model.log() == []
    assert (tmp_path / "runs" / "run" / "outputs.jsonl").read_bytes() == before
