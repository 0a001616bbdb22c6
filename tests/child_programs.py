"""The command line in processes of their own, for tests that interrupt and kill it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


class Child:
    """A command in a process, and a session, of its own."""

    def __init__(
        self, *words: object, folder: Path, environment: dict[str, str], seconds: float, before: Sequence[str] = ()
    ) -> None:
        self._seconds = seconds
        self.process = subprocess.Popen(
            [*before, sys.executable, "-m", "hallumeter", *map(str, words)],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> tuple[int, str, str]:
        """The exit code, and what it said."""
        try:
            out, err = self.process.communicate(timeout=self._seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode, out, err


@contextmanager
def started(
    *words: object, folder: Path, environment: dict[str, str], seconds: float, before: Sequence[str] = ()
) -> Iterator[Child]:
    """A command that does not outlive its test; `before` are the words of a program that starts it."""
    program = Child(*words, folder=folder, environment=environment, seconds=seconds, before=before)
    try:
        yield program
    finally:
        if program.process.poll() is None:
            program.process.kill()
        program.process.communicate()
