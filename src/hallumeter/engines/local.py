"""Work on this machine: in this process, or in several."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from hallumeter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_AHEAD = 4
"""Items per process that are on their way: enough to keep it busy, few enough that memory stays flat."""


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_order(
    function: Callable[[_Item], _Result], items: Iterable[_Item], *, workers: int = 1
) -> Iterator[_Result]:
    """The function's results for the items, in their order, computed in so many processes.

    Items are taken from the iterable only as fast as they are worked on. With one worker everything happens in this
    process. The function and the items must be picklable for more.
    """
    if workers <= 1:
        yield from map(function, items)
        return
    queue = iter(items)
    pool = ProcessPoolExecutor(workers, mp_context=_context(), initializer=_die_quietly)
    waiting: deque[Future[_Result]] = deque()
    try:
        waiting.extend(pool.submit(function, item) for item in islice(queue, workers * _AHEAD))
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(pool.submit(function, item) for item in islice(queue, 1))
            yield result
    except BrokenProcessPool as error:
        message = "a process that measured pages was killed, perhaps for want of memory; try again with --workers 1"
        raise InputError(message) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _die_quietly() -> None:
    """A process that is interrupted ends at once; the one that the user sees says so, and only that one."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _context() -> multiprocessing.context.BaseContext:
    """Copies of this process where that is safe: they start at once and need no guard in the user's script."""
    return multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
