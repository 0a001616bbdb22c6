"""What is said about each judge of a panel when verdicts are measured."""

from __future__ import annotations

from collections.abc import Sequence

import hallumeter
from hallumeter.records.measurement import MetricSummary

EACH = ("agreement_with_others", "alpha_without", "alpha_gain_without")


def rows_of(votes: Sequence[str], by: tuple[str, ...] = ()) -> list[MetricSummary]:
    """One response per word, whose letters are the labels that the judges a, b, c gave its one claim."""
    labels = {"S": "SUPPORTED", "R": "REFUTED"}
    verdicts = [
        {"record_id": f"r{number}", "claim_id": "c", "judge": judge, "label": labels[letter], "model": f"m{number % 2}"}
        for number, word in enumerate(votes)
        for judge, letter in zip("abc", word, strict=False)
    ]
    summary = hallumeter.measure(verdicts, by=list(by))
    return [row for row in summary.metrics if row.metric in EACH]


def test_three_judges_are_each_left_out_once_and_for_the_whole_run_only() -> None:
    # By hand, as in the catalog: alpha of all is 7/18, without the third judge 1.
    rows = rows_of(["SSR", "RRS", "SSS", "RRR"], by=("model",))
    assert [(row.judge, row.metric, row.by) for row in rows] == [(judge, name, {}) for judge in "abc" for name in EACH]
    assert [round(row.value or 0, 6) for row in rows[-3:]] == [0.5, 1.0, 0.611111]


def test_two_judges_agree_with_each_other_and_cannot_be_left_out() -> None:
    rows = rows_of(["SS", "SR", "RR"])
    assert [(row.judge, row.metric, row.count, row.total) for row in rows] == [
        ("a", "agreement_with_others", 2.0, 3.0),
        ("b", "agreement_with_others", 2.0, 3.0),
    ]


def test_one_judge_has_no_others() -> None:
    assert rows_of(["S", "R"]) == []
