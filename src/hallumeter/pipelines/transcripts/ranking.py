"""Which engines differ on the same pages."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from hallumeter.records import EnginePair, RankedEngine, Ranking
from hallumeter.stats import friedman_test, holm, nemenyi_test, wilcoxon_signed_rank

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from hallumeter.records import Direction, PageRow

HIGHER_IS_BETTER = {"anchor_score"}
FEWEST_PAGES_SHARE = 0.5
"""Engines that have read a smaller share of the pages are left out, so that they do not take the pages from all."""


def rank_engines(rows: Iterable[PageRow], metric: str) -> tuple[Ranking | None, tuple[str, ...]]:
    """The ranking of the engines, and the engines that have read too few pages to take part; None for one engine."""
    pages: dict[str, int] = {}
    engines: dict[str, int] = {}
    cells: dict[tuple[int, int], float] = {}
    for row in rows:
        value = getattr(row, metric)
        page, engine = pages.setdefault(row.page, len(pages)), engines.setdefault(row.engine, len(engines))
        if value is not None:
            cells[page, engine] = value
    if len(engines) < 2 or not cells:
        return None, ()
    table = np.full((len(pages), len(engines)), np.nan)
    for place, value in cells.items():
        table[place] = value
    table = table[~np.isnan(table).all(axis=1)]
    if metric in HIGHER_IS_BETTER:
        table = -table
    read = (~np.isnan(table)).sum(axis=0)
    takes_part = read >= FEWEST_PAGES_SHARE * len(table)
    names = tuple(engines)
    left_out = tuple(name for name, is_in in zip(names, takes_part.tolist(), strict=True) if not is_in)
    kept = [name for name in names if name not in left_out]
    if len(kept) < 2:
        return None, left_out
    return _ranking(table[:, takes_part], kept, metric), left_out


def _ranking(table: NDArray[np.float64], names: list[str], metric: str) -> Ranking:
    complete = table[~np.isnan(table).any(axis=1)]
    direction: Direction = "higher" if metric in HIGHER_IS_BETTER else "lower"
    pairs = _pairs(table, names, sign=-1 if direction == "higher" else 1)
    empty = Ranking(
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
        return empty
    test = friedman_test(complete)
    order = sorted(range(len(names)), key=lambda place: (test.mean_ranks[place], names[place]))
    nemenyi = nemenyi_test(test.mean_ranks, len(complete))
    return Ranking(
        metric=metric,
        pages=len(complete),
        dropped=len(table) - len(complete),
        engines=tuple(RankedEngine(names[place], test.mean_ranks[place]) for place in order),
        statistic=test.statistic,
        p_value=test.p_value,
        critical_difference=nemenyi.critical_difference,
        groups=tuple(tuple(names[place] for place in group) for group in nemenyi.groups),
        pairs=pairs,
        undefined=test.undefined,
        direction=direction,
    )


def _pairs(table: NDArray[np.float64], names: list[str], *, sign: int) -> tuple[EnginePair, ...]:
    """Every pair of engines on the pages that both have read."""
    found = []
    for first, second in combinations(range(len(names)), 2):
        both = table[~np.isnan(table[:, [first, second]]).any(axis=1)]
        test = wilcoxon_signed_rank(both[:, first], both[:, second])
        difference = None if test.median_difference is None else sign * test.median_difference
        found.append(EnginePair(names[first], names[second], len(both), difference, test.p_value, None))
    tested = [place for place, pair in enumerate(found) if pair.p_value is not None]
    adjusted = holm([pair.p_value for pair in found if pair.p_value is not None])
    for place, p_value in zip(tested, np.asarray(adjusted).tolist(), strict=True):
        pair = found[place]
        found[place] = EnginePair(pair.first, pair.second, pair.pages, pair.difference, pair.p_value, p_value)
    return tuple(found)
