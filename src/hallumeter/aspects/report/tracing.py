"""From what agents and code made of a sentence to what a page tells of its way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from hallumeter.aspects.records import outputs
from hallumeter.aspects.records.aspect import (
    AspectSentiment,
    AspectTuple,
    CorrectionProposal,
    StructuralRisk,
    TextSpan,
)
from hallumeter.aspects.records.blame import SPEAKERS, TracedSentence, UnitBlame
from hallumeter.records.claim import Finding
from hallumeter.records.summaries import UnitStatus
from hallumeter.report.sections import (
    OFF_TARGET,
    ModeratorWord,
    Remark,
    SentenceTrace,
    TracedAspect,
    TracedError,
    TraceStep,
)

# What agents said of a sentence, and what became of it: risks, proposals, edits, reviews, decisions.

LONGEST = 240
"""Characters of what somebody said in their own words; outputs.jsonl has all."""
MESSAGE, SENTENCE, RESOLVED = "message", "sentence_polarity", "resolved"
"""Remarks that have no name: a turn without edits, what a debate says of the whole sentence, a risk that is gone."""
_KEEPS = frozenset({"keep", "maintain", "confirm", "ok"})


def remarks_of(output: outputs.PipelineOutput) -> dict[str, tuple[Remark, ...]]:
    """By speaker, in the order in which they spoke; who was asked and said nothing has an empty tuple."""
    found: dict[str, list[Remark]] = {}
    validator = output.stage1.validator
    log = _Log((*output.correction_applied_log, *output.review_applied_log))
    if validator.structural_risks or validator.correction_proposals or validator.consistency_score is not None:
        found["validator"] = [*_risks(validator.structural_risks, output.input_text)]
        found["validator"] += _proposals(validator.correction_proposals, log)
    if output.debate is not None:
        for part in output.debate.rounds:
            for turn in part.turns:
                found.setdefault(turn.name.casefold(), []).extend(_turn(turn))
        if output.debate.summary is not None:
            found["debate_summary"] = list(_summary(output.debate.summary))
    if output.stage2 is not None:
        found |= _reviews(output.stage2, log, text=output.input_text)
    if output.override_log:
        found["debate_override"] = list(map(_override, output.override_log))
    return {by: tuple(_together(remarks)) for by, remarks in found.items()}


class _Log:
    """What became of demands: entries are used up in their order, so that two equal demands have one each."""

    def __init__(self, entries: Iterable[outputs.Correction]) -> None:
        self._entries = list(entries)

    def answered(self, remark: Remark, step: str) -> Remark:
        """The remark with what became of it; who wants things kept asks for nothing."""
        target = remark.about[0] if remark.about else None
        for place, entry in enumerate(self._entries):
            if entry.step in (step, None) and (entry.proposal_type, entry.target_aspect) == (remark.asks, target):
                del self._entries[place]
                return remark if remark.asks.casefold() in _KEEPS else _with_outcome(remark, entry)
        return remark


def _with_outcome(remark: Remark, entry: outputs.Correction) -> Remark:
    """The reason of the log, without where the debate spoke of it, which its own turns tell."""
    text = entry.reason.partition(" [source:")[0]
    reason = text if entry.applied else ": ".join(filter(None, (entry.ignored_reason, text)))
    value = remark.value or entry.resulting_polarity
    return replace(remark, outcome="applied" if entry.applied else "ignored", reason=reason or None, value=value)


def _risks(risks: Iterable[StructuralRisk], text: str) -> Iterator[Remark]:
    for risk in risks:
        scope = (
            None if risk.scope is None or not risk.scope.is_within(text) else text[risk.scope.start : risk.scope.end]
        )
        # Neither a risk of the whole sentence need repeat it, nor one that is described by its words.
        is_in_description = scope is None or len(scope) > 0.8 * len(text) or scope in risk.description
        evidence = None if is_in_description else scope
        yield Remark(risk.type, value=risk.severity, why=_cut(risk.description), evidence=evidence)


def _proposals(proposals: Iterable[CorrectionProposal], log: _Log) -> Iterator[Remark]:
    for one in proposals:
        about = () if one.target_aspect is None else (one.target_aspect,)
        remark = Remark(one.proposal_type, about, _span(one.revised_span), _cut(one.rationale))
        yield log.answered(remark, "validator_proposals")


def _turn(turn: outputs.DebateTurn) -> Iterator[Remark]:
    yield from map(_edit, turn.proposed_edits)
    words = " · ".join(filter(None, (turn.message, *turn.key_points)))
    if words:
        yield Remark(MESSAGE, value=turn.stance, why=_cut(words))


def _edit(edit: outputs.ProposedEdit) -> Remark:
    term = edit.target.aspect_term or edit.target.aspect_ref
    about = () if term is None else (term,)
    return Remark(edit.op, about, edit.value or edit.target.polarity, evidence=_cut(edit.evidence))


def _summary(summary: outputs.DebateSummary) -> Iterator[Remark]:
    """What the debate came to; its edits without the evidence, which the turns have given."""
    if summary.sentence_polarity is not None:
        yield Remark(SENTENCE, value=summary.sentence_polarity, why=_cut(summary.rationale or summary.consensus))
    yield from (replace(_edit(edit), evidence=None) for edit in summary.final_patch)
    yield from (Remark("unresolved_conflict", why=_cut(words)) for words in summary.unresolved_conflicts)


def _reviews(stage: outputs.StageTwo, log: _Log, *, text: str) -> dict[str, list[Remark]]:
    aspects = [
        log.answered(Remark(item.action, (item.term,), _span(item.revised_span), _cut(item.reason)), "ate_review")
        for item in stage.ate.aspect_review
    ]
    sentiments = [
        log.answered(
            Remark(
                item.action,
                (item.aspect_term,),
                item.revised_polarity or item.revised_term or _span(item.revised_span),
                _cut(item.reason),
            ),
            "atsa_review",
        )
        for item in stage.atsa.sentiment_review
    ]
    found = {"ate_review": aspects, "atsa_review": sentiments}
    last = stage.validator
    if last.structural_risks or last.correction_proposals or last.consistency_score is not None:
        left = [*_risks(last.structural_risks, text), *_proposals(last.correction_proposals, log)]
        closed = () if last.final_validation is None else last.final_validation.resolved_risks
        found["validator_review"] = [*left, *(Remark(RESOLVED, why=_cut(risk)) for risk in closed)]
    return found


def _override(decision: outputs.OverrideDecision) -> Remark:
    return Remark(
        "override",
        (decision.aspect_term,),
        decision.target,
        f"+{decision.positive:g} −{decision.negative:g}",
        outcome="applied" if decision.decision == "applied" else "ignored",
        reason=decision.reason,
    )


def _together(remarks: Iterable[Remark]) -> Iterator[Remark]:
    """Remarks that say the same of several aspects as one."""
    groups: dict[Remark, list[str]] = {}
    for remark in remarks:
        groups.setdefault(replace(remark, about=()), []).extend(remark.about)
    return (replace(remark, about=tuple(terms)) for remark, terms in groups.items())


def _span(span: TextSpan | None) -> str | None:
    return None if span is None else f"{span.start}–{span.end}"


def _cut(words: str | None) -> str | None:
    if not words:
        return None
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


STAGE_1, RESULT = "stage1", "final"
"""The steps of an output that holds no states."""
ORDER = (*outputs.STEPS[:4], *SPEAKERS[:5], "validator_proposals", *SPEAKERS[5:], *outputs.STEPS[7:], STAGE_1, RESULT)
"""Everybody who says or does something, in the order in which it is told."""
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


def _states(output: outputs.PipelineOutput) -> dict[str, tuple[TracedAspect, ...]]:
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


def _of_state(aspect: outputs.AspectState, said: Sequence[AspectSentiment]) -> TracedAspect:
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


def _moderator(output: outputs.PipelineOutput) -> ModeratorWord | None:
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
