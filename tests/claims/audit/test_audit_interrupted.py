"""Audits that are killed, stopped or left: what was done is kept, nothing is asked twice, and the end is the same."""

from __future__ import annotations

import importlib
import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import hallumeter
from audit_runs import (
    audited,
    check_every_claim_once,
    child,
    ended,
    expected_labels,
    labels,
    record,
    run_files,
    settings_for,
    wait_until,
    write_rows,
    written,
)
from child_programs import Child
from hallumeter.claims.audit.entries import PREPARED, step_of
from hallumeter.errors import InputError
from hallumeter.run.journal import Journal
from hallumeter.run.stopping import stopping_on_signals
from misbehaving_server import MisbehavingServer

KILLS = 20
"""How often audits are killed, in all."""
RECORDS, CLAIMS = 30, 4
PARTS = 2
"""Calls for each record, at two claims a call."""


def arguments(server: MisbehavingServer, *further: object) -> tuple[object, ...]:
    judge = ("--judge", f"{server.openai}#judge", "--claims-per-call", 2, "--resamples", 100)
    return ("answers.jsonl", *judge, "--out", "run", *further)


def calls_in_order(server: MisbehavingServer, folder: Path) -> list[str]:
    """The hash of every call of an audit that nobody disturbs, in the order of records and parts."""
    server.play()
    code, _, error = ended(*arguments(server, "--concurrency", 1), folder=folder)
    assert code == 0, error
    return [call.digest for call in server.log()]


def kept_calls(run: Path, calls: list[str], folder: Path) -> set[str]:
    """The hashes of the calls whose verdicts the journal of a dead run holds."""
    if not (run / "journal.sqlite").exists():
        return set()
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(run, folder)
    with Journal.begin_or_resume(folder / "journal.sqlite", settings=b"") as journal:
        entries = [(entry.record, entry.part) for entry in journal.entries(step_of(0))]
    return {calls[PARTS * number + part] for number, part in entries}


def kept_parts(run: Path) -> int:
    """How many parts of records the journal of a run holds verdicts on, also while it is written."""
    if not (run / "journal.sqlite").exists():
        return 0
    copy = run.with_name("looked at")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(run, copy)
    with Journal.begin_or_resume(copy / "journal.sqlite", settings=b"") as journal:
        return len(journal.done(step_of(0)))


def came(server: MisbehavingServer) -> int:
    """How many calls have come; those of a dead process are all in after a moment."""
    time.sleep(0.03)
    return max((call.number for call in server.log()), default=0)


@pytest.mark.long
def test_killed_at_any_moment_it_goes_on_and_asks_for_nothing_again(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    clean = tmp_path / "clean"
    clean.mkdir()
    source = written(clean / "answers.jsonl", RECORDS, claims=CLAIMS)
    calls = calls_in_order(misbehaving_server, clean)
    assert len(set(calls)) == RECORDS * PARTS
    expected = run_files(clean / "run")
    rng = random.Random(4)
    kills = audits = 0
    while kills < KILLS:
        audits += 1
        assert audits <= KILLS, "audits end before they can be killed"
        folder = tmp_path / f"audit{audits}"
        folder.mkdir()
        shutil.copy(source, folder)
        misbehaving_server.play(latency_ms=30)
        is_done = False
        while not is_done:
            kept = kept_calls(folder / "run", calls, tmp_path / "copy")
            before = came(misbehaving_server)
            with child(*arguments(misbehaving_server, "--concurrency", 2, "--resume"), folder=folder) as program:
                is_done = kills >= KILLS or not killed(program, misbehaving_server, folder / "run", rng)
                kills += not is_done
                if is_done:
                    wait_until(lambda: program.process.poll() is not None)
                    assert program.process.returncode == 0
            since = {call.digest for call in misbehaving_server.log() if call.number > before}
            assert not since & kept, "a call was repeated whose verdict was in the journal"
        assert run_files(folder / "run") == expected
    assert labels(clean / "run") == expected_labels(RECORDS, claims=CLAIMS)


def killed(program: Child, server: MisbehavingServer, run: Path, rng: random.Random) -> bool:
    """Kill a program as it starts, after some calls, or as it writes its files; False when it was faster."""
    before, further = came(server), rng.randrange(1, 25)
    start, earlier = time.monotonic() + rng.random(), drafts(run)
    moments: dict[str, Callable[[], bool]] = {
        "start": lambda: time.monotonic() > start,
        "calls": lambda: came(server) >= before + further or bool(drafts(run) - earlier),
        "files": lambda: bool(drafts(run) - earlier),
    }
    moment = moments[rng.choice(("start", "calls", "calls", "files"))]
    wait_until(lambda: moment() or program.process.poll() is not None)
    time.sleep(rng.random() * 0.1)
    program.signal(signal.SIGKILL)
    program.process.communicate()
    return program.process.returncode == -signal.SIGKILL


def drafts(run: Path) -> set[Path]:
    """Folders in which the files of a run are, or were, being written."""
    return set(run.glob(".writing-*"))


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_calls_under_way_end_keeps_them_and_leaves_a_run_to_go_on_with(
    number: signal.Signals, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    clean = tmp_path / "clean"
    clean.mkdir()
    written(clean / "answers.jsonl", 10, claims=CLAIMS)
    calls = calls_in_order(misbehaving_server, clean)
    shutil.copy(clean / "answers.jsonl", tmp_path)
    misbehaving_server.play(latency_ms=150)
    with child(*arguments(misbehaving_server, "--concurrency", 2), folder=tmp_path) as program:
        wait_until(lambda: len(misbehaving_server.log()) >= 3)
        program.signal(number)
        code, out, error = program.end()
    assert code == 3
    assert out == ""
    assert "--resume" in error
    assert "run" in error
    answered = {call.digest for call in misbehaving_server.log()}
    assert 3 <= len(answered) < len(calls)
    assert kept_calls(tmp_path / "run", calls, tmp_path / "copy") == answered
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["journal.sqlite"]
    misbehaving_server.play()
    code, _, error = ended(*arguments(misbehaving_server, "--resume"), folder=tmp_path)
    assert code == 0, error
    assert {call.digest for call in misbehaving_server.log()} == set(calls) - answered
    assert run_files(tmp_path / "run") == run_files(clean / "run")


@pytest.mark.long
def test_a_second_interrupt_leaves_at_once(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path / "answers.jsonl", 4)
    misbehaving_server.play(first=("ok", "ok"), otherwise="stall", stall_seconds=30)
    with child(*arguments(misbehaving_server, "--concurrency", 2), folder=tmp_path) as program:
        wait_until(lambda: came(misbehaving_server) >= 2 and kept_parts(tmp_path / "run") == 2)
        program.signal(signal.SIGINT)
        time.sleep(0.5)  # longer than an echo of the same signal is taken for one
        assert program.process.poll() is None, "calls under way are waited for"
        program.signal(signal.SIGINT)
        began = time.monotonic()
        code, _, error = program.end()
    assert time.monotonic() - began < 10
    assert code == 130
    assert "Traceback" not in error
    misbehaving_server.play()
    code, _, error = ended(*arguments(misbehaving_server, "--resume"), folder=tmp_path)
    assert code == 0, error
    assert len(misbehaving_server.log()) == 8 - 2
    assert labels(tmp_path / "run") == expected_labels(4)


@pytest.mark.long
def test_ctrl_c_during_the_work_of_several_processes_leaves_none_of_them_behind(tmp_path: Path) -> None:
    # 40 records are prepared in one process and their many claims judged in two; long evidence makes that last
    filler = " ".join(
        f"In the year {1000 + number} nothing of note was built near the old mill." for number in range(900)
    )
    rows = [record(number, claims=30) for number in range(40)]
    write_rows(tmp_path / "answers.jsonl", [{**row, "evidence": f"{row['evidence']} {filler}"} for row in rows])
    with child("answers.jsonl", "--workers", 2, "--out", "run", folder=tmp_path) as program:
        pid = program.process.pid
        offspring = Path(f"/proc/{pid}/task/{pid}/children")
        wait_until(lambda: len(workers := offspring.read_text().split()) == 2 and all(map(has_worked, workers)))
        os.killpg(pid, signal.SIGINT)  # as a terminal does: to all of them
        code, _, error = program.end()
    assert code == 3, error
    assert "Traceback" not in error
    with pytest.raises(ProcessLookupError):
        os.killpg(pid, 0)
    with Journal.begin_or_resume(tmp_path / "run" / "journal.sqlite", settings=b"") as journal:
        assert len(journal.done(PREPARED)) == 40
        assert len(journal.done(step_of(0))) < 40


def has_worked(process: str) -> bool:
    """Whether a process has computed for a tenth of a second: field 14 of its state, in ticks."""
    ticks = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11])
    return ticks >= os.sysconf("SC_CLK_TCK") / 10


def test_two_programs_cannot_work_on_one_run(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    written(tmp_path / "answers.jsonl", 30, claims=CLAIMS)
    misbehaving_server.play(latency_ms=400)
    with child(*arguments(misbehaving_server, "--concurrency", 1), folder=tmp_path) as program:
        wait_until(lambda: len(misbehaving_server.log()) >= 1)
        for further in ((), ("--resume",)):
            code, _, error = ended(*arguments(misbehaving_server, *further), folder=tmp_path)
            assert code == 2
            assert len(error.splitlines()) == 1
            assert "another hallumeter works on this run" in error if further else "--resume" in error
        misbehaving_server.play()
        assert program.end()[0] == 0
    check_every_claim_once(tmp_path / "run")


def test_an_audit_that_was_killed_before_it_had_begun_is_begun_by_resuming(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    source = written(tmp_path / "answers.jsonl", 2)
    settings = settings_for(misbehaving_server)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "journal.sqlite").touch()
    with pytest.raises(InputError, match="--resume"):
        audited(source, tmp_path / "run", settings)
    audited(source, tmp_path / "run", settings, is_resumed=True)
    assert labels(tmp_path / "run") == expected_labels(2)


class StopAt:
    """Wants to stop when a step begins, or when it finds something, as a user who presses Ctrl-C just then."""

    def __init__(self, step: str) -> None:
        self._step = step

    def begin(self, what: str, *, total: int, done: int = 0, spent: object = None) -> None:
        self._stop(what)

    def done(self, more: int, *, failures: int = 0, cached: int = 0) -> None:
        self._stop("cached" if cached else "")

    def _stop(self, what: str) -> None:
        if what.startswith(self._step):
            with stopping_on_signals() as stop:
                stop.set()


@pytest.mark.parametrize(
    "step", ["reading", "finding claims", "judging by rules", "judging by http", "cached", "measuring"]
)
def test_an_audit_can_be_stopped_in_every_step(
    step: str, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    source = written(tmp_path / "answers.jsonl", 300, claims=1)
    judges = ("rules", f"{misbehaving_server.openai}#judge")
    settings = settings_for(misbehaving_server, judges=judges, cache=tmp_path / "cache")
    audited(source, tmp_path / "clean", settings)  # fills the cache too: nothing but lookups is left of the judging
    outcome = audited(source, tmp_path / "run", settings, progress=StopAt(step))
    if step == "measuring":  # all is done and only to be written, which takes less long than it would to begin again
        assert outcome.stopped is None
    else:
        assert outcome.stopped == "interrupted"
        assert outcome.summary is None
        assert not (tmp_path / "run" / "manifest.json").exists()
        audited(source, tmp_path / "run", settings, is_resumed=True)
    assert run_files(tmp_path / "run") == run_files(tmp_path / "clean")


def test_an_interrupted_audit_in_python_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path / "answers.jsonl", 300, claims=1)
    commands = importlib.import_module("hallumeter.claims.audit.commands")  # the package has a function of its name
    monkeypatch.setattr(commands, "NoProgress", lambda: StopAt("finding claims"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for out in (tmp_path / "run", None):
        with pytest.raises(KeyboardInterrupt, match="interrupted; audit the same again with out=") as caught:
            hallumeter.audit(source, out=out)
        kept = Path(str(caught.value).partition("out='")[2].partition("'")[0])
        assert (kept / "journal.sqlite").exists(), "also in a folder that nobody named"
    monkeypatch.undo()
    run = hallumeter.audit(source, out=kept)
    assert run.summary.counts.records == 300
