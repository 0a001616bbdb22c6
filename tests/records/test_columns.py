"""Verdicts as columns: what is counted where."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.records.claim import Label, Verdict
from hallumeter.records.columns import (
    DECIDED_LABELS,
    FAILED_CODE,
    LABEL_CODES,
    UNDECIDED_CODE,
    Answers,
    LabelCounts,
    Ratings,
    UncertaintySums,
)

labelled = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(list(Label))), max_size=20)
tables = st.lists(st.tuples(*[st.integers(0, 9)] * 5), max_size=6).map(
    lambda rows: LabelCounts(np.array(rows, dtype=np.int64).reshape(-1, 5))
)


def test_codes_put_what_speaks_of_the_evidence_first() -> None:
    assert list(LABEL_CODES) == list(Label)
    assert list(LABEL_CODES.values()) == [0, 1, 2, UNDECIDED_CODE]
    assert DECIDED_LABELS == UNDECIDED_CODE
    assert max(LABEL_CODES.values()) + 1 == FAILED_CODE


@given(labelled)
def test_label_counts_of_verdicts_equal_a_count_by_loop(rows: list[tuple[str, Label]]) -> None:
    verdicts = (Verdict(record, f"c{number}", "human", label) for number, (record, label) in enumerate(rows))
    counts = LabelCounts.of(verdicts)
    records = list(dict.fromkeys(record for record, _ in rows))
    tally = Counter(rows)
    expected = [[*(tally[record, label] for label in Label), 0] for record in records]
    assert counts.table.tolist() == expected
    assert counts.table.shape == (len(records), 5)
    assert counts.table.dtype == np.int64


def test_a_response_without_claims_keeps_its_row_in_a_tally() -> None:
    counts = LabelCounts.tally(np.array([0, 2, 2]), np.array([0, FAILED_CODE, 1]), size=4)
    assert counts.table.tolist() == [[1, 0, 0, 0, 0], [0] * 5, [0, 1, 0, 0, 1], [0] * 5]
    assert counts.claims.tolist() == [1, 0, 2, 0]
    assert len(counts) == 4


def test_each_column_counts_what_it_says() -> None:
    counts = LabelCounts(np.array([[1, 2, 4, 8, 16]]))
    assert counts.supported.tolist() == [1]
    assert counts.refuted.tolist() == [2]
    assert counts.unsupported.tolist() == [6]
    assert counts.decided.tolist() == [7]
    assert counts.unmeasured.tolist() == [24]
    assert counts.claims.tolist() == [31]


@given(tables)
def test_every_claim_is_either_decided_or_unmeasured(counts: LabelCounts) -> None:
    assert (counts.decided + counts.unmeasured == counts.claims).all()
    assert (counts.supported + counts.unsupported == counts.decided).all()


@given(tables, st.sampled_from(list(Label)[:DECIDED_LABELS]))
def test_resolving_turns_all_that_is_unmeasured_into_one_label(counts: LabelCounts, label: Label) -> None:
    before = counts.table.copy()
    resolved = counts.resolved(label)
    assert (counts.table == before).all()
    assert not resolved.unmeasured.any()
    assert (resolved.claims == counts.claims).all()
    column = LABEL_CODES[label]
    assert (resolved.table[:, column] == counts.table[:, column] + counts.unmeasured).all()
    others = [code for code in range(DECIDED_LABELS) if code != column]
    assert (resolved.table[:, others] == counts.table[:, others]).all()


def test_rows_of_columns_are_chosen_by_slice_by_number_and_by_mask() -> None:
    counts = LabelCounts(np.arange(15).reshape(3, 5))
    assert counts[1:].table.tolist() == counts.table[1:].tolist()
    assert counts[np.array([2, 0])].supported.tolist() == [10, 0]
    assert counts[np.array([False, True, False])].supported.tolist() == [5]
    answers = Answers.of([(True, False), (False, True), (False, False)])
    assert answers[np.array([2, 0])].is_answerable.tolist() == [False, True]
    assert answers[:2].did_abstain.tolist() == [False, True]
    sums = UncertaintySums(np.array([1, 2]), np.array([0.1, 0.2]), np.array([0.3, 0.4]), np.array([0.5, 0.6]))
    last = sums[np.array([False, True])]
    assert (last.claims[0], last.entropy[0], last.epistemic[0], last.aleatoric[0]) == (2, 0.2, 0.4, 0.6)
    assert (len(answers), len(sums), len(last)) == (3, 2, 1)


def test_no_verdicts_and_no_answers_make_columns_without_rows() -> None:
    assert LabelCounts.of([]).table.shape == (0, 5)
    assert len(Answers.of([])) == 0


def test_ratings_count_the_judges_behind_each_label_and_leave_out_who_gave_none() -> None:
    panel = Ratings(np.array([[0, 0, 2], [-1, 1, -1]], dtype=np.int8), np.array([5, 2]), ("x", "y", "z"))
    assert panel.claims == 7
    assert panel.counts().tolist() == [[2, 0, 1], [0, 1, 0]]
    assert panel.counts(categories=2).tolist() == [[2, 0], [0, 1]]
