"""Whether a model refuses to speak about what does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.errors import RecordError
from hallumeter.extractors import AbstentionDetector
from hallumeter.metrics.abstention import correct_refusal_rate, false_acceptance_rate
from hallumeter.records import Answers

if TYPE_CHECKING:
    from collections.abc import Sequence


class AbstentionResult(Struct, frozen=True):
    """What a model did with one query."""

    query: str
    response: str
    is_nonexistent_entity: bool
    did_abstain: bool
    """True for an empty response too."""
    is_false_acceptance: bool
    """Whether the model answered although there is nothing to say."""
    cue: str | None
    """The words that refuse, so that a person can check; None when there are none."""


class FalseAcceptanceRateResult(Struct, frozen=True):
    """Share of the queries about things that do not exist which were answered all the same."""

    value: float | None
    """None when no query is about something that does not exist."""
    failed_abstentions: int
    correct_refusals: int
    total_nonexistent_queries: int
    abstention_results: list[AbstentionResult]
    """One per query, those about existing things included."""


class FalseAcceptanceCalculator:
    """Detects refusals and counts where they are missing.

    Args:
        detector: For other languages, or with cues added or removed; by default all known cues.

    >>> calculator = FalseAcceptanceCalculator()
    >>> calculator.evaluate_abstention("Tell me about X", "I don't know about X.", True).is_false_acceptance
    False
    """

    def __init__(self, detector: AbstentionDetector | None = None) -> None:
        self._detector = detector or AbstentionDetector()

    def evaluate_abstention(self, query: str, response: str, is_nonexistent: bool) -> AbstentionResult:
        """Tell whether a response refuses, and whether it should have."""
        found = self._detector.detect(response)
        return AbstentionResult(
            query=query,
            response=response,
            is_nonexistent_entity=is_nonexistent,
            did_abstain=found.did_abstain,
            is_false_acceptance=is_nonexistent and not found.did_abstain,
            cue=found.cue,
        )

    def evaluate_and_compute_far(
        self, queries: Sequence[str], responses: Sequence[str], is_nonexistent_flags: Sequence[bool]
    ) -> FalseAcceptanceRateResult:
        """Evaluate every response and count; the three lists belong together item by item."""
        lengths = (len(queries), len(responses), len(is_nonexistent_flags))
        if len(set(lengths)) > 1:
            raise RecordError(
                f"{lengths[0]} queries, {lengths[1]} responses and {lengths[2]} flags; give one of each per query"
            )
        results = [self.evaluate_abstention(*row) for row in zip(queries, responses, is_nonexistent_flags, strict=True)]
        answers = Answers.of([(not result.is_nonexistent_entity, result.did_abstain) for result in results])
        accepted = false_acceptance_rate(answers).pooled
        refused = correct_refusal_rate(answers).pooled
        return FalseAcceptanceRateResult(
            accepted.value, int(accepted.count), int(refused.count), int(accepted.total), results
        )
