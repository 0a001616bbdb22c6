"""False acceptance, correct refusal and over-refusal at their edges."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import hallumeter
from hallumeter.claims.metrics.rates import correct_refusal_rate, false_acceptance_rate, over_refusal_rate
from hallumeter.records.columns import Answers
from hallumeter.records.rate import Rate

pairs = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30)


def test_only_answerable_questions_leave_false_acceptance_undefined() -> None:
    answers = Answers.of([(True, True), (True, False)])
    assert false_acceptance_rate(answers).value is None
    assert correct_refusal_rate(answers).value is None
    assert over_refusal_rate(answers).value == 0.5


def test_only_unanswerable_questions_leave_over_refusal_undefined() -> None:
    answers = Answers.of([(False, True), (False, True)])
    assert over_refusal_rate(answers).value is None
    assert false_acceptance_rate(answers).value == 0.0
    assert correct_refusal_rate(answers).value == 1.0


def test_every_answer_keeps_its_own_row() -> None:
    rates = false_acceptance_rate(Answers.of([(True, False), (False, False), (False, True)]))
    assert rates.counts.tolist() == [0.0, 1.0, 0.0]
    assert rates.totals.tolist() == [0.0, 1.0, 1.0]


@given(pairs)
def test_counts_equal_a_count_by_loop(rows: list[tuple[bool, bool]]) -> None:
    answers = Answers.of(rows)
    unanswerable = [abstained for answerable, abstained in rows if not answerable]
    answerable = [abstained for answerable, abstained in rows if answerable]
    assert false_acceptance_rate(answers).pooled == Rate(unanswerable.count(False), len(unanswerable))
    assert correct_refusal_rate(answers).pooled == Rate(unanswerable.count(True), len(unanswerable))
    assert over_refusal_rate(answers).pooled == Rate(answerable.count(True), len(answerable))


PARTIAL = "I could not find her birth date; she studied in Graz and moved to Trieste in 1911."
REFUSAL = "I could not find anyone of that name."


def test_a_partial_refusal_is_a_false_acceptance_and_no_over_refusal() -> None:
    rows = [
        {"record_id": f"{number}", "response": response, "answerable": answerable}
        for number, (response, answerable) in enumerate(
            [(PARTIAL, False), (REFUSAL, False), (PARTIAL, True), (REFUSAL, True), ("She was a chemist.", True)]
        )
    ]
    counts: dict[str, tuple[object, object]] = {
        row.metric: (row.count, row.total) for row in hallumeter.measure(rows).metrics
    }
    assert counts["far"] == (1, 2)
    assert counts["correct_refusal_rate"] == (1, 2)
    assert counts["over_refusal_rate"] == (1, 3)
