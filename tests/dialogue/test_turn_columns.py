"""Answers as columns."""

import numpy as np

from hallumeter.dialogue.records import TurnColumns, TurnRates
from hallumeter.records.rate import Rate

NOTHING = Rate(0, 0)


def rates(count: float, total: float) -> TurnRates:
    return TurnRates(NOTHING, Rate(count, total), NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)


def test_columns_keep_the_order_of_the_answers() -> None:
    columns = TurnColumns.of([rates(0, 2), rates(1, 2), rates(3, 4)])
    assert len(columns) == 3
    assert columns.column("penalty").counts.tolist() == [0, 1, 3]
    assert columns.column("penalty").totals.tolist() == [2, 2, 4]


def test_a_column_without_anything_to_count_has_no_value() -> None:
    assert TurnColumns.of([rates(0, 2)]).column("factuality").value is None


def test_rows_can_be_taken_out() -> None:
    columns = TurnColumns.of([rates(0, 2), rates(1, 2), rates(3, 4)])
    assert columns[1:].column("penalty").pooled == Rate(4, 6)
    assert columns[np.array([True, False, True])].column("penalty").pooled == Rate(3, 6)


def test_no_answers_make_empty_columns() -> None:
    assert len(TurnColumns.of([])) == 0
