"""Three runs or more: which of them do better on the same records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hallumeter.pipelines.ranking import ranking_of
from hallumeter.records.decisions.comparison import COMPARISON_VERSION, RunRanking

from .pipeline import check_common, chosen_metrics, described, instruments_of, mixture_notices, opened_sides
from .settings import CompareSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from hallumeter.pipelines.run import Run
    from hallumeter.records import Rates

    from .reading import Side


def rank_runs(runs: Sequence[Run | str | Path], *, settings: CompareSettings | None = None) -> RunRanking:
    """Rank runs on the records that all have: Friedman's test, and Nemenyi's critical difference, for each metric."""
    chosen = settings or CompareSettings()
    sides = opened_sides(runs, chosen)
    metrics = chosen_metrics(sides, chosen)
    for side in sides:
        for _ in side.records():
            pass
    keys = [key for key in sides[0].numbers if all(key in side.numbers for side in sides[1:])]
    check_common(len(keys), sides)
    names = [side.name for side in sides]
    units = [sides[0].clusters[sides[0].numbers[key]] for key in keys]
    codes: dict[str, int] = {}
    clusters = np.array([codes.setdefault(unit, len(codes)) for unit in units], dtype=np.intp)
    rankings = []
    for metric in metrics:
        direction = sides[0].direction(metric)
        columns = [_values(_common(side, keys, metric), clusters) for side in sides]
        if direction != "none":
            rankings.append(ranking_of(np.stack(columns, axis=1), names, metric=metric, direction=direction))
    return RunRanking(
        version=COMPARISON_VERSION,
        instrument=instruments_of(sides),
        runs=tuple(described(side) for side in sides),
        common=len(keys),
        cluster=sides[0].unit,
        rankings=tuple(rankings),
        notices=tuple(_notices(sides, len(keys))),
    )


def _common(side: Side, keys: Sequence[str], metric: str) -> Rates:
    return side.rates(metric)[np.array([side.numbers[key] for key in keys], dtype=np.intp)]


def _values(rates: Rates, clusters: NDArray[np.intp]) -> NDArray[np.float64]:
    """The rate of every cluster; NaN where it has nothing to count."""
    pooled = rates.pooled_by(clusters)
    values = np.full(len(pooled), np.nan)
    np.divide(pooled.counts, pooled.totals, out=values, where=pooled.totals > 0)
    return values


def _notices(sides: Sequence[Side], common: int) -> Iterator[str]:
    yield from mixture_notices(sides)
    for side in sides:
        if len(side.record_ids) > common:
            yield f"{len(side.record_ids) - common:,} records of {side.name} are not in every run"
    if len({side.judge for side in sides}) > 1:
        yield "the judges differ: a difference may be theirs, not the responses'"
