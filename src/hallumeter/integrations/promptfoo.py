"""promptfoo: a Python assertion. Nothing of promptfoo is imported, as it calls Python from Node.

A file beside `promptfooconfig.yaml` makes the assertion:

    from hallumeter.integrations.promptfoo import get_assert

and a test names it: ``{type: python, value: "file://supported.py", config: {judge: embedded}}``.

>>> context = {"vars": {"context": "It is 330 m high."}, "config": {"judge": "rules"}}
>>> result = get_assert("The tower is 999 m high.", context)
>>> result["pass"], result["namedScores"]
(False, {'supported_rate': 0.0})
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hallumeter.claims.checked import CheckedClaim

from .checked_answer import SUPPORTED_RATE, CheckedAnswer, Checker, CheckerOptions, PartsReader

__all__ = ["get_assert"]

MAP = "map"


def get_assert(output: object, context: Mapping[str, Any]) -> dict[str, Any]:
    """Grade an output: it passes if the evidence supports every claim.

    Evidence is a variable of the test under a usual name (``context``, ``documents``, ...). `config` of the assertion
    takes `judge`, `preset`, `threshold`, `on_refusal` and `map` (``{evidence: vars.docs}``). What cannot be measured
    fails, with the reason; promptfoo wants a score even then and gets 0, but there is no named score to average.
    """
    config = dict(context.get("config") or {})
    reader = PartsReader(config.pop(MAP, None))
    options: CheckerOptions = config  # type: ignore[assignment]  # Checker names what it does not know
    values = {"output": output, "vars": context.get("vars")}
    return _graded(Checker(options)(reader.parts(values, answer="output", asked=("vars",))))


def _graded(answer: CheckedAnswer) -> dict[str, Any]:
    rate = answer.supported_rate
    passed = answer.passed is True
    return {
        "pass": passed,
        "score": float(passed) if rate is None else rate,
        "reason": answer.explanation,
        "namedScores": {} if rate is None else {SUPPORTED_RATE: rate},
        "componentResults": [_component(claim) for claim in answer.check.findings if claim.is_decided],
        "metadata": answer.metadata(),
    }


def _component(claim: CheckedClaim) -> dict[str, Any]:
    supported = not claim.is_unsupported
    said = "supported" if supported else claim.why or "not supported"
    return {"pass": supported, "score": float(supported), "reason": f"{claim.text}: {said}"}
