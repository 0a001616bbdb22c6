"""What stage 2 changed, who asked for it, and why what was asked for did not happen."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hallumeter.metrics.aspects import pairs_of
from hallumeter.records.aspects.scorecard_blocks import DebateScore, MappingCounts, StageDelta

from .risks import proposal_id

if TYPE_CHECKING:
    from hallumeter.records.aspects import AspectTuple, Correction, PipelineOutput

OVERRIDE = "DEBATE_OVERRIDE"
APPLIED = "applied"
SKIPPED = "skipped_"
UNTOLD = "untold"
"""The reason of a proposal that was ignored without one."""


def stage_delta(
    output: PipelineOutput, *, do_labels_differ: bool, pairs: tuple[tuple[AspectTuple, ...], ...] | None
) -> StageDelta:
    """What changed between the stages; `pairs` are the tuples of both, None when there is no second.

    A change is guided when any correction of the log was applied, an override of the debate included. Where a
    validator proposed something and there is no log, nobody knows what became of it.
    """
    log = output.correction_applied_log
    is_changed = output.analysis_flags.correction_occurred or do_labels_differ
    proposals = [entry for entry in log if entry.proposal_type != OVERRIDE]
    ignored = [entry for entry in proposals if not entry.applied]
    is_guided = any(entry.applied for entry in log)
    is_told = bool(log) or not output.stage1.validator.correction_proposals
    return StageDelta(
        changed=is_changed,
        change_type=("guided" if is_guided else "unguided") if is_changed else "none",
        related_proposal_ids=_applied_ids(log),
        pairs_changed=None if pairs is None else set(pairs_of(pairs[0])) != set(pairs_of(pairs[1])),
        proposals=len(proposals) if is_told else None,
        proposals_applied=len(proposals) - len(ignored) if is_told else None,
        ignored_reasons=dict(Counter(entry.ignored_reason or UNTOLD for entry in ignored)) if is_told else None,
    )


def debate_score(output: PipelineOutput) -> DebateScore | None:
    """How the debate was mapped to aspects, and which overrides were weighed; None without a debate."""
    context = output.debate_review_context
    if context is None and output.debate is None and not output.override_log:
        return None
    overrides: dict[str, int] = dict(Counter(_outcome(each.decision, each.reason) for each in output.override_log))
    if not output.override_log:
        entries = [entry for entry in output.correction_applied_log if entry.proposal_type == OVERRIDE]
        overrides = dict(Counter(_outcome(APPLIED if each.applied else "", each.reason) for each in entries))
    if context is None:
        return DebateScore(override_stats=overrides)
    stats = context.mapping_stats
    return DebateScore(
        MappingCounts(stats.direct, stats.fallback, stats.none), stats.coverage, context.mapping_fail_reasons, overrides
    )


def _applied_ids(log: tuple[Correction, ...]) -> tuple[str, ...]:
    """The proposals of stage 1 that were applied, by their place among all, and the overrides by their aspect."""
    found = []
    number = 0
    for entry in log:
        is_override = entry.proposal_type == OVERRIDE
        if entry.applied:
            found.append(f"override:{entry.target_aspect or ''}" if is_override else proposal_id("stage1", number))
        number += not is_override
    return tuple(found)


def _outcome(decision: str, reason: str) -> str:
    """``applied``, or ``skipped_`` and why.

    >>> _outcome("skipped", "low_signal"), _outcome("skipped", "skipped_conflict"), _outcome("applied", "flip")
    ('skipped_low_signal', 'skipped_conflict', 'applied')
    """
    if decision == APPLIED:
        return APPLIED
    return reason if reason.startswith(SKIPPED) else f"{SKIPPED}{reason or UNTOLD}"
