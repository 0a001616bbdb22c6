"""One sentence after the whole pipeline: a line of `outputs.jsonl`."""

from typing import Literal

from msgspec import Struct, field

from hallumeter.records.response import FieldValue

from .aspect import Aspect, AspectSentiment, AspectTuple, CorrectionProposal, Polarity, StructuralRisk, TextSpan

# The last word on a sentence: opinions of stages and of the validator, and the rules that settle them.


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


# The debate between the stages: patches that correctors propose, and what stage 2 is told of them.


class EditTarget(Struct, frozen=True, omit_defaults=True):
    """What an edit is about."""

    aspect_ref: str | None = None
    aspect_term: str | None = None
    polarity: str | None = None


class ProposedEdit(Struct, frozen=True, omit_defaults=True):
    """One patch."""

    op: str
    """``set_polarity``, ``set_aspect_ref``, ``merge_tuples``, ``drop_tuple`` or ``confirm_tuple``."""
    target: EditTarget = EditTarget()
    value: str | None = None
    evidence: str | None = None
    confidence: float | None = None


class DebateTurn(Struct, frozen=True, omit_defaults=True):
    """What one speaker says."""

    agent: str = ""
    """``epm``, ``tan`` or ``cj``."""
    proposed_edits: tuple[ProposedEdit, ...] = ()
    speaker: str | None = None
    """As debates without edits name the agent."""
    stance: str | None = None
    message: str | None = None
    key_points: tuple[str, ...] = ()
    planning: str | None = None
    reflection: str | None = None

    @property
    def name(self) -> str:
        """Who speaks."""
        return self.agent or self.speaker or ""


class DebateRound(Struct, frozen=True):
    """One round of turns."""

    round_index: int
    turns: tuple[DebateTurn, ...] = ()


class DebateSummary(Struct, frozen=True, omit_defaults=True):
    """What the debate came to."""

    final_patch: tuple[ProposedEdit, ...] = ()
    final_tuples: tuple[AspectTuple, ...] = ()
    sentence_polarity: str | None = None
    sentence_evidence_spans: tuple[str, ...] = ()
    """Words of the text; at least one must stand in it."""
    unresolved_conflicts: tuple[str, ...] = ()
    aspect_evidence: dict[str, str] = field(default_factory=dict)
    rationale: str | None = None
    consensus: str | None = None
    winner: str | None = None
    key_agreements: tuple[str, ...] = ()
    key_disagreements: tuple[str, ...] = ()


class DebateOutput(Struct, frozen=True):
    """A whole debate."""

    rounds: tuple[DebateRound, ...] = ()
    summary: DebateSummary | None = None
    topic: str | None = None
    personas: dict[str, str] = field(default_factory=dict)


class AspectHint(Struct, frozen=True):
    """What one speaker lets expect of an aspect."""

    speaker: str
    stance: str
    weight: float
    polarity_hint: str | None = None
    is_drop: bool = False
    """Whether the speaker wants the tuple removed, which says nothing about its polarity."""


class RebuttalPoint(Struct, frozen=True):
    """A turn of the debate, mapped to the aspects that it speaks about."""

    speaker: str
    stance: str
    aspect_terms: tuple[str, ...] = ()
    mapping_confidence: str = "none"
    """``direct``, ``fallback`` or ``none``."""
    mapping_fail_reason: str | None = None
    weight: float = 0.0
    polarity_hint: str | None = None
    provenance_hint: str | None = None
    """``source:<speaker>/<stance>``."""
    proposed_edits: tuple[ProposedEdit, ...] = ()


class MappingStats(Struct, frozen=True):
    """How turns were mapped to aspects."""

    direct: int = 0
    fallback: int = 0
    none: int = 0

    @property
    def total(self) -> int:
        """All turns."""
        return self.direct + self.fallback + self.none

    @property
    def coverage(self) -> float | None:
        """Share of turns that speak about a known aspect; None without turns.

        >>> MappingStats(2, 1, 1).coverage, MappingStats().coverage
        (0.75, None)
        """
        return (self.direct + self.fallback) / self.total if self.total else None


class AspectMapping(Struct, frozen=True):
    """Which key of a normalized term stands for which aspect."""

    key: str
    aspect_term: str


class ReviewContext(Struct, frozen=True):
    """What stage 2 is told of the debate."""

    summary: DebateSummary | None = None
    aspect_terms: tuple[str, ...] = ()
    synonym_hints: dict[str, tuple[str, ...]] = field(default_factory=dict)
    rebuttal_points: tuple[RebuttalPoint, ...] = ()
    aspect_map: tuple[AspectMapping, ...] = ()
    aspect_hints: dict[str, tuple[AspectHint, ...]] = field(default_factory=dict)
    mapping_stats: MappingStats = MappingStats()
    mapping_coverage: float | None = None
    mapping_fail_reasons: dict[str, int] = field(default_factory=dict)
    guidance: tuple[str, ...] = ()


# What the agents of both stages answer: independent readings first, reviews of them later.


class AspectExtraction(Struct, frozen=True):
    """Stage 1, ATE: the aspects of a sentence."""

    aspects: tuple[Aspect, ...] = ()


class AspectSentiments(Struct, frozen=True):
    """Stage 1, ATSA: what is felt about each aspect."""

    aspect_sentiments: tuple[AspectSentiment, ...] = ()


class StructuralValidation(Struct, frozen=True):
    """Stage 1, Validator: what may mislead in the sentence, and what to correct."""

    structural_risks: tuple[StructuralRisk, ...] = ()
    correction_proposals: tuple[CorrectionProposal, ...] = ()
    consistency_score: float | None = None


class AspectReviewItem(Struct, frozen=True, omit_defaults=True):
    """Stage 2, ATE: what to do with one aspect."""

    term: str
    action: str
    """``keep``, ``revise_span``, ``drop`` or ``add``; synonyms are understood, others have no effect."""
    revised_span: TextSpan | None = None
    reason: str = ""
    provenance: str | None = None
    """Which words of the debate spoke about the aspect; written by code, never by an agent."""


class AspectReview(Struct, frozen=True):
    """Stage 2, ATE: a review, never a fresh list."""

    aspect_review: tuple[AspectReviewItem, ...] = ()


class SentimentReviewItem(Struct, frozen=True, omit_defaults=True):
    """Stage 2, ATSA: what to do with the sentiment about one aspect."""

    aspect_term: str
    action: str
    """``maintain``, ``flip_polarity``, ``drop`` or ``add``; synonyms are understood, others have no effect."""
    revised_polarity: Polarity | None = None
    revised_span: TextSpan | None = None
    revised_term: str | None = None
    reason: str = ""
    provenance: str | None = None


class SentimentReview(Struct, frozen=True):
    """Stage 2, ATSA: a review, never a fresh list."""

    sentiment_review: tuple[SentimentReviewItem, ...] = ()


class FinalValidation(Struct, frozen=True):
    """Stage 2, Validator: what became of the risks of stage 1."""

    resolved_risks: tuple[str, ...] = ()
    remaining_risks: tuple[str, ...] = ()
    final_consistency_score: float | None = None


class StructuralReview(Struct, frozen=True):
    """Stage 2, Validator: the risks that are left, counted anew."""

    structural_risks: tuple[StructuralRisk, ...] = ()
    correction_proposals: tuple[CorrectionProposal, ...] = ()
    consistency_score: float | None = None
    final_validation: FinalValidation | None = None


class StageOne(Struct, frozen=True):
    """The first stage of a sentence, after code has tidied it."""

    ate: AspectExtraction = AspectExtraction()
    atsa: AspectSentiments = AspectSentiments()
    validator: StructuralValidation = StructuralValidation()


class StageTwo(Struct, frozen=True):
    """The reviews of a sentence."""

    ate: AspectReview = AspectReview()
    atsa: SentimentReview = SentimentReview()
    validator: StructuralReview = StructuralReview()


Step = Literal[
    "ate",
    "ate_tidying",
    "atsa",
    "atsa_tidying",
    "validator_proposals",
    "ate_review",
    "atsa_review",
    "debate_override",
    "anchoring",
    "moderator",
]
"""The steps that can introduce, repair or break something, in their order."""
STEPS: tuple[Step, ...] = (
    "ate",
    "ate_tidying",
    "atsa",
    "atsa_tidying",
    "validator_proposals",
    "ate_review",
    "atsa_review",
    "debate_override",
    "anchoring",
    "moderator",
)
IgnoredReason = Literal["impossible", "ambiguous", "conflicting", "without_effect", "unsupported", "disabled"]
"""Why a proposal changed nothing: its target or span is not there; it fits several things; something else speaks
against it; what it asks for is so already; nobody knows what it asks for; the step is switched off."""


class Correction(Struct, frozen=True):
    """One entry of `correction_applied_log`: a proposal of the validator or an override, and what became of it."""

    proposal_type: str
    target_aspect: str | None
    rationale: str = ""
    applied: bool = False
    reason: str = ""
    step: Step | None = None
    """None in logs that were made elsewhere."""
    ignored_reason: IgnoredReason | None = None
    """None when it was applied."""
    resulting_polarity: str | None = None
    provenance: str | None = None


class OverrideDecision(Struct, frozen=True):
    """How the debate's hints about one aspect were weighed."""

    aspect_term: str
    positive: float
    negative: float
    decision: str
    """``applied`` or ``skipped``."""
    reason: str
    target: str | None = None
    current_polarity: str | None = None
    current_confidence: float | None = None

    @property
    def total(self) -> float:
        """All weight."""
        return self.positive + self.negative

    @property
    def margin(self) -> float:
        """How far the two sides are apart."""
        return abs(self.positive - self.negative)


class AspectState(Struct, frozen=True):
    """An aspect as it stands after a step."""

    term: str
    span: TextSpan | None = None
    polarity: str | None = None
    has_sentiment: bool = True
    """False for an aspect that nobody has said anything about yet."""


class StepState(Struct, frozen=True):
    """All aspects after a step; a step that changed nothing has no state of its own."""

    step: Step
    aspects: tuple[AspectState, ...]


class AnalysisFlags(Struct, frozen=True):
    """What happened to the sentence as a whole."""

    correction_occurred: bool = False
    """Whether the labels of both stages differ."""
    conflict_resolved: bool = False
    final_confidence_score: float | None = None
    stage2_executed: bool = False


class FinalAspect(Struct, frozen=True):
    """An aspect of the final result."""

    term: str
    """Empty when it is not named."""
    span: TextSpan
    polarity: str | None
    confidence: float | None = None
    evidence: str | None = None
    is_implicit: bool = False


class FinalResult(Struct, frozen=True):
    """What the pipeline says about the sentence."""

    label: str
    confidence: float
    rationale: str = ""
    final_aspects: tuple[FinalAspect, ...] = ()
    stage1_tuples: tuple[AspectTuple, ...] = ()
    stage2_tuples: tuple[AspectTuple, ...] = ()
    final_tuples: tuple[AspectTuple, ...] = ()


class AuxiliarySignal(Struct, frozen=True):
    """What a sentiment classifier outside the pipeline says; it never influences the pipeline."""

    label: str
    """``pos``, ``neg`` or ``neu``."""
    confidence: float | None
    model_id: str
    disagrees_with: dict[str, bool | None]
    """By ``stage1_final`` and ``stage2_final``; None where the stage has no label."""
    task: str = "sentiment"


class CallUsage(Struct, frozen=True):
    """What the calls for a sentence took; None where it is not known."""

    calls: int = 0
    retries: int = 0
    repairs: int = 0
    """Replies that were asked for again since they did not fit their schema."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None


class OutputMeta(Struct, frozen=True, omit_defaults=True):
    """Where a sentence comes from and how it was read."""

    run_id: str = ""
    seed: int = 0
    mode: str = "proposed"
    language_code: str = ""
    domain_id: str | None = None
    case_type: str | None = None
    split: str | None = None
    profile: str | None = None
    cfg_hash: str | None = None
    input_hash: str | None = None
    instructions: tuple[TextSpan, ...] = ()
    """Sentences of the review that speak to its reader: they were data."""
    demo_ids: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    """Switches that were off: who was not asked has not found nothing."""
    replayed: tuple[str, ...] = ()
    """Agents whose stored replies were used although a changed switch would have told them something else."""
    untold: tuple[str, ...] = ()
    """Blocks such as ``stage1.atsa`` that a line which was made elsewhere does not have: not told is not nothing."""
    fields: dict[str, FieldValue] = field(default_factory=dict)
    """Fields of the input that hallumeter does not know."""


class PipelineOutput(Struct, frozen=True):
    """All that the pipeline said about one sentence."""

    text_id: str
    input_text: str
    stage1: StageOne = StageOne()
    stage2: StageTwo | None = None
    """None when it is switched off."""
    debate: DebateOutput | None = None
    debate_review_context: ReviewContext | None = None
    patched_stage2_ate: AspectExtraction | None = None
    patched_stage2_atsa: AspectSentiments | None = None
    correction_applied_log: tuple[Correction, ...] = ()
    review_applied_log: tuple[Correction, ...] = ()
    """The same for the items of the reviews of stage 2."""
    override_log: tuple[OverrideDecision, ...] = ()
    states: tuple[StepState, ...] = ()
    """What every step made of the aspects, from the first agent on."""
    analysis_flags: AnalysisFlags = AnalysisFlags()
    moderator: ModeratorOutput | None = None
    final_result: FinalResult | None = None
    aux_signals: dict[str, AuxiliarySignal] = field(default_factory=dict)
    gold_tuples: tuple[AspectTuple, ...] | None = None
    """None when no gold is known; empty when there is gold, and it has no aspect."""
    notes: tuple[str, ...] = ()
    """What code repaired or left out, one line each."""
    usage: CallUsage = CallUsage()
    failed: str | None = None
    """Why the pipeline broke off: then there is no final result, and nothing is neutral."""
    meta: OutputMeta = OutputMeta()
