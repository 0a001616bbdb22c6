"""Signals become a wish to stop: real signals, sent to real processes."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from hallumeter.run import stopping
from hallumeter.run.stopping import Stop, stopping_on_signals

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send these signals to one process")

PRELUDE = """
import signal, sys, threading, time
from hallumeter.run.stopping import stopping_on_signals
def say(*words):
    print(*words, flush=True)
"""


class Program:
    """A Python program that says where it is, line by line."""

    def __init__(self, body: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + body], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.patience = threading.Timer(60, self.process.kill)  # a program that hangs fails its test
        self.patience.start()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.patience.cancel()
        self.process.kill()
        self.process.communicate()

    def expect(self, line: str) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == line + "\n"

    def end(self) -> int:
        return self.process.wait(60)


CAUGHT = [signal.SIGINT, signal.SIGTERM]
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
    CAUGHT.append(signal.SIGHUP)  # under nohup it is ignored, and stays so


@posix_only
@pytest.mark.parametrize("number", CAUGHT)
def test_the_first_signal_sets_the_event_and_the_work_is_finished(number: signal.Signals) -> None:
    body = """
with stopping_on_signals() as stop:
    say("working")
    while not stop.is_set():
        time.sleep(0.01)
    say("finishing")
    time.sleep(0.1)
say("ended by", stop.signal_number)
sys.exit(128 + stop.signal_number)
"""
    with Program(body) as program:
        program.expect("working")
        program.process.send_signal(number)
        program.expect("finishing")
        program.expect(f"ended by {number.value}")
        assert program.end() == 128 + number


@posix_only
def test_a_second_signal_interrupts() -> None:
    body = """
try:
    with stopping_on_signals() as stop:
        say("working")
        stop.wait()
        say("finishing")
        time.sleep(60)
except KeyboardInterrupt:
    say("interrupted")
"""
    with Program(body) as program:
        program.expect("working")
        program.process.send_signal(signal.SIGINT)
        program.expect("finishing")
        time.sleep(0.3)  # the first came before that, so that this is no echo of it
        program.process.send_signal(signal.SIGTERM)
        program.expect("interrupted")
        assert program.end() == 0


def test_an_echo_of_the_first_signal_does_not_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 1000.0
    monkeypatch.setattr(stopping, "time", SimpleNamespace(monotonic=lambda: seconds))
    with stopping_on_signals() as stop:
        signal.raise_signal(signal.SIGINT)
        seconds += 0.19
        signal.raise_signal(signal.SIGINT)
        assert stop.wait(30)
        seconds += 0.02
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)


@pytest.mark.long
@posix_only
def test_signals_never_lock_a_program_that_is_always_inside_the_event() -> None:
    # The main thread holds the lock of the event most of the time; a handler that waited for it would wait for ever.
    body = """
for turn in range(100):
    with stopping_on_signals() as stop:
        threading.Timer(0.002, signal.raise_signal, [signal.SIGINT]).start()
        while not stop.wait(0):
            pass
say("never locked")
"""
    with Program(body) as program:
        program.expect("never locked")
        assert program.end() == 0


@posix_only
def test_an_ignored_signal_stays_ignored_and_former_handlers_come_back() -> None:
    body = """
signal.signal(signal.SIGINT, signal.SIG_IGN)
with stopping_on_signals() as stop:
    signal.raise_signal(signal.SIGINT)
    time.sleep(0.05)
    say(stop.is_set())
    signal.raise_signal(signal.SIGTERM)
    say(stop.wait(5))
say(signal.getsignal(signal.SIGINT) == signal.SIG_IGN, signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)
signal.raise_signal(signal.SIGTERM)
"""
    with Program(body) as program:
        for line in ("False", "True", "True True"):
            program.expect(line)
        assert program.end() == -signal.SIGTERM


def test_a_block_inside_a_block_shares_its_event_also_in_a_thread() -> None:
    inside: list[Stop] = []

    def look() -> None:
        with stopping_on_signals() as stop:
            inside.append(stop)

    with stopping_on_signals() as outer:
        look()
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        listening = signal.getsignal(signal.SIGINT)
    assert inside == [outer, outer]
    assert signal.getsignal(signal.SIGINT) is not listening


def test_outside_the_main_thread_the_event_is_there_and_signals_are_left_alone() -> None:
    former = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def look() -> None:
        with stopping_on_signals() as stop:
            seen.extend((stop.is_set(), signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [False, former]


def test_it_works_inside_a_running_event_loop() -> None:
    async def cell() -> bool:
        with stopping_on_signals() as stop:
            signal.raise_signal(signal.SIGINT)
            return stop.wait(5)

    former = signal.getsignal(signal.SIGINT)
    assert asyncio.run(cell())
    assert signal.getsignal(signal.SIGINT) == former


def test_an_error_in_the_block_puts_the_handlers_back() -> None:
    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with pytest.raises(ZeroDivisionError), stopping_on_signals():
        _ = 1 / 0
    assert {number: signal.getsignal(number) for number in former} == former
