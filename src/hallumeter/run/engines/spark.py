"""Work on Spark: every shard is a job of one task, which calls the function through mapInArrow.

    spark                    in this process's session, or processes on this machine
    spark://HOST:PORT        a standalone cluster
    local-cluster[N,C,M]     N executors as processes of this machine, with C cores and M megabytes each
    sc://HOST:PORT           a Spark Connect server

hallumeter must be installed where the executors run. A job for each shard lets receipts arrive one by one, and Spark
begins a task again whose executor is lost.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from importlib import import_module, resources
from typing import Any

from hallumeter.errors import HallumeterError, InputError, MissingExtraError, SettingsError
from hallumeter.run.shards import Receipt, Shard

from .outcomes import LOOK_AGAIN_SECONDS, MOST_ATTEMPTS, attempted, given_up, receipt_of, worked_off

try:
    import pyarrow as pa
    from pyspark.sql import SparkSession
except ImportError:
    raise MissingExtraError("spark", "the engine spark") from None

# Of pandas, which is not used here. For good: jobs are begun by several threads, which share the list of filters.
warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
_LOG = "spark_log.properties"


class SparkEngine:
    """Calls a function on every shard by jobs on Spark; a session that is there already is used and left open."""

    def __init__(self, name: str) -> None:
        self._name = name

    def for_each(
        self, task: Callable[[Shard], Receipt], shards: Iterable[Shard], *, slots: int
    ) -> Generator[Receipt, None, None]:
        """The receipts, in any order; so many jobs at the same time."""
        slots = max(1, slots)
        session, is_own = self._session(slots)
        jobs = _Jobs(session, task, slots)
        try:
            yield from worked_off(shards, jobs, slots=slots)
        finally:
            jobs.end()
            if is_own:
                session.stop()

    def _session(self, slots: int) -> tuple[SparkSession, bool]:
        """A session, and whether it was made here."""
        active = SparkSession.getActiveSession()
        if active is not None:
            return active, False
        builder: Any = SparkSession.builder.appName("hallumeter")  # type: ignore[attr-defined, unused-ignore]
        if self._name.startswith("sc://"):
            builder = builder.remote(self._name)
        else:
            # A program that spark-submit has started has its master already.
            if self._name != "spark":
                builder = builder.master(self._name)
            elif "PYSPARK_GATEWAY_PORT" not in os.environ:
                builder = builder.master(f"local[{slots},{MOST_ATTEMPTS}]")
            for key, value in self._options().items():
                builder = builder.config(key, value)
        try:
            with _own_interruption():
                return builder.getOrCreate(), True
        except Exception as error:  # of py4j, of Java, of gRPC
            raise InputError(f"{self._name}: Spark does not start or answer: {_cause(str(error))}") from error

    def _options(self) -> dict[str, str]:
        log = resources.files(__package__) / _LOG
        options = {
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log}",
        }
        if "://" in self._name:
            return options
        # All of it runs here: by this Python, and nothing outside this machine has business with it. Spark takes
        # these two from the environment alone.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        return options | {"spark.ui.enabled": "false"}


class _Jobs:
    """Jobs that were begun, each waited for by a thread."""

    def __init__(self, session: SparkSession, task: Callable[[Shard], Receipt], slots: int) -> None:
        self._session, self._task = session, task
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="hallumeter spark")
        self._begun: set[Future[Receipt]] = set()

    def __len__(self) -> int:
        return len(self._begun)

    def begin(self, shard: Shard) -> None:
        """Give a shard to Spark."""
        self._begun.add(self._pool.submit(_done, self._session, self._task, shard))

    def receipts(self) -> Iterator[Receipt]:
        """What has come to its end, after a short while at the latest."""
        finished, self._begun = wait(self._begun, LOOK_AGAIN_SECONDS, return_when=FIRST_COMPLETED)
        for future in finished:
            yield future.result()

    def end(self) -> None:
        """Stop everything that is under way."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._begun:
            _cancel(self._session)
        self._pool.shutdown(wait=True)


@contextmanager
def _own_interruption() -> Iterator[None]:
    """Keep Ctrl-C what it was: Spark's own handler speaks to Java from wherever the program is, perhaps in a call."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


def _done(session: SparkSession, task: Callable[[Shard], Receipt], shard: Shard) -> Receipt:
    """A job of one task: a table of one row, made by working on a shard; begun again if its task was lost too often."""
    reason = ""
    for _ in range(MOST_ATTEMPTS):
        try:
            rows = session.range(0, 1, 1, 1).mapInArrow(_Work(task, shard), "body binary").collect()
            return receipt_of(bytes(rows[0][0]))
        except HallumeterError:
            raise
        except Exception as error:  # Spark's, or py4j's, when the JVM reports what Spark does not know
            reason = str(error)
            # Spark has begun a task several times that raises something: it would only do so again.
            if "PYTHON_EXCEPTION" in reason or "PythonException" in reason or _is_over(session):
                break
    raise given_up(shard, "Spark", _cause(reason)) from None


def _is_over(session: SparkSession) -> bool:
    """Whether there is nobody to give a job to any more."""
    with suppress(Exception):
        return bool(session.sparkContext._jsc.sc().isStopped())
    return False


def _cause(reason: str) -> str:
    """The line of a Java stack trace that says something."""
    lines = [line.strip() for line in reason.splitlines()]
    said = [line for line in lines if "Error: " in line or "Exception: " in line or "reason: " in line]
    cause = said[-1].removeprefix(": ") if said else lines[0] if lines else ""
    # All that Spark says of a master that it has asked for a minute.
    return "no master answers there" if "methods on a stopped SparkContext" in cause else cause


def _cancel(session: SparkSession) -> None:
    with suppress(Exception):  # it may be gone already
        if hasattr(session, "sparkContext"):
            session.sparkContext.cancelAllJobs()
            return
    with suppress(Exception):
        session.interruptAll()


class _Work:
    """A function of Arrow batches: one row comes in, the outcome of a shard goes out."""

    def __init__(self, task: Callable[[Shard], Receipt], shard: Shard) -> None:
        self._task, self._shard = task, shard

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                body = attempted(self._task, self._shard)
                yield pa.RecordBatch.from_arrays([pa.array([body], pa.binary())], names=["body"])


def engine(name: str) -> SparkEngine:
    """The engine for a master or a Connect server.

    Raises:
        SettingsError: Spark Connect needs packages that the extra does not install.
    """
    if name.startswith("sc://"):
        try:
            import_module("pyspark.sql.connect.session")
        except ImportError as error:
            reason = str(error).strip().split("\n")[0]
            raise SettingsError(
                f"{name}: Spark Connect needs more: pip install 'pyspark[connect]' ({reason})"
            ) from None
    return SparkEngine(name)
