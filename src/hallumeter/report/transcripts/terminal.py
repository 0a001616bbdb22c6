"""Engines and pages as tables for a terminal, wide or narrow, readable in a pipe as well."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hallumeter.report.terminal import plain_console, plain_table
from hallumeter.report.wording import DIRECTION_WORDS, NO_VALUE, format_counts, format_number
from hallumeter.text.printable import printable

from .pages import count_pages
from .ranking import HALLUCINATING, HEADINGS, difference_words, ranking_section
from .wording import WITNESS_WORDS, census_words, has_witness
from .worst import reason_words, worst_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hallumeter.records import MetricSummary, PageRow, Summary

    from .sections import EngineRow, RankingColumn, RankingSection

BY_WEIGHT = ("cer", HALLUCINATING, "invented_rate", "omission_rate", "anchor_mean", "wer", "true_insertion_rate")
"""Which columns a narrow terminal keeps: the first that fit."""
WORST_SHOWN = 10
NARROW = 80
"""Below this many columns an interval stands under its value."""
_ENGINE_WIDTH = 34
_BETWEEN = 3
"""Columns of the terminal that a table leaves between two of its own."""


def pages_table(
    summary: Summary, pages: Iterable[PageRow], *, width: int | None = None, has_color: bool = False
) -> str:
    """Everything a person needs at first: engines in order, which differ, the worst pages, signatures."""
    rows = list(pages)
    counted = count_pages(rows)
    section = ranking_section(summary, counted, {})
    stream = io.StringIO()
    console = plain_console(stream, width=width, has_color=has_color)
    console.print(Text(" · ".join(census_words(counted.census, summary.counts.failures)), style="bold"))
    is_witnessed = has_witness(metric.signature for metric in summary.metrics)
    if is_witnessed:
        console.print(Text(WITNESS_WORDS, style="yellow"))
    shown = _print_engines(console, section) if section else []
    if summary.ranking:
        console.print(Text(printable(difference_words(summary.ranking))))
    _print_worst(
        console,
        worst_pages(rows, WORST_SHOWN),
        has_one_engine=counted.census.engines == 1,
        is_witnessed=is_witnessed,
    )
    if shown:
        console.print(Text("\nsignatures", style="dim"))
    for column in shown:
        console.print(Text(f"  {printable(column.signature or '')}", style="dim"), soft_wrap=True)
    return stream.getvalue()


def _print_engines(console: Console, section: RankingSection) -> list[RankingColumn]:
    """The table of engines; gives back the columns that it had room for."""
    by_name = {column.metric: column for column in section.columns}
    fitting = _fitting([by_name[name] for name in BY_WEIGHT if name in by_name], section, console.width)
    table = plain_table("Engines, best first")
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("engine", overflow="fold", min_width=10)
    for column in fitting:
        arrow = DIRECTION_WORDS[column.direction][0]
        table.add_column(f"{HEADINGS[column.metric]} {arrow}".rstrip(), no_wrap=console.width >= NARROW)
    for engine in section.engines:
        cells = (_cell(engine, column.metric, is_narrow=console.width < NARROW) for column in fitting)
        table.add_row(NO_VALUE if engine.place is None else str(engine.place), printable(engine.engine), *cells)
    console.print(table)
    names = [HEADINGS[name] for name in HEADINGS if name in by_name and by_name[name] not in fitting]
    if names:
        where = "are" if len(names) > 1 else "is"
        console.print(Text(f"{', '.join(names)} {where} in the report, and in --format markdown.", style="dim"))
    if any(engine.is_warned for engine in section.engines):
        console.print(Text("! more than a fifth of the pages hallucinate", style="yellow"))
    return fitting


def _fitting(columns: Sequence[RankingColumn], section: RankingSection, width: int) -> list[RankingColumn]:
    """As many columns as leave the names of the engines room, never fewer than one."""
    names = max(len(printable(engine.engine)) for engine in section.engines)
    room = width - min(names, _ENGINE_WIDTH if width >= NARROW else 18) - 2 * _BETWEEN - 2
    fitting: list[RankingColumn] = []
    for column in columns:
        cells = [_cell(engine, column.metric, is_narrow=width < NARROW) for engine in section.engines]
        lines = [line for cell in cells for line in cell.splitlines()]
        room -= max(len(HEADINGS[column.metric]) + 2 if width >= NARROW else 6, *map(len, lines)) + _BETWEEN
        if fitting and room < 0:
            break
        fitting.append(column)
    return fitting


def _cell(engine: EngineRow, name: str, *, is_narrow: bool) -> str:
    metric = engine.metrics.get(name)
    if metric is None or metric.value is None:
        return NO_VALUE
    parts = [format_number(metric.value), *([_interval(metric)] if metric.interval else [])]
    if name == HALLUCINATING:
        parts.append(format_counts(metric) + (" !" if engine.is_warned else ""))
    return ("\n" if is_narrow else "  ").join(parts)


def _interval(metric: MetricSummary) -> str:
    low, high = metric.interval or (0.0, 0.0)
    return f"({format_number(low)}–{format_number(high)})"


def _print_worst(console: Console, rows: Sequence[PageRow], *, has_one_engine: bool, is_witnessed: bool) -> None:
    if not rows:
        return
    is_narrow = console.width < NARROW
    table = plain_table("Worst pages, by words invented or left out (empty outputs aside)")
    table.add_column("page", overflow="fold", min_width=8)
    if not has_one_engine:
        table.add_column("engine", overflow="fold", min_width=8)
    table.add_column("why", overflow="fold", min_width=12)
    for name in ("CER",) if is_narrow else ("CER", "anchor", "ratio"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("invented", justify="right", no_wrap=True)
    for row in rows:
        engine = [] if has_one_engine else [printable(row.engine)]
        numbers = [row.cer] if is_narrow else [row.cer, row.anchor_score, row.length_ratio]
        invented = NO_VALUE if row.invented_rate is None else f"{row.invented_rate * 100:.0f} %"
        shown = (NO_VALUE if number is None else format_number(number) for number in numbers)
        table.add_row(printable(row.page), *engine, reason_words(row, has_witness=is_witnessed), *shown, invented)
    console.print(table)
