"""Hand-made claims for every check, half of them right ones that tempt it; those held back are not looked at here."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import pytest

from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.judge import findings_of
from hallumeter.claims.judges.rules.statement import Finding, Statement, is_doubt, is_mismatch
from hallumeter.records.response import Passage

FOLDER = Path(__file__).parent / "cases"
CHECKERS = sorted(path.stem for path in FOLDER.glob("*.jsonl"))
REACHED = {
    "dates": (1.0, 0.94),
    "direction": (1.0, 1.0),
    "lists": (1.0, 1.0),
    "names": (1.0, 0.94),
    "negation": (1.0, 1.0),
    "numbers": (1.0, 0.78),
    "planned": (1.0, 0.81),
    "roles": (1.0, 0.95),
}
"""Precision and recall as `python benchmarks/checker_cases.py` prints them, rounded down."""


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    language: str
    claim: str
    evidence: str
    contradiction: bool
    wrong: str
    held_back: bool


@cache
def cases_of(checker: str) -> tuple[Case, ...]:
    lines = (FOLDER / f"{checker}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(msgspec.json.decode(line, type=Case) for line in lines)


def found_in(case: Case) -> list[Finding]:
    evidence = Evidence((Passage("e", case.evidence),))
    findings = findings_of(Statement(case.claim, evidence, language=case.language))
    return [finding for finding in findings if not is_doubt(finding)]


def is_right(case: Case, findings: list[Finding]) -> bool:
    start = case.claim.index(case.wrong)
    end = start + len(case.wrong)
    return case.contradiction and any(finding.start < end and start < finding.end for finding in findings)


def test_every_check_has_sixty_cases_of_which_a_third_is_held_back() -> None:
    assert set(CHECKERS) == set(REACHED)
    for checker in CHECKERS:
        cases = cases_of(checker)
        assert (len(cases), sum(case.held_back for case in cases)) == (60, 20)
        assert all(case.wrong in case.claim and bool(case.wrong) == case.contradiction for case in cases)
        assert all(sum(case.language == language for case in cases) >= 8 for language in ("fr", "ko"))


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_check_is_as_precise_and_finds_as_much_as_was_reached(checker: str) -> None:
    cases = [case for case in cases_of(checker) if not case.held_back]
    found = [(case, found_in(case)) for case in cases]
    alarms = sum(bool(findings) for _, findings in found)
    right = sum(is_right(case, findings) for case, findings in found)
    precision, recall = REACHED[checker]
    assert right >= precision * alarms
    assert right >= recall * sum(case.contradiction for case in cases)


@pytest.mark.parametrize("checker", CHECKERS)
def test_what_is_marked_is_whole_words_and_what_contradicts_quotes_both_sides(checker: str) -> None:
    for case in cases_of(checker):
        if case.held_back:
            continue
        for finding in found_in(case):
            said = case.claim[finding.start : finding.end]
            assert said
            assert said == said.strip(" ,;:()'’\"")
            assert not case.claim[: finding.start][-1:].isalnum()
            if is_mismatch(finding):
                (quote,) = finding.quotes
                assert quote.quote == case.evidence[quote.start : quote.end]
                assert quote.quote
