"""Shards that leave traces, and drivers in processes of their own that let an engine work on them.

    python clusters.py ENGINE FOLDER SHARDS SECONDS

lets an engine work on the shards that the folder holds no commit for, two at a time.

    python clusters.py audits ENGINE FOLDER KILLS SEED

audits what `words.json` in the folder says again and again on one cluster, while its workers are killed at random.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from hallumeter.errors import HallumeterError, InputError
from hallumeter.run.engines import engine_by_name
from hallumeter.run.shards import Receipt, Shard
from hallumeter.run.store import RunStore

SLOTS = 2
BROKEN = 666
"""The number of a shard that no worker can use."""
INSIDE = "HALLUMETER_TEST_APART"
SEED = int(os.environ.get("HALLUMETER_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
"""Of kills at random; tests that fail name it."""
APART = [
    *("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"),
    *("sh", "-c", 'trap : INT; mkdir -p /tmp/ray && mount -t tmpfs none /tmp/ray && ip link set lo up && "$@"', "sh"),
]
"""Nodes of Ray bind all addresses, and look for others among all processes and in a folder that all share: here there
are none. Whatever is started here ends with the first process, which is the shell: Ray takes a child of process 1 for
an orphan. Ctrl-C is for what the shell started."""


def has_own_network() -> bool:
    try:
        return subprocess.run([*APART, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def inside(request: pytest.FixtureRequest) -> bool:
    """Whether a test runs in a network of its own; else it is run there, by another pytest."""
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


def found(run: str) -> tuple[list[bytes], bytes | None]:
    """The verdicts and the summary of a run."""
    store = RunStore(run)
    bodies = [store.read(dict(receipt.files)["verdicts"]) or b"" for receipt in store.committed()]
    lines = [line for body in bodies for line in pq.read_table(io.BytesIO(body)).column("line").to_pylist()]
    return sorted(lines), store.read("summary.json")


class CommittingTask:
    """Writes files under the name of the attempt, and commits them once; works for so many seconds in between."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self._folder, self._seconds = folder, seconds

    def __call__(self, shard: Shard) -> Receipt:
        if shard.number == BROKEN:
            raise InputError("nothing can be done with this")
        attempt = secrets.token_hex(4)
        begun = self._folder / f"{shard.number}.{attempt}.begun"
        begun.write_text(str(os.getpid()))
        time.sleep(self._seconds)
        name = f"{shard.number}.{attempt}.result"
        (self._folder / name).write_text(str(shard.number**2))
        try:
            os.link(self._folder / name, self._folder / f"{shard.number}.commit")
        except FileExistsError:
            return Receipt(shard.number, attempt, (), (), 0, 0.0, won=False)
        return Receipt(shard.number, attempt, (("result", name),), ("",), 1, self._seconds, won=True)


def committed(folder: Path) -> dict[int, str]:
    return {int(path.stem): path.read_text() for path in folder.glob("*.commit")}


def begun(folder: Path) -> list[Path]:
    return list(folder.glob("*.begun"))


def wait_until(condition: Callable[[], object], seconds: float = 240) -> None:
    """Wait for something that a busy machine may take long for."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


@contextmanager
def driver(
    engine: str, folder: Path, *, shards: int, seconds: float, prefix: list[str]
) -> Iterator[subprocess.Popen[str]]:
    """A driver at work, with everything that it has started, in a session of its own."""
    with program(engine, folder, shards, seconds, folder=folder, prefix=prefix) as process:
        yield process


@contextmanager
def program(*words: object, folder: Path, prefix: list[str]) -> Iterator[subprocess.Popen[str]]:
    """This file at work; what it starts finds modules beside it, and in the folder."""
    paths = [str(Path(__file__).parent), str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        [*prefix, sys.executable, __file__, *map(str, words)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "SPARK_WORKER_DIR": str(folder / "spark-work")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def descendants(pid: int) -> dict[int, str]:
    """Command lines of the processes that a process has started, and those of theirs."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(path.parent.name))
    found, waiting = {}, [pid]
    while waiting:
        for child in children.get(waiting.pop(), []):
            waiting.append(child)
            try:
                found[child] = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
    return found


def again(start: Callable[[], Any], *, times: int) -> Any:
    """Start something that may fail on a busy machine."""
    for _ in range(times - 1):
        try:
            return start()
        except Exception as error:
            sys.stderr.write(f"{error}\n")
    return start()


class RayNodes:
    """A cluster of two nodes with one CPU each, of which the second can be killed."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 1, "include_dashboard": False, **_ports()}
        self._cluster = again(lambda: Cluster(initialize_head=True, head_node_args=head), times=8)
        self.address: str = self._cluster.address
        self._second = self._added()

    def _added(self) -> Any:
        return again(lambda: self._cluster.add_node(num_cpus=1, **_ports()), times=20)

    def kill(self) -> None:
        """Kill the second node."""
        self._cluster.remove_node(self._second, allow_graceful=False)

    def strike(self) -> None:
        """Kill the second node, and add another in its place, which Ray can do in the main thread only."""
        self.kill()
        self._second = self._added()

    def end(self) -> None:
        self._cluster.shutdown()


def _ports() -> dict[str, int]:
    """Free ports for a node's agents: one that has to find out theirs ends itself if it takes 15 seconds."""
    names = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port")
    with ExitStack() as stack:
        found = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in names]
        return {name: each.getsockname()[1] for name, each in zip(names, found, strict=True)}


@contextmanager
def two_ray_nodes(folder: Path) -> Iterator[None]:
    """A cluster of two nodes; the second is killed when shards are under way, if the folder asks for it."""
    nodes = RayNodes()
    os.environ["RAY_ADDRESS"] = nodes.address

    def kill() -> None:
        wait_until(lambda: len(begun(folder)) >= SLOTS)
        time.sleep(0.2)
        nodes.kill()
        (folder / "killed").touch()

    if (folder / "kill-a-node").exists():
        threading.Thread(target=kill, daemon=True).start()
    try:
        yield
    finally:
        nodes.end()


@contextmanager
def spark_executors(folder: Path, kills: int, seed: int) -> Iterator[None]:
    """A session with two executors, which all runs share, and of which one is killed again and again."""
    from hallumeter.run.engines.spark import SparkEngine

    session, _ = SparkEngine("local-cluster[2,1,1024]")._session(SLOTS)

    def strike() -> None:
        wait_until(_executors)
        os.kill(random.choice(_executors()), signal.SIGKILL)

    threading.Thread(target=strike_at_random, args=(strike, folder, kills, seed), daemon=True).start()
    try:
        yield
    finally:
        session.stop()


def _executors() -> list[int]:
    return [pid for pid, line in descendants(os.getpid()).items() if "CoarseGrainedExecutorBackend" in line]


@contextmanager
def ray_nodes(folder: Path, kills: int, seed: int) -> Iterator[None]:
    """Two nodes that a process of its own has started, and of which it kills one again and again."""
    command = [sys.executable, __file__, "nodes", str(folder), str(kills), str(seed)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        wait_until(lambda: (folder / "address.txt").exists() or process.poll() is not None, 900)
        os.environ["RAY_ADDRESS"] = (folder / "address.txt").read_text(encoding="utf-8")
        yield
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def hold_nodes(folder: Path, kills: int, seed: int) -> None:
    """Start two nodes, kill some, and end when nobody needs them any more."""
    nodes = RayNodes()
    (folder / "address.part").write_text(nodes.address, encoding="utf-8")
    (folder / "address.part").rename(folder / "address.txt")
    strike_at_random(nodes.strike, folder, kills, seed)
    sys.stdin.read()
    nodes.end()


@contextmanager
def nobody(*_: object) -> Iterator[None]:
    """Somebody else says when it is enough."""
    yield


CLUSTERS: dict[str, Callable[[Path, int, int], AbstractContextManager[None]]] = {
    "ray": ray_nodes,
    "spark": spark_executors,
    "local": nobody,
}


def audits(engine: str, folder: Path, kills: int, seed: int) -> None:
    """Runs one after the other, until the file `enough` is there and the last one is whole."""
    from click.testing import CliRunner

    from hallumeter.cli.main import main as hallumeter

    words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
    with CLUSTERS[engine](folder, kills, seed):
        for number in count():
            (folder / "current.txt").write_text(str(number), encoding="utf-8")
            out = words[-1].format(number)
            done = CliRunner().invoke(hallumeter, [*words[:-1], "--engine", engine, "--out", out])
            if done.exit_code:
                sys.exit(f"{done.stderr}{done.exception!r}")
            sys.stdout.write(f"{out}\n")
            sys.stdout.flush()
            if (folder / "enough").exists():
                return


def strike_at_random(strike: Callable[[], None], folder: Path, kills: int, seed: int) -> None:
    """Strike at random moments while somebody is at work; every stroke is a line in a file."""
    random.seed(seed)
    try:
        for _ in range(kills):
            before = asked(folder)
            wait_until(lambda before=before: asked(folder) > before)  # type: ignore[misc]
            time.sleep(random.uniform(0, 0.8))
            strike()
            with (folder / "kills.txt").open("a", encoding="utf-8") as stream:
                stream.write(f"{asked(folder)}\n")
    finally:
        (folder / "enough").touch()


def asked(folder: Path) -> int:
    """Bytes of what judges have noted."""
    path = folder / "asked.txt"
    return path.stat().st_size if path.exists() else 0


@contextmanager
def no_cluster(_: Path) -> Iterator[None]:
    yield


def main(name: str, folder: Path, shards: int, seconds: float) -> None:
    around = two_ray_nodes if name == "two-ray-nodes" else no_cluster
    numbers = [BROKEN] if shards == BROKEN else [number for number in range(shards) if number not in committed(folder)]
    with around(folder):
        engine = engine_by_name("ray" if name == "two-ray-nodes" else name)
        work = (Shard(number, shards) for number in numbers)
        for receipt in engine.for_each(CommittingTask(folder, seconds), work, slots=SLOTS):
            sys.stdout.write(f"{receipt.shard} {receipt.won}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    try:
        if sys.argv[1] == "audits":
            audits(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
        elif sys.argv[1] == "nodes":
            hold_nodes(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
        else:
            main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    except HallumeterError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("interrupted")
