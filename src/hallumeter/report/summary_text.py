"""A summary in the form that a user asked for."""

from __future__ import annotations

import csv
import io
import shutil
import sys
from typing import TYPE_CHECKING

import msgspec

from hallumeter.text.printable import printable

from .markdown import markdown_text
from .terminal import table_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.records import MetricSummary, Summary

    from .document import ReasonCount

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


def summary_text(summary: Summary, form: str, *, reasons: Sequence[ReasonCount] = ()) -> str:
    """A summary as a ``table`` for the terminal, ``json``, ``markdown`` or ``csv``.

    `reasons` are those of the verdicts (see `count_reasons`); tables and Markdown name the most frequent ones.
    """
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(summary), indent=2).decode() + "\n"
    if form == "markdown":
        return markdown_text(summary, reasons=reasons)
    if form == "csv":
        return csv_text(summary)
    is_terminal = sys.stdout.isatty()
    width = max(shutil.get_terminal_size().columns, 100) if is_terminal else None
    return table_text(summary, reasons=reasons, width=width, has_color=is_terminal)


def csv_text(summary: Summary) -> str:
    """One row per metric, group and judge; numbers unrounded, empty where not known, names safe to print."""
    fields = list(dict.fromkeys(field for row in summary.metrics for field in row.by))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*map(printable, fields), *CSV_COLUMNS])
    for row in summary.metrics:
        writer.writerow([*(printable(row.by.get(field, "")) for field in fields), *_cells(row)])
    return stream.getvalue()


def _cells(row: MetricSummary) -> list[object]:
    low, high = row.interval or (None, None)
    best, worst = row.bounds or (None, None)
    known = [row.metric, row.judge, row.count, row.total, row.value, low, high, row.interval_method]
    known += [row.direction, row.undefined, row.undecided, row.failed, best, worst, row.signature, row.note]
    return ["" if value is None else printable(value) if isinstance(value, str) else value for value in known]
