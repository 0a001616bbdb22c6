"""Parts of wholes in plain counts."""

from __future__ import annotations

from collections import Counter

import pytest

from aspect_outputs import aspect, card_of, correction, different_cards, failed_output, foreign_card, output
from hallumeter.aspects.metrics.rates import OF_SENTENCES, WHOLE, breakdown_items, offset_bin
from hallumeter.aspects.records.outputs import ArbiterFlags, ModeratorOutput
from hallumeter.aspects.records.scorecard import (
    DebateScore,
    LatencyScore,
    ModeratorScore,
    QualitySummary,
    Scorecard,
    ScoredRisk,
    ScoreFlags,
    StageDelta,
    ValidatorScore,
)
from hallumeter.aspects.score.scorecard import make_scorecard


def parts(card: Scorecard, name: str) -> dict[str, int]:
    found: Counter[str] = Counter()
    for of, part, number in breakdown_items(card):
        if of == name:
            found[part] += number
    return dict(found)


def test_drops_are_told_apart_by_class_and_by_offset() -> None:
    card = card_of(aspect("배터리"), aspect("배터리", 1), aspect("화면", 0, 2), aspect("가"))
    assert parts(card, "drop_class") == {WHOLE: 3, "H2": 1, "H1": 1, "filter": 1}
    assert parts(card, "offset_error") == {WHOLE: 1, "+1": 1}
    assert parts(card, "offset_convention") == {WHOLE: 1}


def test_a_way_of_counting_that_explains_a_span_is_named() -> None:
    card = card_of(aspect("뷰", 23, 26))
    assert parts(card, "offset_convention") == {WHOLE: 1, "utf8_bytes": 1}


def test_drops_without_a_class_are_unknown() -> None:
    assert parts(foreign_card(drops=2), "drop_class") == {WHOLE: 2, "unknown": 2}


@pytest.mark.parametrize(
    ("error", "named"), [(-50, "-4 or less"), (-4, "-4 or less"), (-3, "-3"), (0, "0"), (3, "+3"), (4, "+4 or more")]
)
def test_offsets_are_gathered_from_a_few_characters_on(error: int, named: str) -> None:
    assert offset_bin(error) == named


def test_risks_changes_and_reasons_are_counted() -> None:
    log = (correction(applied=False), correction(applied=False, ignored_reason="impossible"))
    card = make_scorecard(output(correction_applied_log=log))
    assert parts(card, "risk") == {WHOLE: 1, "CONTRAST_SCOPE": 1}
    assert parts(card, "change_type") == {WHOLE: 1, "unguided": 1}
    assert parts(card, "ignored_reason") == {WHOLE: 2, "without_effect": 1, "impossible": 1}


def test_a_risk_without_a_name_is_another_one() -> None:
    card = Scorecard(validator=(ValidatorScore("stage1", (ScoredRisk(),)),), stage_delta=StageDelta())
    assert parts(card, "risk") == {WHOLE: 1, "OTHER": 1}
    assert parts(card, "change_type") == {}


def test_debates_are_counted_by_reason_and_outcome() -> None:
    card = make_scorecard(output())
    assert parts(card, "mapping_fail_reason") == {WHOLE: 4, "no_match": 1}
    assert parts(card, "override") == {WHOLE: 1, "skipped_low_signal": 1}
    assert parts(Scorecard(debate=DebateScore(override_stats={"applied": 2, "x": 1})), "override") == {
        WHOLE: 2,
        "applied": 2,
    }


def test_rules_and_every_flag_are_counted() -> None:
    flags = ArbiterFlags(
        stage2_rejected_due_to_confidence=True,
        confidence_margin_used=0.3,
        rule_b_applied=True,
        rule_e_block_reason="label_unchanged",
    )
    decided = ModeratorOutput("mixed", 0.8, applied_rules=("B", "M"), arbiter_flags=flags)
    card = make_scorecard(output(moderator=decided))
    assert parts(card, "moderator_rule") == {WHOLE: 1, "B": 1, "M": 1}
    assert parts(card, "selected_stage") == {WHOLE: 1, "stage1": 1}
    assert parts(card, "rule_e_block_reason") == {WHOLE: 1, "label_unchanged": 1}
    assert parts(card, "arbiter_flag") == {
        WHOLE: 1, "stage2_rejected_due_to_confidence": 1, "rule_b_applied": 1, "confidence_margin_used": 1,
    }  # fmt: skip


def test_a_moderator_that_tells_no_flags_has_none() -> None:
    card = Scorecard(moderator=ModeratorScore("positive"))
    assert parts(card, "arbiter_flag") == parts(card, "selected_stage") == {}


def test_opinions_on_quality_and_time_are_counted() -> None:
    card = Scorecard(latency=LatencyScore(1.0, 2.0, "PASS"), summary=QualitySummary(False, ("low_valid_aspect_rate",)))
    assert parts(card, "latency_gate") == {WHOLE: 1, "PASS": 1}
    assert parts(card, "quality_fail_reason") == {WHOLE: 1, "low_valid_aspect_rate": 1}
    assert parts(Scorecard(latency=LatencyScore(), summary=QualitySummary()), "latency_gate") == {}


def test_a_sentence_that_failed_tells_only_why() -> None:
    told = {("failure", WHOLE, 1), ("failure", "generate_failed", 1)}
    assert set(breakdown_items(make_scorecard(failed_output()))) == told
    assert parts(Scorecard(flags=ScoreFlags(parse_failed=True)), "failure") == {WHOLE: 1, "parse_failed": 1}


def test_failures_are_told_of_all_sentences() -> None:
    assert parts(make_scorecard(output()), "failure") == {WHOLE: 1}


def test_a_sentence_adds_at_most_one_to_a_part_of_sentences() -> None:
    moderator = ModeratorScore("mixed", applied_rules=("B", "E", "B"))
    card = Scorecard(moderator=moderator, summary=QualitySummary(False, ("slow", "slow")))
    assert parts(card, "moderator_rule") == {WHOLE: 1, "B": 1, "E": 1}
    assert parts(card, "quality_fail_reason") == {WHOLE: 1, "slow": 1}
    for each in different_cards():
        told = Counter((name, part) for name, part, _ in breakdown_items(each) if name in OF_SENTENCES)
        assert set(told.values()) == {1}
