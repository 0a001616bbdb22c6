"""Aggregated scorecards in the form that a user asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hallumeter.aspects.catalog import METRICS_BY_ID
from hallumeter.records.measurement import MetricSummary, Summary
from hallumeter.records.summaries import AspectSummary, Breakdown
from hallumeter.report.reasons import undefined_groups
from hallumeter.report.summary_text import summary_text
from hallumeter.report.table import Line, Table, left, right, terminal, terminal_width
from hallumeter.report.terminal import signature_lines
from hallumeter.report.wording import (
    DIRECTION_WORDS,
    NO_VALUE,
    format_counts,
    format_number,
    format_pair,
    interval_words,
    plural,
)

from .families import BRIEF, BY_RUN, DROPPED, SECTIONS, STEP_RATES

# Scorecards as tables for a terminal, readable in a pipe as well.

MOST_PARTS = 8
"""Parts of a breakdown that are told; tables and JSON have all."""
_CONFIDENCE = re.compile(r"\bconfidence:([0-9.]+)")


def aspect_table(
    summary: Summary, *, is_verbose: bool = False, width: int | None = None, has_color: bool = False
) -> str:
    """Everything a person needs at first: drops by class, the other metrics, breakdowns, runs, what is undefined."""
    parts = [*_parts(summary)]
    if is_verbose:
        whole = {row.metric: row for row in summary.metrics if not row.by}
        parts += signature_lines(whole[metric] for metric in DROPPED[:4] if metric in whole)
    return terminal(parts, width=width, has_color=has_color)


def _parts(summary: Summary) -> Iterator[Table | Line]:
    found = summary.aspects
    assert found is not None
    yield Line(_head(summary, found), "bold")
    yield from _drops(found)
    whole = {row.metric: row for row in summary.metrics if not row.by}
    for title, metrics in SECTIONS.items():
        yield from _metric_tables(title, [whole[metric] for metric in metrics if metric in whole])
    yield from _breakdown_tables([each for each in found.breakdowns if not each.by])
    yield from _run_tables(summary, found)
    for warning in found.warnings:
        side = "below" if warning.value < warning.bound else "above"
        text = f"{warning.level}: {warning.metric} is {format_number(warning.value)}, {side} {warning.bound:g}: "
        yield Line(f"{text}{warning.advice}", "red" if warning.level == "HIGH" else "yellow")
    for group in undefined_groups((_alias(row), row) for row in whole.values()):
        yield Line(f"undefined: {', '.join(group.names)}: {group.reason}", "dim")


def brief_table(summary: Summary, *, width: int | None = None, has_color: bool = False) -> str:
    """A first look: the drops by class, F1 of the stages, and what each step introduced, repaired and broke."""
    assert summary.aspects is not None
    whole = {row.metric: row for row in summary.metrics if not row.by}
    parts: list[Table | Line] = [Line(_head(summary, summary.aspects), "bold"), *_drops(summary.aspects)]
    parts += _metric_tables("", [whole[metric] for metric in BRIEF if metric in whole])
    return terminal([*parts, *_step_tables(summary)], width=width, has_color=has_color)


def _step_tables(summary: Summary) -> Iterator[Table]:
    """What the steps did against gold; nothing where no step did anything."""
    cells: dict[str, dict[str, MetricSummary]] = {}
    for row in summary.metrics:
        if row.by.get("error") == "against_gold" and row.metric in STEP_RATES and row.value is not None:
            cells.setdefault(row.by["step"], {})[row.metric] = row
    rows = [
        [step, *(format_counts(rates[metric]) if metric in rates else NO_VALUE for metric in STEP_RATES)]
        for step, rates in cells.items()
        if any(row.count for row in rates.values())
    ]
    if rows:
        yield Table([*left("step"), *right(*STEP_RATES.values())], rows, "Errors against gold, by step")


def _head(summary: Summary, found: AspectSummary) -> str:
    parts = [plural(found.samples, "sentence"), plural(len(found.runs), "run")]
    parts += [f"{found.with_gold:,} with gold", f"{found.failed:,} failed"]
    parts += [f"profile {found.profile}"] if found.profile is not None else []
    unread = summary.counts.failures - found.failed
    return " · ".join([*parts, *([f"{unread:,} unreadable lines"] if unread else [])])


def _drops(found: AspectSummary) -> list[Line]:
    """How many aspects were dropped, by class: a word that is no target is no invention."""
    drops = next((each for each in found.breakdowns if each.name == "drop_class" and not each.by), None)
    if drops is None or not drops.total:
        return []
    classes = {"H1": 0, "H2": 0, "filter": 0} | drops.parts
    split = ", ".join(f"{name} {number:,}" for name, number in classes.items())
    return [Line(f"{plural(drops.total, 'aspect')} dropped: {split}", "bold")]


def _metric_tables(title: str, rows: Sequence[MetricSummary]) -> Iterator[Table]:
    """The metrics of a section that have a value; nothing without one."""
    known = [row for row in rows if row.value is not None]
    if not known:
        return
    has_bounds = any(_bounds(row) for row in known)
    columns = [*left("metric"), *right("value"), *left(_interval_name(known)), *right("counts")]
    columns += left("best to worst case") if has_bounds else []
    cells = []
    for row in known:
        assert row.value is not None
        name = f"{_alias(row)} {DIRECTION_WORDS[row.direction][0]}".rstrip()
        more = [_bounds(row)] if has_bounds else []
        cells.append([name, format_number(row.value), format_pair(row.interval), format_counts(row), *more])
    yield Table(columns, cells, title)


def _bounds(row: MetricSummary) -> str:
    is_widened = row.bounds is not None and row.bounds[0] != row.bounds[1]
    return format_pair(row.bounds) if is_widened else ""


def _breakdown_tables(breakdowns: Sequence[Breakdown]) -> Iterator[Table]:
    rows = []
    for each in breakdowns:
        text = [f"{part} {number:,}" for part, number in each.parts.items()]
        more = [f"{len(text) - MOST_PARTS} more"] if len(text) > MOST_PARTS else []
        rows.append([each.name.replace("_", " "), f"{each.total:,}", " · ".join([*text[:MOST_PARTS], *more])])
    if rows:
        yield Table([*left("of"), *right("total"), *left("parts", wrap="words")], rows, "Parts")


def _run_tables(summary: Summary, found: AspectSummary) -> Iterator[Table]:
    """Every run in a few metrics, with their mean and deviation; nothing for a single run."""
    if len(found.runs) < 2:
        return
    cells = {(tuple(row.by.values()), row.metric): row.value for row in summary.metrics if row.by}
    spread = {each.metric: each for each in found.spread}
    shown = [metric for metric in BY_RUN if spread[metric].mean is not None]
    rows = [
        (" seed ".join(run.values()), [cells.get((tuple(run.values()), name)) for name in shown]) for run in found.runs
    ]
    rows += [("mean", [spread[name].mean for name in shown]), ("deviation", [spread[name].deviation for name in shown])]
    columns = [*left("run", wrap="words", max_width=40), *right(*(BY_RUN[name] for name in shown), wrap="words")]
    yield Table(columns, [[name, *map(_number, values)] for name, values in rows], "By run")


def _number(value: float | None) -> str:
    return NO_VALUE if value is None else format_number(value)


def _alias(row: MetricSummary) -> str:
    return METRICS_BY_ID[row.metric].alias


def _interval_name(rows: Sequence[MetricSummary]) -> str:
    text = {found[1] for row in rows if row.interval and (found := _CONFIDENCE.search(row.signature))}
    return interval_words(float(text.pop())) if len(text) == 1 else "interval"


def aspects_text(summary: Summary, form: str, *, is_verbose: bool = False) -> str:
    """A summary of scorecards as a ``table`` for the terminal, ``json``, ``markdown``, ``csv`` or ``raw-csv``."""
    if form != "table":
        return summary_text(summary, form)
    return aspect_table(summary, is_verbose=is_verbose, **terminal_width())


def aspects_brief(summary: Summary) -> str:
    """What was dropped, how good the results are, and which steps erred, for the terminal."""
    return brief_table(summary, **terminal_width())
