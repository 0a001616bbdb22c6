"""Work on this machine: in this process, or in several.

The processes have two pipes each and one item at a time, and this process has no thread beside its own. The standard
library's pools feed theirs by threads, which on Python 3.11 can wait forever once a process has been killed.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice, repeat
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, NamedTuple, TypeVar

from hallumeter.errors import InputError

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

MOST_DEATHS = 3
"""Processes that may die at one item before the run ends."""
_DIED = (
    "{item}: {tries} processes were killed at it, one after the other, perhaps for want of memory; use more shards, "
    "or fewer --workers, and go on with --resume"
)
_SECONDS_TO_END = 30.0
"""A process that is asked to end may be writing."""
_AHEAD = 4
"""Results per process that may wait for an earlier one: few enough that memory stays flat."""


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_order(
    function: Callable[[_Item], _Result], items: Iterable[_Item], *, workers: int = 1
) -> Generator[_Result, None, None]:
    """The function's results for the items, in their order, computed in so many processes.

    Items are taken from the iterable only as fast as they are worked on. With one worker everything happens in this
    process. The function, the items and the results must be picklable for more.
    """
    if workers <= 1:
        yield from map(function, items)
        return
    pool = _Pool(function, workers)
    try:
        yield from pool.results(iter(items))
    finally:
        pool.end()


class _Worker(NamedTuple):
    """A process, and this end of the two pipes to it. They are no sockets: nothing here opens one."""

    process: multiprocessing.process.BaseProcess
    items: Connection[Any, Any]
    answers: Connection[Any, Any]


class _Pool(Generic[_Item, _Result]):
    """Processes that wait for an item each, started when there is one for them."""

    def __init__(self, function: Callable[[_Item], _Result], most: int, *, is_copied: bool = True) -> None:
        self._function = function
        self._most = most
        self._workers: list[_Worker] = []
        # Copies of this process, where that is safe, start at once and need no guard in the user's script.
        self._context = multiprocessing.get_context("fork" if is_copied and sys.platform == "linux" else "spawn")

    def _started(self) -> _Worker:
        """One more process."""
        items_there, items = self._context.Pipe(duplex=False)
        answers, answers_there = self._context.Pipe(duplex=False)
        known = [end for worker in self._workers for end in (worker.items, worker.answers)]
        is_copied = self._context.get_start_method() == "fork"
        process = self._context.Process(  # type: ignore[attr-defined]
            target=_work,
            args=(self._function, items_there, answers_there),
            kwargs={"inherited": (*known, items, answers) if is_copied else ()},
            daemon=True,
        )
        with _ignoring_interruption():
            process.start()
        items_there.close()
        answers_there.close()
        self._workers.append(_Worker(process, items, answers))
        return self._workers[-1]

    def results(self, items: Iterator[_Item]) -> Iterator[_Result]:
        """Hand out items, take results, give them back in the order of the items."""
        numbers = iter(enumerate(items))
        busy: dict[_Worker, int] = {}
        done: dict[int, tuple[_Result, Exception | None]] = {}
        following = 0
        while True:
            room = min(self._most - len(busy), _AHEAD * self._most - len(busy) - len(done))
            for number, item in islice(numbers, max(0, room)):
                worker = next((worker for worker in self._workers if worker not in busy), None) or self._started()
                with _naming_a_killed_process():
                    worker.items.send(item)
                busy[worker] = number
            if not busy:
                return
            ready = wait([worker.answers for worker in busy])
            for worker in [worker for worker in busy if worker.answers in ready]:
                with _naming_a_killed_process():
                    done[busy.pop(worker)] = worker.answers.recv()
            while following in done:
                result, fault = done.pop(following)
                if fault is not None:
                    raise fault
                yield result
                following += 1

    def results_of_survivors(self, items: Iterator[_Item]) -> Iterator[_Result]:
        """Results in any order; an item whose process died is done again by another, a few times."""
        waiting: list[tuple[_Item, int]] = []
        busy: dict[_Worker, tuple[_Item, int]] = {}
        while True:
            while len(busy) < self._most and (found := waiting.pop() if waiting else next(zip(items, repeat(1)), None)):
                worker = next((worker for worker in self._workers if worker not in busy), None) or self._started()
                busy[worker] = found
                with suppress(OSError):  # it is dead, which is noticed below
                    worker.items.send(found[0])
            if not busy:
                return
            ready = wait([worker.answers for worker in busy])
            for worker in [worker for worker in busy if worker.answers in ready]:
                item, tries = busy.pop(worker)
                answer = self._answer(worker)
                if answer is None:
                    waiting.append((item, _next_try(item, tries)))
                elif answer[1] is not None:
                    raise answer[1]
                else:
                    yield answer[0]

    def _answer(self, worker: _Worker) -> tuple[_Result, Exception | None] | None:
        """What a process answered: a result or a fault; None when it has died."""
        try:
            answer: tuple[_Result, Exception | None] = worker.answers.recv()
        except (EOFError, OSError):
            self._bury(worker)
            return None
        return answer

    def _bury(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.items.close()
        worker.answers.close()
        worker.process.join()

    def end(self) -> None:
        """End all processes, whatever they are doing."""
        for worker in self._workers:
            # A signal that comes just before a process begins to wait for its pipe is seen only when the wait is over.
            worker.items.close()
            worker.answers.close()
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(_SECONDS_TO_END)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


@contextmanager
def _ignoring_interruption() -> Iterator[None]:
    """A process that is started meanwhile ignores Ctrl-C from its first moment, not only once it has come to work."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


def _next_try(item: object, tries: int) -> int:
    if tries == MOST_DEATHS:
        raise InputError(_DIED.format(item=item, tries=tries))
    return tries + 1


class LocalEngine:
    """Processes on this machine, each at one shard; a shard whose process died is done again."""

    def for_each(
        self, task: Callable[[_Item], _Result], shards: Iterable[_Item], *, slots: int
    ) -> Generator[_Result, None, None]:
        """The results, in any order."""
        # Started anew, not copied: clients of object storage have threads, which a copy of this process would lack.
        pool = _Pool(task, max(1, slots), is_copied=False)
        try:
            yield from pool.results_of_survivors(iter(shards))
        finally:
            pool.end()


def engine(_: str) -> LocalEngine:
    """The engine of this machine."""
    return LocalEngine()


@contextmanager
def _naming_a_killed_process() -> Iterator[None]:
    """A pipe whose other end is gone had a process there that was killed."""
    try:
        yield
    except (EOFError, OSError) as error:
        advice = "try again with one worker (--workers 1)"
        raise InputError(f"a process was killed at its work, perhaps for want of memory; {advice}") from error


def _work(
    function: Callable[[_Item], _Result],
    items: Connection[Any, Any],
    answers: Connection[Any, Any],
    *,
    inherited: Sequence[Connection[Any, Any]],
) -> None:
    """What a process does until its pipe is closed. An interruption is the business of the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Ended from outside, it still ends what it has started itself, and removes its temporary files.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for other in inherited:
        other.close()
    while True:
        try:
            item = items.recv()
        except EOFError:
            return
        answer: tuple[_Result | None, Exception | None]
        try:
            answer = function(item), None
        except KeyboardInterrupt:
            return  # it was asked to end, and has stopped at its work
        except Exception as error:
            error.add_note(traceback.format_exc())
            answer = None, error
        try:
            answers.send(answer)
        except OSError:
            return  # nobody waits for it any more
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            answers.send((None, RuntimeError(f"{answer!r:.500} cannot be sent between processes: {error}")))
