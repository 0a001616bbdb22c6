"""How right the checks by rule are on texts that people marked: python -m training.checkers EXAMPLES --folds 1 2.

EXAMPLES holds pickled examples, as the training keeps them. A finding is right when people marked anything in its
claim. Their marks are not complete, so the precision is a lower bound.
"""

from __future__ import annotations

import argparse
import pickle
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from hallumeter.claims.judges.rules.evidence import prepared_evidence
from hallumeter.claims.judges.rules.judge import asked, findings_of
from hallumeter.claims.judges.rules.statement import DOUBTS, MISMATCHES, Finding, Statement, denies
from hallumeter.stats.intervals import wilson_interval

from .examples import Example
from .folds import fold_of
from .readings import LabelledClaim, claims_of, passages_of

SETS = (
    "ragtruth",
    "quintd1",
    "d2t_eval",
    "summedits",
    "defacto",
    "written",
    "wice",
    "factcheck_gpt",
    "gofigure",
)
MAIN = ("ragtruth", "quintd1", "d2t_eval")
"""Sets whose texts models wrote and people marked in place."""


class CheckedClaim(Struct, frozen=True):
    """A labelled claim, and what the checks found in it."""

    example: Example
    claim: LabelledClaim
    findings: list[Finding]

    @property
    def is_conflict(self) -> bool:
        """Whether people marked a contradiction in it."""
        return any(
            span.is_conflict and span.start < self.claim.end and self.claim.start < span.end
            for span in self.example.spans
        )

    @property
    def family(self) -> str:
        """The data set without its domain."""
        return self.example.data_set.partition("/")[0]


def checked_claims(examples: Iterable[Example], *, folds: Iterable[int]) -> Iterator[CheckedClaim]:
    """All labelled claims of some folds with their findings."""
    chosen = set(folds)
    for example in examples:
        if example.data_set.partition("/")[0] not in SETS or fold_of(example) not in chosen:
            continue
        evidence = prepared_evidence(passages_of(example))
        language, given = asked(example.text, example.question)
        for claim in claims_of(example):
            if claim.is_unsupported is not None:
                statement = Statement(claim.text, evidence, language=language, given=given)
                yield CheckedClaim(example, claim, findings_of(statement))


def precision(right: int, found: int) -> str:
    """A share with its 95 % Wilson interval."""
    interval = wilson_interval(right, found)
    return "–" if interval is None else f"{right / found:.3f} ({interval.low:.3f}–{interval.high:.3f})"


def print_reasons(checked: list[CheckedClaim]) -> None:
    """One line for each reason."""
    found: Counter[str] = Counter()
    right: Counter[str] = Counter()
    conflicts: Counter[str] = Counter()
    for each in checked:
        reasons = {finding.reason for finding in each.findings}
        if any(map(denies, each.findings)):
            reasons.add("(denied)")
        if any(finding.reason in MISMATCHES for finding in each.findings):
            reasons.add("(mismatch)")
        for reason in reasons:
            found[reason] += 1
            right[reason] += bool(each.claim.is_unsupported)
            conflicts[reason] += each.is_conflict
    errors = sum(bool(each.claim.is_unsupported) for each in checked)
    print(f"{len(checked)} claims, {errors} errors")
    print("| reason | claims | errors | conflicts | precision | share of all errors |\n" + "| --- " * 6 + "|")
    for reason in sorted(found, key=lambda each: (each in DOUBTS, each)):
        cells = [reason, str(found[reason]), str(right[reason]), str(conflicts[reason])]
        cells += [precision(right[reason], found[reason]), f"{right[reason] / max(1, errors):.3f}"]
        print("| " + " | ".join(cells) + " |")


def print_findings(checked: list[CheckedClaim], reason: str, *, count: int) -> None:
    """Claims with a finding of this reason that nobody marked."""
    alarms = [each for each in checked if not each.claim.is_unsupported]
    alarms = [each for each in alarms if any(finding.reason == reason for finding in each.findings)]
    step = max(1, len(alarms) // max(1, count))
    for each in alarms[::step][:count]:
        print(f"\n[{each.example.data_set}] {each.claim.text}")
        for finding in each.findings:
            if finding.reason == reason:
                said = each.claim.text[finding.start : finding.end]
                context = "; ".join(
                    each.example.evidence[int(quote.evidence_id[1:])][max(0, quote.start - 120) : quote.end + 80]
                    for quote in finding.quotes
                )
                print(f"   {finding.reason} «{said}» {finding.note}\n   … {context!r}")


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=Path)
    parser.add_argument("--folds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--show", nargs="*", default=[], help="print false alarms of these reasons")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--sets", nargs="*", default=[], help="only these sets")
    options = parser.parse_args(arguments)
    examples: list[Example] = pickle.loads(options.examples.read_bytes())
    checked = list(checked_claims(examples, folds=options.folds))
    if options.sets:
        checked = [each for each in checked if each.family in options.sets]
    for reason in options.show:
        print_findings(checked, reason, count=options.count)
    for task in sorted({each.example.task for each in checked}):
        print(f"\n{task}: ", end="")
        print_reasons([each for each in checked if each.example.task == task])
    print(f"\n{', '.join(MAIN)}: ", end="")
    print_reasons([each for each in checked if each.family in MAIN])
    print("\nall: ", end="")
    print_reasons(checked)


if __name__ == "__main__":
    main()
