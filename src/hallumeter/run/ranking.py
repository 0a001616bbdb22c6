"""Which of several (engines, runs) do better on the same units (pages, records)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from hallumeter.records.ranking import Direction, EnginePair, RankedEngine, Ranking
from hallumeter.stats.ranks import friedman_test, nemenyi_test, wilcoxon_signed_rank
from hallumeter.stats.significance import holm


def ranking_of(table: NDArray[np.float64], names: Sequence[str], *, metric: str, direction: Direction) -> Ranking:
    """The ranking from one row per unit and one column per name; NaN where one of them was not measured."""
    if direction == "higher":
        table = -table
    complete = table[~np.isnan(table).any(axis=1)]
    pairs = _pairs(table, names, sign=-1 if direction == "higher" else 1)
    unranked = Ranking(
        metric=metric,
        pages=len(complete),
        dropped=len(table) - len(complete),
        engines=(),
        statistic=None,
        p_value=None,
        critical_difference=None,
        groups=(),
        pairs=pairs,
        undefined="no page was read by every engine",
        direction=direction,
    )
    if not len(complete):
        return unranked
    test = friedman_test(complete)
    order = sorted(range(len(names)), key=lambda place: (test.mean_ranks[place], names[place]))
    nemenyi = nemenyi_test(test.mean_ranks, len(complete))
    return structs.replace(
        unranked,
        engines=tuple(RankedEngine(names[place], test.mean_ranks[place]) for place in order),
        statistic=test.statistic,
        p_value=test.p_value,
        critical_difference=nemenyi.critical_difference,
        groups=tuple(tuple(names[place] for place in group) for group in nemenyi.groups),
        undefined=test.undefined,
    )


def _pairs(table: NDArray[np.float64], names: Sequence[str], *, sign: int) -> tuple[EnginePair, ...]:
    """Every pair of names on the units that both have a value on."""
    found = []
    for first, second in combinations(range(len(names)), 2):
        both = table[~np.isnan(table[:, [first, second]]).any(axis=1)]
        test = wilcoxon_signed_rank(both[:, first], both[:, second])
        difference = None if test.median_difference is None else sign * test.median_difference
        found.append(EnginePair(names[first], names[second], len(both), difference, test.p_value, None))
    tested = [place for place, pair in enumerate(found) if pair.p_value is not None]
    adjusted = holm([pair.p_value for pair in found if pair.p_value is not None])
    for place, p_value in zip(tested, np.asarray(adjusted).tolist(), strict=True):
        found[place] = structs.replace(found[place], adjusted_p_value=p_value)
    return tuple(found)
