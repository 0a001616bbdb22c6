"""What is told to whoever waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Watch(Protocol):
    """Somebody who waits for a run."""

    def begin(self, what: str, *, total: int, done: int = 0, spent: Callable[[], float] | None = None) -> None:
        """A step begins; so much of it was done in an earlier run. `spent` tells the dollars spent so far."""
        ...

    def done(self, more: int, *, failures: int = 0, cached: int = 0) -> None:
        """Some more was done."""
        ...


class NoWatch:
    """Nobody waits."""

    def begin(self, what: str, *, total: int, done: int = 0, spent: Callable[[], float] | None = None) -> None:
        """Say nothing."""

    def done(self, more: int, *, failures: int = 0, cached: int = 0) -> None:
        """Say nothing."""
