"""One pass over the pages of a run: count all of them, keep a bounded number of them."""

from __future__ import annotations

import heapq
import zlib
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.report.selection import ROWS_KEPT

from .sections import PageCensus, PageSection

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

    from hallumeter.records import PageRow


class CountedPages(Struct, frozen=True):
    """What a pass over all pages has found."""

    census: PageCensus
    section: PageSection
    by_engine: dict[str, int]
    """Pages of each engine."""
    empty_by_engine: dict[str, int]
    wanted: dict[tuple[str, str], PageRow]
    """The rows that were asked for, by page and engine."""


def count_pages(
    rows: Iterable[PageRow], *, wanted: Set[tuple[str, str]] = frozenset(), kept: int = ROWS_KEPT
) -> CountedPages:
    """Read the table of pages once, sorted by page; memory holds `kept` rows, however many there are.

    With more rows than that, whole pages are drawn by a hash of their names, so that every engine keeps the same
    pages and the draw does not follow the order of the names.
    """
    counts: Counter[str] = Counter()
    by_engine: Counter[str] = Counter()
    empty_by_engine: Counter[str] = Counter()
    found: dict[tuple[str, str], PageRow] = {}
    drawn: list[tuple[int, int, list[PageRow]]] = []
    room = kept
    for page, group in groupby(rows, key=lambda row: row.page):
        own = list(group)
        counts["pages"] += 1
        for row in own:
            _count(row, counts)
            by_engine[row.engine] += 1
            empty_by_engine[row.engine] += row.status == "empty_output"
            if (page, row.engine) in wanted:
                found[page, row.engine] = row
        # A heap gives the smallest first; the page with the largest hash is the one to go.
        heapq.heappush(drawn, (-zlib.crc32(page.encode(errors="replace")), counts["pages"], own))
        room -= len(own)
        while room < 0 and drawn:
            room += len(heapq.heappop(drawn)[2])
    shown = [row for _, _, own in sorted(drawn, key=lambda entry: entry[1]) for row in own]
    census = PageCensus(
        engines=len(by_engine),
        **{name: counts[name] for name in PageCensus.__struct_fields__ if name != "engines"},
    )
    section = PageSection(
        tuple(shown),
        pages=len(drawn),
        rows_left_out=census.readings - len(shown),
        pages_left_out=census.pages - len(drawn),
    )
    return CountedPages(census, section, dict(by_engine), dict(empty_by_engine), found)


def _count(row: PageRow, counts: Counter[str]) -> None:
    """Add one reading to the census."""
    counts["readings"] += 1
    counts["empty_outputs"] += row.status == "empty_output"
    counts["empty_references"] += row.status in {"empty_reference", "both_empty"}
    counts["undecided"] += row.status == "undecided"
    counts["upper_bounds"] += row.is_exact is False
    counts["hallucinating"] += row.is_hallucinating is True
    counts["without_badge"] += row.is_hallucinating is None
