"""The integrity of an evaluator, examined from Python."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from hallumeter.errors import SettingsError

from .cases import Case, CaseResult, IntegrityResult, Outcome, judged, summed
from .probe import IntegritySettings, check_integrity, chosen_cases
from .worker import Call, answered


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
        results = [_result(case, evaluator, settings.timeout_seconds) for case in chosen_cases(settings.only)]
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


def _result(case: Case, evaluator: Callable[..., object], seconds: float) -> CaseResult:
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
