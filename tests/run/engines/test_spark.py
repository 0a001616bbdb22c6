"""Spark works on every shard, whoever of its processes is killed; with real processes."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
        assert process.stdout is not None
        process.stdout.readline()  # its first receipt: a worker that outlived the former driver may commit, too
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
@pytest.mark.long
def test_a_master_that_does_not_answer_is_named_in_one_line(tmp_path: Path) -> None:
    with driver("spark://127.0.0.1:9", tmp_path, shards=SHARDS, seconds=0.1, prefix=[]) as process:
        _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert err.strip().endswith("spark://127.0.0.1:9: Spark does not start or answer: no master answers there"), err


def test_what_no_worker_can_use_is_said_in_one_line_at_once(tmp_path: Path) -> None:
    with driver("spark", tmp_path, shards=BROKEN, seconds=0, prefix=[]) as process:
        _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert err.strip().splitlines()[-1] == f"error: shard 666 of {BROKEN}: nothing can be done with this"
    assert not begun(tmp_path)


CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """A server of Spark Connect on loopback; its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {"ui.enabled": "false", "connect.grpc.binding.address": "127.0.0.1", "connect.grpc.binding.port": port}
    options = [word for name, value in settings.items() for word in ("--conf", f"spark.{name}={value}")]
    command = [str(Path(sys.executable).with_name("spark-submit")), "--class", CONNECT, "--master", "local[2]"]
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(paths),
    }
    with (folder / "connect.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, *options, "spark-internal"],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=log,
            stderr=log,
        )
        try:
            wait_until(lambda: is_open(port) or process.poll() is not None)
            yield f"sc://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def is_open(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("grpc_status") is None, reason="pyspark[connect] is not installed")
def test_spark_connect_works_too(tmp_path: Path) -> None:
    with connect_server(tmp_path) as address, driver(address, tmp_path, shards=SHARDS, seconds=0, prefix=[]) as process:
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert committed(tmp_path) == SQUARES
    assert len(begun(tmp_path)) == SHARDS


@pytest.mark.long
def test_what_spark_connect_lacks_is_said_before_any_work(tmp_path: Path) -> None:
    lacking = tmp_path / "lacking.py"  # pyspark takes a program without a file for a doctest
    lacking.write_text("import sys\nsys.modules['grpc_status'] = None\nfrom hallumeter.cli.main import main\nmain()\n")
    (tmp_path / "rag_answers.jsonl").write_text('{"id": "a", "response": "It is old.", "evidence": ["It is old."]}\n')
    words = ["audit", "rag_answers.jsonl", "--judge", "rules", "--engine", "sc://127.0.0.1:1", "--out", "run"]
    done = subprocess.run(
        [sys.executable, str(lacking), *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Spark Connect needs more: pip install 'pyspark[connect]'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
