"""Scorecards as tables for a terminal, readable in a pipe as well."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from rich.text import Text

from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.report.terminal import plain_console, plain_table
from hallumeter.report.undefined import undefined_groups
from hallumeter.report.wording import (
    DIRECTION_WORDS,
    NO_VALUE,
    format_counts,
    format_number,
    format_pair,
    interval_words,
    plural,
)
from hallumeter.text.printable import printable

from .families import BRIEF, BY_RUN, DROPPED, SECTIONS, STEP_RATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from hallumeter.records import MetricSummary, Summary
    from hallumeter.records.aspects.aspect_summary import AspectSummary, Breakdown

MOST_PARTS = 8
"""Parts of a breakdown that are told; tables and JSON have all."""
_CONFIDENCE = re.compile(r"\bconfidence:([0-9.]+)")


def aspect_table(summary: Summary, *, width: int | None = None, has_color: bool = False) -> str:
    """Everything a person needs at first: drops by class, the other metrics, breakdowns, runs, what is undefined."""
    stream = io.StringIO()
    console = plain_console(stream, width=width, has_color=has_color)
    found = summary.aspects
    assert found is not None
    console.print(Text(_head(summary, found), style="bold"))
    whole = {row.metric: row for row in summary.metrics if not row.by}
    for title, metrics in SECTIONS.items():
        _print_rows(console, title, [whole[metric] for metric in metrics if metric in whole])
    _print_breakdowns(console, [each for each in found.breakdowns if not each.by])
    _print_runs(console, summary, found)
    for warning in found.warnings:
        side = "below" if warning.value < warning.bound else "above"
        told = f"{warning.level}: {warning.metric} is {format_number(warning.value)}, {side} {warning.bound:g}: "
        console.print(Text(f"{told}{warning.advice}", style="red" if warning.level == "HIGH" else "yellow"))
    for group in undefined_groups((_alias(row), row) for row in whole.values()):
        console.print(Text(printable(f"undefined: {', '.join(group.names)}: {group.reason}"), style="dim"))
    _print_signatures(console, [whole[metric] for metric in DROPPED[:4] if metric in whole])
    return stream.getvalue()


def brief_table(summary: Summary, *, width: int | None = None, has_color: bool = False) -> str:
    """A first look: the drops by class, F1 of the stages, and what each step introduced, repaired and broke."""
    stream = io.StringIO()
    console = plain_console(stream, width=width, has_color=has_color)
    assert summary.aspects is not None
    console.print(Text(_head(summary, summary.aspects), style="bold"))
    whole = {row.metric: row for row in summary.metrics if not row.by}
    _print_rows(console, "", [whole[metric] for metric in BRIEF if metric in whole])
    _print_steps(console, summary)
    return stream.getvalue()


def _print_steps(console: Console, summary: Summary) -> None:
    """What the steps did against gold; nothing where no step did anything."""
    cells: dict[str, dict[str, MetricSummary]] = {}
    for row in summary.metrics:
        if row.by.get("error") == "against_gold" and row.metric in STEP_RATES and row.value is not None:
            cells.setdefault(row.by["step"], {})[row.metric] = row
    table = plain_table("Errors against gold, by step")
    table.add_column("step", no_wrap=True)
    for title in STEP_RATES.values():
        table.add_column(title, justify="right", no_wrap=True)
    for step, rates in cells.items():
        if any(row.count for row in rates.values()):
            told = [format_counts(rates[metric]) if metric in rates else NO_VALUE for metric in STEP_RATES]
            table.add_row(printable(step), *told)
    if table.row_count:
        console.print(table)


def _head(summary: Summary, found: AspectSummary) -> str:
    parts = [plural(found.samples, "sentence"), plural(len(found.runs), "run")]
    parts += [f"{found.with_gold:,} with gold", f"{found.failed:,} failed"]
    parts += [f"profile {found.profile}"] if found.profile is not None else []
    unread = summary.counts.failures - found.failed
    return " · ".join([*parts, *([f"{unread:,} unreadable lines"] if unread else [])])


def _print_rows(console: Console, title: str, rows: Sequence[MetricSummary]) -> None:
    """The metrics of a section that have a value; nothing without one."""
    known = [row for row in rows if row.value is not None]
    if not known:
        return
    table = plain_table(title)
    table.add_column("metric", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column(_interval_name(known), no_wrap=True)
    table.add_column("counts", justify="right", no_wrap=True)
    has_bounds = any(row.bounds is not None and row.bounds[0] != row.bounds[1] for row in known)
    if has_bounds:
        table.add_column("best to worst case", no_wrap=True)
    for row in known:
        assert row.value is not None
        is_widened = row.bounds is not None and row.bounds[0] != row.bounds[1]
        more = [format_pair(row.bounds) if is_widened else ""] if has_bounds else []
        name = f"{_alias(row)} {DIRECTION_WORDS[row.direction][0]}".rstrip()
        table.add_row(name, format_number(row.value), format_pair(row.interval), format_counts(row), *more)
    console.print(table)


def _print_breakdowns(console: Console, breakdowns: Sequence[Breakdown]) -> None:
    table = plain_table("Parts")
    table.add_column("of", no_wrap=True)
    table.add_column("total", justify="right", no_wrap=True)
    table.add_column("parts")
    for each in breakdowns:
        told = [f"{part} {number:,}" for part, number in each.parts.items()]
        more = [f"{len(told) - MOST_PARTS} more"] if len(told) > MOST_PARTS else []
        table.add_row(
            each.name.replace("_", " "), f"{each.total:,}", printable(" · ".join([*told[:MOST_PARTS], *more]))
        )
    if table.row_count:
        console.print(table)


def _print_runs(console: Console, summary: Summary, found: AspectSummary) -> None:
    """Every run in a few metrics, with their mean and deviation; nothing for a single run."""
    if len(found.runs) < 2:
        return
    cells = {(tuple(row.by.values()), row.metric): row.value for row in summary.metrics if row.by}
    spread = {each.metric: each for each in found.spread}
    table = plain_table("By run")
    table.add_column("run", overflow="ellipsis", max_width=40)
    shown = [metric for metric in BY_RUN if spread[metric].mean is not None]
    for metric in shown:
        table.add_column(BY_RUN[metric], justify="right")
    for run in found.runs:
        values = [cells.get((tuple(run.values()), metric)) for metric in shown]
        name = " seed ".join(run.values())
        table.add_row(printable(name), *(NO_VALUE if value is None else format_number(value) for value in values))
    for name, field in (("mean", "mean"), ("deviation", "deviation")):
        values = [getattr(spread[metric], field) for metric in shown]
        table.add_row(name, *(NO_VALUE if value is None else format_number(value) for value in values))
    console.print(table)


def _print_signatures(console: Console, rows: Sequence[MetricSummary]) -> None:
    console.print(Text("\nsignatures", style="dim"))
    for row in rows:
        console.print(Text(f"  {printable(row.signature)}", style="dim"), soft_wrap=True)


def _alias(row: MetricSummary) -> str:
    return METRICS_BY_ID[row.metric].alias


def _interval_name(rows: Sequence[MetricSummary]) -> str:
    told = {found[1] for row in rows if row.interval and (found := _CONFIDENCE.search(row.signature))}
    return interval_words(float(told.pop())) if len(told) == 1 else "interval"
