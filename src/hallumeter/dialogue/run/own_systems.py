"""Systems of the user's own: a Python function, or a program that reads and writes lines of JSON."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import IO

import msgspec

from hallumeter.errors import SettingsError
from hallumeter.models.prices import Spending
from hallumeter.models.protocol import ProviderFault, Usage
from hallumeter.plugins import function_named

from .systems import Answer, Turn, answer_of, question_for

_LONGEST_LINE = 16 << 20
_SECONDS_TO_END = 2.0
"""That a program has, after its input was closed, before it is killed."""
_LAST_WORDS = 300
"""Characters of what a program wrote to its standard error, for the message."""


class FunctionResponder:
    """Asks a function, called as ``function(messages, patient)`` with a list of mappings and a mapping.

    It returns a text, or a mapping with `text` and perhaps `usage`, `metrics` and `token_logprobs`. What it raises is
    a failure of that turn. One that takes too long is left alone: a thread cannot be ended, so it goes on unheard.
    """

    def __init__(self, path: str, *, timeout: float, spending: Spending) -> None:
        """Import the function.

        Raises:
            SettingsError: There is no such module or function.
        """
        self._who = f"python:{path}"
        self._function: Callable[..., object] = function_named(path)
        self._timeout = timeout
        self._spending = spending

    def respond(self, turn: Turn) -> Answer:
        """What the function says."""
        self._spending.begin()
        answer = answer_of(self._said(turn), self._who)
        _count(self._spending, answer)
        return answer

    def close(self) -> None:
        """Nothing is held."""

    def _said(self, turn: Turn) -> object:
        results: SimpleQueue[tuple[object, BaseException | None]] = SimpleQueue()
        question = question_for(turn)

        def call() -> None:
            try:
                said = self._function(question["messages"], question["patient"])
                if inspect.iscoroutine(said):
                    said.close()
                    raise TypeError("the function is asynchronous; give one that returns the answer itself")
                results.put((said, None))
            except BaseException as error:
                results.put((None, error))

        threading.Thread(target=call, name=f"hallumeter {self._who}", daemon=True).start()
        try:
            said, error = results.get(timeout=self._timeout)
        except Empty:
            message = f"no answer from {self._who} within {self._timeout:g} seconds"
            raise ProviderFault("timeout", message) from None
        if error is not None:
            cause = " ".join(f"{type(error).__name__}: {error}".split())
            raise ProviderFault("system_error", f"{self._who} raised {cause}") from error
        return said


class ProgramResponder:
    """Asks copies of a program, as many as there are questions at once.

    A copy is kept for the next question. One that takes too long, or that ends, is replaced.
    """

    def __init__(self, command: tuple[str, ...], *, timeout: float, spending: Spending) -> None:
        """Start nothing yet."""
        self._command = command
        self._who = f"command:{command[0]}"
        self._timeout = timeout
        self._spending = spending
        self._idle: list[_Program] = []
        self._lock = threading.Lock()

    def respond(self, turn: Turn) -> Answer:
        """What the program says."""
        self._spending.begin()
        line = msgspec.json.encode(question_for(turn)) + b"\n"
        answer = answer_of(self._said(line), self._who)
        _count(self._spending, answer)
        return answer

    def close(self) -> None:
        """End every copy."""
        with self._lock:
            programs, self._idle = self._idle, []
        for program in programs:
            program.end()

    def _said(self, line: bytes) -> object:
        program, is_used = self._taken()
        reply = program.ask(line, self._timeout)
        if reply is None and is_used and program.is_over:
            # It may be of the kind that answers once and ends: a fresh copy has not heard this question.
            program.end()
            program = self._started()
            reply = program.ask(line, self._timeout)
        if reply is None:
            raise self._fault(program)
        with self._lock:
            self._idle.append(program)
        try:
            return msgspec.json.decode(reply)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            start = reply[:80].decode("utf-8", "replace")
            raise ProviderFault("bad_reply", f"{self._who} answered {start!r}; expected a line of JSON") from None

    def _fault(self, program: _Program) -> ProviderFault:
        if not program.is_over:
            program.end(is_killed=True)
            return ProviderFault("timeout", f"no answer from {self._who} within {self._timeout:g} seconds")
        code = program.end()
        words = program.last_words
        ending = f"; its last words: {words}" if words else ""
        return ProviderFault("exited", f"{self._who} ended with code {code} before it answered{ending}")

    def _taken(self) -> tuple[_Program, bool]:
        """A copy that waits, or a fresh one; and whether it has answered before."""
        while True:
            with self._lock:
                program = self._idle.pop() if self._idle else None
            if program is None:
                return self._started(), False
            if not program.is_over:
                return program, True
            program.end()

    def _started(self) -> _Program:
        try:
            return _Program(self._command)
        except OSError as error:
            raise SettingsError(
                f"{self._command[0]}: cannot be started ({error.strerror}); give the path of a program"
            ) from error


class _Program:
    """One copy at work."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the program is ended)
        try:
            self._process = subprocess.Popen(  # noqa: S603 (the user names the program)
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C is for us, and lets it finish what it is asked
            )
        except BaseException:
            self._errors.close()
            raise
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self.last_words = ""
        self._is_silent = False
        self._writing: threading.Thread | None = None
        threading.Thread(target=self._listen, name=f"hallumeter {command[0]}", daemon=True).start()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, or will not say anything any more."""
        return self._is_silent or self._process.poll() is not None

    def ask(self, line: bytes, timeout: float) -> bytes | None:
        """Its next line; None when none came in time, or ever will."""
        # A program that reads nothing must not hold us up: what does not fit into the pipe is written beside.
        self._writing = threading.Thread(target=self._write, args=(line,), daemon=True)
        self._writing.start()
        try:
            reply = self._lines.get(timeout=timeout)
        except Empty:
            return None
        if reply is None:
            self._is_silent = True
        return reply

    def end(self, *, is_killed: bool = False) -> int:
        """End it; gives its exit code. What it has started itself is ended too where it has to be killed."""
        is_writing = self._writing is not None and self._writing.is_alive()
        if not is_killed and not is_writing:
            self._close_input()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_SECONDS_TO_END)
        if self._process.poll() is None:
            if hasattr(os, "killpg"):
                with suppress(OSError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        code = self._process.wait()
        if self._writing is not None:
            self._writing.join(_SECONDS_TO_END)
        self._close_input()
        with suppress(OSError, ValueError):
            size = self._errors.seek(0, os.SEEK_END)
            self._errors.seek(max(0, size - 4 * _LAST_WORDS))
            self.last_words = " ".join(self._errors.read().decode("utf-8", "replace").split())[-_LAST_WORDS:]
        self._errors.close()
        return code

    def _close_input(self) -> None:
        with suppress(OSError, ValueError):  # what was not written yet nobody will read
            assert self._process.stdin is not None
            self._process.stdin.close()

    def _write(self, line: bytes) -> None:
        with suppress(OSError, ValueError):  # it has ended, which its silence tells
            assert self._process.stdin is not None
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _listen(self) -> None:
        """Hand on every line until there are no more."""
        assert self._process.stdout is not None
        with suppress(OSError, ValueError), self._process.stdout as stream:
            while line := stream.readline(_LONGEST_LINE):
                if line.strip():
                    self._lines.put(line)
        self._lines.put(None)


def _count(spending: Spending, answer: Answer) -> None:
    """Count what a function or a program says that its answer took."""
    usage = answer.usage
    spending.add(Usage(usage.input_tokens, usage.output_tokens), usage.estimated_cost_usd)
