"""What the parts of a whole are: rules that decided, reasons of drops, of skips and of failures, in plain counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.records.aspects.moderation import ArbiterFlags
from hallumeter.records.aspects.scorecard_blocks import DROP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hallumeter.records.aspects.scorecard import Scorecard
    from hallumeter.records.aspects.scorecard_blocks import ModeratorScore

WHOLE = ""
"""Under this name stands of how many the parts are."""
OF_SENTENCES = frozenset(
    {
        "change_type",
        "moderator_rule",
        "arbiter_flag",
        "rule_e_block_reason",
        "selected_stage",
        "quality_fail_reason",
        "latency_gate",
        "failure",
    }
)
"""Breakdowns whose whole counts sentences, each of which adds at most one to a part."""
MODERATOR_RULES = ("Z", "B", "M", "C", "A", "D", "E")
ARBITER_FLAGS = tuple(
    name for name in ArbiterFlags.__struct_fields__ if name not in ("confidence_margin_used", "rule_e_block_reason")
)
"""The flags that are true or false."""
FARTHEST = 4
"""Offset errors from here on are counted together."""
Item = tuple[str, str, int]
"""A breakdown, a part of it, and how much the scorecard adds."""


def breakdown_items(card: Scorecard) -> Iterator[Item]:
    """Everything that a scorecard adds to breakdowns; failures are told of all sentences."""
    yield "failure", WHOLE, 1
    if card.is_failed:
        assert card.flags is not None
        yield "failure", "parse_failed" if card.flags.parse_failed else "generate_failed", 1
        return
    yield from _drops(card)
    yield from _stages(card)
    yield from _debate(card)
    if card.moderator is not None:
        yield from _moderation(card.moderator)
    if card.summary is not None and card.summary.quality_pass is not None:
        yield "quality_fail_reason", WHOLE, 1
        yield from (("quality_fail_reason", reason, 1) for reason in dict.fromkeys(card.summary.fail_reasons))
    if card.latency is not None and card.latency.gate_status is not None:
        yield "latency_gate", WHOLE, 1
        yield "latency_gate", card.latency.gate_status, 1


def offset_bin(error: int) -> str:
    """How far a span is off; all that are farther than a few characters together.

    >>> [offset_bin(error) for error in (-9, -1, 0, 2, 4)]
    ['-4 or less', '-1', '0', '+2', '+4 or more']
    """
    if error <= -FARTHEST:
        return f"-{FARTHEST} or less"
    return f"+{FARTHEST} or more" if error >= FARTHEST else f"{error:+d}" if error else "0"


def _drops(card: Scorecard) -> Iterator[Item]:
    for aspect in card.filtered:
        if aspect.action != DROP:
            continue
        yield "drop_class", WHOLE, 1
        yield "drop_class", aspect.drop_class or "unknown", 1
        placement = aspect.placement
        if placement is not None and placement.offset_error is not None:
            yield "offset_error", WHOLE, 1
            yield "offset_error", offset_bin(placement.offset_error), 1
            for name in placement.conventions:
                yield "offset_convention", name, 1
            yield "offset_convention", WHOLE, 1


def _stages(card: Scorecard) -> Iterator[Item]:
    before = card.validator_of("stage1")
    for risk in () if before is None else before.structural_risks:
        yield "risk", WHOLE, 1
        yield "risk", risk.risk_id or "OTHER", 1
    delta = card.stage_delta
    if delta is None:
        return
    if delta.change_type is not None:
        yield "change_type", WHOLE, 1
        yield "change_type", delta.change_type, 1
    for reason, number in (delta.ignored_reasons or {}).items():
        yield "ignored_reason", WHOLE, number
        yield "ignored_reason", reason, number


def _debate(card: Scorecard) -> Iterator[Item]:
    debate = card.debate
    if debate is None:
        return
    stats = debate.mapping_stats
    if stats is not None:
        yield "mapping_fail_reason", WHOLE, stats.direct + stats.fallback + stats.none
    for reason, number in (debate.mapping_fail_reasons or {}).items():
        yield "mapping_fail_reason", reason, number
    for outcome, number in (debate.override_stats or {}).items():
        if outcome == "applied" or outcome.startswith("skipped_"):
            yield "override", WHOLE, number
            yield "override", outcome, number


def _moderation(moderator: ModeratorScore) -> Iterator[Item]:
    yield "moderator_rule", WHOLE, 1
    for rule in dict.fromkeys(moderator.applied_rules):
        yield "moderator_rule", rule, 1
    if moderator.selected_stage is not None:
        yield "selected_stage", WHOLE, 1
        yield "selected_stage", moderator.selected_stage, 1
    flags = moderator.arbiter_flags
    if flags is None:
        return
    yield "arbiter_flag", WHOLE, 1
    for name in ARBITER_FLAGS:
        if getattr(flags, name):
            yield "arbiter_flag", name, 1
    if flags.confidence_margin_used is not None:
        yield "arbiter_flag", "confidence_margin_used", 1
    if flags.rule_e_block_reason is not None:
        yield "rule_e_block_reason", WHOLE, 1
        yield "rule_e_block_reason", flags.rule_e_block_reason, 1
