"""The way of one sentence through the agents, as far as a page tells it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hallumeter.records.aspects.blame import UnitStatus


class TracedAspect(Struct, frozen=True, omit_defaults=True):
    """An aspect as somebody stated it."""

    term: str
    """Empty for an aspect that is not named."""
    start: int | None = None
    """Where it is said to stand, in code points, right or wrong; None when no place was given."""
    end: int | None = None
    polarity: str | None = None
    """None where it is missing, which is not neutral."""
    is_judged: bool = True
    """False while nobody has said what is felt about it."""
    confidence: float | None = None
    evidence: str | None = None
    """The words that are to show it."""


class Remark(Struct, frozen=True, omit_defaults=True):
    """One thing that somebody said: a risk, a proposal, an edit, an item of a review, a decision."""

    asks: str
    """In the speaker's own words: the type of a risk or a proposal, an operation, an action."""
    about: tuple[str, ...] = ()
    """The terms of the aspects that it is about."""
    value: str | None = None
    """What they shall become; of a risk, how severe it is."""
    why: str | None = None
    evidence: str | None = None
    outcome: Literal["applied", "ignored"] | None = None
    """None for what asks for no change."""
    reason: str | None = None
    """Why it was ignored, or what was done."""


class TraceStep(Struct, frozen=True, omit_defaults=True):
    """What one agent said, or one step of the code did."""

    by: str
    """A step that changes aspects, or a speaker."""
    aspects: tuple[TracedAspect, ...] | None = None
    """All aspects after it; None where it left what it found."""
    remarks: tuple[Remark, ...] = ()


class TracedError(Struct, frozen=True, omit_defaults=True):
    """Something that was wrong after at least one step."""

    error: str
    """One of `ERROR_WORDS`."""
    aspect: TracedAspect
    """As it was last stated; what gold has, where it is about gold."""
    gold_polarity: str | None = None
    changes: tuple[tuple[str, UnitStatus], ...] = ()
    """Each step that changed how it stood, and how it stood then; it begins as absent."""
    flagged_by: tuple[str, ...] = ()
    ignored_by: tuple[tuple[str, str], ...] = ()
    """Who let it stand although it was flagged, and why."""


class ModeratorWord(Struct, frozen=True, omit_defaults=True):
    """How the label of the sentence was settled."""

    label: str
    confidence: float
    rules: tuple[str, ...] = ()
    stage: str | None = None
    """The stage that was taken."""
    why: str = ""


class SentenceTrace(Struct, frozen=True, omit_defaults=True):
    """The way of one sentence through the agents, in their order."""

    steps: tuple[TraceStep, ...] = ()
    errors: tuple[TracedError, ...] | None = None
    """None where nobody has looked for who is to blame."""
    moderator: ModeratorWord | None = None
    gold: tuple[TracedAspect, ...] | None = None
    """None when no gold is known."""
    notes: tuple[str, ...] = ()
    """What code repaired or left out."""
    untold: tuple[str, ...] = ()
    """Who was not asked, and blocks that an output which was made elsewhere does not have."""
    failed: str | None = None
    """Why the pipeline broke off."""
