"""Shards that leave traces, and drivers in processes of their own that let an engine work on them.

    python clusters.py ENGINE FOLDER SHARDS SECONDS

lets an engine work on the shards that the folder holds no commit for, two at a time.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hallumeter.errors import HallumeterError, InputError
from hallumeter.run.engines import engine_by_name
from hallumeter.run.shards import Receipt, Shard

SLOTS = 2
BROKEN = 666
"""The number of a shard that no worker can use."""


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
    here = str(Path(__file__).parent)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])]),
        "SPARK_WORKER_DIR": str(folder / "spark-work"),
    }
    process = subprocess.Popen(
        [*prefix, sys.executable, __file__, engine, str(folder), str(shards), str(seconds)],
        env=environment,
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


@contextmanager
def two_ray_nodes(folder: Path) -> Iterator[None]:
    """A cluster of two nodes; the second is killed when shards are under way, if the folder asks for it."""
    from ray.cluster_utils import Cluster

    # A node that is not there after 15 seconds ends itself, which happens on a busy machine.
    cluster = again(
        lambda: Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}), times=4
    )
    second = again(lambda: cluster.add_node(num_cpus=1), times=4)
    os.environ["RAY_ADDRESS"] = cluster.address

    def kill() -> None:
        wait_until(lambda: len(begun(folder)) >= SLOTS)
        time.sleep(0.2)
        cluster.remove_node(second, allow_graceful=False)
        (folder / "killed").touch()
        cluster.add_node(num_cpus=1)

    if (folder / "kill-a-node").exists():
        threading.Thread(target=kill, daemon=True).start()
    try:
        yield
    finally:
        cluster.shutdown()  # type: ignore[no-untyped-call, unused-ignore]


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
        main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    except HallumeterError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("interrupted")
