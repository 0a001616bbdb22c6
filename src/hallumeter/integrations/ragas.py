"""Ragas: a metric of single turns that asks no model of Ragas."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

from hallumeter.claims.checked import OnRefusal
from hallumeter.claims.settings import DEFAULT_JUDGE

from .checked_answer import SUPPORTED_RATE, AnswerParts, CheckedAnswer, Checker, missing

try:
    from ragas.dataset_schema import SingleTurnSample
    from ragas.metrics.base import MetricType, SingleTurnMetric
except ImportError as error:
    raise missing("ragas", "Ragas") from error

__all__ = ["SupportedClaims"]

_LOG = logging.getLogger(__name__)


@dataclass
class SupportedClaims(SingleTurnMetric):
    """The share of a response's claims that the retrieved contexts support, 1 is best.

    A sample that cannot be measured is NaN, which Ragas leaves out of its means, and a warning says why. The last
    checked answer, with its wrong words and counts, is in `last`.
    """

    name: str = SUPPORTED_RATE
    judge: Any = DEFAULT_JUDGE
    preset: str | None = None
    threshold: float | None = None
    on_refusal: OnRefusal = "unmeasured"
    last: CheckedAnswer | None = field(default=None, init=False, repr=False)
    _required_columns: dict[MetricType, set[str]] = field(
        default_factory=lambda: {MetricType.SINGLE_TURN: {"user_input:optional", "response", "retrieved_contexts"}}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        options = {"judge": self.judge, "preset": self.preset, "threshold": self.threshold}
        self._checker = Checker({**options, "on_refusal": self.on_refusal})  # type: ignore[typeddict-item]

    def init(self, run_config: Any) -> None:
        """Nothing to prepare: there is no model of Ragas to set up."""

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: Any) -> float:
        del callbacks
        question = sample.user_input if isinstance(sample.user_input, str) else None
        parts = AnswerParts(sample.response or "", sample.retrieved_contexts or [], question)
        self.last = answer = await self._checker.in_thread(parts)
        if answer.supported_rate is None:
            _LOG.warning("%s: %s", self.name, answer.check.headline)
            return float("nan")
        return answer.supported_rate
