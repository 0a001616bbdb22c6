"""From what agents and code made of a sentence to what a page tells of its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.records.aspects import STEPS
from hallumeter.records.aspects.blame import SPEAKERS

from .remarks import remarks_of
from .trace import ModeratorWord, SentenceTrace, TracedAspect, TracedError, TraceStep

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hallumeter.records import Finding
    from hallumeter.records.aspects import AspectSentiment, AspectState, AspectTuple, PipelineOutput, TextSpan
    from hallumeter.records.aspects.blame import UnitBlame, UnitStatus
    from hallumeter.records.aspects.traced_sentence import TracedSentence

STAGE_1, RESULT = "stage1", "final"
"""The steps of an output that holds no states."""
ORDER = (*STEPS[:4], *SPEAKERS[:5], "validator_proposals", *SPEAKERS[5:], *STEPS[7:], STAGE_1, RESULT)
"""Everybody who says or does something, in the order in which it is told."""
OFF_TARGET = "off_target"
_PLACES = {"H1": "out_of_text", "H2": "misplaced"}
_NOT_A_TARGET = "not_a_target"
_OF_STAGE_1 = "aspect"


def trace_of(traced: TracedSentence, findings: Sequence[Finding] = ()) -> SentenceTrace:
    """All that a page tells of the way of a sentence; `findings` say which of its first aspects are no targets."""
    output = traced.output
    states = _states(output)
    remarks = remarks_of(output)
    known = [by for by in ORDER if by in states or by in remarks]
    known += [by for by in remarks if by not in ORDER]
    errors = None if traced.errors is None else tuple(map(_error, traced.errors))
    dropped = tuple(_off_targets(findings, states))
    return SentenceTrace(
        steps=tuple(TraceStep(by, states.get(by), remarks.get(by, ())) for by in known),
        errors=errors if errors is None and not dropped else (*(errors or ()), *dropped),
        moderator=_moderator(output),
        gold=None if output.gold_tuples is None else tuple(map(_of_tuple, output.gold_tuples)),
        notes=output.notes,
        untold=(*output.meta.disabled, *output.meta.untold),
        failed=output.failed,
    )


def _states(output: PipelineOutput) -> dict[str, tuple[TracedAspect, ...]]:
    """The aspects after each step that changed them; of an output without states, after stage 1 and at the end."""
    if output.states:
        said = list(output.stage1.atsa.aspect_sentiments)
        return {
            state.step: tuple(
                _of_state(aspect, said if state.step in ("atsa", "atsa_tidying") else ()) for aspect in state.aspects
            )
            for state in output.states
        }
    found: dict[str, tuple[TracedAspect, ...]] = {}
    result = output.final_result
    first = tuple(map(_of_sentiment, output.stage1.atsa.aspect_sentiments))
    unjudged = {aspect.term for aspect in output.stage1.ate.aspects} - {aspect.term for aspect in first}
    first += tuple(
        TracedAspect(aspect.term, *_place(aspect.span), is_judged=False)
        for aspect in output.stage1.ate.aspects
        if aspect.term in unjudged
    )
    first = first or (() if result is None else tuple(map(_of_tuple, result.stage1_tuples)))
    if first:
        found[STAGE_1] = first
    if result is not None:
        found[RESULT] = tuple(map(_of_tuple, result.final_tuples)) or tuple(
            TracedAspect(aspect.term, *_place(aspect.span if aspect.term else None), polarity=aspect.polarity)
            for aspect in result.final_aspects
        )
    return found


def _of_state(aspect: AspectState, said: Sequence[AspectSentiment]) -> TracedAspect:
    """An aspect after a step; while sentiments are being given, with how sure it is and the words that show it."""
    own = next((one for one in said if (one.term, one.polarity) == (aspect.term, aspect.polarity)), None)
    return TracedAspect(
        aspect.term,
        *_place(aspect.span),
        polarity=aspect.polarity,
        is_judged=aspect.has_sentiment,
        confidence=None if own is None or not aspect.has_sentiment else own.confidence,
        evidence=None if own is None or not aspect.has_sentiment else own.evidence,
    )


def _of_sentiment(said: AspectSentiment) -> TracedAspect:
    span = None if said.aspect_term is None else said.aspect_term.span
    return TracedAspect(
        said.term, *_place(span), polarity=said.polarity, confidence=said.confidence, evidence=said.evidence
    )


def _of_tuple(stated: AspectTuple) -> TracedAspect:
    return TracedAspect(stated.aspect_term, *_place(stated.span), polarity=stated.polarity)


def _place(span: TextSpan | None) -> tuple[int | None, int | None]:
    return (None, None) if span is None else (span.start, span.end)


def _moderator(output: PipelineOutput) -> ModeratorWord | None:
    """The moderator's word; where there was none, the label of the result."""
    word, result = output.moderator, output.final_result
    if word is not None:
        return ModeratorWord(
            word.final_label, word.confidence, word.applied_rules, stage=word.selected_stage, why=word.rationale
        )
    return None if result is None else ModeratorWord(result.label, result.confidence, why=result.rationale)


def _error(unit: UnitBlame) -> TracedError:
    return TracedError(
        _PLACES.get(unit.detail or "", "misplaced") if unit.error == "ungrounded" else unit.error,
        TracedAspect(unit.term, *_place(unit.span), polarity=unit.polarity),
        gold_polarity=unit.gold_polarity,
        changes=tuple((change.step, change.became) for change in unit.changes),
        flagged_by=unit.flagged_by,
        ignored_by=tuple((each.by, each.reason) for each in unit.ignored_by),
    )


def _off_targets(findings: Iterable[Finding], states: dict[str, tuple[TracedAspect, ...]]) -> Iterable[TracedError]:
    """Aspects of stage 1 that stand where they should and are no targets, from where they came to where they went."""
    for finding in findings:
        claim = finding.claim
        if claim.kind != _OF_STAGE_1 or all(verdict.reason != _NOT_A_TARGET for verdict in finding.verdicts):
            continue
        changes: list[tuple[str, UnitStatus]] = []
        is_there = False
        for step, aspects in states.items():
            found = any((each.term, each.start) == (claim.text, claim.start) for each in aspects)
            if found != is_there:
                changes.append((step, "wrong" if found else "absent"))
                is_there = found
        yield TracedError(OFF_TARGET, TracedAspect(claim.text or "", claim.start, claim.end), changes=tuple(changes))
