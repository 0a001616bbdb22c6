"""Which labels count, and whose verdicts they are held against."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, structs

if TYPE_CHECKING:
    from hallumeter.records import Manifest


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
    """The field that says which records belong together; None for the same question, patient or page."""

    def drawn_as_in(self, manifest: Manifest) -> LabelSettings:
        """The same, drawing what the intervals of the run draw, so that new ones can stand beside these."""
        own = manifest.settings.get("cluster")
        return structs.replace(self, cluster=own) if self.cluster is None and isinstance(own, str) else self
