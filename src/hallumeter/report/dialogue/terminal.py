"""Dialogues as tables for a terminal, readable in a pipe as well."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from rich.text import Text

from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.report.terminal import plain_console, plain_table
from hallumeter.report.undefined import undefined_groups
from hallumeter.report.verdicts.codes import reason_words
from hallumeter.report.wording import (
    DIRECTION_WORDS,
    NO_VALUE,
    format_counts,
    format_number,
    format_pair,
    interval_words,
    plural,
)
from hallumeter.text.printable import one_line, printable

from .building import refuted
from .wording import SINGLE, difference_cells, fairness_words, metric_alias, pairs_of_modes, result_words, too_few_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from hallumeter.records import MetricSummary, Summary
    from hallumeter.records.pairing import Fairness
    from hallumeter.report.document import RecordFindings

MOST_DIFFERENCES = 5
EXAMPLES = 6
"""Findings that are shown in a few words."""
WIDE = 132
"""From so many columns on a table of differences has all of them."""
_CONFIDENCE = re.compile(r"\bconfidence:([0-9.]+)")
_METRIC_WIDTH, _VALUE_WIDTH = 19, 25
"""Columns that the name of a metric takes, and a value with its interval."""
_DIFFERENCES = ("difference", "interval", "d", "p", "p (Holm)", "pairs", "patients")
_HOW = "d: Cohen's d of paired differences. p: signs of whole patients flipped; Holm: corrected for many metrics."
_HOW_NARROW = "Cohen's d, means and counts are in --format markdown, and in a wider terminal."
_NARROW = (2, 3, 6)
"""Which columns of a difference are left in a narrow terminal: itself, its interval, the adjusted p."""


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
    _print_signatures(console, whole)
    return stream.getvalue()


def brief_table(
    summary: Summary, findings: Iterable[RecordFindings], *, width: int | None = None, has_color: bool = False
) -> str:
    """Modes compared, and one finding of each kind in words; the turns and the rest are in the report."""
    stream = io.StringIO()
    console = plain_console(stream, width=width, has_color=has_color)
    console.print(Text(_head(summary), style="bold"))
    _print_modes(console, [row for row in summary.metrics if tuple(row.by) == ("mode",)])
    _print_differences(console, summary)
    _print_examples(console, findings)
    _print_signatures(console, [row for row in summary.metrics if not row.by])
    return stream.getvalue()


def _head(summary: Summary) -> str:
    counts, found = summary.counts, summary.dialogue
    parts = [plural(counts.records, "answer"), plural(counts.models, "mode")]
    parts += [plural(found.fairness.patients, "patient")] if found and found.fairness else []
    return " · ".join([*parts, plural(counts.failures, "failure")])


def _print_signatures(console: Console, rows: Sequence[MetricSummary]) -> None:
    console.print(Text("\nsignatures", style="dim"))
    for row in rows:
        if row.metric in SINGLE:
            console.print(Text(f"  {printable(row.signature)}", style="dim"), soft_wrap=True)


def _print_whole(console: Console, rows: Sequence[MetricSummary]) -> None:
    has_failed = any(row.failed for row in rows)
    table = plain_table("All answers")
    table.add_column("metric", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column(_interval_name(rows), no_wrap=True)
    table.add_column("counts", justify="right", no_wrap=True)
    if has_failed:
        table.add_column("failed", justify="right")
    for row in rows:
        if row.value is not None:
            failed = [f"{row.failed:,}" if row.failed else ""] if has_failed else []
            cells = (format_number(row.value), format_pair(row.interval), format_counts(row), *failed)
            table.add_row(_name(row.metric), *cells)
    if table.row_count:
        console.print(table)


def _print_modes(console: Console, rows: Sequence[MetricSummary]) -> None:
    """One row for each metric, one column for each mode; nothing for a single mode."""
    modes = list(dict.fromkeys(row.by["mode"] for row in rows))
    if len(modes) < 2:
        return
    cells = {(row.metric, row.by["mode"]): row for row in rows}
    table = plain_table(f"By mode, with {_interval_name(rows)}s")
    table.add_column("metric", no_wrap=True)
    for mode in modes:
        table.add_column(printable(mode), no_wrap=True)
    has_interval = _METRIC_WIDTH + _VALUE_WIDTH * len(modes) <= console.width
    for metric in SINGLE:
        found = [cells.get((metric, mode)) for mode in modes]
        if any(row is not None and row.value is not None for row in found):
            table.add_row(_name(metric), *(_value(row, has_interval=has_interval) for row in found))
    console.print(table)


def _print_turns(console: Console, rows: Sequence[MetricSummary]) -> None:
    """One row for each metric and turn, one column for each mode, so that modes stand side by side."""
    metrics = [name for name in SINGLE if any(row.metric == name and row.value is not None for row in rows)]
    modes = list(dict.fromkeys(row.by["mode"] for row in rows))
    turns = list(dict.fromkeys(row.by["turn_id"] for row in rows))
    if len(turns) < 2 or not metrics:
        return
    cells = {(row.metric, row.by["turn_id"], row.by["mode"]): row for row in rows}
    table = plain_table(f"By turn, with {_interval_name(rows)}s")
    table.add_column("metric", no_wrap=True)
    table.add_column("turn", justify="right")
    for mode in modes:
        table.add_column(printable(mode), no_wrap=True)
    has_interval = _METRIC_WIDTH + 6 + _VALUE_WIDTH * len(modes) <= console.width
    for metric in metrics:
        name = _name(metric)
        for turn in turns:
            found = [cells.get((metric, turn, mode)) for mode in modes]
            if any(row is not None and row.value is not None for row in found):
                table.add_row(name, turn, *(_value(row, has_interval=has_interval) for row in found))
                name = ""
        table.add_section()
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
        names = (printable(first), printable(second), *_DIFFERENCES)
        shown = range(len(names)) if console.width >= WIDE else _NARROW
        table = plain_table(f"{printable(second)} minus {printable(first)}, on the same patients and turns")
        table.add_column("metric", no_wrap=True)
        for place in shown:
            table.add_column(names[place], justify="right", no_wrap=True)
        table.add_column("result")
        for row in rows:
            cells = difference_cells(row)
            table.add_row(_name(row.metric), *(cells[place] for place in shown), printable(result_words(row)))
        console.print(table)
    console.print(Text(_HOW if console.width >= WIDE else _HOW_NARROW, style="dim"))
    caution = too_few_words(found.differences)
    if caution:
        console.print(Text(printable(caution), style="yellow"))
    if found.fairness is not None:
        _print_fairness(console, found.fairness)


def _print_fairness(console: Console, fairness: Fairness) -> None:
    console.print(Text(printable(fairness_words(fairness)), style="" if fairness.is_fair else "yellow"))
    for line in fairness.differences[:MOST_DIFFERENCES]:
        console.print(Text(f"  {printable(line)}", style="yellow"))
    if fairness.differences_total > MOST_DIFFERENCES:
        console.print(Text(f"  ... and {fairness.differences_total - MOST_DIFFERENCES:,} more"))


def _print_examples(console: Console, records: Iterable[RecordFindings]) -> None:
    """The first finding of each kind that speaks against an answer; nothing where there is none."""
    table = plain_table("What is wrong, for example")
    table.add_column("mode", overflow="ellipsis", max_width=24)
    table.add_column("turn", justify="right")
    table.add_column("words of the answer", overflow="ellipsis", max_width=30)
    table.add_column("why")
    told: set[str] = set()
    for response, claim, verdict in refuted(records):
        reason = verdict.reason or claim.kind
        if reason in told or len(told) == EXAMPLES:
            continue
        told.add(reason)
        words = NO_VALUE if claim.start is None else (response.response or "")[claim.start : claim.end]
        turn = str(response.fields.get("turn_id", ""))
        why = verdict.note or reason_words(verdict.reason) or reason
        table.add_row(*map(one_line, (response.model or "", turn, words, why)))
    if table.row_count:
        console.print(table)


def _name(metric: str) -> str:
    known = METRICS_BY_ID.get(metric)
    return f"{known.alias} {DIRECTION_WORDS[known.direction][0]}".rstrip() if known else metric


def _interval_name(rows: Sequence[MetricSummary]) -> str:
    """What the intervals are called; their confidence is part of every signature."""
    told = {found[1] for row in rows if row.interval and (found := _CONFIDENCE.search(row.signature))}
    return interval_words(float(told.pop())) if len(told) == 1 else "interval"


def _value(row: MetricSummary | None, *, has_interval: bool) -> str:
    if row is None or row.value is None:
        return NO_VALUE
    interval = f"  {format_pair(row.interval)}" if has_interval and row.interval else ""
    return f"{format_number(row.value)}{interval}"
