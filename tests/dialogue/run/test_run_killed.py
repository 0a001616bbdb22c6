"""Runs that are killed or stopped: what was answered is kept, nothing is asked twice, and the end is the same."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest
from dialogue_runs import TURNS, child, document, events, kept_answers, timeless_files, wait_until, written

from misbehaving_server import MisbehavingServer

pytestmark = pytest.mark.long

PATIENTS = 20
CALLS = PATIENTS * TURNS * 2
KILLS = 20
UNDER_WAY = 4
"""Calls that were begun and not kept when a program is killed: as many as it may have at once."""


def experiment_file(folder: Path, server: MisbehavingServer) -> Path:
    """Two modes on the server; the paths are taken from the folder in which the program runs."""
    model = {"model": f"{server.openai}#m", "concurrency": 2}
    given = document(Path(), [{"mode": "llm", **model}, {"mode": "agent", **model}])
    path = folder / "experiment.json"
    path.write_text(json.dumps(given), encoding="utf-8")
    written(folder, PATIENTS)
    return path


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


def answers_under_way(server: MisbehavingServer) -> list[str]:
    """The hash of every call that has come since the script was played; those of a dead process are all in by then."""
    time.sleep(0.2)
    return [call.digest for call in server.log()]


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL there")
def test_killed_at_any_moment_it_goes_on_asks_for_nothing_again_and_ends_the_same(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    clean, folder = tmp_path / "clean", tmp_path / "killed"
    for each in (clean, folder):
        each.mkdir()
        experiment_file(each, misbehaving_server)
    misbehaving_server.play()
    finish(clean)
    assert len(set(answers_under_way(misbehaving_server))) == CALLS
    expected = timeless_files(clean / "runs" / "run")
    run = folder / "runs" / "run"
    rng = random.Random(11)
    kept = paid_twice = 0
    for _ in range(KILLS):
        misbehaving_server.play(latency_ms=40)
        kill_after(rng.randrange(1, 5), misbehaving_server, folder)
        asked = answers_under_way(misbehaving_server)
        now = kept_answers(run, 2)
        assert len(asked) == len(set(asked)), "a question was asked twice in one run"
        assert kept <= now <= kept + len(asked)
        lost = kept + len(asked) - now
        assert lost <= UNDER_WAY, "more was lost than the calls under way"
        paid_twice += lost
        kept = now
    assert 0 < kept < CALLS
    assert not (run / "events.jsonl").exists()
    misbehaving_server.play()
    finish(folder)
    sys.stdout.write(f"{KILLS} kills: {paid_twice} of {CALLS} calls paid twice; {UNDER_WAY * KILLS} could be\n")
    # Every question is another call, so that as many as were left means that none was asked for the second time.
    last = answers_under_way(misbehaving_server)
    assert len(last) == len(set(last)) == CALLS - kept
    assert timeless_files(run) == expected
    assert not (run / "journal.sqlite").exists()


def test_ctrl_c_lets_calls_under_way_end_and_the_same_command_goes_on(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    experiment_file(tmp_path, misbehaving_server)
    misbehaving_server.play(latency_ms=150)
    with child("--config", "experiment.json", folder=tmp_path) as program:
        wait_until(lambda: len(misbehaving_server.log()) >= 3 or program.process.poll() is not None)
        program.signal(signal.SIGINT)
        code, out, error = program.end()
    assert code == 3, error
    assert out == ""
    assert "Traceback" not in error
    assert "the same command" in error
    answered = len(answers_under_way(misbehaving_server))
    assert kept_answers(tmp_path / "runs" / "run", 2) == answered
    assert 3 <= answered < CALLS
    misbehaving_server.play()
    finish(tmp_path)
    assert len(misbehaving_server.log()) == CALLS - answered


def test_the_same_command_after_the_end_asks_nobody(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    experiment_file(tmp_path, misbehaving_server)
    misbehaving_server.play()
    first = finish(tmp_path)
    before = (tmp_path / "runs" / "run" / "events.jsonl").read_bytes()
    misbehaving_server.play()
    assert finish(tmp_path) == first
    assert misbehaving_server.log() == []
    assert (tmp_path / "runs" / "run" / "events.jsonl").read_bytes() == before


def test_events_stand_in_the_order_of_patient_turn_and_mode(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    experiment_file(tmp_path, misbehaving_server)
    misbehaving_server.play(latency_ms=1)
    finish(tmp_path)
    found = [(event["patient_id"], event["turn_id"], event["mode"]) for event in events(tmp_path / "runs" / "run")]
    assert found == [
        (f"p{patient}", turn, mode)
        for patient in range(PATIENTS)
        for turn in range(1, TURNS + 1)
        for mode in ("llm", "agent")
    ]
