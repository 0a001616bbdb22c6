"""LlamaIndex: an evaluator of responses and their source nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from .checked_answer import AnswerParts, Checker, CheckerOptions, missing

try:
    from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
except ImportError as error:
    raise missing("llama-index", "LlamaIndex") from error

__all__ = ["SupportedClaimsEvaluator"]


class SupportedClaimsEvaluator(BaseEvaluator):
    """The share of a response's claims that the contexts support, 1 is best; it passes if all are supported.

    What cannot be measured is an invalid result with the reason, without a score, and neither passing nor not.

    Args:
        options: The judge and its settings, see `CheckerOptions`.
    """

    def __init__(self, **options: Unpack[CheckerOptions]) -> None:
        self._checker = Checker(options)

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts_dict: dict[str, Any]) -> None:
        """There are no prompts."""

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **_named: Any,
    ) -> EvaluationResult:
        """Check a response against its contexts."""
        answer = await self._checker.in_thread(AnswerParts(response or "", list(contexts or []), query))
        is_invalid = answer.passed is None
        return EvaluationResult(
            query=query,
            contexts=contexts,
            response=response,
            passing=answer.passed,
            score=answer.supported_rate,
            feedback=answer.explanation,
            invalid_result=is_invalid,
            invalid_reason=answer.check.headline if is_invalid else None,
        )
