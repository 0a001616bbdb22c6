"""The process in which an evaluator runs: one call per line comes in, one outcome per line goes out.

The evaluator may be one of our own judges: it gives the share of checked claims that the evidence supports. What an
evaluator prints goes to the standard error, so that it cannot be taken for an outcome.
"""

from __future__ import annotations

import inspect
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import msgspec

from hallumeter.claims.audit.commands import audit
from hallumeter.claims.judges.by_name import is_language_model, judge_named
from hallumeter.claims.judges.language_model import LanguageModelJudge
from hallumeter.errors import HallumeterError, SettingsError
from hallumeter.models.protocol import Provider
from hallumeter.models.scripted import ScriptedProvider
from hallumeter.plugins import function_named
from hallumeter.records.claim import Label
from hallumeter.records.judging import Judge

from .cases import Outcome

Evaluator = Callable[..., object]
_UNCHECKED = frozenset({"no_evidence"})
"""Reasons of verdicts that say that nothing was there to check against."""


def evaluator_of(judge: str) -> Evaluator:
    """The evaluator that a judge makes; only a language model can be given a reply."""
    return _language_model(judge) if is_language_model(judge) else _local(judge_named(judge, provider_of=_none))


def _none(name: str) -> Provider:
    raise SettingsError(f"no judge is called {name!r}")


def _local(judge: Judge) -> Evaluator:
    def evaluate(response: object, evidence: Sequence[str], question: str | None = None) -> dict[str, object]:
        return supported_share(response, evidence, question, judge=judge)

    return evaluate


def _language_model(judge: str) -> Evaluator:
    def evaluate(
        response: object,
        evidence: Sequence[str],
        question: str | None = None,
        *,
        ask: Callable[[str], str] | None = None,
    ) -> dict[str, object]:
        if ask is None:
            return supported_share(response, evidence, question, judge=judge)
        played = ScriptedProvider(lambda request: ask(request.messages[-1].content))
        return supported_share(response, evidence, question, judge=LanguageModelJudge(played))

    return evaluate


def supported_share(
    response: object, evidence: Sequence[str], question: str | None = None, *, judge: str | Judge = "embedded"
) -> dict[str, object]:
    """Audit one answer: ``score`` is the supported share of its claims, None with a ``reason`` if one was not checked.

    >>> supported_share("Hello!", ["The Seine is 777 km long."])
    {'score': None, 'reason': 'no claim was found'}
    """
    run = audit([{"id": "answer", "response": response, "evidence": list(evidence), "question": question}], judge=judge)
    verdicts = [verdict for finding in run.findings() for verdict in finding.verdicts]
    checked = [item for item in verdicts if item.label is not Label.UNDECIDED and item.reason not in _UNCHECKED]
    unmeasured = run.summary.counts.claims - len(checked)
    if checked and not unmeasured:
        return {"score": sum(verdict.label is Label.SUPPORTED for verdict in checked) / len(checked)}
    reasons = [failure.message for failure in run.failures] + [item.reason or "undecided" for item in verdicts]
    return {"score": None, "reason": "; ".join(dict.fromkeys(reasons)) or "no claim was found"}


LONGEST_MESSAGE = 160
_SECONDS_BETWEEN_LOOKS = 1.0
_SCORES = ("score", "value", "rate", "probability", "faithfulness")
_REASONS = ("reason", "undefined", "error", "explanation", "message")


class Call(msgspec.Struct, frozen=True):
    """What an evaluator is asked."""

    response: str | int | None
    evidence: list[str]
    question: str | None
    reply: str | None = None


def outcome_of(returned: object) -> Outcome:
    """What a returned value says.

    >>> outcome_of({"score": None, "reason": "no claims"}).shown
    'undefined: no claims'
    """
    if returned is None:
        return Outcome("nothing")
    if isinstance(returned, Real):
        value = float(returned)
        if math.isnan(value):
            return Outcome("nan")
        return Outcome("number", value) if math.isfinite(value) else Outcome("unreadable", said=str(value))
    found = returned if isinstance(returned, Mapping) else _attributes(returned)
    name = next((name for name in _SCORES if name in found), None)
    if name is None:
        return Outcome("unreadable", said=_shown(f"a {type(returned).__name__}"))
    inner = outcome_of(found[name]) if not isinstance(found[name], Mapping) else Outcome("unreadable", said="a mapping")
    reason = next((str(found[key]) for key in _REASONS if found.get(key)), None)
    return msgspec.structs.replace(inner, said=_shown(reason)) if reason and inner.kind == "nothing" else inner


def _attributes(value: object) -> Mapping[str, object]:
    return {name: getattr(value, name) for name in (*_SCORES, *_REASONS) if hasattr(value, name)}


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_MESSAGE else line[: LONGEST_MESSAGE - 3] + "..."


def answered(evaluator: Callable[..., object], call: Call) -> Outcome:
    """Make one call."""
    extras: dict[str, Any] = {}
    parameters = inspect.signature(evaluator).parameters
    if "question" in parameters:
        extras["question"] = call.question
    if call.reply is not None:
        if "ask" not in parameters:
            return Outcome("not_run")
        extras["ask"] = lambda *_, **__: call.reply
    try:
        return outcome_of(evaluator(call.response, call.evidence, **extras))
    except Exception as error:  # whatever an evaluator raises is what it has to say
        return Outcome("raised", said=_shown(f"{type(error).__name__}: {error}"))


def main(kind: str, name: str) -> None:
    """Answer calls until there are no more."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        evaluator = evaluator_of(name) if kind == "judge" else function_named(name)
        inspect.signature(evaluator)
    except (HallumeterError, ValueError, TypeError) as error:
        _say(out, Outcome("unreadable", said=str(error)))
        return
    _say(out, Outcome("nothing"))
    decoder = msgspec.json.Decoder(Call)
    for line in sys.stdin.buffer:
        _say(out, answered(evaluator, decoder.decode(line)))


def _end_with(parent: int) -> None:
    """An evaluator that hangs must not outlive whoever asked it."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _say(out: Any, outcome: Outcome) -> None:
    out.write(msgspec.json.encode(outcome) + b"\n")
    out.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
