"""How fast one model may be asked: requests and tokens per minute, pauses that all threads share, fewer at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from msgspec import Struct

from hallumeter.errors import SettingsError

from .protocol import RateLimits

# Waits that a stop cuts short, on a clock that no one can turn back.


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


_LONGEST_LOOK_AHEAD = 60.0
"""Seconds; a header may tell when all is as at first, which is later than when there is room for one more."""
_LOOK_AGAIN_SECONDS = 0.1
"""While too many are under way: a stop must be noticed even when none of them ends."""


_ABOVE_ZERO = ("requests_per_minute", "tokens_per_minute", "most_attempts", "timeout_seconds", "first_delay_seconds")


class PaceSettings(Struct, frozen=True):
    """How fast, and how often."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    most_attempts: int = 5
    """How often a call is made in all, the first included."""
    timeout_seconds: float = 60
    """For one attempt; given to the provider by whoever makes it."""
    longest_wait_seconds: float = 300
    """A model that asks for a longer pause is given up."""
    first_delay_seconds: float = 0.5
    """The longest wait before the second attempt, where the model asks for none; it doubles with each further one."""

    def __post_init__(self) -> None:
        for name in _ABOVE_ZERO:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SettingsError(f"{name} is {value}; expected a number above 0")


class Meter(Protocol):
    """So many units a minute; who comes too early is told when to come."""

    def reserve(self, amount: float, now: float) -> float:
        """The moment from which this amount may go; everything later comes after it."""
        ...

    def correct(self, amount: float) -> None:
        """Count so many more (or fewer) than were reserved."""
        ...


class OwnMeter:
    """So many units a minute, evenly; who comes too early is told when to come."""

    def __init__(self, per_minute: float) -> None:
        self._seconds_each = 60.0 / per_minute
        self._free_at = float("-inf")

    def reserve(self, amount: float, now: float) -> float:
        """The moment from which this amount may go; everything later comes after it."""
        start = max(now, self._free_at)
        self._free_at = start + amount * self._seconds_each
        return start

    def correct(self, amount: float) -> None:
        """Count so many more (or fewer) than were reserved."""
        self._free_at += amount * self._seconds_each


class Pace:
    """The pace of one model; shared by all threads that ask it."""

    def __init__(
        self, settings: PaceSettings, waiting: Waiting, meter_of: Callable[[str, float], Meter] | None = None
    ) -> None:
        """Pace by meters of its own, or by those that `meter_of` gives for a unit and a number per minute."""
        self._waiting = waiting
        made = meter_of or (lambda _, per_minute: OwnMeter(per_minute))
        requests, tokens = settings.requests_per_minute, settings.tokens_per_minute
        self._requests = None if requests is None else made("requests", requests)
        self._tokens = None if tokens is None else made("tokens", tokens)
        self._paused_until = float("-inf")
        self._at_once: float | None = None
        self._under_way = 0
        self._slowed_at = float("-inf")
        self._refused_at_once = float("inf")
        self._room = threading.Condition()

    @property
    def at_once(self) -> float | None:
        """How many calls may be under way together; None while the model has not asked to slow down."""
        return self._at_once

    @contextmanager
    def turn(self, tokens: float) -> Iterator[float]:
        """Wait for one's turn and take it; gives the moment at which it began.

        Raises:
            Interrupted: The run was stopped meanwhile.
        """
        self._wait_for_meters(tokens)
        self._take_place()
        try:
            yield self._waiting.now()
        finally:
            with self._room:
                self._under_way -= 1
                self._room.notify()

    def pause(self, seconds: float) -> None:
        """Let no thread begin a call for so long."""
        with self._room:
            self._paused_until = max(self._paused_until, self._waiting.now() + seconds)

    def slow_down(self, began: float) -> None:
        """Halve how many calls may be under way.

        Refusals of calls that `began` before the last halving do not count: they tell of the pace before it.
        """
        with self._room:
            if began < self._slowed_at:
                return
            self._refused_at_once = min(self._under_way, self._at_once or self._under_way)
            self._at_once = max(1.0, self._refused_at_once / 2)
            self._slowed_at = self._waiting.now()

    def speed_up(self) -> None:
        """After a reply: allow one more at once for each round of replies, or for four where it was refused before."""
        with self._room:
            if self._at_once is not None:
                step = 1.0 if self._at_once + 1 < self._refused_at_once else 0.25
                self._at_once += step / self._at_once
                if self._at_once > self._refused_at_once:
                    self._refused_at_once = float("inf")  # it was a passing weakness
                self._room.notify()

    def used(self, estimate: float, tokens: float | None) -> None:
        """Put the tokens that a call really took in place of the estimate."""
        if self._tokens is not None and tokens is not None:
            with self._room:
                self._tokens.correct(tokens - estimate)

    def heed(self, limits: RateLimits) -> None:
        """Pause when the provider says that nothing is left."""
        for left, reset in (
            (limits.requests_left, limits.requests_reset_seconds),
            (limits.tokens_left, limits.tokens_reset_seconds),
        ):
            if left is not None and left <= 0 and reset is not None:
                self.pause(min(reset, _LONGEST_LOOK_AHEAD))

    def _wait_for_meters(self, tokens: float) -> None:
        with self._room:
            now = self._waiting.now()
            starts = [
                meter.reserve(amount, now)
                for meter, amount in ((self._requests, 1.0), (self._tokens, tokens))
                if meter is not None
            ]
        if starts and max(starts) > now:
            self._waiting.wait(max(starts) - now)

    def _take_place(self) -> None:
        while (seconds := self._seconds_to_wait()) is not None:
            self._waiting.wait(seconds)

    def _seconds_to_wait(self) -> float | None:
        """None when a place was free and is taken now."""
        with self._room:
            pause = self._paused_until - self._waiting.now()
            if pause > 0:
                return pause
            if self._at_once is None or self._under_way < max(1, int(self._at_once)):
                self._under_way += 1
                return None
            self._room.wait(_LOOK_AGAIN_SECONDS)
            return 0.0
