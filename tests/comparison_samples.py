"""Comparisons and rankings to show, made of nothing but records."""

from __future__ import annotations

from itertools import pairwise

from msgspec import structs

from hallumeter.records.comparison import (
    COMPARISON_VERSION,
    ClaimChange,
    ComparedRun,
    Comparison,
    MetricComparison,
    Outcome,
    RunRanking,
    State,
    Transition,
    Transitions,
)
from hallumeter.records.ranking import EnginePair, RankedEngine, Ranking


def compared_row(metric: str = "mihr", **changes: object) -> MetricComparison:
    """A metric that got worse, unless something else is said."""
    row = MetricComparison(
        metric=metric,
        by={},
        direction="lower",
        clusters=120,
        differing=60,
        first=0.1,
        second=0.3,
        difference=0.2,
        interval=(0.12, 0.28),
        interval_method="paired_cluster_bootstrap",
        p_value=0.0004,
        test="sign_flip_sampled (clusters)",
        adjusted_p_value=0.0012,
        effect_size=0.52,
        effect="cohen_h",
        minimum_detectable=0.08,
        margin=0.05,
        equivalence_p_value=0.99,
        not_worse_p_value=0.99,
        unmeasured=(0, 0),
        measurable=(360, 360),
        difference_bounds=(0.2, 0.2),
        outcome="worse",
    )
    return structs.replace(row, **changes)


def change(record: str, first: str | None, second: str | None) -> ClaimChange:
    return ClaimChange(record, first, second)


def cell(first: State, second: State, claims: int, *examples: ClaimChange) -> Transition:
    return Transition(first, second, claims, claims, examples)


CELLS = (
    cell("SUPPORTED", "SUPPORTED", 200),
    cell("SUPPORTED", "REFUTED", 70, change("r1", "It is 330 m high.", "It is 999 m high.")),
    cell("REFUTED", "SUPPORTED", 9, change("r2", "It opened in 1999.", "It opened in 1889.")),
    cell("ABSENT", "NOT_ENOUGH_INFO", 14, change("r3", None, "It is famous.")),
    cell("UNDECIDED", "FAILED", 1, change("r4", "Perhaps.", "Perhaps.")),
)


def comparison_of(*rows: MetricComparison, outcome: Outcome = "regression", **changes: object) -> Comparison:
    """Two runs with these rows, or with a metric that got worse, whole and on a slice."""
    usual = (compared_row(), compared_row("mahr", by={"task": "QA"}, unmeasured=(0, 12), difference_bounds=(0.1, 0.3)))
    found = Comparison(
        version=COMPARISON_VERSION,
        instrument="audit",
        first=ComparedRun("baseline", 120, 360, 0, "rules@2"),
        second=ComparedRun("candidate", 121, 374, 2, "rules@2"),
        common=120,
        only_first=0,
        only_second=1,
        cluster="response",
        confidence=0.95,
        rows=rows or usual,
        transitions=Transitions(CELLS, 150, 72, 138, 70, 9, 0.0001),
        outcome=outcome,
        reasons=("as the rows say",),
        notices=("the judges differ",),
    )
    return structs.replace(found, **changes)


def run_ranking(*names: str) -> RunRanking:
    """Runs in this order, the first two alike."""
    named = names or ("good", "fair", "poor", "bad")
    ranks = [1.5 + 0.6 * place for place in range(len(named))]
    ranking = Ranking(
        metric="mihr",
        pages=120,
        dropped=0,
        engines=tuple(RankedEngine(name, rank) for name, rank in zip(named, ranks, strict=True)),
        statistic=50.0,
        p_value=0.0001,
        critical_difference=0.7,
        groups=tuple(pairwise(named)),
        pairs=(EnginePair(named[0], named[-1], 120, -0.2, 0.001, 0.003),),
    )
    untested = structs.replace(ranking, metric="mahr", engines=(), groups=(), pairs=(), p_value=None, undefined="no page was read by every engine")  # fmt: skip  # noqa: E501
    equal = structs.replace(ranking, metric="mihr_refuted", p_value=None, undefined="on every page all engines are equal")  # fmt: skip  # noqa: E501
    return RunRanking(
        version=COMPARISON_VERSION,
        instrument="audit and ingest",
        runs=tuple(ComparedRun(name, 120, 360, 0, None) for name in named),
        common=120,
        cluster="response",
        rankings=(ranking, untested, equal),
        notices=("the judges differ",),
    )
