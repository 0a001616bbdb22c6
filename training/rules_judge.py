"""Fit the rules judge and measure it: python -m training.rules_judge EXAMPLES.

EXAMPLES holds pickled examples, as the training keeps them. The coefficients of judges/rules/judge.py are fitted on
folds 1 and 2; the figures are those of fold 0, which nothing was tuned on.
"""

from __future__ import annotations

import argparse
import pickle
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from msgspec import Struct

from hallumeter.claims.judges.rules.evidence import prepared_evidence
from hallumeter.claims.judges.rules.judge import COEFFICIENTS, Signals, asked, findings_of, signals_of
from hallumeter.claims.judges.rules.overlap import overlap_of
from hallumeter.claims.judges.rules.statement import MISMATCHES, Statement, denies
from hallumeter.stats.ranks import average_ranks

from .checkers import MAIN, SETS, precision
from .examples import Example
from .folds import fold_of
from .readings import claims_of, passages_of

HELD_BACK = 0
_PART = 200


class Row(Struct, frozen=True):
    """What the judge sees of one claim, and what people said of it."""

    family: str
    fold: int
    is_unsupported: bool
    signals: Signals
    reasons: tuple[str, ...]
    is_denied: bool


def all_rows(examples: list[Example], *, workers: int) -> list[Row]:
    """A row for every labelled claim; examples that follow one another often share their evidence."""
    parts = [examples[start : start + _PART] for start in range(0, len(examples), _PART)]
    with ProcessPoolExecutor(workers) as pool:
        return [row for rows in pool.map(rows_of, parts) for row in rows]


def rows_of(examples: list[Example]) -> list[Row]:
    """A row for every labelled claim of some examples."""
    rows = []
    for example in examples:
        family = example.data_set.partition("/")[0]
        if family not in SETS:
            continue
        evidence = prepared_evidence(passages_of(example))
        language, given = asked(example.text, example.question)
        for claim in claims_of(example):
            statement = Statement(claim.text, evidence, language=language, given=given)
            if claim.is_unsupported is None or not statement.keys or not evidence.sentences:
                continue
            findings = findings_of(statement)
            signals = signals_of(overlap_of(statement), findings)
            reasons = tuple(sorted({finding.reason for finding in findings}))
            row = Row(family, fold_of(example), claim.is_unsupported, signals, reasons, any(map(denies, findings)))
            rows.append(row)
    return rows


def table_of(rows: list[Row]) -> np.ndarray:
    """The signals as columns, the constant first."""
    names = Signals.__struct_fields__
    return np.array([[1.0, *(getattr(row.signals, name) for name in names)] for row in rows])


def fitted(table: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Coefficients of a logistic model by Newton's method, with a weak ridge on all but the constant."""
    ridge = np.diag([0.0] + [1.0] * (table.shape[1] - 1))
    weights = np.zeros(table.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (chance - truth) + ridge @ weights
        bend = (table * (chance * (1 - chance))[:, None]).T @ table + ridge
        weights -= np.linalg.solve(bend, slope)
    return weights


def auroc(scores: np.ndarray, truth: np.ndarray) -> float:
    """The chance that a positive has a higher score than a negative."""
    positives = int(truth.sum())
    negatives = len(truth) - positives
    return float((average_ranks(scores)[truth].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def print_quality(rows: list[Row], chances: np.ndarray, *, likely: float, unlikely: float) -> None:
    """Counts by label, the precision of each, and the AUROC."""
    truth = np.array([row.is_unsupported for row in rows])
    print(f"{len(rows)} claims, {truth.mean():.3f} unsupported, mean probability {chances.mean():.3f}, ", end="")
    print(f"AUROC {auroc(chances, truth):.3f}")
    found: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for row, chance in zip(rows, chances, strict=True):
        label = "SUPPORTED" if chance <= unlikely else "UNDECIDED" if chance < likely else "NOT_ENOUGH_INFO"
        label = "REFUTED" if label == "NOT_ENOUGH_INFO" and row.is_denied else label
        found[label] += 1
        right[label] += row.is_unsupported
    for label in sorted(found):
        print(f"  {label:16} {found[label]:6}  unsupported {precision(right[label], found[label])}")


def print_reasons(rows: list[Row]) -> None:
    """For each kind of mismatch how many claims have it and how many of these people marked."""
    for name, chosen in (
        ("main", [row for row in rows if row.family in MAIN]),
        ("others", [row for row in rows if row.family not in MAIN]),
    ):
        for reason in MISMATCHES:
            having = [row for row in chosen if reason in row.reasons]
            right = sum(row.is_unsupported for row in having)
            print(f"  {name:7} {reason:22} {right} of {len(having)}  {precision(right, len(having))}")


def main() -> None:
    """Fit, print the coefficients, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=Path)
    parser.add_argument("--likely", type=float, default=0.4)
    parser.add_argument("--unlikely", type=float, default=0.25)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tuning-only", action="store_true", help="leave the held back fold alone")
    options = parser.parse_args()
    examples: list[Example] = pickle.loads(options.examples.read_bytes())
    if options.tuning_only:
        examples = [each for each in examples if fold_of(each) != HELD_BACK]
    rows = all_rows(examples, workers=options.workers)
    learned = [row for row in rows if row.fold != HELD_BACK]
    truth = np.array([row.is_unsupported for row in learned])
    weights = fitted(table_of(learned), truth)
    for name, weight in zip(COEFFICIENTS, weights, strict=True):
        print(f'    "{name}": {weight:.3f},')
    chances = 1 / (1 + np.exp(-table_of(learned) @ weights))
    print(f"as many as people find: from {np.quantile(chances, 1 - truth.mean()):.3f} on")
    for name, chosen in (("folds 1 and 2", learned), ("held back", [row for row in rows if row.fold == HELD_BACK])):
        for kind, members in (("all", SETS), ("main", MAIN)):
            some = [row for row in chosen if row.family in members]
            if some:
                print(f"\n{name}, {kind}: ", end="")
                seen = 1 / (1 + np.exp(-table_of(some) @ weights))
                print_quality(some, seen, likely=options.likely, unlikely=options.unlikely)
        if chosen:
            print_reasons(chosen)


if __name__ == "__main__":
    main()
