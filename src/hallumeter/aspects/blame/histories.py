"""The aspects of an output after each of its steps; of outputs that hold no states, after stage 1 and at the end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hallumeter.aspects.records.aspect import AspectTuple
from hallumeter.aspects.records.blame import COARSE_STEPS
from hallumeter.aspects.records.outputs import (
    STEPS,
    AspectState,
    FinalResult,
    PipelineOutput,
    StageOne,
    StructuralReview,
    StructuralValidation,
)

_STAGE_ONE = STEPS[: STEPS.index("atsa_tidying") + 1]
_FIRST_JUDGED = STEPS.index("atsa")
_CLOSING = STEPS[STEPS.index("atsa_review") :]
"""Steps behind which nobody adds a sentiment to an aspect that has none, but the debate."""


class History(NamedTuple):
    """The aspects of a sentence after each step."""

    steps: tuple[str, ...]
    states: tuple[tuple[AspectState, ...], ...]
    are_judged: tuple[bool, ...]
    """Whether somebody has spoken about polarities by then; before, none can be wrong or missing."""
    heard: int
    """The place of the last step of stage 1, of which all speakers speak."""


def history_of_output(output: PipelineOutput) -> History | None:
    """None when neither states nor a final result are known."""
    if output.states:
        return _full_history(output)
    if output.final_result is None:
        return None
    first = _after_stage_one(output.stage1, output.final_result)
    last = _at_end(output.final_result)
    return History(COARSE_STEPS, (first, last), (True, True), 0)


def did_validate(validation: StructuralValidation | StructuralReview) -> bool:
    """Whether a validator was asked: one that is switched off leaves nothing behind, not even a score."""
    has_said = validation.structural_risks or validation.correction_proposals
    return bool(has_said) or validation.consistency_score is not None


def _full_history(output: PipelineOutput) -> History:
    """A step that changed nothing left what it found. In the end, an aspect that nobody felt anything about is none."""
    known = {state.step: state.aspects for state in output.states}
    steps = tuple(step for step in STEPS if step in known or _is_taken(step, output))
    states: list[tuple[AspectState, ...]] = []
    current: tuple[AspectState, ...] = ()
    for step in steps:
        current = known.get(step, current)
        if step in _CLOSING and not all(aspect.has_sentiment for aspect in current):
            states.append(tuple(aspect for aspect in current if aspect.has_sentiment))
        else:
            states.append(current)
    judged = tuple(STEPS.index(step) >= _FIRST_JUDGED for step in steps)
    return History(steps, tuple(states), judged, len(_STAGE_ONE) - 1)


def _is_taken(step: str, output: PipelineOutput) -> bool:
    if step in _STAGE_ONE:
        return True
    if step == "moderator":
        return output.moderator is not None
    if step == "debate_override":
        return bool(output.override_log)
    if step == "validator_proposals":
        return output.stage2 is not None and did_validate(output.stage1.validator)
    return output.stage2 is not None


def _after_stage_one(stage: StageOne, result: FinalResult) -> tuple[AspectState, ...]:
    """Aspects in their order with the first sentiment about each, then sentiments about anything else."""
    sentiments = list(stage.atsa.aspect_sentiments)
    states = []
    for aspect in stage.ate.aspects:
        said = next((each for each in sentiments if each.term == aspect.term), None)
        if said is None:
            states.append(AspectState(aspect.term, aspect.span, None, has_sentiment=False))
        else:
            sentiments.remove(said)
            states.append(AspectState(aspect.term, aspect.span, said.polarity))
    for said in sentiments:
        span = None if said.aspect_term is None else said.aspect_term.span
        states.append(AspectState(said.term, span, said.polarity))
    return tuple(states) or _stated(result.stage1_tuples)


def _at_end(result: FinalResult) -> tuple[AspectState, ...]:
    named = [
        AspectState(aspect.term, aspect.span if aspect.term else None, aspect.polarity)
        for aspect in result.final_aspects
    ]
    return tuple(named) or _stated(result.final_tuples)


def _stated(tuples: Iterable[AspectTuple]) -> tuple[AspectState, ...]:
    return tuple(AspectState(each.aspect_term, each.span, each.polarity) for each in tuples)
