"""Which engines differ on the same pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hallumeter.pipelines.ranking import ranking_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hallumeter.records import Direction, PageRow, Ranking

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
    read = (~np.isnan(table)).sum(axis=0)
    takes_part = read >= FEWEST_PAGES_SHARE * len(table)
    names = tuple(engines)
    left_out = tuple(name for name, is_in in zip(names, takes_part.tolist(), strict=True) if not is_in)
    kept = [name for name in names if name not in left_out]
    if len(kept) < 2:
        return None, left_out
    direction: Direction = "higher" if metric in HIGHER_IS_BETTER else "lower"
    return ranking_of(table[:, takes_part], kept, metric=metric, direction=direction), left_out
