"""The scorecard of a sentence: what was found in it, what risked to mislead, what changed and what it took."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType, field

from .scorecard_blocks import (
    DROP,
    AspectScore,
    DebateScore,
    FilteredAspect,
    FinalTuples,
    LatencyScore,
    ModeratorScore,
    PolicyScore,
    QualitySummary,
    ScorecardInputs,
    ScorecardMeta,
    ScoredSignal,
    ScoreFlags,
    ScoreRuntime,
    SentimentScore,
    StageDelta,
    StageLabel,
    ValidatorScore,
)


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
