"""Work in several processes: in order, no faster than it is asked for, and honest about what breaks."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator

import pytest

from hallumeter.errors import InputError, MissingExtraError, RecordError
from hallumeter.run.engines.local import available_cores, map_in_order


def slowly_squared(number: int) -> int:
    """Early items take longer, so that late ones are done first."""
    time.sleep(0.03 if number % 4 == 0 else 0)
    return number * number


def process_of(_: int) -> int:
    return os.getpid()


def broken(number: int) -> int:
    if number == 3:
        raise RecordError("the fourth item is bad")
    return number


def needy(_: int) -> int:
    raise MissingExtraError("ocr", "reading images")


def killed(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


class Counted:
    """Numbers that know how many of them were taken."""

    def __init__(self, size: int) -> None:
        self.taken = 0
        self._size = size

    def __iter__(self) -> Iterator[int]:
        for number in range(self._size):
            self.taken += 1
            yield number


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_come_in_the_order_of_the_items(workers: int) -> None:
    assert list(map_in_order(slowly_squared, range(40), workers=workers)) == [number**2 for number in range(40)]
    assert list(map_in_order(slowly_squared, [], workers=workers)) == []


@pytest.mark.parametrize(("workers", "ahead"), [(1, 1), (2, 9)])
def test_items_are_taken_only_as_fast_as_they_are_worked_on(workers: int, ahead: int) -> None:
    items = Counted(1000)
    results = map_in_order(slowly_squared, items, workers=workers)
    assert items.taken == 0
    for done in range(1, 20):
        next(results)
        assert done <= items.taken <= done + ahead
    results.close()
    assert items.taken <= 19 + ahead


def test_one_worker_stays_in_this_process_and_more_do_not() -> None:
    assert set(map_in_order(process_of, range(5), workers=1)) == {os.getpid()}
    assert os.getpid() not in set(map_in_order(process_of, range(20), workers=2))


@pytest.mark.parametrize("workers", [1, 2])
def test_what_the_function_raises_arrives(workers: int) -> None:
    results = map_in_order(broken, range(10), workers=workers)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(RecordError, match="the fourth item is bad"):
        next(results)
    with pytest.raises(MissingExtraError, match="hallumeter"):
        list(map_in_order(needy, range(10), workers=workers))


@pytest.mark.parametrize("workers", [1, 2])
def test_what_the_items_raise_arrives(workers: int) -> None:
    def items() -> Iterator[int]:
        yield 1
        raise InputError("no more")

    with pytest.raises(InputError, match="no more"):
        list(map_in_order(slowly_squared, items(), workers=workers))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed by a signal of POSIX")
def test_the_death_of_a_process_is_said_in_one_line() -> None:
    with pytest.raises(
        InputError, match=r"^a process was killed at its work, .*; try again with one worker \(--workers 1\)$"
    ):
        list(map_in_order(killed, range(10), workers=2))


def test_there_is_a_core_at_least() -> None:
    assert 1 <= available_cores() <= (os.cpu_count() or 1)


def test_without_affinity_all_cores_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert available_cores() == (os.cpu_count() or 1)


def killing_after_sending(item: int) -> int:
    """Answers, and is gone before the next item comes."""
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGKILL)).start()
    return item


def test_a_process_that_dies_between_two_items_is_noticed() -> None:
    def items() -> Iterator[int]:
        yield from (1, 2)
        time.sleep(0.5)
        yield from (3, 4)

    with pytest.raises(InputError, match="was killed"):
        list(map_in_order(killing_after_sending, items(), workers=2))


def unsendable(_: int) -> object:
    return lambda: None


def test_what_cannot_be_sent_back_is_named() -> None:
    with pytest.raises(RuntimeError, match="cannot be sent between processes"):
        list(map_in_order(unsendable, range(3), workers=2))


def test_a_fault_of_our_own_keeps_the_place_where_it_happened() -> None:
    with pytest.raises(RecordError) as caught:
        list(map_in_order(broken, range(10), workers=2))
    assert "in broken" in "".join(caught.value.__notes__)


def sleeping_in_a_child(number: int) -> int:
    if number:
        subprocess.run(["sleep", "60"], check=False)
    return number


def test_what_a_process_started_ends_with_it() -> None:
    results = map_in_order(sleeping_in_a_child, range(3), workers=2)
    assert next(results) == 0
    time.sleep(0.3)
    results.close()
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 60" not in listed.splitlines()


def deaf(number: int) -> int:
    """As a process that a signal reaches just before it begins to wait: it sees it only when the wait is over."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return number


def test_processes_end_even_if_they_do_not_see_the_signal() -> None:
    ended = threading.Event()

    def work() -> None:
        assert list(map_in_order(deaf, range(8), workers=2)) == list(range(8))
        ended.set()

    threading.Thread(target=work, daemon=True).start()
    assert ended.wait(30), "a process waits for an item that never comes"
