"""The formulas of the clinical metrics: expected values are worked by hand in the comments and names."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hallumeter.dialogue.metrics import (
    actionability,
    consistency,
    context_utilisation,
    contraindication_penalty,
    mean_of,
    overall_parts,
    overall_score,
    pooled,
    slot_factuality,
    slots_used,
    turn_rates,
)
from hallumeter.dialogue.records import (
    Consistency,
    Element,
    Mention,
    RuleOutcome,
    SlotFinding,
    SlotUse,
    TurnColumns,
    TurnFindings,
)
from hallumeter.records.claim import Label
from hallumeter.records.rate import Rate

MENTION = Mention("condition", "gout", ())


def findings(weights: Sequence[float], hallucinated: Sequence[float]) -> list[SlotFinding]:
    kept = [SlotFinding(MENTION, Label.NOT_ENOUGH_INFO, weight) for weight in weights]
    return kept + [SlotFinding(MENTION, Label.REFUTED, weight) for weight in hallucinated]


def rules(kept: Sequence[float], violated: Sequence[float]) -> list[RuleOutcome]:
    outcomes = [RuleOutcome(f"K{place}", "kept", "rule", weight, False, "why") for place, weight in enumerate(kept)]
    return outcomes + [
        RuleOutcome(f"V{place}", "violated", "rule", weight, True, "why") for place, weight in enumerate(violated)
    ]


def statement(is_contradiction: bool) -> Consistency:
    return Consistency("age", "age", 0, 2, is_contradiction, "question 1", "67")


def test_factuality_of_seven_with_one_hallucinated_is_six_sevenths() -> None:
    rate = slot_factuality(findings([2, 2, 1, 1], [1]))
    assert rate == Rate(6, 7)
    assert round(rate.value or 0, 6) == 0.857143


def test_a_penalty_of_two_among_six_and_a_half() -> None:
    rate = contraindication_penalty(rules([2, 1.5, 1], [2]))
    assert rate == Rate(2, 6.5)
    assert round(rate.value or 0, 6) == 0.307692


def test_utilisation_with_an_explicit_an_absent_and_an_indirect_slot_is_one_half() -> None:
    uses = [SlotUse("age", 1, 67, 1.0), SlotUse("sex", 1, "male", 0.0), SlotUse("primary_condition", 2, "gout", 0.5)]
    assert context_utilisation(uses).value == 0.5
    assert slots_used(uses) == Rate(2, 3)


def test_nothing_to_count_is_undefined_everywhere() -> None:
    rates = turn_rates(TurnFindings())
    assert all(getattr(rates, name).value is None for name in rates.__struct_fields__)


def test_a_mention_that_the_record_does_not_speak_of_counts_only_in_the_denominator() -> None:
    assert slot_factuality(findings([2.0], [])).value == 1.0


def test_everything_invented_is_zero() -> None:
    assert slot_factuality(findings([], [2.0, 1.0])).value == 0.0


def test_one_comparable_statement_is_not_enough_for_consistency() -> None:
    assert consistency([statement(True)]) == Rate(0, 1)
    assert consistency([statement(False)]).value is None
    assert consistency([]).value is None
    assert consistency([statement(True), statement(False), statement(False)]) == Rate(2, 3)


def test_actionability_counts_elements() -> None:
    elements = [Element("frequency", True, 0, 1), Element("intensity", False), Element("duration", True, 2, 3)]
    assert actionability(elements) == Rate(2, 3)


def test_the_mean_counts_answers_and_the_pool_counts_weights() -> None:
    turns = TurnColumns.of(
        [
            turn_rates(TurnFindings(slots=tuple(findings([2], [])))),  # 2 / 2
            turn_rates(TurnFindings(slots=tuple(findings([3], [3])))),  # 3 / 6
            turn_rates(TurnFindings()),  # nothing mentioned: counts nowhere
        ]
    )
    assert mean_of(turns, "factuality").pooled == Rate(1.5, 2)
    assert pooled(turns, "factuality").pooled == Rate(5, 8)


WEIGHTS = {
    "faithfulness": 0.15,
    "answer_relevance": 0.15,
    "perplexity": 0.10,
    "CUS": 0.25,
    "SFS": 0.15,
    "CSP": 0.10,
    "ASS": 0.10,
}


def test_the_overall_score_leaves_out_parts_that_are_not_there() -> None:
    parts = overall_parts({"SFS": 0.9, "CSP": 0.2, "CUS": None}, WEIGHTS)
    assert [part.name for part in parts] == ["SFS", "CSP"]
    assert overall_score(parts).value == pytest.approx((0.15 * 0.9 + 0.10 * 0.8) / 0.25)


def test_the_overall_score_of_everything_at_its_best_is_one() -> None:
    best = dict.fromkeys(WEIGHTS, 1.0) | {"CSP": 0.0, "perplexity": 10.0}
    assert overall_score(overall_parts(best, WEIGHTS)).value == pytest.approx(1.0)


@pytest.mark.parametrize(("perplexity", "expected"), [(5, 1.0), (10, 1.0), (25, 0.5), (40, 0.0), (400, 0.0)])
def test_perplexity_counts_one_at_ten_and_nothing_from_forty(perplexity: float, expected: float) -> None:
    (part,) = overall_parts({"perplexity": perplexity}, WEIGHTS)
    assert part.value == expected


def test_the_overall_score_without_any_part_is_undefined() -> None:
    assert overall_score(overall_parts({"SFS": None}, WEIGHTS)).value is None
