"""Cases that were labelled by hand before the checks were written; a third of them is only counted by the benchmark."""

from __future__ import annotations

import pytest

from field_cases import CHECKS, counted, findings_in, read_cases

_LEAST = {"booleans": (0.95, 0.95), "hours": (0.95, 0.95), "record_numbers": (0.95, 0.95), "dialogue": (0.95, 0.85)}
"""Precision and recall that were reached, less one case."""


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_finds_contradictions_and_raises_few_false_alarms(name: str) -> None:
    count = counted([case for case in read_cases(name) if not case.held_back], CHECKS[name])
    assert count.cases == 40
    assert count.precision is not None
    assert count.recall is not None
    assert (count.precision, count.recall) >= _LEAST[name]
    assert count.recall >= _LEAST[name][1]


@pytest.mark.parametrize("name", CHECKS)
def test_every_finding_quotes_the_evidence_as_it_stands(name: str) -> None:
    for case in read_cases(name):
        for finding in findings_in(case, CHECKS[name]):
            assert 0 <= finding.start < finding.end <= len(case.claim)
            assert finding.quotes
            for quote in finding.quotes:
                assert case.evidence[quote.start : quote.end] == quote.quote


def test_a_third_of_the_cases_is_held_back_and_half_are_right_claims() -> None:
    for name in CHECKS:
        cases = read_cases(name)
        assert (len(cases), sum(case.held_back for case in cases)) == (60, 20)
        assert sum(case.is_contradiction for case in cases) == 30
