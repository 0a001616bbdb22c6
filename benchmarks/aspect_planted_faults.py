"""Does blame find who planted which fault, and does stage 2 repair more than it breaks?

    python benchmarks/aspect_planted_faults.py MAMS-ATSA_val.xml [--cases 500] [--seed 0] [--list]

Agents who know gold read sentences of MAMS, with faults planted in their answers at known places. First, all agents are
such: beside what was planted stands what blame says. A fault that code refuses (no polarity can be turned where nothing
is negated or contrasted) has no effect, and is blamed on nobody. Then debate and reviews are left to the offline
agents, who do not know gold: what they repair, what they break, and the net gain of stage 2, with intervals by
resampling sentences.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from aspect_datasets import read_mams, shipped_settings
from hallumeter.aspects.agents.offline import OfflineAgent
from hallumeter.aspects.blame.tables import BlameSums, blame_of
from hallumeter.aspects.metrics.tuples import match_tuples, pairs_of
from hallumeter.aspects.readers.by_language import reader_for
from hallumeter.aspects.readers.protocol import AspectReader
from hallumeter.aspects.records.blame import ERROR_KINDS, SentenceBlame
from hallumeter.aspects.records.outputs import STEPS, PipelineOutput
from hallumeter.stats.bootstrap import cluster_bootstrap_interval
from planted_faults import (
    FAULT_KINDS,
    FaultKind,
    PlantedCase,
    outputs_of,
    planted_cases,
    recoveries,
)

STAGE_ONE: tuple[FaultKind, ...] = tuple(
    kind for kind in FAULT_KINDS if kind.split("_")[0] not in ("proposed", "reviewed", "pushed")
)
Told = list[tuple[PlantedCase, PipelineOutput, SentenceBlame]]


def told(cases: Sequence[PlantedCase], readers: dict[str, AspectReader], reviewer: OfflineAgent | None) -> Told:
    """Every case with its output and its blame."""
    outputs = outputs_of(cases, readers=readers, reviewer=reviewer, settings=shipped_settings())
    return [(case, output, blame_of(output)) for case, output in zip(cases, outputs, strict=True)]


def print_recovered(results: Told, *, is_listing: bool) -> None:
    """What blame says of every planted fault, by kind."""
    counts: dict[str, Counter[str]] = {}
    for case, _, blame in results:
        for found in recoveries(case, blame):
            row = counts.setdefault(f"{found.fault.kind} | {found.fault.step} | {found.error}", Counter())
            row["planted"] += 1
            row[found.finding] += 1
            row["to repair"] += found.fault.repaired_by is not None
            row["repair found"] += bool(found.is_repair_found)
            if is_listing and found.finding != "found":
                print(found.finding, found.fault, found.unit, case.sentence.text, sep="\n  ")
    print("| fault | step | error | planted | found | blamed on another | without effect | to repair | found |")
    print("|---|---|---|---|---|---|---|---|---|")
    names = ("planted", "found", "blamed_on_another", "without_effect", "to repair", "repair found")
    for label, row in counts.items():
        print(f"| {label} | {' | '.join(str(row[name]) for name in names)} |")


def planted_counts(results: Told, *, are_repairs_planted: bool) -> dict[str, Counter[tuple[str, str]]]:
    """By rate: how many errors of which kind each step was to introduce, repair or break."""
    planted: dict[str, Counter[tuple[str, str]]] = {"introduction": Counter(), "regression": Counter()}
    planted |= {"repair": Counter()} if are_repairs_planted else {}
    for case, _, blame in results:
        for found in recoveries(case, blame):
            fault, is_effective = found.fault, found.finding != "without_effect"
            planted["introduction"][fault.step, found.error] += is_effective
            planted["regression"][fault.step, found.error] += is_effective and fault.step not in STEPS[:4]
            if are_repairs_planted and fault.repaired_by is not None:
                planted["repair"][fault.repaired_by, found.error] += is_effective
    return planted


def print_rates(results: Told, *, are_repairs_planted: bool) -> None:
    """Rates of every step, beside those that were planted and had an effect."""
    planted = planted_counts(results, are_repairs_planted=are_repairs_planted)
    sums = BlameSums()
    for *_, blame in results:
        sums.add(blame)
    print("\n| step | error | rate | planted | told | value |\n|---|---|---|---|---|---|")
    for row in sums.partial().table().rows:
        name = row.metric.removeprefix("step_").removesuffix("_rate")
        step, error = row.by["step"], row.by["error"]
        if row.value is None or name not in ("introduction", "repair", "regression") or error not in ERROR_KINDS:
            continue
        truth = planted[name][step, error] if name in planted else None
        if truth or row.count:
            interval = "" if row.interval is None else f" ({row.interval[0]:.3f}–{row.interval[1]:.3f})"
            counts = f"{'–' if truth is None else truth} | {row.count:.0f} of {row.total:.0f}"
            print(f"| {step} | {error} | {name} | {counts} | {row.value:.3f}{interval} |")


def print_gain(results: Told) -> None:
    """Fix, break and net gain of stage 2, by whole sentences and by single errors."""
    before, after = [], []
    fewer, standing, repaired = [], [], []
    for _, output, blame in results:
        gold, result = pairs_of(output.gold_tuples or ()), output.final_result
        assert result is not None
        before.append(match_tuples(result.stage1_tuples, gold).is_perfect)
        after.append(match_tuples(result.final_tuples, gold).is_perfect)
        later = [tally for tally in blame.tallies if tally.step in STEPS[4:]]
        repaired.append(sum(tally.repaired for tally in later))
        fewer.append(repaired[-1] - sum(tally.introduced for tally in later))
        standing.append(sum(tally.standing for tally in later if tally.step == later[0].step))
    was, became = np.array(before), np.array(after)
    fixed, broke = int((~was & became).sum()), int((was & ~became).sum())
    print(f"\nsentences with all tuples right: stage 1 {was.sum()}, at the end {became.sum()} of {len(was)}")
    print(f"fixed {fixed} of {int((~was).sum())}, broken {broke} of {int(was.sum())}")
    print(f"net gain {_share(became.astype(int) - was.astype(int), np.ones(len(was)))}")
    print(f"errors of stage 1 {sum(standing)}; repaired {sum(repaired)}, made anew {sum(repaired) - sum(fewer)}")
    print(f"net repair, errors less at the end / errors of stage 1 {_share(np.array(fewer), np.array(standing))}")


def _share(counts: np.ndarray, totals: np.ndarray) -> str:
    interval = cluster_bootstrap_interval(counts, totals, rng=np.random.default_rng(0), is_share=False)
    told_interval = "" if interval is None else f" ({interval.low:.3f} to {interval.high:.3f})"
    return f"{counts.sum() / totals.sum():.3f}{told_interval}"


def main() -> None:
    """Print both suites."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="print every fault that was not found")
    given = parser.parse_args()
    sentences, readers = read_mams(given.path), {"en": reader_for("en")}
    cases = list(islice(planted_cases(sentences, seed=given.seed), given.cases))
    print(f"## All agents know gold but for the planted faults: {len(cases)} sentences\n")
    scripted = told(cases, readers, None)
    print_recovered(scripted, is_listing=given.list)
    print_rates(scripted, are_repairs_planted=True)
    stage1 = planted_cases(sentences, seed=given.seed, kinds=STAGE_ONE, are_repaired=False)
    cases = list(islice(stage1, given.cases))
    print(f"\n## Faults in stage 1 alone, offline agents debate and review: {len(cases)} sentences\n")
    offline = told(cases, readers, OfflineAgent([readers["en"]]))
    print_recovered(offline, is_listing=given.list)
    print_rates(offline, are_repairs_planted=False)
    print_gain(offline)


if __name__ == "__main__":
    main()
