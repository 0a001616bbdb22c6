"""Full and read-only disks, clocks that jump, two machines on one folder: nothing is lost, one line says what is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from audit_runs import CHILD_SECONDS, LABELS, wait_until, written
from child_programs import Child, started
from misbehaving_server import MisbehavingServer

HERE = Path(__file__).parent
NEWSPAPERS = HERE.parents[1] / "src" / "hallumeter" / "samples" / "newspapers"
LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
TRIES = 3
"""Sizes of the disk, from one page to what a run needs; while it works, a run needs more than its files."""


def can_unshare(*what: str) -> bool:
    tried = ["unshare", *what, "true"]
    return (
        shutil.which("unshare") is not None and subprocess.run(tried, capture_output=True, check=False).returncode == 0
    )


pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not can_unshare("--mount", "--uts"), reason="needs the right to make namespaces"),
]


def audit_words(folder: Path) -> tuple[list[str], str]:
    written(folder / "answers.jsonl", 6)
    return ["audit", str(folder / "answers.jsonl"), "--judge", "rules", "--out", str(folder / "disk" / "run")], "run"


def measure_words(folder: Path) -> tuple[list[str], str]:
    rows = [
        {"record_id": f"r{number}", "claim_id": f"c{place}", "label": label, "judge": "a"}
        for number in range(20)
        for place, label in enumerate(LABELS)
    ]
    (folder / "v.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return ["measure", str(folder / "v.jsonl"), "--out", str(folder / "disk" / "run")], "run"


def transcript_words(folder: Path) -> tuple[list[str], str]:
    for name in ("truth", "smollm2"):
        (folder / name).mkdir()
        for page in sorted((NEWSPAPERS / name).iterdir())[:3]:
            shutil.copy(page, folder / name)
    return ["transcripts", str(folder / "truth"), str(folder / "smollm2"), "--out", str(folder / "disk" / "run")], "run"


def aspect_words(folder: Path) -> tuple[list[str], str]:
    gold = [{"aspect_term": "battery", "polarity": "positive", "span": {"start": 4, "end": 11}}]
    rows = [{"text_id": f"s{i}", "text": f"The battery is great, {i}.", "language": "en"} for i in range(8)]
    text = "".join(json.dumps({**row, "gold_tuples": gold}) + "\n" for row in rows)
    (folder / "reviews.jsonl").write_text(text, encoding="utf-8")
    settings = {"data": {"input": str(folder / "reviews.jsonl")}}
    return experiment("aspects", folder, settings), "runs/run"


def dialogue_words(folder: Path) -> tuple[list[str], str]:
    slots = {"age": 50, "sex": "female", "primary_condition": "Hypertension", "key_meds": ["Lisinopril"]}
    turns = [{"turn_id": 1, "question": "I am 50 and take lisinopril. What comes first?"}]
    rows = [{"patient_id": f"p{i}", "language": "en", "slots": slots, "turns": turns} for i in range(3)]
    (folder / "scripts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settings: dict[str, Any] = {"systems": [{"mode": "llm"}, {"mode": "agent"}], "retrieval": "words"}
    settings["multiturn_scripts"] = {"path": str(folder / "scripts.jsonl")}
    return experiment("dialogue", folder, settings), "runs/run"


def experiment(command: str, folder: Path, settings: dict[str, Any]) -> list[str]:
    path = folder / "experiment.json"
    path.write_text(
        json.dumps({**settings, "output": str(folder / "disk" / "runs"), "run_id": "run"}), encoding="utf-8"
    )
    return [command, "run", "--config", str(path)]


@pytest.mark.parametrize("made", [audit_words, measure_words, transcript_words, aspect_words, dialogue_words])
def test_on_a_full_disk_one_line_says_so_and_with_room_it_ends_as_if_nothing_had_been(
    made: Callable[[Path], tuple[list[str], str]], tmp_path: Path
) -> None:
    words, run = made(tmp_path)
    words.append("--quiet")
    (tmp_path / "disk").mkdir()
    case = {"words": words, "again": [*words, "--resume"] if words[0] == "audit" else words, "tries": TRIES}
    case |= {"folder": str(tmp_path / "disk"), "run": str(tmp_path / "disk" / run)}
    (tmp_path / "case.json").write_text(json.dumps(case), encoding="utf-8")
    program = ["unshare", "--mount", sys.executable, str(HERE / "small_disk.py"), str(tmp_path / "case.json")]
    home = {**os.environ, "HOME": str(tmp_path), "HALLUMETER_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=900, env=home)
    assert done.returncode == 0, done.stderr
    clean, *tries = [json.loads(line) for line in done.stdout.splitlines()]
    assert clean["code"] == 0
    assert [each["code"] for each in tries] == [2] * (len(tries) - 1) + [0]
    assert len(tries) > TRIES
    for each in tries:
        assert each["again"] == 0, each["said_again"]
        assert each["digests"] == clean["digests"]
        assert each["verified"] == clean["verified"]
    for each in tries[:-1]:
        [line] = each["said"].splitlines()
        assert line.startswith("hallumeter: ")
        assert "make room" in line


def asking(
    server: MisbehavingServer, folder: Path, *further: str, before: str, environment: dict[str, str] | None = None
) -> AbstractContextManager[Child]:
    """An audit that asks a server, started by a shell that does something before, in namespaces of its own."""
    words = ["audit", "answers.jsonl", "--judge", f"{server.openai}#judge", "--resamples", "100", "--out", "run"]
    shell = ["unshare", "--mount", "--uts", "sh", "-c", f'{before}; exec "$@"', "sh"]
    kept = {"HALLUMETER_CACHE": str(folder / "cache"), **(environment or {})}
    return started(*words, *further, folder=folder, environment=kept, seconds=CHILD_SECONDS, before=shell)


def test_without_a_cache_that_can_be_written_the_run_goes_on_and_one_line_says_so(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    written(tmp_path / "answers.jsonl", 4)
    (tmp_path / "cache").mkdir()
    misbehaving_server.play()
    read_only = f"mount -t tmpfs -o ro tmpfs '{tmp_path / 'cache'}'"
    with asking(misbehaving_server, tmp_path, before=read_only) as program:
        code, _, error = program.end()
    assert code == 0, error
    [line] = [each for each in error.splitlines() if "cache" in each]
    assert "the verdict cache is off" in line
    assert "verdicts are asked for again" in line
    assert (tmp_path / "run" / "manifest.json").exists()


def test_a_run_that_another_machine_works_on_is_refused_and_goes_on_when_that_one_is_dead(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    written(tmp_path / "answers.jsonl", 12)
    misbehaving_server.play(latency_ms=300)
    with asking(misbehaving_server, tmp_path, "--concurrency", "1", before="hostname first-machine") as first:
        wait_until(lambda: len(misbehaving_server.log()) >= 2)
        with asking(misbehaving_server, tmp_path, "--resume", before="hostname second-machine") as second:
            code, _, error = second.end()
        assert code == 2
        line = error.splitlines()[-1]
        assert f"another hallumeter works on this run (process {first.process.pid} on first-machine)" in line
        first.process.kill()
        first.process.wait()
    misbehaving_server.play()
    with asking(misbehaving_server, tmp_path, "--resume", before="hostname second-machine") as third:
        code, _, error = third.end()
    assert code == 0, error


@pytest.mark.skipif(LIBRARY is None, reason="needs libfaketime")
@pytest.mark.parametrize("jump", ["-400d", "+400d"])
def test_a_clock_that_is_set_in_the_middle_of_a_run_changes_no_result(
    jump: str, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    written(tmp_path / "answers.jsonl", 12)
    misbehaving_server.play(latency_ms=100)
    told = tmp_path / "clock"
    told.write_text("+0", encoding="ascii")
    clock = {"LD_PRELOAD": str(LIBRARY), "FAKETIME_TIMESTAMP_FILE": str(told), "FAKETIME_NO_CACHE": "1"}
    clock |= {"DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1"}
    paced = ("--requests-per-minute", "1200", "--concurrency", "2")
    with asking(misbehaving_server, tmp_path, *paced, before="true", environment=clock) as program:
        wait_until(lambda: len(misbehaving_server.log()) >= 3)
        told.write_text(jump, encoding="ascii")
        code, _, error = program.end()
    assert code == 0, error
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_bytes())
    assert manifest["started"] <= manifest["finished"]
    assert (manifest["finished"][:4] > manifest["started"][:4]) == (jump == "+400d")  # the clock was set
    assert len((tmp_path / "run" / "verdicts.jsonl").read_bytes().splitlines()) == 36
