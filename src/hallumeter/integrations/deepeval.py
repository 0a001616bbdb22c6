"""DeepEval: a metric for test cases with a retrieval context."""

from __future__ import annotations

from typing import Any, Unpack

from .checked_answer import AnswerParts, CheckedAnswer, Checker, JudgeOptions, missing

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
        judge_threshold: The probability from which the embedded judge calls a claim unsupported.
        options: The judge and its settings, see `JudgeOptions`.
    """

    _required_params = (SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT)

    def __init__(
        self, threshold: float = 1.0, *, judge_threshold: float | None = None, **options: Unpack[JudgeOptions]
    ) -> None:
        self.threshold = threshold
        self.include_reason, self.async_mode = True, True
        self._checker = Checker({**options, "threshold": judge_threshold})

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
