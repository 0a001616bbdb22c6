"""Waits that a stop cuts short, on a clock that no one can turn back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Interrupted(Exception):  # noqa: N818 (nothing went wrong)
    """The run was asked to stop while a call still waited for its turn."""


class Waiting:
    """Lets time pass, until it is over or the run is stopped."""

    def __init__(
        self,
        stop: threading.Event | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        """Wait on `stop`, or with `sleep` where that is given."""
        self._stop = threading.Event() if stop is None else stop
        self._clock = clock
        self._sleep = sleep

    @property
    def is_stopped(self) -> bool:
        """Whether the run was asked to stop."""
        return self._stop.is_set()

    def now(self) -> float:
        """Seconds since some moment; unlike the time of day it never jumps."""
        return self._clock()

    def wait(self, seconds: float) -> None:
        """Return when so many seconds have passed.

        Raises:
            Interrupted: The run was stopped before.
        """
        if not self.is_stopped and seconds > 0:
            if self._sleep is None:
                self._stop.wait(seconds)
            else:
                self._sleep(seconds)
        if self.is_stopped:
            raise Interrupted("the run was stopped before this call had its turn")
