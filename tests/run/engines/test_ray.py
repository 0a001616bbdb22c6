"""Ray works on every shard, whichever of its nodes is killed; with real nodes, in a network of their own."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from clusters import (
    APART,
    BROKEN,
    SLOTS,
    begun,
    committed,
    descendants,
    driver,
    found,
    has_own_network,
    inside,
    wait_until,
)

from child_programs import started

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


def test_what_is_started_here_binds_loopback_alone(tmp_path: Path) -> None:
    """Though the machine has another address, by which others reach it."""
    also = 'ip addr add 10.9.9.9/32 dev lo && ip route add default dev lo src 10.9.9.9 && exec "$@"'
    with driver("ray", tmp_path, shards=2, seconds=5, prefix=[*APART, "sh", "-c", also, "sh"]) as process:
        wait_until(lambda: begun(tmp_path) or process.poll() is not None)
        worker = next(pid for pid, line in descendants(process.pid).items() if "raylet/raylet" in line)
        lines = [
            line.split()
            for name in ("tcp", "tcp6")
            for line in Path(f"/proc/{worker}/net/{name}").read_text(encoding="ascii").splitlines()[1:]
        ]
        addresses = {words[1].partition(":")[0] for words in lines if words[3] == LISTENS}
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert addresses
    assert addresses <= LOOPBACK


LISTENS = "0A"
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
"""127.0.0.1 and ::1, as the kernel writes them."""
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "token-of-a-test-0123456789abcdef0123456789abcdef"}


@contextmanager
def ray_head(folder: Path) -> Iterator[None]:
    """A node that serves Ray Client, and asks everyone for a token."""
    words = ["start", "--head", "--block", "--node-ip-address=127.0.0.1", "--ray-client-server-port=10001"]
    words += ["--include-dashboard=false", "--num-cpus=2", "--disable-usage-stats"]
    with (folder / "head.log").open("wb") as log:
        command = [str(Path(sys.executable).with_name("ray")), *words]
        process = subprocess.Popen(command, env={**os.environ, **TOKEN}, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def is_audited_through_client(folder: Path, audited: Callable[[str, str, dict[str, str]], tuple[int, str]]) -> bool:
    """Whether the server of Ray Client is ready, and an audit through it went well."""
    shutil.rmtree(folder / "client", ignore_errors=True)
    return audited("ray://127.0.0.1:10001", "client", TOKEN)[0] == 0


def test_an_audit_on_ray_has_the_verdicts_of_one_here(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    if not inside(request):
        return
    rows = [
        {"id": f"r{number}", "response": f"It is {number} m high.", "evidence": ["It is 3 m high."]}
        for number in range(20)
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = ["audit", "answers.jsonl", "--judge", "embedded:fast", "--shards", 4, "--workers", 2, "--quiet"]

    def audited(engine: str, out: str, environment: dict[str, str]) -> tuple[int, str]:
        given = [*words, "--engine", engine, "--out", out]
        with started(*given, folder=tmp_path, environment=environment, seconds=300) as program:
            code, _, err = program.end()
        return code, err

    assert audited("local", "local", {})[0] == 0
    with ray_head(tmp_path):
        wait_until(lambda: is_audited_through_client(tmp_path, audited))
        code, err = audited("ray", "direct", TOKEN)
        assert code == 0, err
        code, err = audited("ray://127.0.0.1:10001", "no-token", {})
        assert code == 2
        assert "if the cluster asks for a token, set RAY_AUTH_MODE=token" in err
        assert err.count("\n") == 1
    assert found(str(tmp_path / "client")) == found(str(tmp_path / "direct")) == found(str(tmp_path / "local"))
