"""What validators found, in the words of scorecards. Names are compared whole: no part of a name means anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.records.aspects.scorecard_blocks import ScoredProposal, ScoredRisk, ValidatorScore

if TYPE_CHECKING:
    from hallumeter.records.aspects import (
        CorrectionProposal,
        PipelineOutput,
        StructuralReview,
        StructuralRisk,
        StructuralValidation,
    )

OTHER = "OTHER"
_RISK_IDS = {
    "NEGATION": "NEGATION_SCOPE",
    "NEGATION_SCOPE": "NEGATION_SCOPE",
    "CONTRAST": "CONTRAST_SCOPE",
    "CONTRAST_SCOPE": "CONTRAST_SCOPE",
    "POLARITY_MISMATCH": "POLARITY_MISMATCH",
    "EVIDENCE_GAP": "EVIDENCE_GAP",
    "SPAN_MISMATCH": "SPAN_MISMATCH",
}
_SEVERITIES = {"low": "low", "mid": "mid", "medium": "mid", "middle": "mid", "moderate": "mid", "high": "high"}
_ACTIONS = {
    "FLIP_POLARITY": ("ATSA", "revise_polarity"),
    "REVISE_SPAN": ("ATE", "revise_span"),
    "DROP_ASPECT": ("ATE", "recheck_evidence"),
}


def risk_id_of(name: str) -> str:
    """The id of a risk; every name that is not known whole is another one.

    >>> risk_id_of("negation"), risk_id_of("Contrast scope"), risk_id_of("E"), risk_id_of("")
    ('NEGATION_SCOPE', 'CONTRAST_SCOPE', 'OTHER', 'OTHER')
    """
    known = _RISK_IDS.get(name)
    return known if known is not None else _RISK_IDS.get("_".join(name.upper().replace("-", " ").split()), OTHER)


def severity_of(name: str | None) -> str:
    """A severity as scorecards have it; one that is not known is in the middle.

    >>> severity_of("HIGH"), severity_of("medium"), severity_of("severe"), severity_of(None)
    ('high', 'mid', 'mid', 'mid')
    """
    return _SEVERITIES.get((name or "").strip().lower(), "mid")


def validator_scores(output: PipelineOutput) -> tuple[ValidatorScore, ...]:
    """What the validators of both stages found; none of a validator that was switched off, or of which nobody tells."""
    meta, stage2 = output.meta, output.stage2
    if "enable_validator" in meta.disabled:
        return ()
    found = {"stage1": output.stage1.validator, "stage2": None if stage2 is None else stage2.validator}
    return tuple(
        [
            validator_score(stage, each)
            for stage, each in found.items()
            if each is not None and f"{stage}.validator" not in meta.untold
        ]
    )


def validator_score(stage: str, found: StructuralValidation | StructuralReview) -> ValidatorScore:
    """What the validator of a stage found."""
    return ValidatorScore(
        stage,
        tuple([_risk(risk) for risk in found.structural_risks]),
        tuple([_proposal(stage, number, each) for number, each in enumerate(found.correction_proposals)]),
    )


def proposal_id(stage: str, number: int) -> str:
    """How a proposal is referred to.

    >>> proposal_id("stage1", 0)
    'stage1-p0'
    """
    return f"{stage}-p{number}"


def _risk(risk: StructuralRisk) -> ScoredRisk:
    span = None if risk.scope is None else (risk.scope.start, risk.scope.end)
    return ScoredRisk(risk_id_of(risk.type), severity_of(risk.severity), span, risk.description, risk.type)


def _proposal(stage: str, number: int, proposal: CorrectionProposal) -> ScoredProposal:
    target, action = _ACTIONS.get(proposal.proposal_type.strip().upper(), (None, "other"))
    return ScoredProposal(target, action, proposal.rationale, proposal_id(stage, number), proposal.target_aspect)
