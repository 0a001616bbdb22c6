"""What a stress test found: how many errors of each kind a judge caught, and how often it raised a false alarm."""

from __future__ import annotations

from msgspec import Struct

from hallumeter.stats import wilson_interval

from .settings import Origin

STRESS_VERSION = 1
"""Of the form of the result."""


class KindResult(Struct, frozen=True):
    """What a judge said of the claims that were edited in one way."""

    kind: str
    is_error: bool
    n: int
    """Claims of this kind."""
    caught: int
    """Claims that the judge called REFUTED or NOT_ENOUGH_INFO."""
    undecided: int
    failed: int
    counted: int
    """What the rate counts: errors that were caught; of all others, claims that were not called SUPPORTED."""
    total: int
    """Claims on which the judge gave a verdict: all but the failed."""
    value: float | None
    """The recall of an error, the rate of false alarms of anything else."""
    interval: tuple[float, float] | None
    """By Wilson's score."""
    undefined: str | None
    """Why there is no value; None when there is one."""
    localised: int = 0
    """Caught errors whose place, as the judge gives it, touches what was changed."""
    located: int = 0
    """Caught errors for which the judge gives a place smaller than the claim."""


class Score(Struct, frozen=True):
    """A figure over several kinds."""

    value: float | None
    interval: tuple[float, float] | None
    interval_method: str | None
    undefined: str | None
    """Why there is no value; None when there is one."""


class JudgeResult(Struct, frozen=True):
    """What one judge was worth."""

    judge: str
    mutation_score: Score
    """The mean of the recalls of all kinds of errors, each kind counting the same."""
    false_alarms: Score
    """The share of unchanged claims and controls, taken together, that were not called SUPPORTED."""
    kinds: tuple[KindResult, ...]
    """Errors first, then the unchanged claims and the controls."""


class StressResult(Struct, frozen=True):
    """What a stress test found."""

    version: int
    hallumeter: str
    """The version of the package."""
    claims_from: Origin
    claims: int
    """That were edited."""
    claims_available: int
    claims_skipped: int
    """Claims that are no prose of 2 to 40 words."""
    records: int
    """That the claims belong to."""
    records_read: int
    cases: int
    """Claims that were judged, edited or not."""
    seed: int
    confidence: float
    resamples: int
    judges: tuple[JudgeResult, ...]
    """With several judges, the majority of them stands last."""
    notices: tuple[str, ...] = ()


def kind_result(kind: str, outcomes: list[Outcome], *, is_error: bool, confidence: float) -> KindResult:
    """Count what was said of the claims of one kind."""
    failed = sum(outcome.label is None for outcome in outcomes)
    undecided = sum(outcome.label == "UNDECIDED" for outcome in outcomes)
    caught = sum(outcome.is_caught for outcome in outcomes)
    counted = caught if is_error else caught + undecided
    total = len(outcomes) - failed
    interval = wilson_interval(counted, total, confidence=confidence)
    reason = None if total else "no claim could be edited in this way" if not outcomes else "no verdict was given"
    located = [outcome for outcome in outcomes if outcome.is_caught and outcome.touches is not None]
    return KindResult(
        kind=kind,
        is_error=is_error,
        n=len(outcomes),
        caught=caught,
        undecided=undecided,
        failed=failed,
        counted=counted,
        total=total,
        value=counted / total if total else None,
        interval=None if interval is None else (interval.low, interval.high),
        undefined=reason,
        localised=sum(outcome.touches is True for outcome in located),
        located=len(located),
    )


class Outcome(Struct, frozen=True):
    """What a judge said of one case."""

    label: str | None
    """None when it failed."""
    touches: bool | None = None
    """Whether the place that the judge gives touches what was changed; None when it gives none."""

    @property
    def is_caught(self) -> bool:
        """Whether the judge called the claim unsupported."""
        return self.label in {"REFUTED", "NOT_ENOUGH_INFO"}
