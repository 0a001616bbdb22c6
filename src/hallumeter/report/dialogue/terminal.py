"""Dialogues as tables for a terminal, readable in a pipe as well."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.text import Text

from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.report.terminal import plain_console, plain_table
from hallumeter.report.undefined import undefined_groups
from hallumeter.report.wording import DIRECTION_WORDS, NO_VALUE, format_counts, format_number, format_pair, plural
from hallumeter.text.printable import printable

from .wording import SINGLE, difference_cells, fairness_words, metric_alias, pairs_of_modes, result_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from hallumeter.records import MetricSummary, Summary

MOST_DIFFERENCES = 5
NARROW = 100
"""Below this many columns a table of modes leaves out the intervals."""
_DIFFERENCES = ("difference", "interval", "d", "p", "p (Holm)", "pairs", "patients")


def dialogue_table(summary: Summary, *, width: int | None = None, has_color: bool = False) -> str:
    """Everything a person needs at first: all answers, modes, turns, differences, what is undefined, signatures."""
    stream = io.StringIO()
    console = plain_console(stream, width=width, has_color=has_color)
    console.print(Text(_head(summary), style="bold"))
    whole = [row for row in summary.metrics if not row.by]
    _print_whole(console, whole)
    _print_modes(console, [row for row in summary.metrics if tuple(row.by) == ("mode",)])
    _print_turns(console, [row for row in summary.metrics if tuple(row.by) == ("mode", "turn_id")])
    _print_groups(console, summary.metrics)
    _print_differences(console, summary)
    for group in undefined_groups((metric_alias(row.metric), row) for row in whole):
        console.print(Text(printable(f"undefined: {', '.join(group.names)}: {group.reason}"), style="dim"))
    console.print(Text("\nsignatures", style="dim"))
    for row in whole:
        if row.metric in SINGLE:
            console.print(Text(f"  {printable(row.signature)}", style="dim"), soft_wrap=True)
    return stream.getvalue()


def _head(summary: Summary) -> str:
    counts = summary.counts
    parts = [plural(counts.records, "answer"), plural(counts.models, "mode")]
    return " · ".join([*parts, plural(counts.failures, "failure")])


def _print_whole(console: Console, rows: Sequence[MetricSummary]) -> None:
    table = plain_table("All answers")
    table.add_column("metric", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("interval", no_wrap=True)
    table.add_column("counts", justify="right", no_wrap=True)
    table.add_column("failed", justify="right")
    for row in rows:
        if row.value is not None:
            failed = f"{row.failed:,}" if row.failed else ""
            cells = (format_number(row.value), format_pair(row.interval), format_counts(row), failed)
            table.add_row(_name(row.metric), *cells)
    if table.row_count:
        console.print(table)


def _print_modes(console: Console, rows: Sequence[MetricSummary]) -> None:
    """One row for each metric, one column for each mode; nothing for a single mode."""
    modes = list(dict.fromkeys(row.by["mode"] for row in rows))
    if len(modes) < 2:
        return
    cells = {(row.metric, row.by["mode"]): row for row in rows}
    table = plain_table("By mode")
    table.add_column("metric", no_wrap=True)
    for mode in modes:
        table.add_column(printable(mode), no_wrap=True)
    for metric in SINGLE:
        found = [cells.get((metric, mode)) for mode in modes]
        if any(row is not None and row.value is not None for row in found):
            table.add_row(_name(metric), *(_value(row, has_interval=console.width >= NARROW) for row in found))
    console.print(table)


def _print_turns(console: Console, rows: Sequence[MetricSummary]) -> None:
    """One row for each mode and turn, one column for each metric."""
    metrics = [name for name in SINGLE if any(row.metric == name and row.value is not None for row in rows)]
    cells = {(row.by["mode"], row.by["turn_id"], row.metric): row for row in rows}
    groups = list(dict.fromkeys((mode, turn) for mode, turn, _ in cells))
    if len({turn for _, turn in groups}) < 2 or not metrics:
        return
    table = plain_table("By mode and turn")
    table.add_column("mode", overflow="ellipsis", max_width=24)
    table.add_column("turn", justify="right")
    for metric in metrics:
        table.add_column(_name(metric), justify="right", no_wrap=True)
    for mode, turn in groups:
        values = (_value(cells.get((mode, turn, metric)), has_interval=False) for metric in metrics)
        table.add_row(printable(mode), turn, *values)
    console.print(table)


def _print_groups(console: Console, rows: Sequence[MetricSummary]) -> None:
    """The groups that were asked for beside modes and turns."""
    known = ((), ("mode",), ("turn_id",), ("mode", "turn_id"))
    asked = [row for row in rows if tuple(row.by) not in known]
    metrics = [name for name in SINGLE if any(row.metric == name and row.value is not None for row in asked)]
    if not metrics:
        return
    fields = tuple(asked[0].by)
    table = plain_table(f"By {' and '.join(map(printable, fields))}")
    for field in fields:
        table.add_column(printable(field), overflow="ellipsis", max_width=40)
    for metric in metrics:
        table.add_column(_name(metric), no_wrap=True)
    cells = {(tuple(row.by.values()), row.metric): row for row in asked}
    for group in dict.fromkeys(key for key, _ in cells):
        values = (_value(cells.get((group, metric)), has_interval=len(metrics) < 5) for metric in metrics)
        table.add_row(*map(printable, group), *values)
    console.print(table)


def _print_differences(console: Console, summary: Summary) -> None:
    found = summary.dialogue
    if found is None or not found.differences:
        return
    for (first, second), rows in pairs_of_modes(found.differences):
        table = plain_table(f"{printable(second)} minus {printable(first)}, on the same patients and turns")
        table.add_column("metric", no_wrap=True)
        for name in (printable(first), printable(second), *_DIFFERENCES):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("result")
        for row in rows:
            table.add_row(_name(row.metric), *difference_cells(row), printable(result_words(row)))
        console.print(table)
    if found.fairness is not None:
        console.print(Text(printable(fairness_words(found.fairness)), style="" if found.fairness.is_fair else "yellow"))
        for line in found.fairness.differences[:MOST_DIFFERENCES]:
            console.print(Text(f"  {printable(line)}", style="yellow"))
        if found.fairness.differences_total > MOST_DIFFERENCES:
            more = found.fairness.differences_total - MOST_DIFFERENCES
            console.print(Text(f"  ... and {more:,} more"))


def _name(metric: str) -> str:
    known = METRICS_BY_ID.get(metric)
    return f"{known.alias} {DIRECTION_WORDS[known.direction][0]}".rstrip() if known else metric


def _value(row: MetricSummary | None, *, has_interval: bool) -> str:
    if row is None or row.value is None:
        return NO_VALUE
    interval = f"  {format_pair(row.interval)}" if has_interval and row.interval else ""
    return f"{format_number(row.value)}{interval}"
