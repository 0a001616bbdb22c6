"""Kills at random, twenty of a kind: the same verdicts, little work done again, and nothing paid twice but what was
under way.

One cluster lives through all runs of a test, and so do a language model that counts its calls and a ledger. Each run
is compared with one that nobody has disturbed.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from clusters import APART, SLOTS, asked, has_own_network, program, wait_until

from child_programs import Child, started
from hallumeter.run.shards import shard_number
from hallumeter.run.store import RunStore
from misbehaving_server import MisbehavingServer
from object_storage import StorageDoor
from postgres_server import PostgresServer

pytestmark = pytest.mark.long
pytest.importorskip("httpx2")

KILLS = int(os.environ.get("HALLUMETER_KILLS", "20"))
SEED = int(os.environ.get("HALLUMETER_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
RECORDS, SHARDS, CONCURRENCY = 24, 8, 2
SECONDS = 1200
INSIDE = "HALLUMETER_TEST_APART"
JUDGE = """
import os
from pathlib import Path

HERE = Path(__file__).parent


def judge(claim, evidence, record):
    run = (HERE / "current.txt").read_text(encoding="utf-8")
    with (HERE / "asked.txt").open("a", encoding="utf-8") as asked:
        asked.write(f"{run} {record.record_id}\\n")
    return claim in evidence
"""


class Workplace:
    """Answers, a judge that notes what it is asked, one that is paid, and what came of the runs."""

    def __init__(self, folder: Path, server: MisbehavingServer, ledger: PostgresServer) -> None:
        self.folder, self._server = folder, server
        with (folder / "answers.jsonl").open("w", encoding="utf-8") as stream:
            for number in range(RECORDS):
                text = f"Town {number} has a tower."
                row = {"id": f"r{number}", "response": text, "evidence": [text if number % 3 else "Nothing."]}
                stream.write(json.dumps(row) + "\n")
        (folder / "noting.py").write_text(JUDGE, encoding="utf-8")
        (folder / "current.txt").write_text("undisturbed", encoding="utf-8")
        paid = f"{server.openai}#tiny"
        self.words = [
            *("audit", str(folder / "answers.jsonl"), "--judge", "python:noting.judge", "--judge", paid),
            *("--price", f"{paid}=1/1", "--budget", "5", "--ledger", ledger.url(), "--no-cache", "--quiet"),
            *("--shards", str(SHARDS), "--workers", str(SLOTS), "--concurrency", str(CONCURRENCY)),
        ]
        server.play(latency_ms=60)
        code, err = self.run(*self.words, "--out", "undisturbed")
        assert code == 0, err
        self._whole = found(str(folder / "undisturbed"))
        server.play(latency_ms=60)
        (folder / "asked.txt").unlink()

    def run(self, *words: str) -> tuple[int, str]:
        with self.started(*words) as child:
            code, _, err = child.end()
        return code, err

    def started(self, *words: str) -> AbstractContextManager[Child]:
        paths = [str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {"PYTHONPATH": os.pathsep.join(paths)}
        return started(*words, folder=self.folder, environment=environment, seconds=300)

    @contextmanager
    def audits(self, engine: str, out: str, *, kills: int) -> Iterator[subprocess.Popen[str]]:
        """Runs without end on one cluster; KILLS workers are killed, or somebody else says when it is enough."""
        (self.folder / "words.json").write_text(json.dumps([*self.words, out]), encoding="utf-8")
        with program("audits", engine, self.folder, kills, SEED, folder=self.folder, prefix=[]) as process:
            yield process

    def struck(self) -> int:
        """Workers that were killed."""
        return len((self.folder / "kills.txt").read_text(encoding="utf-8").splitlines())

    def check(self, runs: list[str], *, shards_at_once: int, calls_at_once: int) -> None:
        """Same results; at most so many shards done again, and so many calls paid again, for each kill."""
        for run in runs:
            assert found(run) == self._whole, f"{run}: another result (seed {SEED})"
        lines = (self.folder / "asked.txt").read_text(encoding="utf-8").splitlines()
        times = Counter(lines)
        again: Counter[tuple[str, int]] = Counter()
        for line, asked_times in times.items():
            run_name, record = line.split()
            shard = run_name, shard_number(record, SHARDS)
            again[shard] = max(again[shard], asked_times - 1)
        redone, calls = sum(again.values()), len(self._server.log())
        paid_again = calls - len(runs) * RECORDS
        said = f"{KILLS} kills in {len(runs)} runs: {redone} shards again, {paid_again} calls again (seed {SEED})"
        sys.stderr.write(f"\n{said}\n")
        assert len(times) == len(runs) * RECORDS, said
        assert redone <= KILLS * shards_at_once, said
        assert 0 <= paid_again <= KILLS * calls_at_once, said


def found(run: str) -> tuple[list[bytes], bytes | None]:
    """The verdicts and the summary of a run."""
    store = RunStore(run)
    bodies = [store.read(dict(receipt.files)["verdicts"]) or b"" for receipt in store.committed()]
    lines = [line for body in bodies for line in pq.read_table(io.BytesIO(body)).column("line").to_pylist()]
    return sorted(lines), store.read("summary.json")


def wait_for_work(folder: Path, before: int, process: subprocess.Popen[str]) -> None:
    """Wait until a judge was asked something more, or nobody is there any more who could ask."""
    wait_until(lambda: asked(folder) > before or process.poll() is not None)


@pytest.fixture
def place(tmp_path: Path, misbehaving_server: MisbehavingServer, postgres_server: PostgresServer) -> Workplace:
    return Workplace(tmp_path, misbehaving_server, postgres_server)


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed")
@pytest.mark.skipif(shutil.which("java") is None, reason="no Java: scripts/environment test installs it")
def test_executors_of_spark(place: Workplace) -> None:
    with place.audits("spark", str(place.folder / "run-{}"), kills=KILLS) as process:
        out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, place.struck()) == (0, KILLS), f"{err} (seed {SEED})"
    place.check(out.split(), shards_at_once=1, calls_at_once=1)


def inside(request: pytest.FixtureRequest) -> bool:
    """Whether this test runs in a network of its own; else it is run there."""
    if INSIDE in os.environ:
        return True
    if importlib.util.find_spec("ray") is None:
        pytest.skip("ray is not installed")
    if not has_own_network():
        pytest.skip("no right to make a network (unshare --net)")
    command = [*APART, sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", request.node.nodeid]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment |= {INSIDE: "1", "HALLUMETER_SEED": str(SEED)}
    root = request.config.rootpath
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    sys.stderr.write(done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    return False


def test_nodes_of_ray(request: pytest.FixtureRequest) -> None:
    if inside(request):
        place: Workplace = request.getfixturevalue("place")
        with place.audits("ray", str(place.folder / "run-{}"), kills=KILLS) as process:
            out, err = process.communicate(timeout=SECONDS)
        assert (process.returncode, place.struck()) == (0, KILLS), f"{err} (seed {SEED})"
        place.check(out.split(), shards_at_once=1, calls_at_once=1)


def test_drivers(place: Workplace) -> None:
    rng = random.Random(SEED)
    kills, runs = 0, []
    while kills < KILLS or not runs[-1].joinpath("manifest.json").exists():
        if not runs or runs[-1].joinpath("manifest.json").exists():
            runs.append(place.folder / f"run-{len(runs)}")
            (place.folder / "current.txt").write_text(runs[-1].name, encoding="utf-8")
        resumed = ["--resume"] if (runs[-1] / "plan.json").exists() else []
        before = asked(place.folder)
        with place.started(*place.words, "--out", str(runs[-1]), *resumed) as child:
            if kills < KILLS:
                wait_for_work(place.folder, before, child.process)
                time.sleep(rng.uniform(0, 0.8))
            if kills < KILLS and child.process.poll() is None:
                os.killpg(child.process.pid, signal.SIGKILL)
                kills += 1
            else:
                code, _, err = child.end()
                assert code == 0, f"{err} (seed {SEED})"
    place.check([str(run) for run in runs], shards_at_once=SLOTS, calls_at_once=CONCURRENCY)


def test_the_store(place: Workplace, bucket: str, storage_door: StorageDoor) -> None:
    """Nobody dies with it: workers wait, so that nothing is done or paid again."""
    rng = random.Random(SEED)
    with place.audits("local", f"{bucket}/run-{{}}", kills=0) as process:
        for _ in range(KILLS):
            before = asked(place.folder)
            wait_for_work(place.folder, before, process)
            time.sleep(rng.uniform(0, 0.5))
            storage_door.shut(with_reply=rng.random() < 0.5)
            time.sleep(rng.uniform(0.1, 1.5))
            storage_door.open()
        (place.folder / "enough").touch()
        out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, f"{err} (seed {SEED})"
    assert storage_door.lost, "no reply was lost"
    place.check(out.split(), shards_at_once=0, calls_at_once=0)
