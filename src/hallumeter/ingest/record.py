"""What another tool's file holds, in the words of this package."""

from __future__ import annotations

from msgspec import Struct

from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.ranking import Direction
from hallumeter.records.response import Response

Bound = float | None


class ScoreKind(Struct, frozen=True):
    """How a tool's number is read."""

    direction: Direction = "none"
    """Which way is better, as the tool's own documentation has it; ``none`` where that is not known."""
    low: Bound = None
    high: Bound = None
    """Smallest and largest possible value; None where that is not known, so that nothing can be bounded."""


HIGHER = ScoreKind("higher", 0.0, 1.0)
LOWER = ScoreKind("lower", 0.0, 1.0)
UNKNOWN = ScoreKind()
_OURS = {**dict.fromkeys(("unsupported_rate", "unsupported_claims"), LOWER), "supported_rate": HIGHER}
"""Scores that our own adapters gave in other tools."""


def kind_of_score(name: str) -> ScoreKind:
    """How a score is read of which the tool says no more than its name.

    >>> kind_of_score("unsupported_rate").direction, kind_of_score("politeness").direction
    ('lower', 'none')
    """
    return _OURS.get(name, UNKNOWN)


class Score(Struct, frozen=True):
    """A tool's number on one record, or why there is none although the tool may have written one."""

    metric: str
    """With the name of the tool: ``ragas:faithfulness``."""
    value: float | None
    code: str | None = None
    """What went wrong, in one word: ``nan``, ``no_claims``, ``tool_error``; None when there is a value."""
    reason: str | None = None
    """The same in a sentence."""


class Span(Struct, frozen=True):
    """A part of a response that a tool or a person marked as unsupported."""

    start: int
    end: int
    label: Label = Label.NOT_ENOUGH_INFO
    reason: str | None = None
    probability: float | None = None
    note: str | None = None


class Spans(Struct, frozen=True):
    """Everything that one judge marked in a response; no span says that all of it is supported."""

    judge: str
    marked: tuple[Span, ...] = ()
    unplaced: int = 0
    """Marks that do not fit into the response: any sentence may be meant."""


class ForeignRecord(Struct, frozen=True):
    """One response with everything a tool said of it."""

    response: Response
    claims: tuple[Claim, ...] = ()
    said: tuple[Verdict | Failure, ...] = ()
    """Verdicts on the claims, and why some have none."""
    scores: tuple[Score, ...] = ()
    spans: Spans | None = None
    """Marks in the response, where the tool judged characters and not claims."""
    claimless: Failure | None = None
    """Why there is no claim, where the tool says nothing of it."""
    error: Failure | None = None
    """Why the tool measured nothing at all here: every score that other records have is missing."""


class Reading:
    """What is learnt about a file while its records are read."""

    def __init__(self) -> None:
        self.kinds: dict[str, ScoreKind] = {}
        """Of the scores, by metric."""
        self.judges: dict[str, str] = {}
        """Whoever judged claims, and what is known of their settings."""
        self.notices: list[str] = []
        self.faults: list[Failure] = []
        """Rows that could not be read."""

    def fault(self, place: str, code: str, message: str) -> None:
        """Take note of a row that cannot be used."""
        self.faults.append(Failure(None, None, "read", None, code, f"{place}: {message}"))

    def notice(self, text: str) -> None:
        """Say something once."""
        if text not in self.notices:
            self.notices.append(text)


def unmeasured(metric: str, code: str, reason: str) -> Score:
    """A score that is none."""
    return Score(metric, None, code, reason)
