"""Tasks go out, results come back: every one once, whatever happens on the way."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from hallumeter.run.lanes import LATER, Lane, run_lanes

Kept = list[tuple[str, int, int]]
PATIENCE = 30.0
"""Seconds after which what must happen has not happened, on the busiest machine."""


def squares(name: str, count: int, *, concurrency: int) -> Lane[int, int]:
    return Lane(name=name, tasks=iter(range(count)), work=lambda number: number**2, concurrency=concurrency)


def run(*lanes: Lane[int, int], stop: threading.Event | None = None) -> tuple[bool, Kept]:
    kept: Kept = []
    is_done = run_lanes(lanes, kept.extend, stop=stop or threading.Event())
    return is_done, kept


@pytest.mark.parametrize("concurrency", [0, 1, 3, 64])
def test_every_task_is_done_and_kept_once(concurrency: int) -> None:
    is_done, kept = run(squares("a", 1000, concurrency=concurrency))
    assert is_done
    assert sorted(kept) == [("a", number, number**2) for number in range(1000)]


def test_lanes_of_all_kinds_run_side_by_side() -> None:
    is_done, kept = run(
        *[squares(name, 200, concurrency=size) for name, size in (("here", 0), ("one", 1), ("ten", 10))]
    )
    assert is_done
    assert sorted(kept) == [(name, number, number**2) for name in ("here", "one", "ten") for number in range(200)]


def test_no_lanes_and_empty_lanes_are_done_without_keeping_anything() -> None:
    assert run() == (True, [])
    assert run(squares("a", 0, concurrency=4), squares("b", 0, concurrency=0)) == (True, [])


def test_a_lane_works_on_as_many_tasks_at_once_as_it_may_and_never_more() -> None:
    six, workers = threading.Barrier(6), set()

    def work(number: int) -> int:
        workers.add(threading.get_ident())
        six.wait(PATIENCE)  # fewer than six would wait in vain
        return number

    is_done, kept = run(Lane(name="a", tasks=iter(range(60)), work=work, concurrency=6))
    assert (is_done, len(kept), len(workers)) == (True, 60, 6)


def test_tasks_are_pulled_in_the_calling_thread_and_at_most_twice_the_concurrency_ahead() -> None:
    pulled, finished, most_ahead = 0, 0, 0
    pullers: set[int] = set()

    def tasks() -> Iterator[int]:
        nonlocal pulled, most_ahead
        for number in range(200):
            pullers.add(threading.get_ident())
            pulled += 1
            most_ahead = max(most_ahead, pulled - finished)
            yield number

    def work(number: int) -> int:
        nonlocal finished
        time.sleep(0.001)
        finished += 1  # one thread, so nothing is lost
        return number

    run(Lane(name="a", tasks=tasks(), work=work, concurrency=1))
    assert pullers == {threading.get_ident()}
    assert 1 <= most_ahead <= 2


def test_results_are_kept_in_the_calling_thread_while_other_work_goes_on() -> None:
    is_kept = [threading.Event() for _ in range(40)]
    keepers: set[int] = set()

    def keep(results: list[tuple[str, int, bool]]) -> None:
        keepers.add(threading.get_ident())
        for _, task, was_kept in results:
            assert was_kept
            is_kept[task].set()

    def work(number: int) -> bool:
        return number == 0 or is_kept[number - 1].wait(PATIENCE)

    run_lanes([Lane(name="a", tasks=iter(range(40)), work=work, concurrency=4)], keep, stop=threading.Event())
    assert keepers == {threading.get_ident()}
    assert is_kept[-1].is_set()


def test_quick_results_share_a_keep() -> None:
    sizes: list[int] = []
    run_lanes([squares("a", 20_000, concurrency=64)], lambda rows: sizes.append(len(rows)), stop=threading.Event())
    assert sum(sizes) == 20_000
    assert len(sizes) < 1000
    assert max(sizes) <= 64


def test_no_more_is_begun_and_not_kept_than_may_be_worked_on_at_once() -> None:
    begun, kept, most = [], 0, 0

    def work(number: int) -> int:
        nonlocal most
        begun.append(number)
        most = max(most, len(begun) - kept)
        return number

    def keep(rows: Kept) -> None:
        nonlocal kept
        time.sleep(0.001)
        kept += len(rows)

    run_lanes([Lane(name="a", tasks=iter(range(500)), work=work, concurrency=3)], keep, stop=threading.Event())
    assert kept == 500
    assert most <= 3


@pytest.mark.parametrize("concurrency", [0, 4])
def test_stop_begins_nothing_new_and_keeps_what_was_begun(concurrency: int) -> None:
    stop, begun = threading.Event(), []

    def work(number: int) -> int:
        begun.append(number)
        if len(begun) >= 10:
            stop.set()
        time.sleep(0.002)
        return number

    is_done, kept = run(Lane(name="a", tasks=iter(range(1000)), work=work, concurrency=concurrency), stop=stop)
    assert not is_done
    assert sorted(begun) == sorted(task for _, task, _ in kept)
    assert 10 <= len(begun) < 20


def test_stop_from_another_thread_is_seen_while_nothing_arrives() -> None:
    stop, both_and_stopper = threading.Event(), threading.Barrier(3)

    def wait(number: int) -> int:
        both_and_stopper.wait(PATIENCE)
        stop.wait(PATIENCE)
        return number

    def stop_both() -> None:
        both_and_stopper.wait(PATIENCE)
        stop.set()

    stopper = threading.Thread(target=stop_both)
    stopper.start()
    is_done, kept = run(Lane(name="a", tasks=iter(range(100)), work=wait, concurrency=2), stop=stop)
    stopper.join()
    assert not is_done
    assert len(kept) == 2


def test_a_stop_after_the_last_task_was_begun_changes_nothing() -> None:
    stop, has_ended = threading.Event(), threading.Event()

    def tasks() -> Iterator[int]:
        yield 7
        has_ended.set()

    def work(number: int) -> int:
        has_ended.wait(PATIENCE)
        stop.set()
        return number

    assert run(Lane(name="a", tasks=tasks(), work=work, concurrency=1), stop=stop) == (True, [("a", 7, 7)])


class OutOfMoneyError(Exception):
    pass


@pytest.mark.parametrize("concurrency", [0, 4])
def test_an_error_in_the_work_ends_all_lanes_after_keeping_what_was_begun(concurrency: int) -> None:
    begun, lock = [], threading.Lock()

    def work(number: int) -> int:
        with lock:
            begun.append(number)
        if number == 20:
            raise OutOfMoneyError
        time.sleep(0.002)
        return number

    def tasks(start: int) -> Iterator[int]:
        return iter(range(start, start + 500))

    kept: Kept = []
    lanes = [Lane(name=str(start), tasks=tasks(start), work=work, concurrency=concurrency) for start in (0, 1000)]
    with pytest.raises(OutOfMoneyError):
        run_lanes(lanes, kept.extend, stop=threading.Event())
    assert {task for _, task, _ in kept} == set(begun) - {20}
    assert len(begun) < 200


def test_an_error_in_the_tasks_is_raised_after_keeping_what_was_begun() -> None:
    def tasks() -> Iterator[int]:
        yield from range(5)
        raise OutOfMoneyError

    kept: Kept = []
    begun = []

    def work(number: int) -> int:
        begun.append(number)
        time.sleep(0.01)
        return number

    with pytest.raises(OutOfMoneyError):
        run_lanes([Lane(name="a", tasks=tasks(), work=work, concurrency=8)], kept.extend, stop=threading.Event())
    assert {task for _, task, _ in kept} == set(begun)


def test_an_error_at_work_ends_a_lane_that_has_tasks_waiting() -> None:
    def work(number: int) -> int:
        if number == 3:
            raise OutOfMoneyError
        return number

    with pytest.raises(OutOfMoneyError):
        run_lanes(
            [Lane(name="a", tasks=iter(range(50)), work=work, concurrency=1)], lambda _: None, stop=threading.Event()
        )


def test_an_error_in_keep_is_raised_at_once_and_the_threads_end() -> None:
    def keep(_: Kept) -> None:
        raise OutOfMoneyError

    with pytest.raises(OutOfMoneyError):
        run_lanes([squares("lost", 1000, concurrency=4)], keep, stop=threading.Event())
    wait_until(lambda: not any("lost" in thread.name for thread in threading.enumerate()))


def test_threads_end_with_the_work_and_are_no_more_than_there_were_tasks() -> None:
    most = 0

    def work(number: int) -> int:
        nonlocal most
        time.sleep(0.01)
        most = max(most, sum("few" in thread.name for thread in threading.enumerate()))
        return number

    run(Lane(name="few", tasks=iter(range(3)), work=work, concurrency=64))
    assert 1 <= most <= 3
    wait_until(lambda: not any("few" in thread.name for thread in threading.enumerate()))


@pytest.mark.long
def test_an_interrupt_leaves_at_once_keeps_what_has_arrived_and_the_program_ends() -> None:
    program = """
import threading, time, _thread
from hallumeter.run.lanes import LATER, Lane, run_lanes
def work(number):
    time.sleep(0.01 if number < 5 else 60)
    return number
kept = []
def interrupt():
    while len(kept) < 5:
        time.sleep(0.01)
    _thread.interrupt_main()
threading.Thread(target=interrupt).start()
try:
    run_lanes([Lane(name="a", tasks=iter(range(9)), work=work, concurrency=4)], kept.extend, stop=threading.Event())
except KeyboardInterrupt:
    print("left", sorted(task for _, task, _ in kept))
"""
    start = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "left [0, 1, 2, 3, 4]\n", "")
    assert time.monotonic() - start < 50  # and not the 60 seconds of the work


@pytest.mark.long
def test_memory_does_not_grow_with_the_number_of_tasks() -> None:
    def peak(count: int) -> int:
        tracemalloc.start()
        run_lanes([squares("a", count, concurrency=4)], lambda _: None, stop=threading.Event())
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1000)  # what the interpreter keeps for itself
    assert peak(50_000) < 1_000_000


def wait_until(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("concurrency", [0, 1, 3])
def test_a_lane_may_have_tasks_that_only_results_bring(concurrency: int) -> None:
    waiting, under_way, kept = [1], 0, []

    def tasks() -> Iterator[int]:
        nonlocal under_way
        while waiting or under_way:
            if waiting:
                under_way += 1
                yield waiting.pop()
            else:
                yield LATER

    def keep(results: Kept) -> None:
        nonlocal under_way
        for _, task, result in results:
            under_way -= 1
            kept.append(task)
            if task < 20:
                waiting.append(result)

    lane = Lane(name="a", tasks=tasks(), work=lambda number: number + 1, concurrency=concurrency)
    assert run_lanes([lane], keep, stop=threading.Event())
    assert kept == list(range(1, 21))


def test_a_lane_that_waits_for_nothing_ends_undone() -> None:
    lane = Lane(name="a", tasks=iter([LATER, 1]), work=lambda number: number, concurrency=1)
    kept: Kept = []
    assert not run_lanes([lane], kept.extend, stop=threading.Event())
    assert kept == []
