"""A sentence with everything that is known of its way through the agents."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from hallumeter.errors import RecordError

from .blame import UnitBlame
from .pipeline_output import PipelineOutput


class TracedSentence(Struct, frozen=True):
    """What agents and code made of a sentence, and what was ever wrong with it."""

    record_id: str
    """Of the record that tells what was found in it."""
    line: bytes
    """Of outputs.jsonl: lines are long, and most of them are never looked at."""
    errors: tuple[UnitBlame, ...] | None = None
    """None where nobody has looked for who is to blame."""

    @property
    def output(self) -> PipelineOutput:
        """The line, read."""
        try:
            return msgspec.json.decode(self.line, type=PipelineOutput)
        except msgspec.DecodeError as error:
            raise RecordError(
                f"the output of sentence {self.record_id!r} is damaged ({error}); make the run again"
            ) from error
