"""Work on Ray: every shard is a task.

    ray                      the cluster that RAY_ADDRESS names or that runs here, else processes on this machine
    ray://HOST:PORT          a cluster, through Ray Client

hallumeter must be installed where the workers run.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from hallumeter.errors import InputError, MissingExtraError
from hallumeter.run.shards import Receipt, Shard

from .outcomes import LOOK_AGAIN_SECONDS, MOST_ATTEMPTS, attempted, given_up, receipt_of, worked_off

try:
    import ray
    from ray._private import ray_constants, services
    from ray.exceptions import RayError, RayTaskError
except ImportError:
    raise MissingExtraError("ray", "the engine ray") from None


class RayEngine:
    """Calls a function on every shard by tasks on Ray; a connection that is there already is used and left open."""

    def __init__(self, name: str) -> None:
        self._name = name

    def for_each(
        self, task: Callable[[Shard], Receipt], shards: Iterable[Shard], *, slots: int
    ) -> Generator[Receipt, None, None]:
        """The receipts, in any order; so many tasks at the same time."""
        slots = max(1, slots)
        is_own = self._connect(slots)
        waiting = _Waiting(task)
        try:
            yield from worked_off(shards, waiting, slots=slots)
        except ConnectionError as error:  # of Ray Client, whose server is gone
            raise InputError(f"{self._name}: the connection to Ray is lost ({error}); go on with --resume") from None
        finally:
            waiting.cancel()
            if is_own:
                with suppress(Exception):
                    ray.shutdown()

    def _connect(self, slots: int) -> bool:
        """Connect unless the program has; says whether that was done here."""
        if ray.is_initialized():
            return False
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anyone
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        try:
            if self._name == "ray":
                _connect_or_start(slots, quiet)
            else:
                with warnings.catch_warnings(action="ignore"):  # a page on ports
                    ray.init(address=self._name, **quiet)
        except Exception as error:  # Ray raises Exception itself for a node that does not start
            reason = str(error).strip().split("\n")[0]
            if "connection timeout" in reason:  # also what Ray Client says of a server that wants a token
                reason += "; if the cluster asks for a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
            raise InputError(f"{self._name}: Ray does not start or answer: {reason}") from error
        return True


class _Waiting:
    """Tasks that were begun and have not come to their end."""

    def __init__(self, task: Callable[[Shard], Receipt]) -> None:
        # Ray itself begins a task again whose node is lost; what the function raises is no such thing.
        self._work = ray.remote(num_cpus=1, max_retries=MOST_ATTEMPTS - 1, retry_exceptions=False)(attempted)
        self._task = ray.put(task)  # once for all
        self._begun: dict[Any, tuple[Shard, int]] = {}

    def __len__(self) -> int:
        return len(self._begun)

    def begin(self, shard: Shard, attempt: int = 1) -> None:
        """Give a shard to Ray."""
        self._begun[self._work.remote(self._task, shard)] = shard, attempt

    def receipts(self) -> Iterator[Receipt]:
        """What has come to its end, after a short while at the latest; a lost shard is begun again."""
        finished, _ = ray.wait(list(self._begun), timeout=LOOK_AGAIN_SECONDS)
        for reference in finished:
            shard, attempt = self._begun.pop(reference)
            try:
                body = ray.get(reference)
            except RayError as error:
                if attempt == MOST_ATTEMPTS or isinstance(error, RayTaskError):
                    raise given_up(shard, "Ray", _cause(error)) from None
                self.begin(shard, attempt + 1)
                continue
            yield receipt_of(body)

    def cancel(self) -> None:
        """Stop everything that is under way."""
        for reference in self._begun:
            with suppress(Exception):  # the cluster may be gone already
                ray.cancel(reference, force=True)


def _connect_or_start(slots: int, quiet: dict[str, Any]) -> None:
    """Connect to the cluster that is named, or that runs here; else start one.

    Processes are looked at first: Ray waits for minutes for a cluster that was killed and left its address behind.
    """
    find: Callable[[], object] = services.find_gcs_addresses
    if os.environ.get("RAY_ADDRESS") or find():
        ray.init(address="auto", **quiet)
    else:
        _start(slots, quiet)


def _start(slots: int, quiet: dict[str, Any]) -> None:
    """Start Ray on this machine; on a busy one its first try may take longer than Ray waits."""
    for attempt in range(MOST_ATTEMPTS):
        try:
            with _on_loopback():
                ray.init(address="local", num_cpus=slots, include_dashboard=False, **quiet)
        except Exception:
            ray.shutdown()
            if attempt == MOST_ATTEMPTS - 1:
                raise
        else:
            return


@contextmanager
def _on_loopback() -> Iterator[None]:
    """A node that is started meanwhile binds loopback alone.

    Ray does so where it forms no clusters, as on macOS. Elsewhere it takes 127.0.0.1 for the address by which others
    reach this machine, and binds all addresses.
    """
    former, ray_constants.ENABLE_RAY_CLUSTER = ray_constants.ENABLE_RAY_CLUSTER, False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = former


def _cause(error: RayError) -> str:
    """The last line of what a task raised, or what Ray says of its worker."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if isinstance(error, RayTaskError) else lines[0]) if lines else type(error).__name__


def engine(name: str) -> RayEngine:
    """The engine for the address of a cluster."""
    return RayEngine(name)
