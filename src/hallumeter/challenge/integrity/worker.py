"""The process in which an evaluator runs: one call per line comes in, one outcome per line goes out.

Started by `probing`; what the evaluator prints goes to the standard error, so that it cannot be taken for an outcome.
"""

from __future__ import annotations

import inspect
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import msgspec

from hallumeter.errors import HallumeterError
from hallumeter.plugins import function_named

from .cases import Outcome
from .own import evaluator_of

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
