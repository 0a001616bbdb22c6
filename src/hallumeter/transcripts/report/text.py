"""A transcripts run in the form that a user asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import msgspec
from msgspec import structs

from hallumeter.formats.delimited import CSV_FORMS, csv_text
from hallumeter.records.measurement import MetricSummary, Summary
from hallumeter.records.page import PageRow
from hallumeter.report import table
from hallumeter.report.sections import EngineRow, RankingColumn, RankingSection
from hallumeter.report.wording import DIRECTION_WORDS, NO_VALUE, format_count, format_counts, format_number
from hallumeter.text.normalize import printable
from hallumeter.transcripts.remarks import REMARK_KINDS

from .pages import count_pages
from .ranking import (
    HALLUCINATING,
    HEADINGS,
    WITNESS_WORDS,
    census_words,
    difference_words,
    error_classes_of,
    has_witness,
    ranking_section,
    reason_words,
    witness_words,
    worst_pages,
)

# Engines and pages as tables for a terminal, wide or narrow, readable in a pipe as well.

BY_WEIGHT = ("cer", HALLUCINATING, "invented_rate", "omission_rate", "anchor_mean", "wer", "true_insertion_rate")
"""Which columns a narrow terminal keeps: the first that fit."""
WORST_SHOWN = 10
NARROW = 100
"""Below this many columns an interval stands under its value."""
_ENGINE_WIDTH = 34
_BETWEEN = 3
"""Columns of the terminal that a table leaves between two of its own."""


def pages_table(
    summary: Summary,
    pages: Collection[PageRow],
    *,
    is_verbose: bool = False,
    width: int | None = None,
    has_color: bool = False,
) -> str:
    """Everything a person needs at first: engines in order, which differ, the worst pages; signatures if asked."""
    parts = _parts(summary, pages, width or table.terminal_width()["width"], is_verbose=is_verbose)
    return table.terminal(parts, width=width, has_color=has_color)


def _parts(
    summary: Summary, rows: Collection[PageRow], width: int, *, is_verbose: bool
) -> Iterator[table.Table | table.Line]:
    counted = count_pages(rows)
    section = ranking_section(summary, counted, {})
    yield table.Line(" · ".join(census_words(counted.census, summary.counts.failures)), "bold")
    is_witnessed = has_witness(metric.signature for metric in summary.metrics)
    if is_witnessed:
        yield table.Line(WITNESS_WORDS, "yellow")
        yield from (table.Line(told) for told in witness_words(summary))
    by_name = {column.metric: column for column in section.columns} if section else {}
    shown: list[RankingColumn] = []
    if section:
        shown = _fitting([by_name[name] for name in BY_WEIGHT if name in by_name], section, width)
        yield from _engine_parts(section, shown, width)
    if summary.ranking:
        yield table.Line(difference_words(summary.ranking))
    yield from _tables_of_engines(section)
    worst = worst_pages(rows, WORST_SHOWN)
    if worst:
        has_engine = counted.census.engines != 1
        yield _worst_table(worst, has_engine=has_engine, is_witnessed=is_witnessed, is_narrow=width < NARROW)
    if shown and is_verbose:
        yield from (table.Line(), table.Line("signatures", "dim"))
    for column in shown if is_verbose else ():
        yield table.Line(f"  {column.signature or ''}", "dim")


def _engine_parts(
    section: RankingSection, fitting: list[RankingColumn], width: int
) -> Iterator[table.Table | table.Line]:
    """The table of engines with the columns that there is room for, and which are left out."""
    is_narrow = width < NARROW
    columns = [*table.right("rank"), *table.left("engine", wrap="anywhere", min_width=10)]
    for column in fitting:
        heading = f"{HEADINGS[column.metric]} {DIRECTION_WORDS[column.direction][0]}".rstrip()
        columns += table.left(heading, wrap="words" if is_narrow else "never")
    rows: list[list[str | table.Cell]] = [
        [
            NO_VALUE if engine.place is None else str(engine.place),
            engine.engine,
            *(table.Cell(_cell(engine, column.metric, is_narrow=is_narrow)) for column in fitting),
        ]
        for engine in section.engines
    ]
    title = "Engines, as given" if all(engine.place is None for engine in section.engines) else "Engines, best first"
    yield table.Table(columns, rows, title)
    shown = {column.metric for column in fitting}
    known = {column.metric for column in section.columns}
    names = [heading for name, heading in HEADINGS.items() if name in known and name not in shown]
    if names:
        where = "are" if len(names) > 1 else "is"
        yield table.Line(f"{', '.join(names)} {where} in the report, and in --format markdown.", "dim")
    if any(engine.is_warned for engine in section.engines):
        yield table.Line("! more than a fifth of the pages hallucinate", "yellow")


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


def _tables_of_engines(section: RankingSection | None) -> Iterator[table.Table]:
    """What engines wrote about the pages and what they misread, where there is any of it."""
    if section is not None:
        yield from (each for each in (_remarks_table(section), _errors_table(section)) if each is not None)


def _remarks_table(section: RankingSection) -> table.Table | None:
    """On how many pages each engine wrote about the page; None when none did."""
    names = [f"{kind}_page_rate" for kind in REMARK_KINDS]
    rows = []
    for engine in section.engines:
        found = [engine.metrics.get(name) for name in names]
        if any(metric is not None and metric.count for metric in found):
            rows.append([engine.engine, *(NO_VALUE if metric is None else format_counts(metric) for metric in found)])
    columns = [*table.left("engine", wrap="anywhere", min_width=10), *table.right(*REMARK_KINDS)]
    return table.Table(columns, rows, "Pages with words about the page, which are not invented text") if rows else None


def _errors_table(section: RankingSection) -> table.Table | None:
    """How many words each engine misread, by what differs: the classes that there are; None when none is misread."""
    shown = error_classes_of(section)
    rows = [
        [engine.engine, *(format_count(engine.errors[name]) if engine.errors else NO_VALUE for name in shown)]
        for engine in section.engines
    ]
    columns = [
        *table.left("engine", wrap="anywhere", min_width=10),
        *table.right(*shown),
    ]
    if not shown:
        return None
    return table.Table(columns, rows, "Misread words, by what differs from the page")


def _worst_table(rows: Sequence[PageRow], *, has_engine: bool, is_witnessed: bool, is_narrow: bool) -> table.Table:
    columns = table.left("page", *(["engine"] if has_engine else []), wrap="words", max_width=40)
    columns += table.left("why", wrap="words")
    columns += table.right("CER", *(() if is_narrow else ("anchor", "ratio")), "invented")
    cells = []
    for row in rows:
        page, engine, why, cer, anchor, ratio, invented = _worst_cells(row, is_witnessed=is_witnessed)
        numbers = [cer] if is_narrow else [cer, anchor, ratio]
        cells.append([page, *([engine] if has_engine else []), why, *numbers, invented])
    return table.Table(columns, cells, "Worst pages, by words invented or left out (empty outputs aside)")


def _worst_cells(row: PageRow, *, is_witnessed: bool) -> list[str]:
    numbers = [NO_VALUE if n is None else format_number(n) for n in (row.cer, row.anchor_score, row.length_ratio)]
    invented = NO_VALUE if row.invented_rate is None else f"{row.invented_rate * 100:.0f} %"
    return [row.page, row.engine, reason_words(row, has_witness=is_witnessed), *numbers, invented]


# Engines and pages as Markdown, for a pull request or a notebook.


def pages_markdown(summary: Summary, pages: Collection[PageRow]) -> str:
    """The table of engines, which of them differ, the worst pages, the notices and the signatures."""
    counted = count_pages(pages)
    section = ranking_section(summary, counted, {})
    lines = [f"**{', '.join(census_words(counted.census, summary.counts.failures))}**", ""]
    is_witnessed = has_witness(metric.signature for metric in summary.metrics)
    if is_witnessed:
        lines += [WITNESS_WORDS, "", *(f"- {table.escaped(told)}" for told in witness_words(summary)), ""]
    if section:
        lines += _engine_lines(section)
    if summary.ranking:
        lines += [table.escaped(difference_words(summary.ranking)), ""]
    for each in _tables_of_engines(section):
        lines += [*table.markdown(each), ""]
    lines += _worst_lines(worst_pages(pages, WORST_SHOWN), is_witnessed=is_witnessed)
    lines += [f"- note: {table.escaped(notice)}" for notice in summary.notices]
    if section:
        lines += [f"- {table.code(column.signature)}" for column in section.columns if column.signature]
    return "\n".join(lines).rstrip() + "\n"


def _engine_lines(section: RankingSection) -> list[str]:
    headings = [f"{column.heading} {DIRECTION_WORDS[column.direction][0]}".rstrip() for column in section.columns]
    rows = []
    for engine in section.engines:
        place, *counts = (NO_VALUE if n is None else str(n) for n in (engine.place, engine.pages, engine.empty_outputs))
        cells = (_markdown_cell(engine, column.metric) for column in section.columns)
        rows.append([place, engine.engine, *counts, *cells])
    return [*table.markdown(table.Table(table.left("", "engine", "pages", "empty", *headings), rows)), ""]


def _markdown_cell(engine: EngineRow, name: str) -> str:
    metric = engine.metrics.get(name)
    if metric is None or metric.value is None:
        return NO_VALUE
    shown = format_number(metric.value)
    if metric.interval:
        shown += f" ({format_number(metric.interval[0])}–{format_number(metric.interval[1])})"
    if name == HALLUCINATING:
        shown += f", {format_counts(metric)}" + (" ⚠" if engine.is_warned else "")
    return shown


def _worst_lines(rows: Sequence[PageRow], *, is_witnessed: bool) -> list[str]:
    if not rows:
        return []
    columns = table.left("worst pages (empty outputs aside)", "engine", "why", "CER", "anchor", "ratio", "invented")
    return [*table.markdown(table.Table(columns, [_worst_cells(row, is_witnessed=is_witnessed) for row in rows])), ""]


_FIELDS = PageRow.__struct_fields__


def transcripts_text(summary: Summary, pages: Collection[PageRow], form: str, *, is_verbose: bool = False) -> str:
    """Engines and pages as a ``table`` for the terminal, ``json``, ``markdown``, ``csv`` or ``raw-csv``.

    JSON is the summary with a list of pages added; CSV is the table of pages alone.
    """
    if form == "json":
        whole = {**msgspec.to_builtins(summary), "pages": [msgspec.to_builtins(row) for row in pages]}
        return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n"
    if form == "markdown":
        return pages_markdown(summary, pages)
    if form in CSV_FORMS:
        # One row per page and engine; numbers unrounded, empty where not known, names safe to print.
        rows = [_FIELDS, *map(structs.astuple, pages)]
        return csv_text(rows, is_printable=True, is_raw=form == "raw-csv")
    return pages_table(summary, pages, is_verbose=is_verbose, **table.terminal_width())
