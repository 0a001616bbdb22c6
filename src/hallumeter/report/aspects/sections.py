"""The sections that only a report on aspects has."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from hallumeter.records import MetricSummary
from hallumeter.records.aspects.aspect_summary import Breakdown, MappingWarning
from hallumeter.records.aspects.blame import UnitStatus


class PartSection(Struct, frozen=True, tag="parts"):
    """Wholes and their parts in counts: why aspects were dropped, which rules decided, what overrides did."""

    breakdowns: tuple[Breakdown, ...]
    warnings: tuple[MappingWarning, ...] = ()
    """What is wrong with the debate's mapping to aspects, and what to do about it."""
    title: str | None = None
    """What they are about, where there are several such sections."""


class FlowMove(Struct, frozen=True):
    """How many of the things that were ever wrong stood so before a step, and so after it."""

    error: str
    """Which kind of wrong."""
    was: UnitStatus
    became: UnitStatus
    units: int


class FlowStep(Struct, frozen=True):
    """What a step did to all that was ever wrong; what it left as it was is told as well."""

    step: str
    moves: tuple[FlowMove, ...]


class FlowSection(Struct, frozen=True, tag="flow"):
    """All that was ever wrong on its way through the steps."""

    steps: tuple[FlowStep, ...] = ()
    """In the order of the pipeline; empty where nothing was ever wrong, or nothing is known."""
    sentences: int = 0
    """Whose errors are known, whether or not they have any."""
    missing: Literal["outputs", "blame"] | None = None
    """The file that the run does not hold, so that nothing can be told."""
    has_gold: bool = True
    """Without gold, only what is not in the text is known to be wrong."""


class IgnoredErrors(Struct, frozen=True):
    """Errors that stand at the end although somebody had flagged them."""

    by: str
    """Who let them stand."""
    reason: str
    error: str
    errors: int


class BlameSection(Struct, frozen=True, tag="blame"):
    """Who introduced, flagged, repaired, broke and ignored which errors."""

    rows: tuple[MetricSummary, ...]
    """Rates by step and error, where there was anything to count."""
    standing: dict[str, dict[str, int]] = field(default_factory=dict)
    """Errors at the end, by their kind and the step that introduced them last."""
    ignored: tuple[IgnoredErrors, ...] = ()
