"""Ray works on every shard, whichever of its nodes is killed; with real nodes, in a network of their own."""

from __future__ import annotations

import importlib.util
import os
import signal
from pathlib import Path

import pytest
from clusters import APART, BROKEN, SLOTS, begun, committed, driver, has_own_network, wait_until

SHARDS = 6
SQUARES = {number: str(number**2) for number in range(SHARDS)}


pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed"),
    pytest.mark.skipif(not has_own_network(), reason="no right to make a network (unshare --net)"),
]


def test_a_killed_node_costs_no_more_than_the_shards_under_way(tmp_path: Path) -> None:
    (tmp_path / "kill-a-node").touch()
    with driver("two-ray-nodes", tmp_path, shards=SHARDS, seconds=2, prefix=APART) as process:
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert (tmp_path / "killed").exists()
    assert committed(tmp_path) == SQUARES
    assert len(begun(tmp_path)) <= SHARDS + SLOTS


def test_after_a_killed_driver_and_an_interrupted_one_the_rest_is_done(tmp_path: Path) -> None:
    with driver("ray", tmp_path, shards=SHARDS, seconds=0.7, prefix=APART) as process:
        wait_until(lambda: committed(tmp_path) or process.poll() is not None)
        os.killpg(process.pid, signal.SIGKILL)
    with driver("ray", tmp_path, shards=SHARDS, seconds=0.7, prefix=APART) as process:
        assert process.stdout is not None
        process.stdout.readline()  # its first receipt: a worker that outlived the former driver may commit, too
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, err = process.communicate(timeout=120)
        assert process.returncode == 1
        assert err.strip().endswith("interrupted"), err
        assert "Traceback" not in err
    with driver("ray", tmp_path, shards=SHARDS, seconds=0.1, prefix=APART) as process:
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    assert committed(tmp_path) == SQUARES
    assert len(begun(tmp_path)) <= SHARDS + 2 * SLOTS


def test_what_no_worker_can_use_is_said_in_one_line_at_once(tmp_path: Path) -> None:
    with driver("ray", tmp_path, shards=BROKEN, seconds=0, prefix=APART) as process:
        _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert err.strip().splitlines()[-1] == f"error: shard 666 of {BROKEN}: nothing can be done with this"
    assert not begun(tmp_path)
