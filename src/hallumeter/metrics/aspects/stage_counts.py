"""What a scorecard tells of risks, changes and the debate, in counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hallumeter.records.aspects.scorecard import Scorecard
    from hallumeter.records.aspects.scorecard_blocks import StageDelta, ValidatorScore

Counts = dict[str, float]
SEVERITY_WEIGHTS = {"high": 3, "mid": 2, "low": 1}
"""What a risk weighs that is left; one of unknown severity weighs as ``mid``."""
_NEGATION_CONTRAST = ("NEGATION_SCOPE", "CONTRAST_SCOPE")


def count_stages(card: Scorecard, counts: Counts) -> None:
    """Add what is known of both stages."""
    before, after = card.validator_of("stage1"), card.validator_of("stage2")
    if before is not None:
        counts["validated"] = 1
        counts["risk_flagged"] = int(bool(before.structural_risks))
        counts["negation_contrast"] = _negation_contrast(before) + _negation_contrast(after)
    if before is not None and after is not None:
        _count_resolution(before, after, counts)
    if card.stage_delta is not None:
        _count_delta(card.stage_delta, before, after, counts=counts)
    _count_debate(card, counts)


def _count_resolution(before: ValidatorScore, after: ValidatorScore, counts: Counts) -> None:
    counts["validated_twice"] = 1
    counts["risks_before"] = len(before.structural_risks)
    counts["risks_after"] = len(after.structural_risks)
    counts["residual_severity"] = sum(SEVERITY_WEIGHTS.get(risk.severity or "", 2) for risk in after.structural_risks)
    if before.structural_risks:
        counts["risk_flagged_twice"] = 1
        counts["risk_cleared"] = int(not after.structural_risks)


def _count_delta(
    delta: StageDelta, before: ValidatorScore | None, after: ValidatorScore | None, *, counts: Counts
) -> None:
    if delta.changed is not None:
        counts["delta_known"] = 1
        counts["changed"] = int(delta.changed)
        counts["guided"] = int(delta.changed and delta.change_type == "guided")
        counts["unguided"] = int(delta.changed and delta.change_type == "unguided")
        if before is not None and before.structural_risks:
            counts["risk_flagged_delta"] = 1
            counts["risk_changed"] = int(delta.changed)
            counts["risk_unchanged"] = int(not delta.changed)
        if before is not None and after is not None:
            is_resolved = int(len(after.structural_risks) < len(before.structural_risks))
            counts["changed_twice" if delta.changed else "unchanged_twice"] = 1
            counts["resolved_with_change" if delta.changed else "resolved_without_change"] = is_resolved
    if delta.pairs_changed is not None:
        counts["pairs_known"] = 1
        counts["pairs_changed"] = int(delta.pairs_changed)
    if delta.proposals is not None:
        counts["proposals"] = delta.proposals
        counts["proposals_applied"] = delta.proposals_applied or 0


def _count_debate(card: Scorecard, counts: Counts) -> None:
    debate = card.debate
    if debate is None:
        return
    stats, reasons, overrides = debate.mapping_stats, debate.mapping_fail_reasons or {}, debate.override_stats or {}
    if stats is not None:
        counts["turns"] = stats.direct + stats.fallback + stats.none
        counts["turns_direct"], counts["turns_fallback"], counts["turns_none"] = (
            stats.direct,
            stats.fallback,
            stats.none,
        )
        counts["turns_mapped"] = stats.direct + stats.fallback
        if counts["turns"]:
            counts["turns_no_match"] = reasons.get("no_match", 0)
            counts["turns_neutral"] = reasons.get("neutral_stance", 0)
    applied = overrides.get("applied", 0)
    skipped = sum(number for name, number in overrides.items() if name.startswith("skipped_"))
    counts["overrides"] = applied + skipped
    counts["overrides_applied"] = applied
    counts["override_samples"] = int(applied > 0)


def _negation_contrast(validator: ValidatorScore | None) -> int:
    risks = () if validator is None else validator.structural_risks
    return sum(risk.risk_id in _NEGATION_CONTRAST for risk in risks)
