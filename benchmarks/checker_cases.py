"""How many of the hand-made cases do the checks by rule get right?

    python benchmarks/checker_cases.py [--held-back] [--show]

Each case in tests/claims/judges/rules/cases is a claim, its evidence and the words that are wrong. A case is found when
a finding that is no doubt touches those words, and a false alarm when a right claim has such a finding. A third of the
cases was held back before any check was run on them; `--held-back` counts these too.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, convert

from hallumeter.claims.judges.rules.evidence import Evidence
from hallumeter.claims.judges.rules.judge import findings_of
from hallumeter.claims.judges.rules.statement import Finding, Statement, denies, is_doubt
from hallumeter.records.response import Passage

FOLDER = Path(__file__).parents[1] / "tests" / "claims" / "judges" / "rules" / "cases"


class Case(Struct, frozen=True, forbid_unknown_fields=True):
    """A claim and its evidence."""

    language: str
    claim: str
    evidence: str
    contradiction: bool
    wrong: str
    """The words that are wrong; empty when none are."""
    held_back: bool


class Counts(Struct):
    """What was counted over some cases."""

    cases: int = 0
    wrong: int = 0
    alarms: int = 0
    """Cases with a finding."""
    right: int = 0
    """Wrong cases with a finding on the wrong words."""

    @property
    def precision(self) -> float:
        """Share of the alarms that are right; 1 without any alarm."""
        return self.right / self.alarms if self.alarms else 1.0

    @property
    def recall(self) -> float:
        """Share of the wrong cases that are found."""
        return self.right / self.wrong if self.wrong else 1.0


def checkers() -> list[str]:
    """The names of the files of cases."""
    return sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def cases_of(checker: str, *, held_back: bool) -> list[Case]:
    """The cases of one checker that are held back, or those that are not."""
    lines = (FOLDER / f"{checker}.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [convert(json.loads(line), Case) for line in lines]
    return [case for case in cases if case.held_back == held_back]


def found_in(case: Case) -> list[Finding]:
    """The findings of a case that are no doubts."""
    evidence = Evidence((Passage("e", case.evidence),))
    findings = findings_of(Statement(case.claim, evidence, language=case.language))
    return [finding for finding in findings if not is_doubt(finding)]


def is_right(case: Case, findings: list[Finding]) -> bool:
    """Whether a finding touches the words that are wrong."""
    start = case.claim.index(case.wrong)
    end = start + len(case.wrong)
    return case.contradiction and any(finding.start < end and start < finding.end for finding in findings)


def counted(cases: list[Case], counts: Callable[[Finding], bool] = lambda _: True) -> Counts:
    """Count the alarms of some cases, of the findings that count."""
    totals = Counts()
    for case in cases:
        findings = [finding for finding in found_in(case) if counts(finding)]
        totals.cases += 1
        totals.wrong += case.contradiction
        totals.alarms += bool(findings)
        totals.right += is_right(case, findings)
    return totals


def print_table(*, held_back: bool) -> None:
    """One line for each checker: all findings, then those that refute."""
    print("held back" if held_back else "not held back")
    print("| checker | cases | wrong | precision | recall | precision, refuted | recall, refuted |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for checker in checkers():
        cases = cases_of(checker, held_back=held_back)
        found, refuted = counted(cases), counted(cases, denies)
        cells = [checker, str(found.cases), str(found.wrong)]
        cells += [f"{each:.2f}" for each in (found.precision, found.recall, refuted.precision, refuted.recall)]
        print("| " + " | ".join(cells) + " |")


def show() -> None:
    """Print what goes wrong in the cases that are not held back."""
    for checker in checkers():
        for case in cases_of(checker, held_back=False):
            findings = found_in(case)
            if is_right(case, findings) != case.contradiction or (findings and not case.contradiction):
                said = [(finding.reason, case.claim[finding.start : finding.end]) for finding in findings]
                kind = "ALARM" if findings else "missed"
                print(f"{checker:10} {kind} | {case.claim} | {case.evidence} | {case.wrong!r} | {said}")


def main(arguments: list[str]) -> None:
    """Print the tables."""
    if "--show" in arguments:
        show()
    print_table(held_back=False)
    if "--held-back" in arguments:
        print_table(held_back=True)


if __name__ == "__main__":
    main(sys.argv[1:])
