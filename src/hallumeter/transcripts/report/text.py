"""A transcripts run in the form that a user asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import zip_longest

import msgspec
from msgspec import structs

from hallumeter.formats.delimited import CSV_FORMS, csv_text
from hallumeter.records.measurement import MetricSummary, Summary
from hallumeter.records.page import PageRow, WorstLine
from hallumeter.records.ranking import Ranking
from hallumeter.report import table
from hallumeter.report.sections import EngineRow, RankingColumn, RankingSection
from hallumeter.report.wording import DIRECTION_WORDS, NO_VALUE, format_count, format_counts, format_number
from hallumeter.text.normalize import printable
from hallumeter.transcripts.records import REMARK_KINDS

from .pages import count_pages
from .ranking import (
    ERROR_WORDS,
    HALLUCINATING,
    LEVEL,
    WITNESS_WORDS,
    census_words,
    difference_words,
    engine_groups,
    group_words,
    has_witness,
    ranking_section,
    reason_words,
    telling_groups,
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
MANY_ENGINES = 12
"""With more, an engine has one line of a terminal."""
MISREAD_SHOWN = REMARKS_SHOWN = 5
CLASSES_SHOWN = 4
LINES_SHOWN = 5
_LINE_SHOWN = 80
"""Characters of a line."""
_NARROW_HEADING = 14
"""Columns within which a table breaks the words of a heading."""
_NAME_WIDTH = 20
"""Columns for the name of a page or an engine beside a line."""
_BETWEEN = 3
"""Columns of the terminal that a table leaves between two of its own."""


def pages_table(
    summary: Summary,
    pages: Collection[PageRow],
    *,
    lines: Iterable[WorstLine] = (),
    is_verbose: bool = False,
    width: int | None = None,
    has_color: bool = False,
) -> str:
    """Everything a person needs at first: engines in order, which differ, the worst pages; signatures if asked."""
    parts = _parts(summary, pages, width or table.terminal_width()["width"], lines=lines, is_verbose=is_verbose)
    return table.terminal(parts, width=width, has_color=has_color)


def _parts(
    summary: Summary, rows: Collection[PageRow], width: int, *, lines: Iterable[WorstLine], is_verbose: bool
) -> Iterator[table.Table | table.Line]:
    counted = count_pages(rows, kept=0)
    section = ranking_section(summary, counted, {})
    is_witnessed = has_witness(metric.signature for metric in summary.metrics)
    census = census_words(counted.census, summary.counts.failures, has_witness=is_witnessed)
    yield table.Line(" · ".join(census), "bold")
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
        yield from (table.Line(f"  {told}", hang=4) for told in _groups_told(summary.ranking))
    yield from _tables_of_engines(section)
    worst = _worst_pages(summary, rows)
    if worst:
        has_engine = counted.census.engines != 1
        yield _worst_table(worst, has_engine=has_engine, is_witnessed=is_witnessed, is_narrow=width < NARROW)
    shown_lines = worst_of_engines(lines)
    if shown_lines:
        yield _line_table(shown_lines, has_engine=counted.census.engines != 1, width=width)
    if shown and is_verbose:
        yield from (table.Line(), table.Line("signatures", "dim"))
    for column in shown if is_verbose else ():
        yield table.Line(f"  {column.signature or ''}", "dim")


def _engine_parts(
    section: RankingSection, fitting: list[RankingColumn], width: int
) -> Iterator[table.Table | table.Line]:
    """The table of engines with the columns that there is room for, and which are left out."""
    is_narrow = width < NARROW
    is_brief = len(section.engines) > MANY_ENGINES
    has_places = any(engine.place is not None for engine in section.engines)
    columns = [*(table.right("rank") if has_places else []), *_engine_column(width)]
    for column in fitting:
        heading = f"{column.heading} {DIRECTION_WORDS[column.direction][0]}".rstrip()
        columns += table.left(heading, wrap="words" if is_narrow else "never")
    rows: list[list[str | table.Cell]] = [
        [
            *([NO_VALUE if engine.place is None else str(engine.place)] if has_places else []),
            engine.engine,
            *(table.Cell(_cell(engine, column.metric, is_narrow=is_narrow, is_brief=is_brief)) for column in fitting),
        ]
        for engine in section.engines
    ]
    yield table.Table(columns, rows, "Engines, best first" if has_places else "Engines, as given")
    shown = {column.metric for column in fitting}
    names = [column.heading for column in section.columns if column.metric not in shown]
    names += ["intervals"] * is_brief
    if names:
        where = "is" if len(names) == 1 and not is_brief else "are"
        yield table.Line(f"{', '.join(names)} {where} in the report, and in --format markdown.", "dim")
    if any(engine.is_warned for engine in section.engines):
        yield table.Line("! more than a fifth of the pages hallucinate", "yellow")


def _fitting(columns: Sequence[RankingColumn], section: RankingSection, width: int) -> list[RankingColumn]:
    """As many columns as leave the names of the engines room, never fewer than one."""
    names = max(len(printable(engine.engine)) for engine in section.engines)
    is_brief = len(section.engines) > MANY_ENGINES
    room = width - max(10, min(names, _engine_room(width))) - 2 * _BETWEEN - 2
    fitting: list[RankingColumn] = []
    for column in columns:
        cells = [
            _cell(engine, column.metric, is_narrow=width < NARROW, is_brief=is_brief) for engine in section.engines
        ]
        lines = [line for cell in cells for line in cell.splitlines()]
        heading = len(column.heading) + 2
        room -= max(heading if width >= NARROW else min(heading, _NARROW_HEADING), *map(len, lines)) + _BETWEEN
        if fitting and room < 0:
            break
        fitting.append(column)
    return fitting


def _cell(engine: EngineRow, name: str, *, is_narrow: bool, is_brief: bool) -> str:
    """A value with its interval; where there are many engines, one line each, without."""
    metric = engine.metrics.get(name)
    if metric is None or metric.value is None:
        return NO_VALUE
    parts = [format_number(metric.value), *([_interval(metric)] if metric.interval and not is_brief else [])]
    if name == HALLUCINATING:
        parts.append(format_counts(metric) + (" !" if engine.is_warned else ""))
    return ("\n" if is_narrow and not is_brief else "  ").join(parts)


def _engine_room(width: int) -> int:
    return _ENGINE_WIDTH if width >= NARROW else max(10, width // 3)


def _engine_column(width: int) -> list[table.Column]:
    return table.left("engine", wrap="anywhere", min_width=10, max_width=_engine_room(width))


def _groups_told(ranking: Ranking) -> Iterator[str]:
    """Which engines cannot be told apart, where that is known of more than two."""
    groups = engine_groups(ranking)
    is_tested = ranking.p_value is not None and ranking.p_value < LEVEL and len(ranking.engines) > 2
    if not is_tested or not groups:
        return
    told = telling_groups(ranking)
    for group in told:
        yield f"not told apart: {group_words(group)}"
    if len(told) < len(groups):
        yield f"{format_count(len(groups) - len(told))} more groups lie across these; the report lists them all"


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
        pages = sum(metric.count or 0 for metric in found if metric is not None)
        if pages:
            cells = [NO_VALUE if metric is None else format_counts(metric) for metric in found]
            rows.append((pages, [engine.engine, *cells]))
    rows.sort(key=lambda pair: -pair[0])
    columns = [
        *table.left("engine", wrap="anywhere", min_width=10, max_width=_ENGINE_WIDTH - 8),
        *table.right(*REMARK_KINDS),
    ]
    is_counted = any("|notes:counted|" in (column.signature or "") for column in section.columns)
    title = f"Pages with words about the page, which {'count as' if is_counted else 'are not'} invented text"
    title += f" ({REMARKS_SHOWN} of {format_count(len(rows))} engines)" if len(rows) > REMARKS_SHOWN else ""
    return table.Table(columns, [cells for _, cells in rows[:REMARKS_SHOWN]], title) if rows else None


def _errors_table(section: RankingSection) -> table.Table | None:
    """How many words each engine misread, and what differs most often; None when none is misread."""
    counted = [(sum(engine.errors.values()), engine) for engine in section.engines if any(engine.errors.values())]
    if not counted:
        return None
    counted.sort(key=lambda pair: -pair[0])
    rows = []
    for words, engine in counted[:MISREAD_SHOWN]:
        often = sorted((name for name in engine.errors if engine.errors[name]), key=lambda name: -engine.errors[name])
        told = ", ".join(f"{ERROR_WORDS[name]} {format_count(engine.errors[name])}" for name in often[:CLASSES_SHOWN])
        rows.append([engine.engine, format_count(words), told])
    columns = [
        *table.left("engine", wrap="anywhere", min_width=10, max_width=_ENGINE_WIDTH),
        *table.right("words"),
        *table.left("what differs most", wrap="words"),
    ]
    most = f" ({MISREAD_SHOWN} of {format_count(len(counted))} engines)" if len(counted) > MISREAD_SHOWN else ""
    return table.Table(columns, rows, f"Misread words, most first{most}; examples are in misread.csv of a run")


def _worst_pages(summary: Summary, rows: Collection[PageRow]) -> list[PageRow]:
    """The worst pages to show; without an alignment nothing is known to be invented or left out."""
    is_aligned = any(metric.metric == "invented_rate" for metric in summary.metrics)
    return worst_pages(rows, WORST_SHOWN) if is_aligned else []


def _worst_table(rows: Sequence[PageRow], *, has_engine: bool, is_witnessed: bool, is_narrow: bool) -> table.Table:
    narrow = {"wrap": "anywhere", "min_width": 10, "max_width": 20 if is_narrow else 40}
    columns = table.left("page", *(["engine"] if has_engine else []), **narrow)
    columns += table.left("why", wrap="words")
    added = "unconfirmed" if is_witnessed else "invented"
    columns += table.right("CER", *(() if is_narrow else ("anchor", "ratio")), added)
    cells = []
    for row in rows:
        page, engine, why, cer, anchor, ratio, invented = _worst_cells(row, is_witnessed=is_witnessed)
        numbers = [cer] if is_narrow else [cer, anchor, ratio]
        cells.append([page, *([engine] if has_engine else []), why, *numbers, invented])
    title = "Pages that differ most" if is_witnessed else "Worst pages"
    return table.Table(columns, cells, f"{title}, by words {added} or left out (empty outputs aside)")


def _worst_cells(row: PageRow, *, is_witnessed: bool) -> list[str]:
    numbers = [NO_VALUE if n is None else format_number(n) for n in (row.cer, row.anchor_score, row.length_ratio)]
    invented = NO_VALUE if row.invented_rate is None else f"{row.invented_rate * 100:.0f} %"
    return [row.page, row.engine, reason_words(row, has_witness=is_witnessed), *numbers, invented]


def worst_of_engines(lines: Iterable[WorstLine], most: int = LINES_SHOWN) -> list[WorstLine]:
    """A few of the worst lines: the worst of each engine, then the second of each, as far as there is room."""
    by_engine: dict[str, list[WorstLine]] = {}
    for line in lines:
        by_engine.setdefault(line.engine, []).append(line)
    turns = zip_longest(*by_engine.values())
    chosen = [line for turn in turns for line in sorted(filter(None, turn), key=lambda line: -line.cer)][:most]
    return sorted(chosen, key=lambda line: -line.cer)


def _line_table(lines: Sequence[WorstLine], *, has_engine: bool, width: int) -> table.Table:
    """Each line of the page over what was read for it; a word too long for its column is broken."""
    names = [[line.page for line in lines], *([[line.engine for line in lines]] if has_engine else [])]
    room = width - len("0.000") - _BETWEEN
    room -= sum(min(_NAME_WIDTH, max(10, *map(len, own))) + _BETWEEN for own in names)
    columns = table.left(
        "page", *(["engine"] if has_engine else []), wrap="anywhere", min_width=10, max_width=_NAME_WIDTH
    )
    columns += table.right("CER")
    columns += table.left("on the page, and as it was read", wrap="words", max_width=max(room, _NAME_WIDTH))
    rows: list[list[str | table.Cell]] = [
        [
            line.page,
            *([line.engine] if has_engine else []),
            format_number(line.cer),
            table.Cell(f"{_cut(line.reference)}\n{_cut(line.response)}"),
        ]
        for line in lines
    ]
    return table.Table(columns, rows, "Worst lines; more are in lines.csv of a run, and in its report")


def _cut(text: str) -> str:
    return text if len(text) <= _LINE_SHOWN else f"{text[: _LINE_SHOWN - 1]}…"


# Engines and pages as Markdown, for a pull request or a notebook.


def pages_markdown(summary: Summary, pages: Collection[PageRow], worst_lines: Iterable[WorstLine] = ()) -> str:
    """The table of engines, which of them differ, the worst pages, the notices and the signatures."""
    counted = count_pages(pages, kept=0)
    section = ranking_section(summary, counted, {})
    shown = worst_of_engines(worst_lines)
    is_witnessed = has_witness(metric.signature for metric in summary.metrics)
    census = census_words(counted.census, summary.counts.failures, has_witness=is_witnessed)
    lines = [f"**{', '.join(census)}**", ""]
    if is_witnessed:
        lines += [WITNESS_WORDS, "", *(f"- {table.escaped(told)}" for told in witness_words(summary)), ""]
    if section:
        lines += _engine_lines(section)
    if summary.ranking:
        lines += [table.escaped(difference_words(summary.ranking)), ""]
        lines += [*(f"- {table.escaped(told)}" for told in _groups_told(summary.ranking)), ""]
    for each in _tables_of_engines(section):
        lines += [*table.markdown(each), ""]
    lines += _worst_lines(_worst_pages(summary, pages), is_witnessed=is_witnessed)
    if shown:
        columns = table.left("worst lines", "engine", "CER", "on the page", "as it was read")
        rows = [
            [line.page, line.engine, format_number(line.cer), _cut(line.reference), _cut(line.response)]
            for line in shown
        ]
        lines += [*table.markdown(table.Table(columns, rows)), ""]
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
    title, added = ("pages that differ most", "unconfirmed") if is_witnessed else ("worst pages", "invented")
    columns = table.left(f"{title} (empty outputs aside)", "engine", "why", "CER", "anchor", "ratio", added)
    return [*table.markdown(table.Table(columns, [_worst_cells(row, is_witnessed=is_witnessed) for row in rows])), ""]


_FIELDS = PageRow.__struct_fields__


def transcripts_text(
    summary: Summary,
    pages: Collection[PageRow],
    form: str,
    *,
    lines: Iterable[WorstLine] = (),
    is_verbose: bool = False,
) -> str:
    """Engines and pages as a ``table`` for the terminal, ``json``, ``markdown``, ``csv`` or ``raw-csv``.

    JSON is the summary with a list of pages added; CSV is the table of pages alone.
    """
    if form == "json":
        whole = {**msgspec.to_builtins(summary), "pages": [msgspec.to_builtins(row) for row in pages]}
        return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n"
    if form == "markdown":
        return pages_markdown(summary, pages, lines)
    if form in CSV_FORMS:
        # One row per page and engine; numbers unrounded, empty where not known, names safe to print.
        rows = [_FIELDS, *map(structs.astuple, pages)]
        return csv_text(rows, is_printable=True, is_raw=form == "raw-csv")
    return pages_table(summary, pages, lines=lines, is_verbose=is_verbose, **table.terminal_width())
