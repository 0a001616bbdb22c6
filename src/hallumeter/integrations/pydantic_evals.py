"""Pydantic Evals: an evaluator with an assertion and a score."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hallumeter.claims.checked import OnRefusal
from hallumeter.claims.settings import DEFAULT_JUDGE

from .checked_answer import UNSUPPORTED_RATE, Checker, PartsReader, missing

try:
    from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext
except ImportError as error:
    raise missing("pydantic-evals", "Pydantic Evals") from error

__all__ = ["JudgeFailedError", "SupportedClaims"]


class JudgeFailedError(RuntimeError):
    """The judge broke; Pydantic Evals reports it as a failure of the evaluator."""


@dataclass(repr=False)
class SupportedClaims(Evaluator[Any, Any, Any]):
    """Whether the evidence supports every claim of an output, and the share of claims that it does not.

    The assertion is called ``supported`` and the score ``unsupported_rate``. What cannot be measured has neither but a
    label, ``unsupported_rate_problem``, such as ``no_evidence``. Evidence is looked for in the output, the inputs and
    the metadata of a case under the usual names, or where `map` says: ``{"evidence": "metadata.docs[].text"}``.
    """

    judge: Any = DEFAULT_JUDGE
    preset: str | None = None
    threshold: float | None = None
    on_refusal: OnRefusal = "unmeasured"
    map: dict[str, str] = field(default_factory=dict)

    async def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> dict[str, EvaluationReason]:
        """Check the output of a case.

        Raises:
            JudgeFailedError: The judge broke.
        """
        options = {"judge": self.judge, "preset": self.preset, "threshold": self.threshold}
        checker = Checker({**options, "on_refusal": self.on_refusal})  # type: ignore[typeddict-item]
        values = {"output": ctx.output, "inputs": ctx.inputs, "metadata": ctx.metadata}
        parts = PartsReader(self.map).parts(values, answer="output", asked=("inputs", "metadata"))
        answer = await checker.in_thread(parts)
        if answer.has_failed:
            raise JudgeFailedError(answer.check.headline)
        found: dict[str, EvaluationReason] = {}
        if answer.passed is not None:
            found["supported"] = EvaluationReason(answer.passed, answer.explanation)
        if answer.unsupported_rate is not None:
            found[UNSUPPORTED_RATE] = EvaluationReason(answer.unsupported_rate, answer.explanation)
        else:
            found[f"{UNSUPPORTED_RATE}_problem"] = EvaluationReason(str(answer.problem), answer.explanation)
        return found
