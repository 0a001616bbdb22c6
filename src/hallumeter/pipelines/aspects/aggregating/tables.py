"""The tables of a run: every metric by run, and its mean and deviation over runs."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from hallumeter.report.markdown import escaped
from hallumeter.report.wording import format_count, plural
from hallumeter.text.printable import printable

from .rows import RUN, SEED
from .triptych import safe_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.records import MetricSummary, Summary
    from hallumeter.records.aspects.aspect_summary import AspectSummary, Breakdown

STRUCTURAL_CSV, STRUCTURAL_TABLE = "structural_metrics.csv", "structural_metrics_table.md"
SPREAD_CSV, SPREAD_TABLE = "aggregated_mean_std.csv", "aggregated_mean_std.md"
TRIPTYCH, QUALITY = "triptych_table.tsv", "quality_report.md"
ALL = "all"
UNKNOWN = "N/A"
_CAPITALS = {
    "aspect_hallucination_rate_h1": "aspect_hallucination_rate_H1",
    "aspect_hallucination_rate_h2": "aspect_hallucination_rate_H2",
}
"""Columns that are known by another spelling than their metric."""


def structural_csv(summary: Summary) -> str:
    """One row for each run and one for all; a column for every metric and for every part of a breakdown.

    Numbers are not rounded, and what is undefined is empty. The only texts are the names of runs.
    """
    found = _aspects(summary)
    metrics = list(dict.fromkeys(row.metric for row in summary.metrics))
    parts = list(dict.fromkeys((each.name, part) for each in found.breakdowns for part in each.parts))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    named = [f"{name}_{printable(part).replace(' ', '_')}" for name, part in parts]
    writer.writerow([RUN, SEED, "N", "N_failed", *(column_of(metric) for metric in metrics), *named])
    for by in _groups(found):
        rows = {row.metric: row for row in summary.metrics if row.by == by}
        counts = {
            (each.name, part): number
            for each in found.breakdowns
            if each.by == by
            for part, number in each.parts.items()
        }
        values = [_plain(rows[metric].value) if metric in rows else "" for metric in metrics]
        attempts = rows.get("parse_generate_failure_rate")
        n = "" if attempts is None else _plain(attempts.total)
        failed = "" if attempts is None else _plain(attempts.count)
        name = safe_cell(printable(by.get(RUN, ALL if not by else "")))
        writer.writerow([name, by.get(SEED, ""), n, failed, *values, *(counts.get(part, "") for part in parts)])
    return stream.getvalue()


def structural_table(summary: Summary) -> str:
    """Every metric of all scorecards, with four decimals, its counts and its interval; then the breakdowns."""
    found = _aspects(summary)
    lines = ["# Structural metrics", "", f"N = {found.samples:,}, of which {found.failed:,} failed.", ""]
    lines += ["| metric | value | 95 % interval | counts | failed |", "| --- | ---: | --- | ---: | ---: |"]
    for row in summary.metrics:
        if not row.by:
            cells = (column_of(row.metric), four(row.value), _pair(row.interval), counts_of(row), str(row.failed))
            lines.append(f"| {' | '.join(map(escaped, cells))} |")
    lines += ["", *breakdown_lines([each for each in found.breakdowns if not each.by])]
    return "\n".join(lines).rstrip() + "\n"


def breakdown_lines(breakdowns: Sequence[Breakdown]) -> list[str]:
    """A small table for each breakdown."""
    lines = []
    for each in breakdowns:
        lines += [f"### {each.name.replace('_', ' ')}", ""]
        if not each.parts:
            lines += [f"None of {each.total:,}.", ""]
            continue
        lines += [f"Of {each.total:,}.", ""]
        lines += ["| part | count | share | 95 % interval |", "| --- | ---: | ---: | --- |"]
        intervals = each.intervals or {}
        for part, number in each.parts.items():
            share = four(number / each.total) if each.total else UNKNOWN
            lines.append(f"| {escaped(part)} | {number:,} | {share} | {_pair(intervals.get(part))} |")
        lines.append("")
    return lines


def spread_csv(summary: Summary) -> str:
    """Mean and deviation of every metric over the runs, one row each."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["metric", "mean", "std", "runs"])
    for each in _aspects(summary).spread:
        writer.writerow([column_of(each.metric), _plain(each.mean), _plain(each.deviation), each.runs])
    return stream.getvalue()


def spread_table(summary: Summary) -> str:
    """The same for people."""
    found = _aspects(summary)
    lines = [
        "# Mean and deviation over runs",
        "",
        f"{plural(len(found.runs), 'run')}; the deviation is that of the population.",
    ]
    lines += ["", "| metric | mean | std | runs |", "| --- | ---: | ---: | ---: |"]
    for each in found.spread:
        cells = (column_of(each.metric), four(each.mean), four(each.deviation), f"{each.runs}")
        lines.append(f"| {' | '.join(map(escaped, cells))} |")
    if not found.spread:
        lines.append("\nThere is one run: nothing is spread.")
    return "\n".join(lines) + "\n"


def column_of(metric: str) -> str:
    """What a metric is called in tables.

    >>> column_of("aspect_hallucination_rate_h1"), column_of("net_gain")
    ('aspect_hallucination_rate_H1', 'net_gain')
    """
    return _CAPITALS.get(metric, metric)


def four(value: float | None) -> str:
    """A number with four decimals.

    >>> four(0.4), four(None)
    ('0.4000', 'N/A')
    """
    return UNKNOWN if value is None else f"{value:.4f}"


def counts_of(row: MetricSummary) -> str:
    """What was counted, of how much."""
    if row.count is None or row.total is None:
        return UNKNOWN
    return f"{format_count(row.count)} / {format_count(row.total)}"


def _aspects(summary: Summary) -> AspectSummary:
    assert summary.aspects is not None
    return summary.aspects


def _groups(found: AspectSummary) -> list[dict[str, str]]:
    """Each run when there are several, and all."""
    return [*(found.runs if len(found.runs) > 1 else ()), {}]


def _pair(interval: tuple[float, float] | None) -> str:
    return UNKNOWN if interval is None else f"{four(interval[0])} – {four(interval[1])}"


def _plain(value: float | None) -> str:
    return "" if value is None else repr(value).removesuffix(".0")
