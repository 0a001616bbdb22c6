"""Haystack: a component that evaluates answers in a pipeline."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from hallumeter.claims.settings import DEFAULT_JUDGE
from hallumeter.errors import RecordError, SettingsError
from hallumeter.stats.bootstrap import cluster_bootstrap_interval

from .checked_answer import AnswerParts, CheckedAnswer, Checker, CheckerOptions, answer_text, missing

try:
    from haystack import component, default_from_dict, default_to_dict
except ImportError as error:
    raise missing("haystack", "Haystack") from error

__all__ = ["SupportedClaimsEvaluator"]

NOT_A_NUMBER = float("nan")
"""What Haystack's own evaluators have for an answer that they could not evaluate."""


@component
class SupportedClaimsEvaluator:
    """The share of each answer's claims that its contexts support, 1 is best.

    It is connected as `FaithfulnessEvaluator` is. An answer that cannot be measured has NaN for a score and a `status`
    that says why; `score`, the mean of the others, leaves it out and is NaN if there are none. `interval` is the 95 %
    interval of `score`, or None.

    Args:
        options: The judge and its settings, see `CheckerOptions`.
    """

    def __init__(self, **options: Unpack[CheckerOptions]) -> None:
        self._options = options
        self._checker = Checker(options)

    @component.output_types(
        score=float,
        individual_scores=list[float],
        results=list[dict[str, Any]],
        interval=tuple[float, float] | None,
        unmeasured=int,
    )
    def run(self, questions: list[str], contexts: list[list[Any]], predicted_answers: list[Any]) -> dict[str, Any]:
        """Check every answer against its contexts.

        Raises:
            RecordError: The lists have different lengths.
        """
        lengths = {len(questions), len(contexts), len(predicted_answers)}
        if len(lengths) > 1:
            raise RecordError(f"questions, contexts and predicted_answers have different lengths: {sorted(lengths)}")
        rows = zip(predicted_answers, contexts, questions, strict=True)
        answers = [self._checker(AnswerParts(answer_text(text), found, asked)) for text, found, asked in rows]
        results = [_result(answer) for answer in answers]
        rates = np.array([each.supported_rate for each in answers if each.supported_rate is not None])
        rng = np.random.default_rng(0)
        interval = cluster_bootstrap_interval(rates, np.ones_like(rates), rng=rng) if len(rates) else None
        return {
            "score": float(rates.mean()) if len(rates) else NOT_A_NUMBER,
            "individual_scores": [each["score"] for each in results],
            "results": results,
            "interval": None if interval is None else (interval.low, interval.high),
            "unmeasured": len(answers) - len(rates),
        }

    def to_dict(self) -> dict[str, Any]:
        """The component as plain values, for a pipeline that is stored.

        Raises:
            SettingsError: The judge is no name and cannot be stored.
        """
        if not isinstance(self._options.get("judge", DEFAULT_JUDGE), str):
            raise SettingsError("a component whose judge is an object cannot be stored; name the judge instead")
        stored: dict[str, Any] = default_to_dict(self, **self._options)
        return stored

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SupportedClaimsEvaluator:
        """The component that was stored."""
        made: SupportedClaimsEvaluator = default_from_dict(cls, data)
        return made


def _result(answer: CheckedAnswer) -> dict[str, Any]:
    rate = answer.supported_rate
    return {
        "score": NOT_A_NUMBER if rate is None else rate,
        "label": answer.label,
        "explanation": answer.explanation,
        **answer.metadata(),
        "status": answer.problem or "evaluated",
    }
