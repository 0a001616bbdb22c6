"""A run that goes on is followed, one that was stopped says so, and a finished one is shown by itself."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from viewer_client import Asker, eventually, serving
from viewer_runs import written_run

import hallumeter
from hallumeter.run.progress import NoProgress, Progress, ProgressFile, is_alive, kept_progress, read_progress

PACKAGE = str(Path(hallumeter.__file__).parents[1])
JUDGE = """
import time

def judge(claim, evidence):
    time.sleep({seconds})
    return "SUPPORTED"
"""


def answers(folder: Path, count: int) -> None:
    rows = [
        {"id": f"r{number}", "response": f"The tower has {number} floors.", "evidence": "The tower is high."}
        for number in range(count)
    ]
    (folder / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@contextmanager
def going_on(folder: Path, *, count: int, seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    """An audit with a slow judge, in a process of its own."""
    answers(folder, count)
    (folder / "slow_judge.py").write_text(JUDGE.format(seconds=seconds), encoding="utf-8")
    words = ["audit", "answers.jsonl", "--judge", "python:slow_judge.judge", "--out", "run", "--concurrency", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "hallumeter", *words, "--quiet"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), PACKAGE])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def the_run(asker: Asker) -> str | None:
    return next(iter(asker.run_ids().values()), None)


def test_a_run_in_progress_is_followed_until_its_page_is_there(tmp_path: Path) -> None:
    with going_on(tmp_path, count=40, seconds=0.2) as process, serving(tmp_path) as asker:
        run = f"runs/{eventually(lambda: the_run(asker))}/"
        eventually(lambda: "running" in asker.get("").text)
        page = asker.get(run).text
        assert 'data-progress="progress"' in page
        assert asker.get(f"{run}records").status == 503
        events = asker.events(f"{run}progress", "finished")
        assert process.wait(60) == 0
        told = [body for name, body in events if name == "progress"]
        judging = [body for body in told if body["step"].startswith("judging")]
        assert [body["done"] for body in judging] == sorted(body["done"] for body in judging)
        assert len(judging) >= 3
        assert {body["total"] for body in judging} == {40}
        assert "0 failures" in asker.get(run).text.replace("<b>0</b>", "0")
        assert asker.get(f"{run}records").json["total"] == 40
    assert not (tmp_path / "run" / "progress.json").exists()


def test_the_list_is_told_when_a_run_appears(tmp_path: Path) -> None:
    with serving(tmp_path) as asker:
        assert asker.events("progress", "runs") == [("runs", [])]
        assert "There are no runs in this folder yet" in asker.get("").text
        written_run(tmp_path / "one", 3)
        ((_, listed),) = eventually(lambda: [event for event in asker.events("progress", "runs") if event[1]])
        assert [run["status"] for run in listed] == ["finished"]


@pytest.mark.long
def test_a_run_whose_process_was_killed_is_stopped_and_says_how_to_go_on(tmp_path: Path) -> None:
    with going_on(tmp_path, count=60, seconds=0.2) as process, serving(tmp_path) as asker:
        run = eventually(lambda: the_run(asker))
        eventually(lambda: (read_progress(tmp_path / "run" / "progress.json") or Progress("", 0, 0, "")).done)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (tmp_path / "run" / "progress.json").exists()
        eventually(lambda: "stopped" in asker.get("").text)
        page = asker.get(f"runs/{run}/").text
        assert "give the same command again with --resume" in page
        assert "It stopped at" in page
        assert asker.events(f"runs/{run}/progress", "stopped")


@pytest.mark.long
def test_a_run_that_was_interrupted_leaves_no_file_of_its_progress(tmp_path: Path) -> None:
    with going_on(tmp_path, count=60, seconds=0.2) as process:
        eventually(lambda: (read_progress(tmp_path / "run" / "progress.json") or Progress("", 0, 0, "")).done)
        process.send_signal(signal.SIGINT)
        process.wait(60)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["journal.sqlite"]


def test_another_process_of_the_same_number_is_not_taken_for_the_run(tmp_path: Path) -> None:
    ProgressFile(tmp_path / "progress.json", instrument="audit").write("judging", done=1, total=2)
    own = read_progress(tmp_path / "progress.json")
    assert own is not None
    assert is_alive(own, time.time())
    if own.born is not None:
        assert not is_alive(msgspec.structs.replace(own, born="1"), time.time())
    assert not is_alive(msgspec.structs.replace(own, pid=2**22 + 1), time.time())
    elsewhere = msgspec.structs.replace(own, host="elsewhere")
    assert is_alive(elsewhere, own.noted + 60)
    assert not is_alive(elsewhere, own.noted + 3600)
    assert not is_alive(elsewhere, own.noted - 3600)  # the clock was set back since


def test_progress_is_noted_a_few_times_a_second_and_removed_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    write = ProgressFile.write

    def counted(self: ProgressFile, step: str, *, done: int, total: int, failures: int = 0) -> None:
        written.append(done)
        write(self, step, done=done, total=total, failures=failures)

    monkeypatch.setattr(ProgressFile, "write", counted)
    with kept_progress(NoProgress(), tmp_path, instrument="audit") as progress:
        progress.begin("judging", total=10_000, done=5)
        for _ in range(9_000):
            progress.done(1, failures=0)
        told = read_progress(tmp_path / "progress.json")
        assert told is not None
        assert (told.step, told.total, told.pid) == ("judging", 10_000, os.getpid())
    assert len(written) < 40
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_refuses_the_file_does_not_stop_the_run(tmp_path: Path) -> None:
    with kept_progress(NoProgress(), tmp_path / "nowhere", instrument="audit") as progress:
        progress.begin("judging", total=2)
        progress.done(2)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"step": 1}', "\x00\xff"])
def test_a_file_that_says_nothing_is_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "progress.json").write_text(text, encoding="utf-8")
    assert read_progress(tmp_path / "progress.json") is None


@pytest.mark.long
def test_the_server_ends_on_ctrl_c_even_while_somebody_listens(tmp_path: Path) -> None:
    written_run(tmp_path / "one", 3)
    process = subprocess.Popen(
        [sys.executable, "-m", "hallumeter", "view", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": PACKAGE},
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    port, token = address.removeprefix("http://127.0.0.1:").rstrip("/").split("/")
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
    connection.request("GET", f"/{token}/progress")
    answer = connection.getresponse()
    assert answer.readline() == b"event: runs\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    connection.close()
    assert (process.returncode, out, err) == (0, "", "")
