"""What agents said of a sentence, and what became of it: risks, proposals, edits, reviews, decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from .trace import Remark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hallumeter.records.aspects import (
        Correction,
        CorrectionProposal,
        DebateSummary,
        DebateTurn,
        OverrideDecision,
        PipelineOutput,
        ProposedEdit,
        StageTwo,
        StructuralRisk,
        TextSpan,
    )

LONGEST = 240
"""Characters of what somebody said in their own words; outputs.jsonl has all."""
MESSAGE, SENTENCE, RESOLVED = "message", "sentence_polarity", "resolved"
"""Remarks that have no name: a turn without edits, what a debate says of the whole sentence, a risk that is gone."""
_KEEPS = frozenset({"keep", "maintain", "confirm", "ok"})


def remarks_of(output: PipelineOutput) -> dict[str, tuple[Remark, ...]]:
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

    def __init__(self, entries: Iterable[Correction]) -> None:
        self._entries = list(entries)

    def answered(self, remark: Remark, step: str) -> Remark:
        """The remark with what became of it; who wants things kept asks for nothing."""
        target = remark.about[0] if remark.about else None
        for place, entry in enumerate(self._entries):
            if entry.step in (step, None) and (entry.proposal_type, entry.target_aspect) == (remark.asks, target):
                del self._entries[place]
                return remark if remark.asks.casefold() in _KEEPS else _with_outcome(remark, entry)
        return remark


def _with_outcome(remark: Remark, entry: Correction) -> Remark:
    """The reason of the log, without where the debate spoke of it, which its own turns tell."""
    told = entry.reason.partition(" [source:")[0]
    reason = told if entry.applied else ": ".join(filter(None, (entry.ignored_reason, told)))
    value = remark.value or entry.resulting_polarity
    return replace(remark, outcome="applied" if entry.applied else "ignored", reason=reason or None, value=value)


def _risks(risks: Iterable[StructuralRisk], text: str) -> Iterator[Remark]:
    for risk in risks:
        scope = (
            None if risk.scope is None or not risk.scope.is_within(text) else text[risk.scope.start : risk.scope.end]
        )
        # Neither a risk of the whole sentence need repeat it, nor one that is described by its words.
        is_told = scope is None or len(scope) > 0.8 * len(text) or scope in risk.description
        evidence = None if is_told else scope
        yield Remark(risk.type, value=risk.severity, why=_cut(risk.description), evidence=evidence)


def _proposals(proposals: Iterable[CorrectionProposal], log: _Log) -> Iterator[Remark]:
    for one in proposals:
        about = () if one.target_aspect is None else (one.target_aspect,)
        remark = Remark(one.proposal_type, about, _span(one.revised_span), _cut(one.rationale))
        yield log.answered(remark, "validator_proposals")


def _turn(turn: DebateTurn) -> Iterator[Remark]:
    yield from map(_edit, turn.proposed_edits)
    words = " · ".join(filter(None, (turn.message, *turn.key_points)))
    if words:
        yield Remark(MESSAGE, value=turn.stance, why=_cut(words))


def _edit(edit: ProposedEdit) -> Remark:
    term = edit.target.aspect_term or edit.target.aspect_ref
    about = () if term is None else (term,)
    return Remark(edit.op, about, edit.value or edit.target.polarity, evidence=_cut(edit.evidence))


def _summary(summary: DebateSummary) -> Iterator[Remark]:
    """What the debate came to; its edits without the evidence, which the turns have given."""
    if summary.sentence_polarity is not None:
        yield Remark(SENTENCE, value=summary.sentence_polarity, why=_cut(summary.rationale or summary.consensus))
    yield from (replace(_edit(edit), evidence=None) for edit in summary.final_patch)
    yield from (Remark("unresolved_conflict", why=_cut(words)) for words in summary.unresolved_conflicts)


def _reviews(stage: StageTwo, log: _Log, *, text: str) -> dict[str, list[Remark]]:
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


def _override(decision: OverrideDecision) -> Remark:
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
