"""The last word on a sentence: opinions of stages and of the validator, and the rules that settle them."""

from msgspec import Struct

from .aspect import TextSpan


class StageOpinion(Struct, frozen=True):
    """What one stage says about a whole sentence."""

    label: str
    """A sentence label; one that is not known is compared as it is."""
    confidence: float
    rationale: str = ""
    target: str | None = None
    span: TextSpan | None = None


class ValidatorOpinion(Struct, frozen=True):
    """What a validator says about a whole sentence."""

    suggested_label: str | None = None
    issues: tuple[str, ...] = ()
    """One line per risk: ``TYPE: description severity:x``."""
    confidence: float = 0.0
    agrees_with_ate: bool | None = None
    agrees_with_atsa: bool | None = None


class ArbiterFlags(Struct, frozen=True):
    """Which turns the decision took."""

    stage2_rejected_due_to_confidence: bool = False
    validator_override_applied: bool = False
    confidence_margin_used: float | None = None
    """Stage 1 minus stage 2 where the guard kept stage 1."""
    rule_e_fired: bool = False
    rule_e_block_reason: str | None = None
    rule_b_applied: bool = False
    """A result of stage 2 was there and was weighed."""
    rule_e_attempted_after_b: bool = False
    """A summary of the debate was there and was looked at."""
    veto_undone_by_rule_d: bool = False
    """Rule D took back the label that the validator had set."""


class ModeratorOutput(Struct, frozen=True):
    """The final label of a sentence, and why."""

    final_label: str
    confidence: float
    rationale: str = ""
    applied_rules: tuple[str, ...] = ()
    arbiter_flags: ArbiterFlags = ArbiterFlags()
    selected_stage: str = "stage1"
    """``stage1`` or ``stage2``."""
    decision_reason: str = ""
