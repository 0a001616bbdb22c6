"""The rules by which the label of a sentence is settled."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from hallumeter.aspects.records.aspect import AspectTuple, TextSpan
from hallumeter.aspects.records.outputs import DebateSummary, ModeratorOutput, StageOpinion, ValidatorOpinion
from hallumeter.aspects.resource_files import shipped_patterns
from hallumeter.aspects.stages.moderator import debate_label, moderate, shared_part

LABELS = {"P": "positive", "N": "negative", "X": "mixed", "U": "neutral"}


def opinion(label: str, confidence: float, span: tuple[int, int] | None = None) -> StageOpinion:
    return StageOpinion(LABELS[label], confidence, span=None if span is None else TextSpan(*span))


def debate(label: str) -> DebateSummary:
    return DebateSummary(sentence_polarity=LABELS[label])


def same(first: StageOpinion, second: StageOpinion | None, /, **others: Any) -> ModeratorOutput:
    """Decide where the surest sentiment says the same as its stage."""
    return moderate(first, second, **{"stage1_atsa": first, "stage2_atsa": second, **others})


class Vector(NamedTuple):
    stages: tuple[StageOpinion, StageOpinion | None]
    others: dict[str, Any]
    label: str
    confidence: float
    rules: str
    stage: str = "stage2"


CRITICAL = ValidatorOpinion("negative", ("NEGATION scope",), 0.3)
VECTORS = {
    "Z": Vector((opinion("P", 0), opinion("N", 0)), {"debate_summary": debate("P")}, "U", 0, "Z", "stage1"),
    "Z without stage 2": Vector((opinion("P", 0), None), {}, "U", 0, "Z", "stage1"),
    "B": Vector((opinion("P", 0.6), opinion("P", 0.7)), {}, "P", 0.7, "B"),
    "guard": Vector((opinion("P", 0.9), opinion("P", 0.6)), {}, "P", 0.9, "B", "stage1"),
    "M": Vector((opinion("P", 0.6), opinion("N", 0.55)), {}, "X", 0.6, "BMD"),
    "M and guard": Vector((opinion("P", 0.9), opinion("N", 0.6)), {}, "X", 0.9, "BMD", "stage1"),
    "C critical": Vector((opinion("P", 0.8), opinion("P", 0.85)), {"validator": CRITICAL}, "N", 0.85, "BCD"),
    "C by confidence": Vector(
        (opinion("P", 0.6), opinion("P", 0.65)),
        {"validator": ValidatorOpinion("negative", ("SPAN: off",), 0.7)},
        "N",
        0.7,
        "BCD",
    ),
    "C not": Vector(
        (opinion("P", 0.8), opinion("P", 0.85)),
        {"validator": ValidatorOpinion("negative", ("SPAN: off",), 0.5)},
        "P",
        0.85,
        "B",
    ),
    "A": Vector(
        (opinion("P", 0.6), opinion("P", 0.6)),
        {"stage1_atsa": opinion("P", 0.8, (0, 10)), "stage2_atsa": opinion("P", 0.8, (1, 9))},
        "P",
        0.7,
        "BA",
    ),
    "A not": Vector(
        (opinion("P", 0.6), opinion("P", 0.6)),
        {"stage1_atsa": opinion("P", 0.8, (0, 100)), "stage2_atsa": opinion("P", 0.8, (0, 79))},
        "P",
        0.6,
        "B",
    ),
    "D keeps": Vector((opinion("P", 0.62), None), {"stage1_atsa": opinion("N", 0.53)}, "P", 0.62, "BD", "stage1"),
    "D at the bound": Vector((opinion("P", 0.6), None), {"stage1_atsa": opinion("N", 0.7)}, "N", 0.7, "BD", "stage1"),
    "E fires": Vector((opinion("P", 0.5), opinion("P", 0.5)), {"debate_summary": debate("N")}, "N", 0.5, "BE"),
    "E blocked": Vector((opinion("P", 0.55), opinion("P", 0.55)), {"debate_summary": debate("N")}, "P", 0.55, "B"),
    "E on mixed": Vector((opinion("P", 0.9), opinion("N", 0.85)), {"debate_summary": debate("N")}, "N", 0.9, "BMDE"),
    "E same": Vector((opinion("P", 0.5), None), {"debate_summary": debate("P")}, "P", 0.5, "B", "stage1"),
    "E empty": Vector((opinion("P", 0.5), None), {"debate_summary": DebateSummary()}, "P", 0.5, "B", "stage1"),
    "E tuples": Vector(
        (opinion("P", 0.5), None),
        {"debate_summary": DebateSummary(final_tuples=(AspectTuple("a", "positive"), AspectTuple("b", "negative")))},
        "X",
        0.5,
        "BE",
        "stage1",
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_the_rules_decide_as_they_are_defined(name: str) -> None:
    vector = VECTORS[name]
    decided = same(*vector.stages, **vector.others)
    assert decided.final_label == LABELS[vector.label]
    assert decided.confidence == pytest.approx(vector.confidence)
    assert "".join(decided.applied_rules) == vector.rules
    assert decided.selected_stage == vector.stage
    assert all(f"{rule}: " in decided.rationale for rule in vector.rules)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("E blocked", "confidence_too_high"), ("E same", "label_unchanged"), ("E empty", "inferred_empty")],
)
def test_a_debate_that_settles_nothing_says_why(name: str, reason: str) -> None:
    flags = same(*VECTORS[name].stages, **VECTORS[name].others).arbiter_flags
    assert (flags.rule_e_fired, flags.rule_e_block_reason, flags.rule_e_attempted_after_b) == (False, reason, True)


def test_without_a_debate_rule_e_is_not_attempted() -> None:
    flags = same(opinion("P", 0.5), None).arbiter_flags
    assert (flags.rule_e_attempted_after_b, flags.rule_e_block_reason, flags.rule_b_applied) == (False, None, False)


def test_rule_z_stops_everything() -> None:
    decided = same(opinion("P", 0), opinion("N", 0), debate_summary=debate("P"), validator=CRITICAL)
    assert not decided.arbiter_flags.rule_e_attempted_after_b
    assert not decided.arbiter_flags.rule_b_applied
    assert decided.decision_reason == "zero_confidence"


@pytest.mark.parametrize(("first", "second"), [(0.7, 0.5), (0.6, 0.4), (1.0, 0.8), (0.9, 0.7)])
def test_the_guard_counts_a_difference_of_two_tenths_as_such(first: float, second: float) -> None:
    decided = same(opinion("P", first), opinion("P", second))
    assert decided.arbiter_flags.stage2_rejected_due_to_confidence
    assert decided.arbiter_flags.confidence_margin_used == 0.2
    assert (decided.selected_stage, decided.confidence) == ("stage1", first)


def test_the_guard_lets_a_smaller_difference_pass() -> None:
    decided = same(opinion("P", 0.69), opinion("P", 0.5))
    assert not decided.arbiter_flags.stage2_rejected_due_to_confidence
    assert decided.arbiter_flags.confidence_margin_used is None


@pytest.mark.parametrize(("sentence", "surest", "expected"), [(0.3, 0.4, "N"), (0.2, 0.3, "N"), (0.3, 0.39, "P")])
def test_rule_d_counts_a_difference_of_one_tenth_as_such(sentence: float, surest: float, expected: str) -> None:
    decided = moderate(opinion("P", sentence), None, stage1_atsa=opinion("N", surest))
    assert decided.final_label == LABELS[expected]


def test_a_confidence_a_hair_below_the_bound_blocks_the_debate_all_the_same() -> None:
    assert same(opinion("P", 0.55 - 1e-12), None, debate_summary=debate("N")).final_label == "positive"


def test_overlaps_at_the_bound_count_and_missing_spans_do_not() -> None:
    spans = {"stage1_atsa": opinion("P", 0.8, (0, 10)), "stage2_atsa": opinion("P", 0.8)}
    assert "A" not in same(opinion("P", 0.6), opinion("P", 0.6), **spans).applied_rules
    assert shared_part(TextSpan(5, 5), TextSpan(5, 5)) == 0
    assert shared_part(TextSpan(0, 3), TextSpan(9, 12)) == 0
    assert shared_part(TextSpan(-4, -1), TextSpan(-4, -1)) == 1


def test_rule_a_is_left_out_under_the_guard() -> None:
    spans = {"stage1_atsa": opinion("P", 0.8, (0, 4)), "stage2_atsa": opinion("P", 0.8, (0, 4))}
    assert same(opinion("P", 0.9), opinion("P", 0.6), **spans).applied_rules == ("B",)


def test_without_sentiments_rules_a_and_d_are_left_out() -> None:
    assert moderate(opinion("P", 0.6), opinion("N", 0.55)).applied_rules == ("B", "M")


def test_a_veto_that_rule_d_takes_back_is_named() -> None:
    decided = moderate(
        opinion("P", 0.6),
        None,
        stage1_atsa=opinion("P", 0.8),
        validator=ValidatorOpinion("negative", ("IRONY: x",), 0.3),
    )
    assert (decided.final_label, decided.applied_rules) == ("positive", ("B", "C", "D"))
    assert decided.arbiter_flags.validator_override_applied
    assert decided.arbiter_flags.veto_undone_by_rule_d


def test_a_veto_that_stands_is_not_called_undone() -> None:
    decided = same(*VECTORS["C critical"].stages, **VECTORS["C critical"].others)
    assert not decided.arbiter_flags.veto_undone_by_rule_d


@pytest.mark.parametrize(
    ("issue", "is_critical"),
    [
        ("Irony: mocking", True),
        ("contrast_scope: but", True),
        ("MISSING_SECOND_ASPECT: x severity:high", True),
        ("OTHER: a negation somewhere severity:low", False),
        ("", False),
    ],
)
def test_a_validator_with_a_critical_issue_needs_no_confidence(issue: str, is_critical: bool) -> None:
    decided = moderate(opinion("P", 0.8), None, validator=ValidatorOpinion("negative", (issue,), 0.1))
    assert (decided.final_label == "negative") is is_critical


def test_a_validator_without_a_label_changes_nothing() -> None:
    decided = moderate(opinion("P", 0.8), None, validator=ValidatorOpinion(None, ("NEGATION: x",), 1.0))
    assert decided.applied_rules == ("B",)


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        (DebateSummary(sentence_polarity="pos"), "positive"),
        (DebateSummary(sentence_polarity=" Mixed "), "mixed"),
        (DebateSummary(sentence_polarity="unclear", final_tuples=(AspectTuple("a", "neg"),)), "negative"),
        (DebateSummary(final_tuples=(AspectTuple("a", None), AspectTuple("b", "neutral"))), "neutral"),
        (DebateSummary(final_tuples=(AspectTuple("a", None),)), None),
        (DebateSummary(consensus="The sentence is negative."), "negative"),
        (DebateSummary(rationale="rather negative than positive"), None),
        (DebateSummary(rationale="It is not positive."), None),
        (DebateSummary(rationale="It isn't negative"), None),
        (DebateSummary(rationale="It isn\u2019t negative"), None),
        (DebateSummary(rationale="Positive. No conflict is left."), "positive"),
        (DebateSummary(rationale="mixed: positive screen, negative battery"), "mixed"),
        (DebateSummary(rationale="mixed, rather positive"), None),
        (DebateSummary(key_agreements=("positive",), key_disagreements=("one saw it as negative",)), None),
        (DebateSummary(consensus="전체적으로 긍정적이다"), "positive"),
        (DebateSummary(consensus="의견이 엇갈린다"), "mixed"),
        (DebateSummary(consensus="부정적이지 않다"), None),
        (DebateSummary(rationale="positively charged ions"), None),
        (DebateSummary(rationale="nothing to see"), None),
    ],
)
def test_a_debate_has_a_label_only_where_it_names_one(summary: DebateSummary, expected: str | None) -> None:
    assert debate_label(summary, tuple(shipped_patterns().values())) == expected


def test_without_words_for_labels_a_text_names_none() -> None:
    assert debate_label(DebateSummary(consensus="negative"), ()) is None
