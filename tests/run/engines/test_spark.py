"""Spark works on every shard, whoever of its processes is killed; with real processes."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
from pathlib import Path

import pytest
from clusters import BROKEN, SLOTS, begun, committed, descendants, driver, wait_until

SHARDS = 6
SQUARES = {number: str(number**2) for number in range(SHARDS)}
pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed"),
    pytest.mark.skipif(shutil.which("java") is None, reason="no Java: scripts/environment test installs it"),
]


def test_a_killed_executor_costs_no_more_than_the_shards_under_way(tmp_path: Path) -> None:
    with driver("local-cluster[2,1,1024]", tmp_path, shards=SHARDS, seconds=1.5, prefix=[]) as process:
        wait_until(lambda: len(begun(tmp_path)) >= SLOTS or process.poll() is not None)
        executors = [pid for pid, line in descendants(process.pid).items() if "CoarseGrainedExecutorBackend" in line]
        assert len(executors) >= 2, process.stderr and process.stderr.read()
        os.kill(executors[0], signal.SIGKILL)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert committed(tmp_path) == SQUARES
    assert sorted(int(line.split()[0]) for line in out.splitlines()) == sorted(SQUARES)
    assert SHARDS < len(begun(tmp_path)) <= SHARDS + SLOTS


@pytest.mark.long
def test_after_a_killed_driver_and_an_interrupted_one_the_rest_is_done(tmp_path: Path) -> None:
    with driver("spark", tmp_path, shards=SHARDS, seconds=0.7, prefix=[]) as process:
        wait_until(lambda: committed(tmp_path) or process.poll() is not None)
        process.kill()
        process.communicate()
    with driver("spark", tmp_path, shards=SHARDS, seconds=0.7, prefix=[]) as process:
        before = len(committed(tmp_path))
        wait_until(lambda: len(committed(tmp_path)) > before or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        assert process.returncode == 1
        assert err.strip().endswith("interrupted"), err
        assert "Traceback" not in err
    with driver("spark", tmp_path, shards=SHARDS, seconds=0.1, prefix=[]) as process:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    assert committed(tmp_path) == SQUARES
    assert len(begun(tmp_path)) <= SHARDS + 2 * SLOTS


@pytest.mark.long
def test_what_no_worker_can_use_is_said_in_one_line_at_once(tmp_path: Path) -> None:
    with driver("spark", tmp_path, shards=BROKEN, seconds=0, prefix=[]) as process:
        _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert err.strip().splitlines()[-1] == f"error: shard 666 of {BROKEN}: nothing can be done with this"
    assert not begun(tmp_path)
