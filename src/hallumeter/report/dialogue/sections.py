"""What a report on dialogues shows that others do not."""

from __future__ import annotations

from msgspec import Struct, field

from hallumeter.records import MetricSummary
from hallumeter.records.pairing import Fairness, ModeDifference, ScoreBins


class DifferenceSection(Struct, frozen=True, tag="differences"):
    """Modes compared on the same patients, turns and questions."""

    differences: tuple[ModeDifference, ...]
    fairness: Fairness | None = None
    names: dict[str, str] = field(default_factory=dict)
    """What the metrics are called in the literature."""
    caution: str | None = None
    """Why no difference can be shown at all; None where one can."""


class ScoreSection(Struct, frozen=True, tag="scores"):
    """How scores are spread over answers, and how they change from turn to turn."""

    modes: tuple[str, ...]
    spread: tuple[ScoreBins, ...]
    by_mode: tuple[MetricSummary, ...]
    trend: tuple[MetricSummary, ...]
    """By mode and turn."""
    names: dict[str, str] = field(default_factory=dict)
