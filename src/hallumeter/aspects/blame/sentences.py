"""The blame of one sentence."""

from __future__ import annotations

from typing import NamedTuple

from hallumeter.aspects.metrics.blame import history_of, speaker_tally, step_tally
from hallumeter.aspects.records.aspect import AspectTuple
from hallumeter.aspects.records.blame import ABSENT, COARSE_STEPS, WRONG, ErrorKind, SentenceBlame, StepTally, UnitBlame
from hallumeter.aspects.records.outputs import AspectState, PipelineOutput
from hallumeter.aspects.stages.terms import term_key

from .against_gold import Units, units_of
from .asks import Flags, asks_of, flags_of, ignored_by, speakers_of
from .histories import History, history_of_output


def blame_of(output: PipelineOutput) -> SentenceBlame:
    """Say of everything that was ever wrong who introduced, flagged, ignored, repaired and broke it.

    What is not grounded in the text needs no gold; the rest is known only where the output holds gold. An output
    without states has two steps alone, ``stage1`` and ``final``; a sentence that failed has no blame.
    """
    if output.failed is not None:
        return SentenceBlame(text_id=output.text_id, undefined="the pipeline broke off")
    history = history_of_output(output)
    if history is None:
        return SentenceBlame(text_id=output.text_id, undefined="the output holds neither states nor a final result")
    units = units_of(history, text=output.input_text, gold=output.gold_tuples)
    flags = flags_of(asks_of(output), units, heard=history.heard, text=output.input_text)
    case = _Case(output, history, units, flags)
    return SentenceBlame(
        text_id=output.text_id,
        is_coarse=history.steps == COARSE_STEPS,
        has_gold=output.gold_tuples is not None,
        units=_ever_wrong(case),
        tallies=(*_step_tallies(case), *_speaker_tallies(case)),
    )


class _Case(NamedTuple):
    output: PipelineOutput
    history: History
    units: Units
    flags: Flags


def _ever_wrong(case: _Case) -> tuple[UnitBlame, ...]:
    return tuple(
        _unit_blame(case, error, place, statuses=statuses)
        for error, rows in case.units.statuses.items()
        if any(WRONG in row for row in rows)
        for place, statuses in enumerate(zip(*rows, strict=True))
        if WRONG in statuses
    )


def _unit_blame(case: _Case, error: ErrorKind, place: int, *, statuses: tuple[int, ...]) -> UnitBlame:
    told = history_of(case.history.steps, statuses, error)
    spoken = case.flags[error].get(place, ())
    is_heard_wrong = statuses[case.history.heard] == WRONG
    gold, stated = _stated(case, error, place)
    named = gold or stated
    term = gold.aspect_term if gold is not None else stated.term if stated is not None else ""
    names = [term_key(term), *([] if stated is None else [term_key(stated.term)])]
    return UnitBlame(
        text_id=case.output.text_id,
        seed=case.output.meta.seed,
        error=error,
        detail=case.units.details.get(place) if error == "ungrounded" else None,
        term=term,
        span=None if named is None else named.span,
        polarity=None if stated is None else stated.polarity,
        gold_polarity=None if gold is None else gold.polarity,
        introduced_by=told.introduced_by or "",
        repaired_by=told.repaired_by,
        broken_by=told.broken_by,
        flagged_by=tuple(dict.fromkeys(flag.by for flag in spoken)) if is_heard_wrong else (),
        ignored_by=ignored_by(spoken, error, names, output=case.output) if spoken and is_heard_wrong else (),
        does_stand_at_end=told.does_stand_at_end,
        flags=tuple(spoken),
        changes=told.changes,
    )


def _stated(case: _Case, error: ErrorKind, place: int) -> tuple[AspectTuple | None, AspectState | None]:
    """The aspect of gold, for errors about it, and the aspect as it was last stated."""
    if error in ("ungrounded", "spurious"):
        return None, next(aspect for row in reversed(case.units.threads) if (aspect := row[place]) is not None)
    gold = case.units.gold[place]
    for row, match in zip(reversed(case.units.threads), reversed(case.units.matches), strict=True):
        if match[place] >= 0:
            return gold, row[match[place]]
    return gold, None


def _step_tallies(case: _Case) -> list[StepTally]:
    tallies = []
    for error, rows in case.units.statuses.items():
        before = [ABSENT] * len(rows[0])
        for step, after in zip(case.history.steps, rows, strict=True):
            tallies.append(step_tally(step, error, before=before, after=after))
            before = after
    return tallies


def _speaker_tallies(case: _Case) -> list[StepTally]:
    tallies = []
    speakers = speakers_of(case.output)
    for error, rows in case.units.statuses.items():
        statuses = rows[case.history.heard]
        places: dict[str, set[int]] = {}
        for place, flags in case.flags[error].items():
            for flag in flags:
                places.setdefault(flag.by, set()).add(place)
        tallies += [
            speaker_tally(speaker, error, statuses=statuses, flagged=places.get(speaker, ())) for speaker in speakers
        ]
    return tallies
