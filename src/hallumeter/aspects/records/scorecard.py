"""The scorecard of a sentence: what was found in it, what risked to mislead, what changed and what it took."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType, field

from .aspect import Aspect, AspectTuple, TextSpan
from .outputs import AnalysisFlags, ArbiterFlags

# The blocks of a scorecard.
#
# Everything may be missing, since scorecards are also made elsewhere: what is not known is None or empty, and is not
# counted.

Span = TextSpan | tuple[int, int] | None
"""A span in either of the forms that are read."""
DropClass = Literal["H1", "H2", "filter"]
"""Why an aspect is dropped: it does not stand in the text; it does, but not where it was said to; it is no target."""
KEEP, DROP = "keep", "drop"
DROP_REASON = "other_not_target"
"""The one reason that the Korean ABSA agents give for every drop."""
STAGES = ("stage1", "stage2")
SENTENCE_LABELS = ("positive", "negative", "neutral", "mixed")
INSUFFICIENT = "unknown/insufficient"
"""The issue of a sentiment that is too little told to be judged."""


class AspectPlacement(Struct, frozen=True):
    """Where a dropped aspect stands in the text, and how its span misses that place."""

    nearest: TextSpan | None = None
    """The occurrence that is nearest to the given span; None when the term does not stand in the text."""
    offset_error: int | None = None
    """How far behind its true start the span begins; None without a span or an occurrence."""
    conventions: tuple[str, ...] = ()
    """Ways to count under which the span is right."""


class FilteredAspect(Struct, frozen=True):
    """An aspect after the filter."""

    term: str | None = None
    span: Span = None
    """As it was given."""
    action: str = ""
    """``keep`` or ``drop``."""
    drop_reason: str | None = None
    drop_class: str | None = None
    """A `DropClass`; None when it is kept, and in scorecards that do not tell."""
    placement: AspectPlacement | None = None


class AspectJudgement(Struct, frozen=True):
    """What was found out about an aspect."""

    term: str | None = None
    span_ok: bool | None = None
    is_valid_target: bool | None = None
    reason: str | None = None


class AspectScore(Struct, frozen=True):
    """The aspects of stage 1."""

    aspect_judgements: tuple[AspectJudgement, ...] = ()
    missing_aspects: tuple[str, ...] = ()
    """Terms of gold that were not found; empty without gold."""
    valid_aspect_rate: float | None = None
    """Of all aspects; None without one."""
    span_ok_rate: float | None = None
    hallucination_flag: bool | None = None
    """Whether an aspect was dropped."""


class SentimentJudgement(Struct, frozen=True):
    """What was found out about a sentiment."""

    aspect_term: str | None = None
    attribution_score: float | None = None
    """1 when its aspect is kept, else 0; None for one that is not named."""
    opinion_grounded: bool | None = None
    """Whether its aspect stands where it was said to; None for one that is not named."""
    opinion_grounded_reason: str | None = None
    evidence_relevant: bool | None = None
    """Whether its evidence is a part of the text."""
    issues: tuple[str, ...] = ()
    suggested_fix: str | None = None


class SentimentScore(Struct, frozen=True):
    """The sentiments of the last stage."""

    sentiment_judgements: tuple[SentimentJudgement, ...] = ()
    mean_attribution_score: float | None = None
    opinion_grounded_rate: float | None = None
    evidence_relevance_score: float | None = None
    evidence_flags: tuple[str, ...] = ()
    """Terms whose evidence is no part of the text."""


class ScoredRisk(Struct, frozen=True):
    """A structural risk."""

    risk_id: str | None = None
    """``NEGATION_SCOPE``, ``CONTRAST_SCOPE``, ``POLARITY_MISMATCH``, ``EVIDENCE_GAP``, ``SPAN_MISMATCH``, ``OTHER``."""
    severity: str | None = None
    """``low``, ``mid`` or ``high``."""
    span: Span = None
    description: str | None = None
    type: str | None = None
    """As the validator named it."""


class ScoredProposal(Struct, frozen=True):
    """A correction that a validator asked for."""

    target: str | None = None
    """``ATE`` or ``ATSA``."""
    action: str | None = None
    """``revise_polarity``, ``revise_span``, ``recheck_evidence`` or ``other``."""
    reason: str | None = None
    proposal_id: str | None = None
    aspect: str | None = None


class ValidatorScore(Struct, frozen=True):
    """What the validator of a stage found."""

    stage: str | None = None
    structural_risks: tuple[ScoredRisk, ...] = ()
    proposals: tuple[ScoredProposal, ...] = ()


class ModeratorScore(Struct, frozen=True):
    """What the moderator decided."""

    final_label: str | None = None
    confidence: float | None = None
    rationale: str | None = None
    applied_rules: tuple[str, ...] = ()
    arbiter_flags: ArbiterFlags | None = None
    selected_stage: str | None = None
    decision_reason: str | None = None


class StageLabel(Struct, frozen=True):
    """What a stage says about the whole sentence."""

    label: str | None = None
    confidence: float | None = None


class MappingCounts(Struct, frozen=True):
    """How turns of a debate were mapped to aspects."""

    direct: int = 0
    fallback: int = 0
    none: int = 0


class DebateScore(Struct, frozen=True):
    """What the debate was good for."""

    mapping_stats: MappingCounts | None = None
    mapping_coverage: float | None = None
    mapping_fail_reasons: dict[str, int] | None = None
    override_stats: dict[str, int] | None = None
    """``applied``, and ``skipped_`` with each reason."""


class StageDelta(Struct, frozen=True):
    """What the second stage changed."""

    changed: bool | None = None
    """Whether the labels of the sentence differ."""
    change_type: str | None = None
    """``guided`` when a correction was applied, ``unguided`` when none was, ``none`` without a change."""
    related_proposal_ids: tuple[str, ...] = ()
    """The corrections that were applied."""
    pairs_changed: bool | None = None
    """Whether the aspects or their polarities differ."""
    proposals: int | None = None
    """Corrections that the validator of stage 1 asked for; None when no log tells what became of them."""
    proposals_applied: int | None = None
    ignored_reasons: dict[str, int] | None = None
    """Why the others were not applied."""


class AspectDebug(Struct, frozen=True):
    """The aspects of stage 1 before and after the filter."""

    raw: tuple[Aspect, ...] = ()
    filtered: tuple[FilteredAspect, ...] = ()
    right_under: dict[str, int] | None = None
    """Of the aspects with a span whose term stands in the text: how many spans are right, by way of counting; and
    ``placed``, how many there are."""


class SentimentInput(Struct, frozen=True):
    """A sentiment of the last stage."""

    aspect_term: AspectTermInput | str | None = None
    polarity: str | None = None
    confidence: float | None = None
    evidence: str | None = None
    is_implicit: bool = False

    @property
    def term(self) -> str:
        """The words of the aspect; empty when it is not named."""
        given = self.aspect_term
        return (given.term or "") if isinstance(given, AspectTermInput) else given or ""


class AspectTermInput(Struct, frozen=True):
    """The aspect of a sentiment, with its place."""

    term: str | None = None
    span: Span = None


class ScorecardInputs(Struct, frozen=True):
    """What was judged."""

    ate_debug: AspectDebug | None = None
    filtered_aspects: tuple[FilteredAspect, ...] = ()
    """Those that are kept."""
    aspect_sentiments: tuple[SentimentInput, ...] = ()
    sentence_sentiment: StageLabel | str | None = None
    gold_tuples: tuple[AspectTuple, ...] | None = None
    """None when no gold is known."""
    final_out_of_text: int | None = None
    """Named aspects of the final result that do not stand in the text; None when there is no final result."""
    final_aspects: int | None = None
    """Named aspects of the final result."""


class PolicyScore(Struct, frozen=True):
    """Whether a sentence needs an aspect at all."""

    is_expected_targetless: bool | None = None
    """Whether it is too short to name one, and none was found."""
    has_sentence_sentiment: bool | None = None


class QualitySummary(Struct, frozen=True):
    """A verdict on the whole sentence."""

    quality_pass: bool | None = None
    fail_reasons: tuple[str, ...] = ()


class LatencyScore(Struct, frozen=True):
    """How long the sentence took, and whether that is too long for its profile."""

    total_ms: float | None = None
    gate_threshold_ms: float | None = None
    gate_status: str | None = None
    """``PASS`` or ``WARN``; None when the time is not known."""
    profile: str | None = None


class ScoreFlags(Struct, frozen=True):
    """What went wrong."""

    parse_failed: bool = False
    """A reply could not be understood."""
    generate_failed: bool = False
    """A reply did not come."""
    fallback_used: bool = False
    """Code filled in a sentiment that nobody stated."""
    failure: str | None = None
    """Why the pipeline broke off."""


class FinalAspectInput(Struct, frozen=True):
    """An aspect of a final result that lists no tuples."""

    term: str | None = None
    aspect_term: AspectTermInput | str | None = None
    polarity: str | None = None


class FinalTuples(Struct, frozen=True):
    """The final result, as far as it is compared with gold."""

    label: str | None = None
    confidence: float | None = None
    stage1_tuples: tuple[AspectTuple, ...] | None = None
    stage2_tuples: tuple[AspectTuple, ...] | None = None
    """None when there was no second stage, or when nobody tells."""
    final_tuples: tuple[AspectTuple, ...] | None = None
    final_aspects: tuple[FinalAspectInput, ...] | UnsetType | None = UNSET
    """Read where there are no tuples; never written."""


class ParsedOutput(Struct, frozen=True):
    """The parts of the pipeline's output that are counted; the whole of it is a line of `outputs.jsonl`."""

    final_result: FinalTuples | None = None
    analysis_flags: AnalysisFlags | None = None


class ScoreRuntime(Struct, frozen=True):
    """How the sentence was run, and what it took."""

    uid: str | None = None
    split: str | None = None
    model_id: str | None = None
    seed: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    calls: int | None = None
    retries: int | None = None
    repairs: int | None = None
    prompt_hash: str | None = None
    demo_ids: tuple[str, ...] = ()
    polarities_repaired: int | None = None
    """Misspelt polarities that could be one word only."""
    polarities_invalid: int | None = None
    """Polarities that could not be understood, and are missing."""
    parsed_output: ParsedOutput | None = None


class ScoredSignal(Struct, frozen=True):
    """What a classifier outside the pipeline says."""

    task: str | None = None
    label: str | None = None
    confidence: float | None = None
    model_id: str | None = None
    disagrees_with: dict[str, bool | None] | None = None


class ScorecardMeta(Struct, frozen=True):
    """Which sentence it is."""

    run_id: str | None = None
    text_id: str | None = None
    mode: str | None = None
    input_text: str | None = None
    case_type: str | None = None
    split: str | None = None
    language_code: str | None = None
    domain_id: str | None = None
    manifest_path: str | None = None
    cfg_hash: str | None = None
    profile: str | None = None
    case_id: str | None = None
    uid: str | None = None


class Scorecard(Struct, frozen=True):
    """One sentence: a line of `scorecards.jsonl`."""

    run_id: str | None = None
    profile: str | None = None
    """``smoke``, ``regression`` or ``paper_main``."""
    meta: ScorecardMeta | None = None
    ate: AspectScore | None = None
    atsa: SentimentScore | None = None
    validator: tuple[ValidatorScore, ...] | None = None
    moderator: ModeratorScore | None = None
    stage1_ate: StageLabel | None = None
    stage2_ate: StageLabel | None = None
    debate: DebateScore | None = None
    stage_delta: StageDelta | None = None
    inputs: ScorecardInputs | None = None
    stage_policy_score: PolicyScore | None = None
    summary: QualitySummary | None = None
    latency: LatencyScore | None = None
    flags: ScoreFlags | None = None
    runtime: ScoreRuntime | None = None
    aux_signals: dict[str, ScoredSignal] | None = field(default_factory=dict)
    ate_score: AspectScore | UnsetType | None = UNSET
    """What others call `ate`; never written."""
    atsa_score: SentimentScore | UnsetType | None = UNSET

    @property
    def aspect_score(self) -> AspectScore | None:
        """The aspects of stage 1, under either name."""
        return self.ate if self.ate is not None or self.ate_score is UNSET else self.ate_score

    @property
    def sentiment_score(self) -> SentimentScore | None:
        """The sentiments, under either name."""
        return self.atsa if self.atsa is not None or self.atsa_score is UNSET else self.atsa_score

    @property
    def case_id(self) -> str | None:
        """Which sentence it is, the same for all seeds."""
        meta = self.meta
        known = (meta.text_id or meta.case_id or meta.uid) if meta is not None else None
        return known or (self.runtime.uid if self.runtime is not None else None)

    @property
    def text(self) -> str | None:
        """The sentence."""
        return None if self.meta is None else self.meta.input_text

    @property
    def run_key(self) -> tuple[str, int | None]:
        """The run that it belongs to: its id and its seed."""
        named = self.run_id or (self.meta.run_id if self.meta is not None else None)
        return named or "", None if self.runtime is None else self.runtime.seed

    @property
    def chosen_profile(self) -> str | None:
        """The profile it was made under."""
        return self.profile or (self.meta.profile if self.meta is not None else None)

    @property
    def is_failed(self) -> bool:
        """Whether the pipeline broke off, so that nothing can be said about the sentence."""
        return self.flags is not None and (self.flags.parse_failed or self.flags.generate_failed)

    @property
    def filtered(self) -> tuple[FilteredAspect, ...]:
        """The aspects of stage 1 after the filter."""
        debug = None if self.inputs is None else self.inputs.ate_debug
        return () if debug is None else debug.filtered

    @property
    def is_flagged(self) -> bool:
        """Whether an aspect is called hallucinated: the flag is exactly true, or an aspect was dropped."""
        score = self.aspect_score
        if score is not None and score.hallucination_flag is True:
            return True
        return any(aspect.action == DROP for aspect in self.filtered)

    @property
    def final_label(self) -> str | None:
        """What was decided about the whole sentence."""
        if self.moderator is not None and self.moderator.final_label:
            return self.moderator.final_label
        result = self.final_result
        if result is not None and result.label:
            return result.label
        stated = None if self.inputs is None else self.inputs.sentence_sentiment
        return stated.label if isinstance(stated, StageLabel) else stated or None

    @property
    def final_result(self) -> FinalTuples | None:
        """The final result."""
        parsed = None if self.runtime is None else self.runtime.parsed_output
        return None if parsed is None else parsed.final_result

    def validator_of(self, stage: str) -> ValidatorScore | None:
        """What the validator of a stage found; None when it was not asked."""
        for found in self.validator or ():
            if found.stage == stage:
                return found
        return None
