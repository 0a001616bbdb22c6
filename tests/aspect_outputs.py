"""Outputs of aspect agents and scorecards, made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from hallumeter.aspects.records.aspect import (
    Aspect,
    AspectSentiment,
    AspectTerm,
    AspectTuple,
    CorrectionProposal,
    Polarity,
    StructuralRisk,
    TextSpan,
)
from hallumeter.aspects.records.outputs import (
    AnalysisFlags,
    AspectExtraction,
    AspectSentiments,
    AuxiliarySignal,
    CallUsage,
    Correction,
    DebateOutput,
    FinalResult,
    MappingStats,
    ModeratorOutput,
    OutputMeta,
    OverrideDecision,
    PipelineOutput,
    ReviewContext,
    StageOne,
    StageTwo,
    StructuralReview,
    StructuralValidation,
)
from hallumeter.aspects.records.scorecard import (
    DROP,
    KEEP,
    AspectDebug,
    FilteredAspect,
    FinalTuples,
    ParsedOutput,
    Scorecard,
    ScorecardInputs,
    ScorecardMeta,
    ScoreRuntime,
)
from hallumeter.aspects.score.scorecard import make_scorecard

TEXT = "배터리는 좋지만 뷰가 별로"
Said = tuple[str, Polarity | None]
"""A term of `TEXT` and what is felt about it."""
FIRST: tuple[Said, ...] = (("배터리", "positive"), ("뷰", "positive"))
SECOND: tuple[Said, ...] = (("배터리", "positive"), ("뷰", "negative"))


def aspect(term: str, start: int | None = None, end: int | None = None) -> Aspect:
    """An aspect; without a place at its first occurrence in `TEXT`."""
    if start is None:
        start = TEXT.find(term)
    return Aspect(term, TextSpan(start, start + len(term) if end is None else end), 0.9)


def sentiment(term: str, polarity: Polarity | None, *, confidence: float = 0.8) -> AspectSentiment:
    """A sentiment whose evidence is the whole text; an empty term is not named."""
    named = AspectTerm(term, aspect(term).span) if term else None
    return AspectSentiment(named, polarity, confidence, TEXT, is_implicit=not term)


def tuples(said: Sequence[Said]) -> tuple[AspectTuple, ...]:
    return tuple(AspectTuple(term, polarity, span=aspect(term).span if term else None) for term, polarity in said)


def validation(*risks: str, proposals: Sequence[CorrectionProposal] = ()) -> StructuralValidation:
    return StructuralValidation(tuple(StructuralRisk(each, TextSpan(0, 3)) for each in risks), tuple(proposals), 0.5)


def correction(*, applied: bool, kind: str = "FLIP_POLARITY", **more: Any) -> Correction:
    reason = None if applied else "without_effect"
    return Correction(kind, "뷰", "after 지만", applied, "", **({"ignored_reason": reason} | more))


def output(text_id: str = "s1", **changes: Any) -> PipelineOutput:
    """A sentence on which stage 2 flips one polarity, so that the label becomes mixed; with everything there is."""
    aspects = (aspect("배터리"), aspect("뷰"))
    first, second = (tuple(sentiment(*each) for each in said) for said in (FIRST, SECOND))
    whole = PipelineOutput(
        text_id,
        TEXT,
        stage1=StageOne(
            AspectExtraction(aspects),
            AspectSentiments(first),
            validation("CONTRAST", proposals=[CorrectionProposal("뷰", "FLIP_POLARITY", "after 지만")]),
        ),
        stage2=StageTwo(validator=StructuralReview()),
        debate=DebateOutput(),
        debate_review_context=ReviewContext(
            mapping_stats=MappingStats(2, 1, 1), mapping_coverage=0.75, mapping_fail_reasons={"no_match": 1}
        ),
        patched_stage2_ate=AspectExtraction(aspects),
        patched_stage2_atsa=AspectSentiments(second),
        correction_applied_log=(correction(applied=True),),
        override_log=(OverrideDecision("뷰", 0.5, 0.0, "skipped", "skipped_low_signal"),),
        analysis_flags=AnalysisFlags(correction_occurred=True, stage2_executed=True),
        moderator=ModeratorOutput("mixed", 0.8, applied_rules=("B", "M"), selected_stage="stage2"),
        final_result=FinalResult(
            "mixed",
            0.8,
            stage1_tuples=tuples(FIRST),
            stage2_tuples=tuples(SECOND),
            final_tuples=tuples(SECOND),
        ),
        gold_tuples=tuples(SECOND),
        usage=CallUsage(10, 1, 0, 400, 90, 0.002, 2_000.0),
        meta=OutputMeta(run_id="demo", seed=1, language_code="ko", profile="regression", split="valid"),
    )
    return structs.replace(whole, **changes)


def only_stage1(*aspects: Aspect, text_id: str = "s1", text: str = TEXT, **changes: Any) -> PipelineOutput:
    """A sentence with these aspects and nothing else."""
    stage1 = StageOne(AspectExtraction(aspects), AspectSentiments(), StructuralValidation())
    return structs.replace(PipelineOutput(text_id, text, stage1=stage1), **changes)


def failed_output(text_id: str = "s9", why: str = "ate: timeout: no reply in 60 s", **changes: Any) -> PipelineOutput:
    return structs.replace(
        PipelineOutput(text_id, TEXT, failed=why, meta=OutputMeta(run_id="demo", seed=1, profile="regression")),
        **changes,
    )


def card_of(*aspects: Aspect, text_id: str = "s1", run_id: str = "demo", seed: int = 1) -> Scorecard:
    """The scorecard of a sentence with these aspects alone."""
    return make_scorecard(only_stage1(*aspects, text_id=text_id, meta=OutputMeta(run_id=run_id, seed=seed)))


def foreign_card(*, drops: int = 0, keeps: int = 0, text: str | None = None) -> Scorecard:
    """A scorecard that tells no classes."""
    filtered = [FilteredAspect("화면", None, DROP)] * drops + [FilteredAspect("배터리", TextSpan(0, 3), KEEP)] * keeps
    return Scorecard(meta=ScorecardMeta(input_text=text), inputs=ScorecardInputs(AspectDebug(filtered=tuple(filtered))))


def gold_card(
    stage1: Sequence[Said] | None, stage2: Sequence[Said] | None, gold: Sequence[Said] | None, **changes: Any
) -> Scorecard:
    """A scorecard of tuples alone; the result is that of the last stage."""
    last = stage1 if stage2 is None else stage2
    first, second, final = (None if said is None else tuples(said) for said in (stage1, stage2, last))
    card = Scorecard(
        inputs=ScorecardInputs(gold_tuples=None if gold is None else tuples(gold)),
        runtime=ScoreRuntime(parsed_output=ParsedOutput(FinalTuples("mixed", 0.8, first, second, final))),
    )
    return structs.replace(card, **changes)


def different_cards() -> list[Scorecard]:
    """Scorecards that differ in everything that is counted."""
    reviewed = StageTwo(validator=StructuralReview((StructuralRisk("NEGATION", severity="high"), StructuralRisk("x"))))
    signal = AuxiliarySignal("neg", 0.9, "lexicon", {"stage1_final": True, "stage2_final": False})
    overridden = (OverrideDecision("뷰", 2.0, 0.0, "applied", "flip"),)
    unnamed: tuple[Said, ...] = (("", "positive"), ("배터리", "positive"))
    return [
        Scorecard(),
        card_of(),
        card_of(aspect("배터리"), aspect("배터리", 1), aspect("화면", 0, 2), aspect("가"), aspect("뷰", 23, 26)),
        make_scorecard(output()),
        make_scorecard(output(stage2=reviewed, aux_signals={"hf": signal}, correction_applied_log=())),
        make_scorecard(output(stage2=None, patched_stage2_atsa=None, analysis_flags=AnalysisFlags())),
        make_scorecard(output(override_log=overridden, usage=CallUsage(latency_ms=1e6))),
        make_scorecard(output(notes=("polarity_repaired:a->b", "polarity_invalid:c"), gold_tuples=tuples(unnamed))),
        make_scorecard(failed_output()),
        make_scorecard(failed_output(why="ate: unusable_reply: x", gold_tuples=tuples(unnamed))),
        foreign_card(drops=1, keeps=2),
        gold_card(FIRST, SECOND, SECOND),
        gold_card(SECOND, FIRST, SECOND),
        gold_card((), (), ()),
        gold_card(unnamed, (("뷰", "positive"), ("뷰", "negative")), unnamed),
    ]
