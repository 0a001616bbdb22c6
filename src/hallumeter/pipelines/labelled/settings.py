"""Which labels count, and whose verdicts they are held against."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class LabelSettings(Struct, frozen=True, kw_only=True):
    """Where the truth about a run comes from."""

    labels: Path | None = None
    """A table of labels; None takes those that the viewer and `hallumeter label` keep in the run folder."""
    reference: str | None = None
    """A judge of the run whose verdicts are the truth."""
    gold: str | None = None
    """A field of the records that says whether the response is hallucinated."""
    annotator: str | None = None
    """Only the labels of this person; None for all."""
    judge: str | None = None
    """Whose verdicts are examined; None for the one that the headline rests on."""
    by: tuple[str, ...] = ()
    """Fields of records that slice the run."""
    cluster: str | None = None
    """The field that says which records belong together; None as in the run."""
