"""What every step of a run works with."""

from __future__ import annotations

from threading import Event

import msgspec
from msgspec import Struct

from hallumeter.models.prices import Spending

from .journal import Journal
from .progress import ProgressListener

_SPENT = "spent"
"""Under which the journal notes what the calls of the run have cost so far."""


class RunContext(Struct, frozen=True):
    """Where a run keeps what it has done, who may stop it, who is shown its progress, and what it may spend."""

    journal: Journal
    stop: Event
    progress: ProgressListener
    spending: Spending

    def note_spending(self) -> None:
        """Keep what the run has spent so far, for the run that resumes it."""
        self.journal.note(_SPENT, msgspec.json.encode(self.spending.counted()))

    def resume_spending(self) -> None:
        """Go on counting where an earlier run stopped: a budget holds for both together."""
        noted = self.journal.noted(_SPENT)
        if noted is not None:
            self.spending.restore(msgspec.json.decode(noted, type=dict[str, float]))
