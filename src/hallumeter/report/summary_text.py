"""A summary in the form that a user asked for."""

from __future__ import annotations

import msgspec

from hallumeter.formats.delimited import CSV_FORMS, csv_text
from hallumeter.records.measurement import MetricSummary, Summary

from .markdown import markdown_text
from .table import terminal_width
from .terminal import Shown, table_text

CSV_COLUMNS = (
    "metric",
    "judge",
    "count",
    "total",
    "value",
    "interval_low",
    "interval_high",
    "interval_method",
    "direction",
    "undefined",
    "undecided",
    "failed",
    "best_to_worst_low",
    "best_to_worst_high",
    "signature",
    "note",
)


def summary_text(summary: Summary, form: str, *, shown: Shown | None = None) -> str:
    """A summary as a ``table`` for the terminal, ``json``, ``markdown``, ``csv`` or ``raw-csv``.

    `shown` says what a table tells beside the headline; Markdown takes the reasons of the verdicts from it.
    """
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(summary), indent=2).decode() + "\n"
    if form == "markdown":
        chosen = shown or Shown()
        return markdown_text(summary, reasons=chosen.reasons, has_profile=chosen.has_profile)
    if form in CSV_FORMS:
        return _csv(summary, is_raw=form == "raw-csv")
    return table_text(summary, shown=shown, **terminal_width())


def _csv(summary: Summary, *, is_raw: bool) -> str:
    """One row per metric, group and judge; numbers unrounded, empty where not known, names safe to print."""
    fields = list(dict.fromkeys(field for row in summary.metrics for field in row.by))
    rows = ([*(row.by.get(field, "") for field in fields), *_cells(row)] for row in summary.metrics)
    return csv_text([[*fields, *CSV_COLUMNS], *rows], is_printable=True, is_raw=is_raw)


def _cells(row: MetricSummary) -> list[object]:
    known = [row.metric, row.judge, row.count, row.total, row.value, *(row.interval or (None, None))]
    known += [row.interval_method, row.direction, row.undefined, row.undecided, row.failed]
    return [*known, *(row.bounds or (None, None)), row.signature, row.note]
