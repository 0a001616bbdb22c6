"""Engines and pages as Markdown, for a pull request or a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.report.markdown import code, escaped
from hallumeter.report.wording import DIRECTION_WORDS, NO_VALUE, format_counts, format_number

from .pages import count_pages
from .ranking import HALLUCINATING, difference_words, ranking_section
from .terminal import WORST_SHOWN
from .wording import WITNESS_WORDS, census_words, has_witness
from .worst import reason_words, worst_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hallumeter.records import PageRow, Summary

    from .sections import EngineRow, RankingSection


def pages_markdown(summary: Summary, pages: Iterable[PageRow]) -> str:
    """The table of engines, which of them differ, the worst pages, the notices and the signatures."""
    rows = list(pages)
    counted = count_pages(rows)
    section = ranking_section(summary, counted, {})
    lines = [f"**{', '.join(census_words(counted.census, summary.counts.failures))}**", ""]
    is_witnessed = has_witness(metric.signature for metric in summary.metrics)
    if is_witnessed:
        lines += [WITNESS_WORDS, ""]
    if section:
        lines += _engine_lines(section)
    if summary.ranking:
        lines += [escaped(difference_words(summary.ranking)), ""]
    lines += _worst_lines(worst_pages(rows, WORST_SHOWN), is_witnessed=is_witnessed)
    lines += [f"- note: {escaped(notice)}" for notice in summary.notices]
    if section:
        lines += [f"- {code(column.signature)}" for column in section.columns if column.signature]
    return "\n".join(lines).rstrip() + "\n"


def _engine_lines(section: RankingSection) -> list[str]:
    headings = [f"{column.heading} {DIRECTION_WORDS[column.direction][0]}".rstrip() for column in section.columns]
    head = ["", "engine", "pages", "empty", *headings]
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for engine in section.engines:
        counts = [NO_VALUE if n is None else str(n) for n in (engine.place, engine.pages, engine.empty_outputs)]
        cells = [_cell(engine, column.metric) for column in section.columns]
        lines.append(f"| {' | '.join([counts[0], escaped(engine.engine), *counts[1:], *cells])} |")
    return [*lines, ""]


def _cell(engine: EngineRow, name: str) -> str:
    metric = engine.metrics.get(name)
    if metric is None or metric.value is None:
        return NO_VALUE
    shown = format_number(metric.value)
    if metric.interval:
        shown += f" ({format_number(metric.interval[0])}–{format_number(metric.interval[1])})"
    if name == HALLUCINATING:
        shown += f", {format_counts(metric)}" + (" ⚠" if engine.is_warned else "")
    return escaped(shown)


def _worst_lines(rows: Sequence[PageRow], *, is_witnessed: bool) -> list[str]:
    if not rows:
        return []
    lines = [
        "| worst pages (empty outputs aside) | engine | why | CER | anchor | ratio | invented |",
        f"|{' --- |' * 7}",
    ]
    for row in rows:
        numbers = [NO_VALUE if n is None else format_number(n) for n in (row.cer, row.anchor_score, row.length_ratio)]
        invented = NO_VALUE if row.invented_rate is None else f"{row.invented_rate * 100:.0f} %"
        why = reason_words(row, has_witness=is_witnessed)
        cells = [escaped(row.page), escaped(row.engine), why, *map(escaped, numbers), invented]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]
