"""Single keys from a terminal, or lines from a pipe."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

QUIT = "q"
ESCAPE, END = "\x1b", "\x04"


@contextmanager
def opened_keys() -> Iterator[Callable[[], str]]:
    """A function that waits for the next key, small; at the end of the input it gives a q.

    In a terminal what is typed ahead waits its turn: the terminal hands out keys for as long as this is open. In a
    pipe a key is the first character of a line.
    """
    if not sys.stdin.isatty():
        yield _key_of_a_line
    elif sys.platform == "win32":
        yield lambda: click.getchar().lower()
    else:
        import termios
        import tty

        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        try:
            tty.setcbreak(terminal, termios.TCSADRAIN)
            yield _Typed(terminal).key
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _key_of_a_line() -> str:
    line = sys.stdin.readline()
    return line.rstrip("\r\n")[:1].lower() if line else QUIT


class _Typed:
    """Keys in the order in which they were pressed."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._waiting = ""

    def key(self) -> str:
        if not self._waiting:
            self._waiting = os.read(self._terminal, 1024).decode(errors="replace") or END
        key, self._waiting = self._waiting[0], self._waiting[1:]
        if key == ESCAPE:
            # An arrow or a function key says more than one letter, and some of these would be answers.
            self._waiting = ""
        return QUIT if key == END else key.lower()
