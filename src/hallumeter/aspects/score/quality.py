"""Opinions about a scorecard: does its sentence need a target, is it good enough, was it in time?"""

from __future__ import annotations

from msgspec import structs

from hallumeter.aspects.grounding import TargetWords
from hallumeter.aspects.records import scorecard
from hallumeter.aspects.records.aspect import CorrectionProposal, StructuralRisk
from hallumeter.aspects.records.outputs import PipelineOutput, StructuralReview, StructuralValidation

# What validators found, in the words of scorecards. Names are compared whole: no part of a name means anything.

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


def validator_scores(output: PipelineOutput) -> tuple[scorecard.ValidatorScore, ...]:
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


def validator_score(stage: str, found: StructuralValidation | StructuralReview) -> scorecard.ValidatorScore:
    """What the validator of a stage found."""
    return scorecard.ValidatorScore(
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


def _risk(risk: StructuralRisk) -> scorecard.ScoredRisk:
    span = None if risk.scope is None else (risk.scope.start, risk.scope.end)
    return scorecard.ScoredRisk(risk_id_of(risk.type), severity_of(risk.severity), span, risk.description, risk.type)


def _proposal(stage: str, number: int, proposal: CorrectionProposal) -> scorecard.ScoredProposal:
    target, action = _ACTIONS.get(proposal.proposal_type.strip().upper(), (None, "other"))
    return scorecard.ScoredProposal(
        target, action, proposal.rationale, proposal_id(stage, number), proposal.target_aspect
    )


PROFILES = ("smoke", "regression", "paper_main")
DEFAULT_PROFILE = "regression"
GATES_MS = {"smoke": 60_000.0, "regression": 30_000.0, "paper_main": 15_000.0}
"""How long a sentence may take."""
GOOD_ENOUGH = 0.5
_SHORTEST_WITH_TARGET = 4
"""Characters of a text without a space that may name a target."""


def is_expected_targetless(text: str, words: TargetWords, *, has_aspect: bool) -> bool:
    """Whether a text is too short to name a target, and none was found.

    >>> from hallumeter.aspects.grounding import target_words
    >>> words = target_words()
    >>> [is_expected_targetless(text, words, has_aspect=False) for text in ("ㅋㅋ", "굿굿", "배터리 굿", "언제")]
    [True, True, False, True]
    """
    if has_aspect:
        return False
    plain = text.strip()
    is_short = " " not in plain and len(plain) < _SHORTEST_WITH_TARGET
    return len(plain) <= 1 or plain in words.stop_terms or is_short


def policy_score(*, is_targetless: bool, label: str | None) -> scorecard.PolicyScore:
    """What a sentence needs, and what it has."""
    return scorecard.PolicyScore(is_targetless, label in scorecard.SENTENCE_LABELS)


def quality_summary(
    policy: scorecard.PolicyScore, aspects: scorecard.AspectScore, sentiments: scorecard.SentimentScore
) -> scorecard.QualitySummary:
    """Whether a sentence is good enough. A rate that is undefined does not reach any bound."""
    if policy.is_expected_targetless:
        has_label = bool(policy.has_sentence_sentiment)
        return scorecard.QualitySummary(has_label, () if has_label else ("no_sentence_sentiment",))
    rates = {
        "low_valid_aspect_rate": aspects.valid_aspect_rate,
        "low_opinion_grounded_rate": sentiments.opinion_grounded_rate,
        "low_evidence_relevance_score": sentiments.evidence_relevance_score,
    }
    reasons = tuple(reason for reason, rate in rates.items() if rate is None or rate < GOOD_ENOUGH)
    return scorecard.QualitySummary(not reasons, reasons)


def latency_score(total_ms: float | None, profile: str) -> scorecard.LatencyScore:
    """How long a sentence took; a profile that is not known has the bound of the default one.

    >>> latency_score(20_000, "paper_main").gate_status, latency_score(20_000, "smoke").gate_status
    ('WARN', 'PASS')
    >>> latency_score(None, "smoke").gate_status is None
    True
    """
    return with_gate(scorecard.LatencyScore(total_ms, profile=profile), profile)


def with_gate(latency: scorecard.LatencyScore, profile: str | None) -> scorecard.LatencyScore:
    """A time with its bound and its status; the bound that it has itself goes before that of its profile.

    >>> with_gate(scorecard.LatencyScore(20_000, 10_000), "smoke").gate_status
    'WARN'
    """
    bound = latency.gate_threshold_ms
    if bound is None:
        bound = GATES_MS.get(latency.profile or profile or DEFAULT_PROFILE, GATES_MS[DEFAULT_PROFILE])
    status = None if latency.total_ms is None else "PASS" if latency.total_ms <= bound else "WARN"
    return structs.replace(latency, gate_threshold_ms=bound, gate_status=status)
