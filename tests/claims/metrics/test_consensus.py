"""Consensus between models, against an implementation with dictionaries and sets, and at its edges."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallumeter.claims.metrics.consensus import (
    ConsensusPart,
    ConsensusScore,
    consensus_counts,
    consensus_scores,
    disputed_and_consensus,
    mean_over_models,
    support_from_matrix,
)
from hallumeter.errors import RecordError
from hallumeter.records.columns import Support
from hallumeter.records.rate import Rate
from metric_inputs import MODELS, Statement, statements_and_asked, support

SHARES = (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1))
Asked = list[tuple[int, int]]


def supporters_by_question(statements: list[Statement]) -> dict[int, dict[int, set[int]]]:
    """Question, then claim, to the models that support it; claims that nobody supports have an empty set."""
    found: dict[int, dict[int, set[int]]] = {}
    for question, claim, model, is_supported in statements:
        supporters = found.setdefault(question, {}).setdefault(claim, set())
        if is_supported:
            supporters.add(model)
    return found


def plain_scores(
    statements: list[Statement], asked: Asked, share: Fraction, *, is_left_out: bool
) -> list[tuple[int, int, int, int]]:
    """Precise, own, included and wanted claims of each model, word by word from the definition."""
    table = supporters_by_question(statements)
    scores = []
    for model in range(len(MODELS)):
        precise = own = included = wanted = 0
        for question in sorted({question for question, who in asked if who == model}):
            voters = {who for where, who in asked if where == question} - ({model} if is_left_out else set())
            claims = table.get(question, {})
            votes = {claim: who - {model} if is_left_out else who for claim, who in claims.items()}
            consensus = {claim for claim, who in votes.items() if who and len(who) >= share * len(voters)}
            stated = {claim for where, claim, who, _ in statements if (where, who) == (question, model)}
            mine = {claim for claim in stated if model in claims[claim]}
            seconded = consensus if is_left_out else {claim for claim, who in claims.items() if who - {model}}
            precise += len(mine & seconded)
            own += len(stated)
            included += len(mine & consensus)
            wanted += len(consensus)
        scores.append((precise, own, included, wanted))
    return scores


@pytest.mark.parametrize("is_left_out", [False, True])
@settings(max_examples=300)
@given(case=statements_and_asked, share=st.sampled_from(SHARES))
def test_scores_equal_those_of_sets(is_left_out: bool, case: tuple[list[Statement], Asked], share: Fraction) -> None:
    scores = consensus_scores(support(*case), share=float(share), is_left_out=is_left_out)
    found = [(one.precision.count, one.precision.total, one.recall.count, one.recall.total) for one in scores]
    assert found == plain_scores(*case, share, is_left_out=is_left_out)
    assert tuple(score.model for score in scores) == MODELS


@pytest.mark.parametrize("is_left_out", [False, True])
@settings(max_examples=100)
@given(case=statements_and_asked)
def test_counts_of_each_question_are_those_of_the_question_alone(
    is_left_out: bool, case: tuple[list[Statement], Asked]
) -> None:
    statements, asked = case
    questions = sorted({question for question, _ in asked})
    counts = consensus_counts(support(*case), is_left_out=is_left_out)
    assert counts.shape == (len(questions), len(MODELS), 4)
    for question, found in zip(questions, counts.tolist(), strict=True):
        alone = [statement for statement in statements if statement[0] == question]
        pairs = [pair for pair in asked if pair[0] == question]
        expected = plain_scores(alone, pairs, Fraction(1, 2), is_left_out=is_left_out)
        assert [tuple(row) for row in found] == expected


@pytest.mark.parametrize("part", ["precision", "recall", "f1"])
@settings(max_examples=100)
@given(case=statements_and_asked)
def test_the_mean_over_models_leaves_out_those_without_a_score(
    part: ConsensusPart, case: tuple[list[Statement], Asked]
) -> None:
    columns = support(*case)
    scores = consensus_scores(columns)
    values = [score.f1 if part == "f1" else getattr(score, part).value for score in scores]
    defined = [value for value in values if value is not None]
    totals = consensus_counts(columns).sum(axis=0).astype(np.float64)
    found = mean_over_models(np.stack([totals, totals]), part=part)
    assert found.shape == (2,)
    for value in found.tolist():
        assert math.isnan(value) if not defined else value == pytest.approx(sum(defined) / len(defined))


@settings(max_examples=200)
@given(statements_and_asked, st.sampled_from(SHARES))
def test_every_stated_claim_is_disputed_or_consensus(case: tuple[list[Statement], Asked], share: Fraction) -> None:
    statements, asked = case
    disputed: list[int] = []
    agreed: list[int] = []
    for question, claims in supporters_by_question(statements).items():
        voters = len({model for where, model in asked if where == question})
        for claim, who in claims.items():
            (agreed if who and len(who) >= share * voters else disputed).append(claim)
    assert disputed_and_consensus(support(*case), float(share)) == (sorted(disputed), sorted(agreed))


def test_a_model_that_answered_without_a_claim_still_misses_the_consensus() -> None:
    case = support([(0, 0, 0, True), (0, 0, 1, True)], [(0, 0), (0, 1), (0, 2)])
    silent = consensus_scores(case)[2]
    assert silent.precision == Rate(0, 0)
    assert silent.recall == Rate(0, 1)
    assert silent.f1 is None


def test_a_model_that_was_not_asked_has_no_score() -> None:
    case = support([(0, 0, 0, True), (0, 0, 1, True)], [(0, 0), (0, 1)])
    stranger = consensus_scores(case)[2]
    assert (stranger.precision, stranger.recall) == (Rate(0, 0), Rate(0, 0))


def test_refuted_claims_stay_in_the_denominator_of_precision() -> None:
    # Of two claims of a model that the other makes too, the evidence supports one: precision is 1/2, not 1.
    case = support([(0, 0, 0, True), (0, 0, 1, True), (0, 1, 0, False), (0, 1, 1, True)], [(0, 0), (0, 1)])
    assert consensus_scores(case)[0].precision == Rate(1, 2)
    assert consensus_scores(case, is_left_out=True)[0].precision == Rate(1, 2)


def test_with_two_models_every_claim_is_consensus_unless_the_scored_model_is_left_out() -> None:
    case = support_from_matrix([[1, 0], [0, 1], [1, 1]], ["a", "b"])
    assert [score.recall for score in consensus_scores(case)] == [Rate(2, 3), Rate(2, 3)]
    assert [score.recall for score in consensus_scores(case, is_left_out=True)] == [Rate(1, 2), Rate(1, 2)]
    assert disputed_and_consensus(case) == ([], [0, 1, 2])


def test_alone_nobody_is_seconded() -> None:
    case = support_from_matrix([[1], [1]], ["a"])
    assert consensus_scores(case)[0].precision == Rate(0, 2)
    assert consensus_scores(case, is_left_out=True)[0].recall == Rate(0, 0)


def test_the_same_claim_about_another_question_is_no_support() -> None:
    case = support([(0, 0, 0, True), (1, 0, 1, True)], [(0, 0), (0, 1), (1, 0), (1, 1)])
    assert [score.precision for score in consensus_scores(case)[:2]] == [Rate(0, 1), Rate(0, 1)]


def test_a_share_that_is_just_reached_is_not_lost_to_rounding() -> None:
    # 0.55 * 20 is 11.000000000000002 in floating point.
    case = support_from_matrix([[1] * 11 + [0] * 9], [f"model {number}" for number in range(20)])
    assert disputed_and_consensus(case, 0.55) == ([], [0])
    assert consensus_scores(case, share=0.55)[0].recall == Rate(1, 1)
    assert consensus_scores(case, share=0.55)[19].recall == Rate(0, 1)
    among_others = support_from_matrix([[1] * 12 + [0] * 9], [f"model {number}" for number in range(21)])
    scores = consensus_scores(among_others, share=0.55, is_left_out=True)
    assert (scores[0].recall, scores[20].recall) == (Rate(1, 1), Rate(0, 1))


def test_f1_is_zero_when_both_parts_are_and_undefined_when_one_is() -> None:
    assert ConsensusScore("a", Rate(0, 2), Rate(0, 3)).f1 == 0.0
    assert ConsensusScore("a", Rate(0, 0), Rate(0, 3)).f1 is None
    assert ConsensusScore("a", Rate(1, 2), Rate(0, 0)).f1 is None
    assert ConsensusScore("a", Rate(1, 2), Rate(1, 1)).f1 == pytest.approx(2 / 3)


def test_no_models_and_no_claims_give_no_scores() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    empty = Support(nothing, nothing, nothing, nothing.astype(bool), np.zeros((0, 2), dtype=np.int64), ())
    assert consensus_scores(empty) == consensus_scores(empty, is_left_out=True) == ()
    assert disputed_and_consensus(empty) == ([], [])


def test_a_matrix_without_claims_has_models_without_scores() -> None:
    scores = consensus_scores(support_from_matrix([], ["a", "b"]))
    assert [(score.model, score.precision.value, score.recall.value) for score in scores] == [
        ("a", None, None),
        ("b", None, None),
    ]


@pytest.mark.parametrize("matrix", [[[1]], [[1, 0], [1]], [[2, 0]], [[-1, 0]]], ids=str)
def test_a_matrix_of_the_wrong_shape_or_with_other_entries_is_refused(matrix: list[list[int]]) -> None:
    with pytest.raises(RecordError, match="2 entries per row, one per model, 0 or 1 each"):
        support_from_matrix(matrix, ["a", "b"])
