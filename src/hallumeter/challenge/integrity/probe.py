"""Put the cases to an evaluator that runs in a process of its own, under a time limit, and show what came of it."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Literal

import msgspec
from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.report.table import Cell, Table, left, markdown, terminal, terminal_width
from hallumeter.text.normalize import printable

from .cases import Case, CaseResult, IntegrityResult, Outcome, all_cases, judged, summed
from .worker import Call, answered

FORMS = ("table", "markdown", "json")
_HEADS = ("case", "returned", "with an error", "opinion", "why")


def result_text(result: IntegrityResult, form: str) -> str:
    """A result as ``table``, ``markdown`` or ``json``."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"
    if form == "markdown":
        return "\n".join([_head(result), "", *markdown(_table(result), escape=_plain)]) + "\n"
    return terminal([_table(result)], **terminal_width())


def _head(result: IntegrityResult) -> str:
    unhandled = f" ({result.unhandled} by an error)" if result.unhandled else ""
    not_run = f" · {result.not_run} not run" if result.not_run else ""
    never = "" if result.measured else " · never gave a number where there was something to measure"
    name = printable(result.evaluator)
    return f"{name}: {result.honest} honest{unhandled} · {result.dishonest} dishonest{not_run}{never}"


def _table(result: IntegrityResult) -> Table:
    styles = {True: "green", False: "red", None: "dim"}
    rows: list[list[str | Cell]] = [
        [
            *(case.title, case.returned, case.returned_on_wrong or ""),
            Cell(printable(case.opinion), styles[case.is_honest]),
            case.why,
        ]
        for case in result.cases
    ]
    return Table(left(*_HEADS, wrap="anywhere"), rows, _head(result))


def _plain(text: str) -> str:
    """Text that ends no cell and opens no tag; lists and numbers stay as the evaluator wrote them."""
    return printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


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
        for case in chosen_cases(settings.only):
            if progress is not None:
                progress(case.title)
            results.append(_result(case, evaluator))
    return summed(settings.name, tuple(results))


def chosen_cases(names: Sequence[str]) -> list[Case]:
    """The cases of these names, or all.

    Raises:
        SettingsError: There is no such case.
    """
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
            spoken = [line.decode("utf-8", "replace").strip() for line in self._errors if line.strip()]
            return Outcome("crashed", said=spoken[-1][:_LAST_WORDS] if spoken else "it ended without a word")
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


def integrity(
    evaluator: str | Callable[..., object] | None = None,
    *,
    judge: str | None = None,
    cases: Iterable[str] = (),
    timeout_seconds: float = 120.0,
) -> IntegrityResult:
    """Ask an evaluator about the cases that evaluators get wrong, and see whether it says so.

    Args:
        evaluator: A function of a response and a list of evidence, or its name as ``module:function``. One that is
            named runs in a process of its own; one that is given runs here, each call in a thread.
        judge: One of our judges instead, by its name.
        cases: Names of cases; none for all.
        timeout_seconds: Of one call.

    Raises:
        SettingsError: There is no such evaluator, or no such case.

    >>> def always_right(response, evidence, question=None):
    ...     return 1.0
    >>> found = integrity(always_right, cases=["empty_response", "number_changed"])
    >>> found.honest, [case.opinion for case in found.cases]
    (0, ['silent', 'blind'])
    """
    if (evaluator is None) == (judge is None):
        raise SettingsError("integrity: give either an evaluator or a judge")
    if callable(evaluator):
        settings = _settings("python", _name_of(evaluator), cases=cases, timeout_seconds=timeout_seconds)
        results = [
            _result_of_function(case, evaluator, settings.timeout_seconds) for case in chosen_cases(settings.only)
        ]
        return summed(settings.name, tuple(results))
    if judge is not None:
        return check_integrity(_settings("judge", judge, cases=cases, timeout_seconds=timeout_seconds))
    return check_integrity(_settings("python", str(evaluator), cases=cases, timeout_seconds=timeout_seconds))


def _settings(kind: str, name: str, *, cases: Iterable[str], timeout_seconds: float) -> IntegritySettings:
    only = (cases,) if isinstance(cases, str) else tuple(cases)
    return IntegritySettings(kind=kind, name=name, timeout_seconds=timeout_seconds, only=only)  # type: ignore[arg-type]


def _name_of(function: Callable[..., object]) -> str:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', None) or 'function'}:{name}"


def _result_of_function(case: Case, evaluator: Callable[..., object], seconds: float) -> CaseResult:
    asked = [case.response] if case.wrong is None else [case.response, case.wrong]
    outcomes = [_asked(case, response, evaluator, seconds=seconds) for response in asked]
    return judged(case, outcomes[0], outcomes[1] if len(outcomes) > 1 else None)


def _asked(case: Case, response: str | int | None, evaluator: Callable[..., object], *, seconds: float) -> Outcome:
    """One call in a thread, which is left behind if it takes too long."""
    call = Call(response, list(case.evidence), case.question, case.reply)
    outcomes: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(answered(evaluator, call)), daemon=True)
    thread.start()
    thread.join(seconds)
    return outcomes[0] if outcomes else Outcome("timeout", said=f"no answer in {seconds:g} s")
