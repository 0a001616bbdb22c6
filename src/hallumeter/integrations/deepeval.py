"""DeepEval: a metric for test cases with a retrieval context."""

from __future__ import annotations

from typing import Any

from hallumeter.claims.check import JudgeLike
from hallumeter.claims.checked import OnRefusal
from hallumeter.claims.settings import DEFAULT_JUDGE

from .checked_answer import AnswerParts, CheckedAnswer, Checker, missing

try:
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase, SingleTurnParams
except ImportError as error:
    raise missing("deepeval", "DeepEval") from error

__all__ = ["SupportedClaimsMetric"]


class SupportedClaimsMetric(BaseMetric):
    """The share of an answer's claims that the evidence supports, 1 is best.

    Evidence is the `retrieval_context` of a test case, or else its `context`. A case that cannot be measured has no
    score: it is `skipped`, with the reason, or has an `error` if the judge broke.

    Args:
        threshold: The share from which a test case is successful.
        judge: Who judges; this and the rest as in `hallumeter.check`.
        preset: Where the embedded judge draws the line.
        judge_threshold: The probability from which the embedded judge calls a claim unsupported.
        on_refusal: What a refusal counts as.
    """

    _required_params = (SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT)

    # DeepEval copies a metric for every test case, from the attributes that are named as these parameters.
    def __init__(
        self,
        threshold: float = 1.0,
        *,
        judge: JudgeLike = DEFAULT_JUDGE,
        preset: str | None = None,
        judge_threshold: float | None = None,
        on_refusal: OnRefusal = "unmeasured",
    ) -> None:
        self.threshold = threshold
        self.judge, self.preset, self.judge_threshold, self.on_refusal = judge, preset, judge_threshold, on_refusal
        self.include_reason, self.async_mode = True, True
        self._checker = Checker(
            {"judge": judge, "preset": preset, "threshold": judge_threshold, "on_refusal": on_refusal}
        )

    @property
    def __name__(self) -> str:  # DeepEval reads it of the metric, not of its class
        return "Supported Claims"

    def measure(self, test_case: LLMTestCase, *_args: Any, **_named: Any) -> float | None:
        """Check the answer of a test case."""
        return self._take(self._checker(_parts(test_case)))

    async def a_measure(self, test_case: LLMTestCase, *_args: Any, **_named: Any) -> float | None:
        """Check it in a thread."""
        return self._take(await self._checker.in_thread(_parts(test_case)))

    def is_successful(self) -> bool | None:
        """Whether enough is supported; None for a case that was skipped."""
        return self.success

    def _take(self, answer: CheckedAnswer) -> float | None:
        self.evaluation_model = answer.check.judge
        self.score, self.reason = answer.supported_rate, answer.explanation
        self.score_breakdown = answer.metadata()
        self.skipped, self.error = False, None
        self.success: bool | None
        if answer.has_failed:
            self.error, self.success = answer.explanation, False
        elif answer.problem is not None:
            # What a refusal counts as may have been said; it has no score all the same.
            self.skipped, self.success = answer.passed is None, answer.passed
        else:
            assert self.score is not None
            self.success = self.score >= self.threshold
        return self.score


def _parts(case: LLMTestCase) -> AnswerParts:
    evidence = case.retrieval_context or case.context or []
    texts = [item if isinstance(item, str) else item.context for item in evidence]
    return AnswerParts(case.actual_output or "", texts, case.input)
