"""One sentence after the whole pipeline: a line of `outputs.jsonl`."""

from typing import Literal

from msgspec import Struct, field

from hallumeter.records.response import FieldValue

from .aspect import AspectTuple, TextSpan
from .debate import DebateOutput, ReviewContext
from .moderation import ModeratorOutput
from .stages import AspectExtraction, AspectSentiments, StageOne, StageTwo

OUTPUT_VERSION = "aspects_output.v1"
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
