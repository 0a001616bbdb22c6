"""Who made an error, who saw it, who ignored it, who repaired it: the history of everything that was ever wrong.

A unit is one thing that can be wrong in one way: an aspect that a step stated (`ungrounded`, `spurious`), or an aspect
of gold (`missing`, `polarity`). A step finds it absent, right or wrong, and leaves it absent, right or wrong.
"""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.errors import RecordError
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.summaries import UnitStatus

from .aspect import TextSpan
from .outputs import PipelineOutput

ErrorKind = Literal["ungrounded", "spurious", "missing", "polarity"]
"""The aspect does not stand in the text, or not where it was said to stand; it is not in gold; an aspect of gold was
not found; it was found with another polarity, or with none."""
ERROR_KINDS: tuple[ErrorKind, ...] = ("ungrounded", "spurious", "missing", "polarity")
ABSENT, RIGHT, WRONG = range(3)
COARSE_STEPS = ("stage1", "final")
"""The steps of an output that holds no states."""
SPEAKERS = ("validator", "epm", "tan", "cj", "debate_summary", "ate_review", "atsa_review", "validator_review")
"""Who can flag an error, in the order in which they speak. All speak about the aspects as stage 1 left them."""


class UnitChange(Struct, frozen=True):
    """A step after which a unit stood otherwise than before."""

    step: str
    was: UnitStatus
    became: UnitStatus


class ErrorFlag(Struct, frozen=True, omit_defaults=True):
    """Someone said that something is wrong with a unit."""

    by: str
    """One of `SPEAKERS`."""
    asks: str
    """In their own words: the type of a risk or of a proposal, an operation, an action."""
    outcome: Literal["applied", "ignored", "unanswered"] = "unanswered"
    """``unanswered`` where it asks for nothing that a step could apply, as a risk does."""
    ignored_by: str | None = None
    """The step that did not apply it."""
    reason: str | None = None
    """Why it was not applied, as the log has it."""


class Ignoring(Struct, frozen=True):
    """Someone who was told that something is wrong and let it stand."""

    by: str
    """A step that did not apply a correction, or a review that kept what had been flagged."""
    reason: str
    """As the log has it; ``kept`` for a review that kept it."""


class UnitBlame(Struct, frozen=True, kw_only=True):
    """The history of one unit that was wrong after at least one step."""

    text_id: str
    seed: int = 0
    """Of the reading of the sentence that it belongs to."""
    error: ErrorKind
    detail: str | None = None
    """Of ``ungrounded``: ``out_of_text`` or ``misplaced``, as it was last."""
    term: str
    """As it was last stated; for aspects of gold, that of gold."""
    span: TextSpan | None = None
    polarity: str | None = None
    """As it was last stated."""
    gold_polarity: str | None = None
    introduced_by: str
    """The last step that made it wrong."""
    repaired_by: tuple[str, ...] = ()
    """Steps after which it was no longer wrong."""
    broken_by: tuple[str, ...] = ()
    """Steps that found it right and left it wrong."""
    flagged_by: tuple[str, ...] = ()
    """Who said so while it was wrong, each once."""
    ignored_by: tuple[Ignoring, ...] = ()
    does_stand_at_end: bool
    flags: tuple[ErrorFlag, ...] = ()
    changes: tuple[UnitChange, ...] = ()


class StepTally(Struct, frozen=True):
    """What one step of one sentence did to the units of one kind, in counts."""

    step: str
    """A step that changes aspects, or a speaker; reviews are both."""
    error: ErrorKind
    chances: int = 0
    """Units right or absent before it that are there after it: what it could have got wrong."""
    introduced: int = 0
    """Those of them that are wrong after it."""
    standing: int = 0
    """Units wrong before it."""
    repaired: int = 0
    """Those of them that are right after it; for aspects that should not be there, or gone."""
    right: int = 0
    """Units right before it."""
    broken: int = 0
    """Those of them that are wrong after it."""
    heard_wrong: int = 0
    """Units wrong when it spoke."""
    flagged: int = 0
    """Those of them that it flagged."""
    heard_right: int = 0
    """Units right when it spoke."""
    alarmed: int = 0
    """Those of them that it flagged."""


class SentenceBlame(Struct, frozen=True, kw_only=True):
    """All blame of one sentence."""

    text_id: str
    undefined: str | None = None
    """Why nobody can be blamed; None when somebody can."""
    is_coarse: bool = False
    """Whether only stage 1 and the final result could be compared."""
    has_gold: bool = False
    """Without gold, only what is not grounded in the text is known to be wrong."""
    units: tuple[UnitBlame, ...] = ()
    """All that was ever wrong."""
    tallies: tuple[StepTally, ...] = ()


class BlameColumns(Struct, frozen=True, eq=False):
    """The tallies of one step and one kind of error, one row per sentence, as columns named as in `StepTally`."""

    chances: NDArray[np.int64]
    introduced: NDArray[np.int64]
    standing: NDArray[np.int64]
    repaired: NDArray[np.int64]
    right: NDArray[np.int64]
    broken: NDArray[np.int64]
    heard_wrong: NDArray[np.int64]
    flagged: NDArray[np.int64]
    heard_right: NDArray[np.int64]
    alarmed: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.chances)

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> BlameColumns:
        return BlameColumns(*(getattr(self, name)[rows] for name in self.__struct_fields__))


class BlameTable(Struct, frozen=True, kw_only=True):
    """The blame of many sentences."""

    sentences: int
    with_gold: int
    coarse: int
    """Sentences of which only stage 1 and the final result are known."""
    undefined: dict[str, int]
    """Why sentences could not be looked at, and how many."""
    introduced_errors: dict[str, dict[str, int]]
    """By kind of error and step: how many of the errors that stand at the end it introduced last."""
    ignored_errors: dict[str, dict[str, int]]
    """By who ignored them and why: errors that stand at the end although somebody had flagged them."""
    rows: tuple[MetricSummary, ...]
    """Rates by step and error; those whose denominator is 0 are undefined."""


# A sentence with everything that is known of its way through the agents.


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
