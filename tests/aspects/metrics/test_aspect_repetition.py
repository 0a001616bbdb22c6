"""The same sentence in several runs."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec import structs

from aspect_outputs import FIRST, SECOND, failed_output, gold_card, output
from hallumeter.aspects.metrics.rates import UNKNOWN, case_columns, case_difference, case_rate, repeated
from hallumeter.aspects.records.columns import CaseColumns
from hallumeter.aspects.records.scorecard import Scorecard
from hallumeter.aspects.score.scorecard import make_scorecard


def compared(rows: list[tuple[int, int, int]]) -> CaseColumns:
    """Rows of sentence, run and label."""
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    said = np.stack([table[:, 2], np.full(len(table), UNKNOWN), table[:, 2]], axis=1)
    return case_columns(table[:, 0], table[:, 1], said)


def consistency(rows: list[tuple[int, int, int]]) -> float | None:
    return case_rate(compared(rows), same="same_labels", total="labels").value


def test_one_run_has_nothing_to_be_compared_with() -> None:
    assert consistency([(0, 0, 5), (1, 0, 6)]) is None
    assert consistency([]) is None


def test_a_sentence_is_consistent_when_all_runs_say_the_same() -> None:
    rows = [(0, 0, 5), (0, 1, 5), (0, 2, 5), (1, 0, 5), (1, 1, 6), (1, 2, 5)]
    assert consistency(rows) == 0.5
    assert case_difference(compared(rows), same="same_labels", total="labels").value == 0.5


def test_sentences_that_only_one_run_has_are_left_out() -> None:
    assert consistency([(0, 0, 5), (0, 1, 5), (1, 0, 7)]) == 1


def test_unknown_labels_are_compared_with_nothing() -> None:
    assert consistency([(0, 0, 5), (0, 1, UNKNOWN)]) is None


def test_of_two_scorecards_of_a_sentence_in_one_run_the_first_counts() -> None:
    assert consistency([(0, 0, 5), (0, 0, 6), (0, 1, 5)]) == 1
    assert consistency([(0, 0, 5), (0, 0, 5)]) is None


def test_what_is_never_known_is_undefined() -> None:
    assert case_rate(compared([(0, 0, 5), (0, 1, 5)]), same="same_risks", total="risks").value is None


def test_scorecards_that_say_the_same_are_told_to_be_the_same() -> None:
    one, other = make_scorecard(output()), make_scorecard(output("s2"))
    assert repeated(one) == repeated(other)
    assert UNKNOWN not in repeated(one)


def test_the_order_of_tuples_does_not_matter() -> None:
    assert repeated(gold_card(SECOND, None, None)) == repeated(gold_card(SECOND[::-1], None, None))
    assert repeated(gold_card(SECOND, None, None)).tuples != repeated(gold_card(FIRST, None, None)).tuples


@pytest.mark.parametrize("card", [make_scorecard(failed_output()), Scorecard()])
def test_what_failed_or_says_nothing_is_unknown(card: Scorecard) -> None:
    assert repeated(card) == (UNKNOWN, UNKNOWN, UNKNOWN)


def test_a_result_without_tuples_has_a_label_alone() -> None:
    card = gold_card(None, None, None)
    assert repeated(card).label != UNKNOWN
    assert repeated(card).tuples == UNKNOWN


def test_case_columns_are_made_from_numbers_and_cut() -> None:
    cases = CaseColumns.of([(1, 1, 0, 0, 1, 0), (1, 0, 0, 0, 1, 1)])
    assert len(cases) == 2
    assert cases[1:].same_tuples.tolist() == [1]
    assert len(CaseColumns.of([])) == 0


def test_risks_are_compared_as_sets() -> None:
    card = make_scorecard(output())
    assert card.validator is not None
    doubled = structs.replace(card.validator[0], structural_risks=card.validator[0].structural_risks * 2)
    assert repeated(structs.replace(card, validator=(doubled,))).risks == repeated(card).risks
