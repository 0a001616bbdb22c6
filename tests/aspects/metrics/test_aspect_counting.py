"""From scorecards to counts."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from aspect_outputs import FIRST, SECOND, Said, aspect, card_of, failed_output, foreign_card, gold_card, output
from hallumeter.aspects.metrics.counts import count_scorecard
from hallumeter.aspects.records.aspect import StructuralRisk
from hallumeter.aspects.records.columns import AspectCounts
from hallumeter.aspects.records.outputs import AuxiliarySignal, CallUsage, StageTwo, StructuralReview
from hallumeter.aspects.records.scorecard import (
    AspectJudgement,
    AspectScore,
    DebateScore,
    LatencyScore,
    MappingCounts,
    QualitySummary,
    Scorecard,
    ScorecardInputs,
    ScoredRisk,
    ScoredSignal,
    ScoreFlags,
    ScoreRuntime,
    SentimentJudgement,
    SentimentScore,
    StageDelta,
    ValidatorScore,
)
from hallumeter.aspects.score.scorecard import make_scorecard


def counted(card: Scorecard, *names: str) -> tuple[float, ...]:
    counts = count_scorecard(card)
    return tuple(getattr(counts, name) for name in names)


def test_drops_are_counted_by_class_and_by_sentence() -> None:
    card = card_of(aspect("배터리"), aspect("배터리", 0, 4), aspect("배터리", 2), aspect("화면", 0, 2), aspect("가"))
    assert counted(card, "samples", "flagged", "classified", "aspects", "dropped") == (1, 1, 1, 5, 4)
    assert counted(card, "h1_samples", "h2_samples", "filter_samples") == (1, 1, 1)
    assert counted(card, "h1_aspects", "h2_aspects", "filter_aspects", "classified_aspects") == (1, 2, 1, 5)
    assert counted(card, "offsets", "offset_errors", "offsets_explained") == (2, 2, 0)
    assert counted(card, "judged_aspects", "spans_ok", "valid_targets") == (5, 2, 4)
    assert counted(card, "placed", "code_points", "utf8_bytes") == (4, 2, 0)


def test_no_aspects_are_no_hallucination() -> None:
    assert counted(card_of(), "samples", "flagged", "classified", "aspects") == (1, 0, 1, 0)


def test_a_drop_of_unknown_class_counts_in_the_combined_rate_alone() -> None:
    assert counted(foreign_card(drops=1, keeps=1), "flagged", "classified", "dropped", "aspects") == (1, 0, 1, 2)


def test_a_flag_without_aspects_has_no_class() -> None:
    card = Scorecard(ate=AspectScore(hallucination_flag=True))
    assert counted(card, "flagged", "classified", "aspects") == (1, 0, 0)


def test_an_empty_scorecard_is_a_sentence_without_a_flag_and_nobody_knows_its_drops() -> None:
    counts = structs.asdict(count_scorecard(Scorecard()))
    assert {name for name, number in counts.items() if number} == {"samples", "attempted"}


@pytest.mark.parametrize(
    ("card", "is_known"),
    [
        (Scorecard(ate=AspectScore(hallucination_flag=False)), True),
        (Scorecard(ate_score=AspectScore(hallucination_flag=False)), True),
        (Scorecard(ate=AspectScore()), False),
        (Scorecard(inputs=ScorecardInputs()), False),
        (foreign_card(), True),
    ],
)
def test_classes_are_known_only_where_a_flag_or_the_filter_tells(card: Scorecard, is_known: bool) -> None:
    assert counted(card, "samples", "classified") == (1, is_known)


def test_judgements_that_tell_nothing_are_not_counted() -> None:
    card = Scorecard(ate=AspectScore((AspectJudgement("food"), AspectJudgement("bar", True, False))))
    assert counted(card, "judged_aspects", "spans_ok", "valid_targets") == (1, 1, 0)


def test_ways_of_counting_that_nobody_knows_are_passed_over() -> None:
    card = card_of(aspect("배터리"))
    assert card.inputs is not None
    assert card.inputs.ate_debug is not None
    debug = structs.replace(card.inputs.ate_debug, right_under={"placed": 3, "runes": 9})
    card = structs.replace(card, inputs=structs.replace(card.inputs, ate_debug=debug))
    assert counted(card, "placed", "code_points") == (3, 0)


def test_a_sentence_that_failed_counts_as_failed_and_as_nothing_else() -> None:
    counts = structs.asdict(count_scorecard(make_scorecard(failed_output())))
    assert {name for name, number in counts.items() if number} == {"failed", "attempted"}


def test_what_a_failed_sentence_took_was_paid_for_and_counts() -> None:
    card = make_scorecard(failed_output(usage=CallUsage(3, 2, 1, 500, 20, 0.01, 61_000.0)))
    counts = structs.asdict(count_scorecard(card))
    assert {name: number for name, number in counts.items() if number} == {
        "failed": 1, "attempted": 1, "tokens_known": 1, "tokens": 520, "cost_known": 1, "cost_usd": 0.01,
        "latency_known": 1, "latency_ms": 61_000,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("gold", "expected"), [(None, (0, 0, 0)), ((), (1, 0, 0)), (SECOND, (1, 0, 0)), ((("", "positive"),), (1, 1, 1))]
)
def test_a_failed_sentence_has_no_valid_polarity_for_unnamed_gold(gold: Any, expected: tuple[int, ...]) -> None:
    card = gold_card(None, None, gold, flags=ScoreFlags(generate_failed=True))
    assert counted(card, "failed_gold", "implicit_gold", "implicit_invalid") == expected


def test_sentiments_are_counted_where_they_can_be_judged() -> None:
    judgements = (
        SentimentJudgement("food", 1.0, True, None, True),
        SentimentJudgement("bar", 0.0, False, "elsewhere", False),
        SentimentJudgement(None, None, None, None, True),
        SentimentJudgement("view"),
    )
    card = Scorecard(atsa=SentimentScore(judgements))
    assert counted(card, "attributable", "attributed", "groundable", "grounded") == (2, 1, 2, 1)
    assert counted(card, "evidence_judged", "evidence_relevant") == (3, 2)


def test_risks_before_and_after_are_counted() -> None:
    risks = (StructuralRisk("NEGATION", severity="high"), StructuralRisk("IRONY", severity="low"))
    card = make_scorecard(output(stage2=StageTwo(validator=StructuralReview(risks))))
    assert counted(card, "validated", "risk_flagged", "validated_twice") == (1, 1, 1)
    assert counted(card, "risks_before", "risks_after", "residual_severity") == (1, 2, 4)
    assert counted(card, "negation_contrast", "risk_flagged_twice", "risk_cleared") == (2, 1, 0)
    assert counted(card, "changed_twice", "resolved_with_change", "unchanged_twice") == (1, 0, 0)


def test_without_a_second_validator_nothing_is_resolved() -> None:
    card = make_scorecard(output(stage2=None))
    assert counted(card, "validated", "risk_flagged", "risks_before", "validated_twice") == (1, 1, 0, 0)


def test_a_risk_of_unknown_severity_weighs_as_one_in_the_middle() -> None:
    validators = (ValidatorScore("stage1"), ValidatorScore("stage2", make_risks(None, "high")))
    assert counted(Scorecard(validator=validators), "residual_severity") == (5,)


def make_risks(*severities: str | None) -> tuple[Any, ...]:
    from hallumeter.aspects.records.scorecard import ScoredRisk

    return tuple(ScoredRisk("OTHER", severity) for severity in severities)


@pytest.mark.parametrize(
    ("changed", "kind", "expected"),
    [
        (True, "guided", (1, 1, 1, 0)),
        (True, "unguided", (1, 1, 0, 1)),
        (False, "none", (1, 0, 0, 0)),
        (False, "guided", (1, 0, 0, 0)),
        (None, None, (0, 0, 0, 0)),
    ],
)
def test_changes_are_guided_or_not(changed: bool | None, kind: str | None, expected: tuple[int, ...]) -> None:
    card = Scorecard(stage_delta=StageDelta(changed, kind))
    assert counted(card, "delta_known", "changed", "guided", "unguided") == expected


def test_a_risk_that_changes_nothing_is_ignored() -> None:
    validators = (ValidatorScore("stage1", make_risks("mid")), ValidatorScore("stage2"))
    card = Scorecard(validator=validators, stage_delta=StageDelta(False, "none", pairs_changed=True, proposals=2))
    assert counted(card, "risk_flagged_delta", "risk_changed", "risk_unchanged") == (1, 0, 1)
    assert counted(card, "unchanged_twice", "resolved_without_change") == (1, 1)
    assert counted(card, "pairs_known", "pairs_changed", "proposals", "proposals_applied") == (1, 1, 2, 0)


def test_debates_are_counted_by_turn_and_by_aspect() -> None:
    reasons = {"no_match": 1, "neutral_stance": 2, "no_aspects": 3, "fallback_used": 4}
    debate = DebateScore(MappingCounts(3, 2, 1), 0.8, reasons, {"applied": 1, "skipped_conflict": 2, "x": 9})
    card = Scorecard(debate=debate)
    assert counted(card, "turns", "turns_mapped", "turns_direct", "turns_fallback", "turns_none") == (6, 5, 3, 2, 1)
    assert counted(card, "turns_no_match", "turns_neutral") == (1, 2)
    assert counted(card, "turns_no_aspects", "turns_fallback_used") == (3, 4)
    assert counted(card, "overrides", "overrides_applied", "override_samples") == (3, 1, 1)


def test_reasons_without_turns_are_not_counted() -> None:
    card = Scorecard(debate=DebateScore(MappingCounts(), None, {"no_match": 1}))
    assert counted(card, "turns", "turns_no_match") == (0, 0)
    assert counted(Scorecard(debate=DebateScore()), "turns", "overrides") == (0, 0)


@pytest.mark.parametrize(
    ("stage1", "stage2", "expected"),
    [
        ((("", "negative"),), (("", "positive"),), (1, 1)),
        ((("", "positive"),), (("", "positive"), ("뷰", "negative")), (1, -1 / 3)),
        ((("", "positive"),), (("", "positive"),), (1, 0)),
        ((("", "positive"),), None, (0, 0)),
    ],
)
def test_polarities_of_aspects_without_a_name_are_compared_between_the_stages(
    stage1: Any, stage2: Any, expected: tuple[float, float]
) -> None:
    card = gold_card(stage1, stage2, (("", "positive"),))
    assert counted(card, "implicit_gold_both", "implicit_delta_f1") == pytest.approx(expected)
    assert counted(card, "explicit_gold_both") == (0,)


def test_the_stages_are_compared_with_gold() -> None:
    card = gold_card(FIRST, SECOND, SECOND)
    assert counted(card, "gold", "f1_s1", "f1_s2", "f1_final", "delta_f1") == (1, 0.5, 1, 1, 0.5)
    assert counted(card, "pairs_s1", "matched_s1", "pairs_final", "matched_final") == (4, 2, 4, 4)
    assert counted(card, "fixed", "broken", "kept", "still", "net_gain") == (1, 0, 0, 0, 1)
    assert counted(card, "wrong_before", "right_before", "severe") == (1, 0, 0)
    assert counted(card, "explicit_gold_both", "explicit_delta_f1", "implicit_gold_s1") == (1, 0.5, 0)
    assert counted(card, "implicit_gold_both", "implicit_delta_f1") == (0, 0)


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [(SECOND, FIRST, "broken"), (SECOND, SECOND, "kept"), (FIRST, FIRST, "still"), (FIRST, SECOND, "fixed")],
)
def test_a_sentence_is_fixed_broken_kept_or_still_wrong(first: Any, second: Any, name: str) -> None:
    counts = count_scorecard(gold_card(first, second, SECOND))
    assert [kind for kind in ("fixed", "broken", "kept", "still") if getattr(counts, kind)] == [name]
    assert counts.net_gain == {"fixed": 1, "broken": -1}.get(name, 0)


def test_a_wrong_polarity_of_a_right_aspect_is_severe() -> None:
    assert counted(gold_card(FIRST, None, SECOND), "severe", "gold_final", "gold_both") == (1, 1, 0)


def test_unnamed_gold_is_counted_apart() -> None:
    gold: tuple[Said, ...] = (("배터리", "positive"), ("", "negative"))
    card = gold_card(SECOND, (("배터리", "positive"), ("", "negative")), gold)
    assert counted(card, "f1_s1", "explicit_f1_s1", "implicit_f1_s1") == pytest.approx((1, 2 / 3, 1))
    assert counted(card, "f1_s2", "explicit_f1_s2", "implicit_f1_s2") == (1, 1, 1)
    assert counted(card, "implicit_gold", "implicit_invalid", "unequal_gold", "unequal_final") == (1, 0, 0, 0)


@pytest.mark.parametrize(
    ("stated", "is_invalid"),
    [((), 1), ((("배터리", None),), 1), ((("배터리", "great"),), 1), ((("배터리", "positive"), ("뷰", None)), 1),
     ((("배터리", "positive"),), 0)],
)  # fmt: skip
def test_unnamed_gold_needs_a_valid_polarity(stated: Any, is_invalid: int) -> None:
    assert counted(gold_card(stated, None, (("", "positive"),)), "implicit_invalid") == (is_invalid,)


def test_gold_without_aspects_is_met_by_saying_nothing() -> None:
    assert counted(gold_card((), (), ()), "gold", "f1_s1", "kept", "explicit_gold_s1") == (1, 1, 1, 0)


def test_without_gold_only_conflicts_are_counted() -> None:
    card = gold_card((("뷰", "positive"), ("뷰", "negative")), None, None)
    assert counted(card, "gold", "tuples_s1", "conflict_s1", "tuples_final", "conflict_final") == (0, 1, 1, 1, 1)
    assert counted(gold_card(None, None, None), "tuples_s1", "tuples_final") == (0, 0)


def test_the_gain_is_told_apart_where_an_override_was_applied() -> None:
    debate = DebateScore(override_stats={"applied": 1})
    assert counted(gold_card(FIRST, SECOND, SECOND, debate=debate), "gold_override", "delta_f1_override") == (1, 0.5)
    assert counted(gold_card(FIRST, SECOND, SECOND), "gold_override") == (0,)


@pytest.mark.parametrize(
    ("disagrees", "expected"),
    [
        ({"stage1_final": True, "stage2_final": False}, (1, 1, 0)),
        ({"stage1_final": True, "stage2_final": None}, (1, 1, 1)),
        ({"stage1_final": None}, (1, 0, 0)),
        (None, (1, 0, 0)),
    ],
)
def test_the_auxiliary_classifier_is_compared_with_the_last_label(
    disagrees: dict[str, bool | None] | None, expected: tuple[int, ...]
) -> None:
    card = Scorecard(aux_signals={"hf": ScoredSignal(disagrees_with=disagrees)})
    assert counted(card, "signalled", "signal_compared", "signal_disagrees") == expected


def test_disagreement_is_counted_where_there_is_a_risk() -> None:
    signal = AuxiliarySignal("neg", 0.9, "lexicon", {"stage1_final": True, "stage2_final": True})
    card = make_scorecard(output(aux_signals={"hf": signal}))
    assert counted(card, "signal_risk", "signal_risk_disagrees") == (1, 1)


@pytest.mark.parametrize(
    ("before", "after", "expected"), [(1, 0, 1), (0, 1, 1), (None, 2, 1), (0, 0, 0), (None, None, 0)]
)
def test_a_risk_of_either_stage_is_compared_with_the_signal(
    before: int | None, after: int | None, expected: int
) -> None:
    found = zip(("stage1", "stage2"), (before, after), strict=True)
    validator = tuple(ValidatorScore(stage, (ScoredRisk(),) * risks) for stage, risks in found if risks is not None)
    signal = ScoredSignal(disagrees_with={"stage2_final": True})
    card = Scorecard(validator=validator, aux_signals={"hf": signal})
    assert counted(card, "signal_risk", "signal_risk_disagrees") == (expected, expected)


def test_no_signals_at_all_are_none() -> None:
    assert counted(Scorecard(aux_signals=None), "signalled") == (0,)


def test_effort_is_counted_where_it_is_known() -> None:
    runtime = ScoreRuntime(tokens_in=4, tokens_out=3, cost_usd=0.5, polarities_repaired=2, polarities_invalid=0)
    card = Scorecard(runtime=runtime, latency=LatencyScore(50.0, 10.0, "WARN"), summary=QualitySummary(True))
    assert counted(card, "tokens_known", "tokens", "cost_known", "cost_usd") == (1, 7, 1, 0.5)
    assert counted(card, "latency_known", "latency_ms", "gated", "latency_warned") == (1, 50, 1, 1)
    assert counted(card, "polarities_known", "polarity_repaired", "polarity_invalid") == (1, 1, 0)
    assert counted(card, "quality_judged", "quality_passed") == (1, 1)


def test_unknown_effort_is_not_nothing() -> None:
    card = Scorecard(runtime=ScoreRuntime(tokens_in=4), latency=LatencyScore())
    names = ("tokens_known", "cost_known", "latency_known", "gated", "polarities_known", "quality_judged")
    assert counted(card, *names) == (0,) * 6


def test_final_aspects_that_are_not_in_the_text_are_counted_by_sentence() -> None:
    card = Scorecard(inputs=ScorecardInputs(final_out_of_text=2, final_aspects=3))
    assert counted(card, "final_known", "final_out_of_text") == (1, 1)


def test_every_count_has_a_name_of_its_own() -> None:
    assert len(set(AspectCounts.__struct_fields__)) == len(AspectCounts.__struct_fields__)


def test_gold_without_a_result_is_gold_all_the_same() -> None:
    assert counted(gold_card(None, None, SECOND), "gold", "gold_final", "severe") == (1, 0, 0)
