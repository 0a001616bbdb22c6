"""Bounded concurrency: tasks go out to threads, results come back to one thread, which keeps them in groups."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

import msgspec

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")

_SECONDS_BETWEEN_KEEPS = 0.02
"""Results wait this long for company, so that many share one transaction; no longer when all threads wait for it."""
_MOST_KEPT_AT_ONCE = 1000
_SECONDS_BETWEEN_LOOKS = 0.1
"""A wait without end could not be interrupted on Windows, and would not see the stop event."""
_MOST_PULLED_AT_ONCE = 16
"""Pulling may be slow, and the other lanes wait meanwhile."""
LATER: Any = object()
"""Among the tasks of a lane: there is none just now, and there may be one when the results under way are kept."""
_END: Any = object()
_SKIPPED: Any = object()


class Lane(msgspec.Struct, Generic[_Task, _Result], frozen=True, kw_only=True):
    """Work of one kind, with threads of its own."""

    name: str
    """Tells the results of the lanes apart."""
    tasks: Iterator[_Task]
    """Pulled in the thread that calls run_lanes, never far ahead of the work; `LATER` stands for none just now."""
    work: Callable[[_Task], _Result]
    """Called in the lane's threads."""
    concurrency: int
    """How many tasks are worked on and not kept yet at once; 0 works in the thread that calls run_lanes.

    A reply that was paid for and is not kept is lost when the program is killed, so it takes the place of a call.
    """


def run_lanes(
    lanes: Sequence[Lane[_Task, _Result]],
    keep: Callable[[list[tuple[str, _Task, _Result]]], None],
    *,
    stop: threading.Event,
) -> bool:
    """Work off all lanes side by side; True when every task was done, False when `stop` was set before.

    `keep` is called in this thread with the results that have arrived, in order of arrival. When `stop` is set no task
    is begun any more, and what is being worked on is finished and kept. The first exception from `work` or from
    `tasks` does the same and is then raised again; one from `keep` is raised at once. Threads are daemons: an
    interrupt leaves without waiting for them.

    >>> lane = Lane(name="squares", tasks=iter(range(4)), work=lambda number: number**2, concurrency=2)
    >>> kept = []
    >>> run_lanes([lane], kept.extend, stop=threading.Event())
    True
    >>> sorted(kept)
    [('squares', 0, 0), ('squares', 1, 1), ('squares', 2, 4), ('squares', 3, 9)]
    """
    traffic: _Traffic[_Task, _Result] = _Traffic(keep, stop)
    served = [_ServedLane(lane, traffic) for lane in lanes]
    try:
        while traffic.advance(served):
            pass
    except KeyboardInterrupt:
        traffic.collect(0)
        traffic.keep_all()  # replies that were paid for are not thrown away
        raise
    finally:
        traffic.is_closed = True
        for lane in served:
            lane.dismiss()
    if traffic.error is not None:
        raise traffic.error
    return all(lane.is_exhausted and not lane.has_skipped for lane in served)


class _Traffic(Generic[_Task, _Result]):
    """What goes to and fro between the calling thread and all others."""

    def __init__(self, keep: Callable[[list[tuple[str, _Task, _Result]]], None], stop: threading.Event) -> None:
        self._keep = keep
        self._stop = stop
        self._arrived: list[tuple[_ServedLane[_Task, _Result], _Task, _Result]] = []
        self._keep_at = time.monotonic()
        self.results: SimpleQueue[tuple[_ServedLane[_Task, _Result], _Task, Any, BaseException | None]] = SimpleQueue()
        self.is_closed = False
        self.error: BaseException | None = None

    def is_over(self) -> bool:
        """Whether no task may be begun any more."""
        return self.is_closed or self._stop.is_set()

    def fail(self, error: BaseException) -> None:
        """Remember the first error; nothing new is begun after it."""
        self.is_closed = True
        self.error = self.error or error

    def advance(self, lanes: list[_ServedLane[_Task, _Result]]) -> bool:
        """Send tasks out, take results in, keep them when it is time; False when nothing is left to do."""
        is_busy_here = False
        for lane in lanes:
            is_busy_here |= lane.advance()
        in_flight = sum(lane.in_flight for lane in lanes)
        if in_flight:
            self.collect(0 if is_busy_here else self._patience())
        if self._arrived and (self._is_time() or any(lane.is_full for lane in lanes)):
            self.keep_all()
        if in_flight or is_busy_here:
            return True
        may_go_on = bool(self._arrived)  # what is kept may bring tasks that a lane had none of before
        self.keep_all()
        return may_go_on

    def take(self, lane: _ServedLane[_Task, _Result], task: _Task, result: _Result) -> None:
        """Accept a result; it is kept soon."""
        if not self._arrived:
            self._keep_at = time.monotonic() + _SECONDS_BETWEEN_KEEPS
        self._arrived.append((lane, task, result))
        lane.unkept += 1

    def keep_all(self) -> None:
        """Hand everything that has arrived to `keep`, once."""
        arrived, self._arrived = self._arrived, []
        if arrived:
            self._keep([(lane.name, task, result) for lane, task, result in arrived])
            for lane, _, _ in arrived:
                lane.unkept -= 1
                lane.room.release()

    def _is_time(self) -> bool:
        return len(self._arrived) >= _MOST_KEPT_AT_ONCE or time.monotonic() >= self._keep_at

    def _patience(self) -> float:
        """Seconds until there is something to do even if no result arrives."""
        return max(0.0, self._keep_at - time.monotonic()) if self._arrived else _SECONDS_BETWEEN_LOOKS

    def collect(self, seconds: float) -> None:
        """Take in what has arrived, waiting for the first result at most this long."""
        results = self.results
        try:
            returned = results.get(timeout=seconds) if seconds else results.get_nowait()
            while True:
                lane, task, result, error = returned
                lane.in_flight -= 1
                if error is not None:
                    self.fail(error)
                elif result is _SKIPPED:
                    lane.has_skipped = True
                else:
                    self.take(lane, task, result)
                if results.empty() or len(self._arrived) >= _MOST_KEPT_AT_ONCE:
                    return
                returned = results.get_nowait()
        except Empty:
            return


class _ServedLane(Generic[_Task, _Result]):
    """A lane with its threads and the tasks on their way to them."""

    def __init__(self, lane: Lane[_Task, _Result], traffic: _Traffic[_Task, _Result]) -> None:
        self.name = lane.name
        self.in_flight = 0
        self.unkept = 0
        """Results that have arrived and are not kept yet."""
        self.room = threading.Semaphore(lane.concurrency)
        """For calls that were begun and are not kept."""
        self.is_exhausted = False
        self.has_skipped = False
        self._lane = lane
        self._traffic = traffic
        self._waiting: SimpleQueue[_Task] = SimpleQueue()
        self._threads = 0

    @property
    def is_full(self) -> bool:
        """Whether nothing can be begun before results are kept."""
        return self.unkept >= self._lane.concurrency > 0

    def advance(self) -> bool:
        """Begin what may be begun; True when more can be begun without waiting for a result."""
        if self._lane.concurrency == 0:
            return self._work_here()
        for _ in range(_MOST_PULLED_AT_ONCE):
            if self.in_flight >= 2 * self._lane.concurrency:
                return False
            task = self._pull()
            if task is _END or task is LATER:
                return False
            if self._threads <= self.in_flight and self._threads < self._lane.concurrency:
                threading.Thread(target=self._serve, name=f"hallumeter {self.name}", daemon=True).start()
                self._threads += 1
            self.in_flight += 1
            self._waiting.put(task)
        return True

    def dismiss(self) -> None:
        """Let the threads go as soon as they are idle."""
        for _ in range(self._threads):
            self._waiting.put(_END)
            self.room.release()  # one that waits for a result to be kept would wait forever after an error

    def _pull(self) -> Any:
        if self.is_exhausted or self._traffic.is_over():
            return _END
        try:
            return next(self._lane.tasks)
        except StopIteration:
            self.is_exhausted = True
        except Exception as error:
            self._traffic.fail(error)
        return _END

    def _work_here(self) -> bool:
        task = self._pull()
        if task is _END or task is LATER:
            return False
        try:
            result = self._lane.work(task)
        except Exception as error:
            self._traffic.fail(error)
        else:
            self._traffic.take(self, task, result)
        return True

    def _serve(self) -> None:
        """The life of one thread."""
        traffic, work = self._traffic, self._lane.work
        while (task := self._waiting.get()) is not _END:
            self.room.acquire()
            if traffic.is_over():
                self.room.release()
                traffic.results.put((self, task, _SKIPPED, None))
                continue
            try:
                result = work(task)
            except BaseException as error:
                traffic.is_closed = True
                self.room.release()
                traffic.results.put((self, task, None, error))
            else:
                traffic.results.put((self, task, result, None))
