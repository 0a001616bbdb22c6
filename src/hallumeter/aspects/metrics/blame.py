"""What a step did to things that were right or wrong before it, counted from their statuses before and after it.

Every rate is kept as its two counts, and is undefined without a denominator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hallumeter.aspects.records.blame import ABSENT, RIGHT, WRONG, BlameColumns, ErrorKind, StepTally, UnitChange
from hallumeter.records.rate import Rate, Rates
from hallumeter.records.summaries import STATUSES

BLAME_RATES = {
    "introduction": ("introduced", "chances"),
    "detection": ("flagged", "heard_wrong"),
    "false_alarm": ("alarmed", "heard_right"),
    "repair": ("repaired", "standing"),
    "regression": ("broken", "right"),
}
"""The count and the total of every rate, as fields of a tally."""
COUNTS = BlameColumns.__struct_fields__
_REMOVABLE = ("ungrounded", "spurious")
"""Errors that are repaired when their aspect is dropped. A wrong polarity is not: then the aspect is missing."""


class UnitHistory(NamedTuple):
    """How one unit stood after every step, told as what changed it."""

    changes: tuple[UnitChange, ...]
    introduced_by: str | None
    """The last step that made it wrong; None when it never was."""
    repaired_by: tuple[str, ...]
    broken_by: tuple[str, ...]
    does_stand_at_end: bool


def history_of(steps: Sequence[str], statuses: Sequence[int], error: ErrorKind) -> UnitHistory:
    """What changed a unit, from its status after each step; before the first step it is absent.

    >>> history = history_of(("ate", "atsa", "atsa_review"), (1, 2, 1), "polarity")
    >>> history.introduced_by, history.repaired_by, history.broken_by, history.does_stand_at_end
    ('atsa', ('atsa_review',), ('atsa',), False)
    """
    changes: list[UnitChange] = []
    repaired, broken = [], []
    introduced_by, was = None, ABSENT
    for step, became in zip(steps, statuses, strict=True):
        if became == was:
            continue
        changes.append(UnitChange(step, STATUSES[was], STATUSES[became]))
        if became == WRONG:
            introduced_by = step
            broken += [step] if was == RIGHT else []
        elif was == WRONG and is_repair(became, error):
            repaired.append(step)
        was = became
    return UnitHistory(tuple(changes), introduced_by, tuple(repaired), tuple(broken), was == WRONG)


def is_repair(became: int, error: ErrorKind) -> bool:
    """Whether an error is repaired by what the unit became: right, or gone where it should not have been.

    >>> is_repair(ABSENT, "spurious"), is_repair(ABSENT, "polarity")
    (True, False)
    """
    return became == RIGHT or (became == ABSENT and error in _REMOVABLE)


def step_tally(step: str, error: ErrorKind, *, before: Sequence[int], after: Sequence[int]) -> StepTally:
    """Count what a step did to the units of one kind.

    - introduction: errors that the step introduced / units right or absent before it that are there after it
    - repair: errors standing before it that are repaired after it / errors standing before it
    - regression: units right before it that are wrong after it / units right before it

    >>> tally = step_tally("ate_review", "spurious", before=(1, 2, 0, 2), after=(2, 0, 1, 2))
    >>> tally.introduced, tally.chances, tally.repaired, tally.standing, tally.broken, tally.right
    (1, 2, 1, 2, 1, 1)
    """
    if before is after:
        return _idle_tally(step, error, after.count(RIGHT), wrong=after.count(WRONG))
    pairs = [0] * 9
    for was, became in zip(before, after, strict=True):
        pairs[3 * was + became] += 1
    _, made_right, made_wrong, let_go, kept_right, broken, gone, righted, left_wrong = pairs
    return StepTally(
        step,
        error,
        chances=made_right + made_wrong + kept_right + broken,
        introduced=made_wrong + broken,
        standing=gone + righted + left_wrong,
        repaired=righted + (gone if error in _REMOVABLE else 0),
        right=let_go + kept_right + broken,
        broken=broken,
    )


def speaker_tally(speaker: str, error: ErrorKind, *, statuses: Sequence[int], flagged: Iterable[int]) -> StepTally:
    """Count what someone said about the units of one kind, as they stood when they spoke.

    - detection: errors standing when it spoke that it flagged / errors standing then
    - false alarm: right units that it flagged / right units then

    `flagged` are the places of the units that it flagged.

    >>> tally = speaker_tally("validator", "polarity", statuses=(1, 2, 0, 2), flagged={0, 1})
    >>> tally.flagged, tally.heard_wrong, tally.alarmed, tally.heard_right
    (1, 2, 1, 1)
    """
    spoken_of = [statuses[place] for place in flagged]
    heard = (statuses.count(WRONG), statuses.count(RIGHT))
    return _spoken_tally(speaker, error, heard, flagged=(spoken_of.count(WRONG), spoken_of.count(RIGHT)))


def blame_rate(tally: StepTally, name: str) -> Rate:
    """One of `BLAME_RATES` of a tally.

    >>> blame_rate(StepTally("ate", "missing", chances=4, introduced=1), "introduction").value
    0.25
    >>> blame_rate(StepTally("ate", "missing"), "repair").value is None
    True
    """
    count, total = BLAME_RATES[name]
    return Rate(getattr(tally, count), getattr(tally, total))


def blame_rates(columns: BlameColumns, *, name: str) -> Rates:
    """One of `BLAME_RATES` for every sentence."""
    count, total = BLAME_RATES[name]
    return Rates(getattr(columns, count).astype(np.float64), getattr(columns, total).astype(np.float64))


def blame_columns(tallies: Sequence[StepTally]) -> BlameColumns:
    """Tallies of one step and one kind of error, or several kinds, as columns.

    >>> blame_columns([StepTally("ate", "missing", chances=4, introduced=1)]).introduced.tolist()
    [1]
    """
    return BlameColumns(*(np.array([getattr(tally, name) for tally in tallies], dtype=np.int64) for name in COUNTS))


@lru_cache(maxsize=4_096)
def _idle_tally(step: str, error: ErrorKind, right: int, *, wrong: int) -> StepTally:
    """Most steps change nothing: one record serves all of them."""
    return StepTally(step, error, chances=right, standing=wrong, right=right)


@lru_cache(maxsize=4_096)
def _spoken_tally(speaker: str, error: ErrorKind, heard: tuple[int, int], *, flagged: tuple[int, int]) -> StepTally:
    """The same for speakers; of both pairs the wrong ones come first."""
    return StepTally(speaker, error, heard_wrong=heard[0], flagged=flagged[0], heard_right=heard[1], alarmed=flagged[1])
