"""Put the cases to an evaluator that runs in a process of its own, under a time limit."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO, Literal

import msgspec
from msgspec import Struct

from hallumeter.errors import SettingsError

from .cases import Case, CaseResult, IntegrityResult, Outcome, all_cases, judged, summed

EvaluatorKind = Literal["judge", "python"]
_WORKER = "hallumeter.challenge.integrity.worker"
_START_SECONDS = 60.0
"""Beside the time limit, for an evaluator that imports a large library."""
_LAST_WORDS = 160


class IntegritySettings(Struct, frozen=True, kw_only=True):
    """Who is examined, and how patiently."""

    kind: EvaluatorKind
    name: str
    """Of a function, as ``module:function``, or of a judge."""
    timeout_seconds: float = 120.0
    """Of one call."""
    only: tuple[str, ...] = ()
    """Names of cases; none for all."""

    def __post_init__(self) -> None:
        if not 0 < self.timeout_seconds < threading.TIMEOUT_MAX:
            raise SettingsError(f"the time limit is {self.timeout_seconds:g} s; expected a number above 0")


def check_integrity(settings: IntegritySettings, progress: Callable[[str], None] | None = None) -> IntegrityResult:
    """Ask an evaluator about every case.

    Raises:
        SettingsError: There is no such evaluator, or no such case.
    """
    with _Evaluator(settings) as evaluator:
        evaluator.start()
        results = []
        for case in _chosen(settings.only):
            if progress is not None:
                progress(case.title)
            results.append(_result(case, evaluator))
    return summed(settings.name, tuple(results))


def _chosen(names: Sequence[str]) -> list[Case]:
    cases = {case.name: case for case in all_cases()}
    unknown = [name for name in names if name not in cases]
    if unknown:
        raise SettingsError(f"no case is called {unknown[0]!r}; expected one of {', '.join(cases)}")
    return [case for name, case in cases.items() if not names or name in names]


def _result(case: Case, evaluator: _Evaluator) -> CaseResult:
    outcome = evaluator.ask(case, case.response)
    return judged(case, outcome, None if case.wrong is None else evaluator.ask(case, case.wrong))


class _Evaluator:
    """The process of an evaluator, begun anew when it hangs or ends."""

    def __init__(self, settings: IntegritySettings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._errors: list[bytes] = []

    def __enter__(self) -> _Evaluator:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def start(self) -> None:
        """Begin the process, and wait until the evaluator is there."""
        command = [sys.executable, "-m", _WORKER, self._settings.kind, self._settings.name]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)  # noqa: S603 (no shell)
        self._lines, self._errors = queue.Queue(), []
        threading.Thread(target=_read, args=(self._process.stdout, self._lines.put), daemon=True).start()
        threading.Thread(target=_read, args=(self._process.stderr, self._errors.append), daemon=True).start()
        outcome = self._next(self._settings.timeout_seconds + _START_SECONDS)
        if outcome.kind != "nothing":
            self._stop()
            raise SettingsError(outcome.said or f"{self._settings.name}: it could not be started")

    def ask(self, case: Case, response: str | int | None) -> Outcome:
        """One call."""
        if self._process is None:
            self.start()
        assert self._process is not None
        assert self._process.stdin is not None
        call = {"response": response, "evidence": case.evidence, "question": case.question, "reply": case.reply}
        try:
            self._process.stdin.write(msgspec.json.encode(call) + b"\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it has ended, which the next lines find out
        outcome = self._next(self._settings.timeout_seconds)
        if outcome.kind in ("timeout", "crashed"):
            self._stop()
        return outcome

    def _next(self, seconds: float) -> Outcome:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            return Outcome("timeout", said=f"no answer in {seconds:g} s")
        if not line:
            return Outcome("crashed", said=_last_words(self._errors))
        return msgspec.json.decode(line, type=Outcome)

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._process = None


def _read(stream: IO[bytes] | None, keep: Callable[[bytes], object]) -> None:
    """Line after line, and an empty one at the end."""
    assert stream is not None
    try:
        for line in stream:
            keep(line)
    except ValueError:
        pass  # closed while it was read
    keep(b"")


def _last_words(lines: Sequence[bytes]) -> str:
    spoken = [line.decode("utf-8", "replace").strip() for line in lines if line.strip()]
    return spoken[-1][:_LAST_WORDS] if spoken else "it ended without a word"
