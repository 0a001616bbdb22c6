"""Ctrl-C, SIGTERM and SIGHUP as a wish to stop, so that work under way can be finished and kept."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
)  # SIGHUP comes when the terminal is closed; SIGBREAK is Ctrl-Break, on Windows only
_ECHO_SECONDS = 0.2
"""Programs that start others (uv, npm) pass Ctrl-C on, though the terminal sent it to all: one wish, two signals."""


class Stop(threading.Event):
    """Set when the user, or the system, wants the work to stop."""

    signal_number: int | None = None
    """The first signal that came; a program that ends by it has exit code 128 + signal_number."""


@contextmanager
def stopping_on_signals() -> Iterator[Stop]:
    """Turn the first SIGINT, SIGTERM or SIGHUP into an event, and a second one into KeyboardInterrupt.

    A second signal within 0.2 seconds counts as an echo of the first. Inside another such block, in any thread, it is
    the event of that block. Outside the main thread no signal can be caught: the event is then set by nobody but the
    caller. A signal that is ignored (`nohup`) stays ignored. The former handlers come back at the end.
    """
    current = signal.getsignal(signal.SIGINT)
    if isinstance(current, _Listener):
        yield current.stop
        return
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    listener = _Listener(stop)
    former = {number: signal.getsignal(number) for number in _SIGNALS}
    # None is a handler that was not set from Python, and could not be put back.
    caught = [number for number in _SIGNALS if former[number] not in (None, signal.SIG_IGN)]
    try:
        for number in caught:
            signal.signal(number, listener)
        yield stop
    finally:
        for number in caught:
            signal.signal(number, former[number])


class _Listener:
    """A signal handler."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop
        self._first = 0.0

    def __call__(self, number: int, _: FrameType | None) -> None:
        now = time.monotonic()
        if self.stop.signal_number is None:
            self._first = now
            self.stop.signal_number = number
            # The main thread may be inside the event and hold its lock just now: only another thread may wait for it.
            _thread.start_new_thread(self.stop.set, ())
        elif now - self._first > _ECHO_SECONDS:
            raise KeyboardInterrupt
