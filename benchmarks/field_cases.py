"""How often are the checks of fields, hours, figures and answers right? Counted on cases that were labelled by hand.

    python benchmarks/field_cases.py

The cases are in tests/claims/judges/fields/cases. A third of them was held back at random before any check was run on
them, and no check was changed for the sake of one of these. A finding is right when the case is a contradiction and the
finding touches the words that are wrong; any other finding is a false alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from hallumeter.claims.judges.fields.dialogue_answers import check_dialogue_answers
from hallumeter.claims.judges.fields.opening_hours import check_opening_hours
from hallumeter.claims.judges.fields.record_fields import EMPTY, check_record_fields
from hallumeter.claims.judges.fields.record_figures import check_record_figures
from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.statement import Finding, Statement, wrong
from hallumeter.records.response import Passage

CASES = Path(__file__).parents[1] / "tests" / "claims" / "judges" / "fields" / "cases"
Check = Callable[[Statement], list[Finding]]
CHECKS: dict[str, Check] = {
    "booleans": check_record_fields,
    "hours": check_opening_hours,
    "record_numbers": check_record_figures,
    "dialogue": check_dialogue_answers,
}


class Case(msgspec.Struct, frozen=True):
    """A claim beside its evidence, and what is wrong with it."""

    claim: str
    evidence: str
    is_contradiction: bool
    wrong: str | None
    """The words that are wrong."""
    field: str | None
    language: str
    held_back: bool


class Count(msgspec.Struct, frozen=True):
    """What a check found in some cases."""

    cases: int
    contradictions: int
    found: int
    right: int

    @property
    def precision(self) -> float | None:
        """Right ones among those found; None when there are none."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """Contradictions that were found; None when there are none."""
        return self.right / self.contradictions if self.contradictions else None


def read_cases(name: str) -> list[Case]:
    """The cases of one check."""
    lines = (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=Case) for line in lines]


def findings_in(case: Case, check: Check) -> list[Finding]:
    """What a check says of a case, without what is merely not in the record."""
    statement = Statement(case.claim, Evidence((Passage("e", case.evidence),)), language=case.language)
    return [finding for finding in wrong(check(statement)) if finding.reason != EMPTY]


def is_right(case: Case, findings: Iterable[Finding]) -> bool:
    """Whether a finding touches the words that are wrong; a claim may have others that are wrong as well."""
    if case.wrong is None:
        return False
    start = case.claim.index(case.wrong)
    return any(finding.start < start + len(case.wrong) and start < finding.end for finding in findings)


def counted(cases: Iterable[Case], check: Check) -> Count:
    """Count what a check finds."""
    total = contradictions = found = right = 0
    for case in cases:
        findings = findings_in(case, check)
        total += 1
        contradictions += case.is_contradiction
        found += bool(findings)
        right += bool(findings) and is_right(case, findings)
    return Count(total, contradictions, found, right)


def main() -> None:
    """Print a table."""
    print("| check | part | cases | contradictions | found | right | precision | recall |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, check in CHECKS.items():
        cases = read_cases(name)
        for part, is_held_back in (("developed on", False), ("held back", True)):
            count = counted([case for case in cases if case.held_back is is_held_back], check)
            numbers = [count.cases, count.contradictions, count.found, count.right]
            rates = ["undefined" if rate is None else f"{rate:.2f}" for rate in (count.precision, count.recall)]
            print("", name, part, *numbers, *rates, "", sep=" | ")


if __name__ == "__main__":
    main()
