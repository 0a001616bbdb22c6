"""How numbers are written: never rounded into a claim that they do not make."""

from __future__ import annotations

import pytest

from hallumeter.report.document import Coverage
from hallumeter.report.wording import coverage_words, format_counts, format_number, value_words
from report_samples import metric


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0.000"),
        (1, "1.000"),
        (0.0004, "<0.001"),
        (-0.0004, ">-0.001"),
        (0.99961, ">0.999"),
        (1.0004, "<1.001"),
        (-0.9999, "<-0.999"),
        (0.0005001, "0.001"),
        (2.71828, "2.718"),
    ],
)
def test_what_is_not_quite_nothing_or_all_is_not_shown_as_such(value: float, shown: str) -> None:
    assert format_number(value) == shown


def test_an_undefined_metric_says_why_and_shows_no_zero() -> None:
    assert value_words(metric("far", 0, 0)) == "undefined: no question without an answer was asked"


def test_counts_are_kept_beside_the_ratio_and_missing_where_there_are_none() -> None:
    assert format_counts(metric("mihr", 1234, 5678)) == "1,234 / 5,678"
    assert format_counts(metric("mean", 2.5, 7)) == "2.50 / 7"
    assert format_counts(metric("kappa", None, None)) == "–"
    assert format_counts(metric("kappa", None, 203)) == "n = 203"


@pytest.mark.parametrize(
    ("coverage", "sentence"),
    [
        (Coverage(9, 9, 0), "All 9, worst first."),
        (
            Coverage(12345, 500, 100),
            "The 500 worst and 100 random ones of 12,345 answers; all are in verdicts.jsonl.",
        ),
        (
            Coverage(20, 10, 0, 3),
            ("The 10 worst of 20 answers; all are in verdicts.jsonl. 3 more would make this file too large."),
        ),
    ],
)
def test_it_is_said_which_responses_are_shown_and_where_the_others_are(coverage: Coverage, sentence: str) -> None:
    assert coverage_words(coverage) == sentence
