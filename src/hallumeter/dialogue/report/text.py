"""A dialogue run in the form that a user asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from hallumeter.dialogue.catalog import METRICS_BY_ID
from hallumeter.records.measurement import MetricSummary, Summary
from hallumeter.records.summaries import Fairness
from hallumeter.report import wording
from hallumeter.report.document import RecordFindings
from hallumeter.report.reasons import reason_words, undefined_groups
from hallumeter.report.summary_text import markdown_text, summary_text
from hallumeter.report.table import Line, Table, escaped, left, markdown, right, terminal, terminal_width
from hallumeter.report.terminal import signature_lines
from hallumeter.text.normalize import one_line

from .wording import (
    SINGLE,
    difference_cells,
    fairness_words,
    metric_alias,
    pairs_of_modes,
    refuted,
    result_words,
    too_few_words,
)

# Dialogues as tables for a terminal, readable in a pipe as well.

MOST_DIFFERENCES = 5
EXAMPLES = 6
"""Findings that are shown in a few words."""
WIDE = 132
"""From so many columns on a table of differences has all of them."""
_CONFIDENCE = re.compile(r"\bconfidence:([0-9.]+)")
_METRIC_WIDTH, _VALUE_WIDTH = 19, 25
"""Columns that the name of a metric takes, and a value with its interval."""
_DIFFERENCES = ("difference", "interval", "Cohen's d", "p value", "p (Holm)", "pairs", "patients")
_HOW = "Cohen's d of paired differences. p: signs of whole patients flipped; Holm: corrected for many metrics."
_HOW_NARROW = "Cohen's d, means and counts are in --format markdown, and in a wider terminal."
_NARROW = (2, 3, 6)
"""Which columns of a difference are left in a narrow terminal: itself, its interval, the adjusted p."""


def dialogue_table(
    summary: Summary, *, is_verbose: bool = False, width: int | None = None, has_color: bool = False
) -> str:
    """Everything a person needs at first: all answers, modes, turns, differences, what is undefined; or signatures."""
    parts = [*_parts(summary, width or terminal_width()["width"])]
    if is_verbose:
        parts += signature_lines(row for row in summary.metrics if not row.by and row.metric in SINGLE)
    return terminal(parts, width=width, has_color=has_color)


def _parts(summary: Summary, width: int) -> Iterator[Table | Line]:
    yield Line(_head(summary), "bold")
    whole = [row for row in summary.metrics if not row.by]
    yield from _whole_tables(whole)
    yield from _mode_tables([row for row in summary.metrics if tuple(row.by) == ("mode",)], width)
    yield from _turn_tables([row for row in summary.metrics if tuple(row.by) == ("mode", "turn_id")], width)
    yield from _group_tables(summary.metrics)
    yield from _difference_parts(summary, is_wide=width >= WIDE)
    for group in undefined_groups((metric_alias(row.metric), row) for row in whole):
        yield Line(f"undefined: {', '.join(group.names)}: {group.reason}", "dim")


def brief_table(
    summary: Summary, findings: Iterable[RecordFindings], *, width: int | None = None, has_color: bool = False
) -> str:
    """Modes compared, and one finding of each kind in words; the turns and the rest are in the report."""
    columns = width or terminal_width()["width"]
    parts: list[Table | Line] = [Line(_head(summary), "bold")]
    parts += _mode_tables([row for row in summary.metrics if tuple(row.by) == ("mode",)], columns)
    parts += _difference_parts(summary, is_wide=columns >= WIDE)
    parts += _example_tables(findings)
    return terminal(parts, width=width, has_color=has_color)


def _head(summary: Summary) -> str:
    counts, found = summary.counts, summary.dialogue
    parts = [wording.plural(counts.records, "answer"), wording.plural(counts.models, "mode")]
    parts += [wording.plural(found.fairness.patients, "patient")] if found and found.fairness else []
    return " · ".join([*parts, wording.plural(counts.failures, "failure")])


def _whole_tables(rows: Sequence[MetricSummary]) -> Iterator[Table]:
    has_failed = any(row.failed for row in rows)
    columns = [*left("metric"), *right("value"), *left(_interval_name(rows)), *right("counts")]
    columns += right("failed", wrap="words") if has_failed else []
    written = []
    for row in rows:
        if row.value is not None:
            failed = [f"{row.failed:,}" if row.failed else ""] if has_failed else []
            cells = (
                wording.format_number(row.value),
                wording.format_pair(row.interval),
                wording.format_counts(row),
                *failed,
            )
            written.append([_name(row.metric), *cells])
    if written:
        yield Table(columns, written, "All answers")


def _mode_tables(rows: Sequence[MetricSummary], width: int) -> Iterator[Table]:
    """One row for each metric, one column for each mode; nothing for a single mode."""
    modes = list(dict.fromkeys(row.by["mode"] for row in rows))
    if len(modes) < 2:
        return
    cells = {(row.metric, row.by["mode"]): row for row in rows}
    has_interval = _METRIC_WIDTH + _VALUE_WIDTH * len(modes) <= width
    written = []
    for metric in SINGLE:
        found = [cells.get((metric, mode)) for mode in modes]
        if any(row is not None and row.value is not None for row in found):
            written.append([_name(metric), *(_value(row, has_interval=has_interval) for row in found)])
    yield Table(left("metric", *modes), written, f"By mode, with {_interval_name(rows)}s")


def _turn_tables(rows: Sequence[MetricSummary], width: int) -> Iterator[Table]:
    """One row for each metric and turn, one column for each mode, so that modes stand side by side."""
    metrics = [name for name in SINGLE if any(row.metric == name and row.value is not None for row in rows)]
    modes = list(dict.fromkeys(row.by["mode"] for row in rows))
    turns = list(dict.fromkeys(row.by["turn_id"] for row in rows))
    if len(turns) < 2 or not metrics:
        return
    cells = {(row.metric, row.by["turn_id"], row.by["mode"]): row for row in rows}
    has_interval = _METRIC_WIDTH + 6 + _VALUE_WIDTH * len(modes) <= width
    written: list[list[str]] = []
    for metric in metrics:
        name = _name(metric)
        for turn in turns:
            found = [cells.get((metric, turn, mode)) for mode in modes]
            if any(row is not None and row.value is not None for row in found):
                written.append([name, turn, *(_value(row, has_interval=has_interval) for row in found)])
                name = ""
        written.append([])
    columns = [*left("metric"), *right("turn", wrap="words"), *left(*modes)]
    yield Table(columns, written, f"By turn, with {_interval_name(rows)}s")


def _group_tables(rows: Sequence[MetricSummary]) -> Iterator[Table]:
    """The groups that were asked for beside modes and turns."""
    known = ((), ("mode",), ("turn_id",), ("mode", "turn_id"))
    asked = [row for row in rows if tuple(row.by) not in known]
    metrics = [name for name in SINGLE if any(row.metric == name and row.value is not None for row in asked)]
    if not metrics:
        return
    fields = tuple(asked[0].by)
    cells = {(tuple(row.by.values()), row.metric): row for row in asked}
    written = [
        [*group, *(_value(cells.get((group, metric)), has_interval=len(metrics) < 5) for metric in metrics)]
        for group in dict.fromkeys(key for key, _ in cells)
    ]
    columns = [*left(*fields, wrap="words", max_width=40), *left(*map(_name, metrics))]
    yield Table(columns, written, f"By {' and '.join(fields)}")


def _difference_parts(summary: Summary, *, is_wide: bool) -> Iterator[Table | Line]:
    found = summary.dialogue
    if found is None or not found.differences:
        return
    for (first, second), rows in pairs_of_modes(found.differences):
        names = (first, second, *_DIFFERENCES)
        shown = range(len(names)) if is_wide else _NARROW
        written = []
        for row in rows:
            cells = difference_cells(row)
            written.append([_name(row.metric), *(cells[place] for place in shown), result_words(row)])
        columns = [*left("metric"), *right(*(names[place] for place in shown)), *left("result", wrap="words")]
        yield Table(columns, written, f"{second} minus {first}, on the same patients and turns")
    yield Line(_HOW if is_wide else _HOW_NARROW, "dim")
    caution = too_few_words(found.differences)
    if caution:
        yield Line(caution, "yellow")
    if found.fairness is not None:
        yield from _fairness_lines(found.fairness)


def _fairness_lines(fairness: Fairness) -> Iterator[Line]:
    yield Line(fairness_words(fairness), "" if fairness.is_fair else "yellow")
    yield from (Line(f"  {line}", "yellow") for line in fairness.differences[:MOST_DIFFERENCES])
    if fairness.differences_total > MOST_DIFFERENCES:
        yield Line(f"  ... and {fairness.differences_total - MOST_DIFFERENCES:,} more")


def _example_tables(records: Iterable[RecordFindings]) -> Iterator[Table]:
    """The first finding of each kind that speaks against an answer; nothing where there is none."""
    written: dict[str, list[str]] = {}
    for response, claim, verdict in refuted(records):
        reason = verdict.reason or claim.kind
        if reason in written or len(written) == EXAMPLES:
            continue
        words = wording.NO_VALUE if claim.start is None else (response.response or "")[claim.start : claim.end]
        turn = str(response.fields.get("turn_id", ""))
        why = verdict.note or reason_words(verdict.reason) or reason
        written[reason] = [one_line(each) for each in (response.model or "", turn, words, why)]
    columns = [*left("mode", wrap="words", max_width=24), *right("turn", wrap="words")]
    columns += [*left("words of the answer", wrap="words", max_width=30), *left("why", wrap="words")]
    if written:
        yield Table(columns, list(written.values()), "What is wrong, for example")


def _name(metric: str) -> str:
    known = METRICS_BY_ID.get(metric)
    return f"{known.alias} {wording.DIRECTION_WORDS[known.direction][0]}".rstrip() if known else metric


def _interval_name(rows: Sequence[MetricSummary]) -> str:
    """What the intervals are called; their confidence is part of every signature."""
    text = {found[1] for row in rows if row.interval and (found := _CONFIDENCE.search(row.signature))}
    return wording.interval_words(float(text.pop())) if len(text) == 1 else "interval"


def _value(row: MetricSummary | None, *, has_interval: bool) -> str:
    if row is None or row.value is None:
        return wording.NO_VALUE
    interval = f"  {wording.format_pair(row.interval)}" if has_interval and row.interval else ""
    return f"{wording.format_number(row.value)}{interval}"


_HEAD = (
    *("compared", "metric", "first", "second", "difference", "interval", "d", "p", "p (Holm)"),
    *("pairs", "patients", "result"),
)


def dialogue_text(summary: Summary, form: str, *, is_verbose: bool = False) -> str:
    """A summary of dialogues as a ``table`` for the terminal, ``json``, ``markdown``, ``csv`` or ``raw-csv``.

    JSON is the summary as it stands in a run folder; CSV is its metrics alone.
    """
    if form == "markdown":
        return markdown_text(summary) + _differences(summary)
    if form != "table":
        return summary_text(summary, form)
    return dialogue_table(summary, is_verbose=is_verbose, **terminal_width())


def dialogue_brief(summary: Summary, records: Iterable[RecordFindings]) -> str:
    """Modes compared, and a finding of each kind in words, for the terminal."""
    return brief_table(summary, records, **terminal_width())


def _differences(summary: Summary) -> str:
    """The modes compared, as one more table."""
    found = summary.dialogue
    if found is None or not found.differences:
        return ""
    rows = [
        [f"{row.second} minus {row.first}", metric_alias(row.metric), *difference_cells(row), result_words(row)]
        for row in found.differences
    ]
    lines = ["", *markdown(Table(left(*_HEAD), rows))]
    caution = too_few_words(found.differences)
    notes = [caution] if caution else []
    if found.fairness is not None:
        notes += [fairness_words(found.fairness), *found.fairness.differences]
    lines += ["", *(f"- {escaped(note)}" for note in notes)] if notes else []
    return "\n".join(lines) + "\n"
