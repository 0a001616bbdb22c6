"""A summary in the form that a user asked for: a table, JSON, Markdown or CSV."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import msgspec

from hallumeter.formats.delimited import CSV_FORMS, csv_text
from hallumeter.instruments import metric_named
from hallumeter.records.measurement import MetricSummary, Summary

from .document import ReasonCount
from .judges import advice_text, panel_advice
from .reasons import place_words, top_reasons, undefined_groups
from .table import Cell, Table, code, escaped, left, markdown, terminal_width
from .terminal import Shown, table_text
from .wording import DIRECTION_WORDS, LABEL_WORDS, format_counts, format_pair, plural, value_words


def markdown_text(summary: Summary, *, reasons: Sequence[ReasonCount] = (), has_profile: bool = False) -> str:
    """One table with every metric that has a value, then what has none, what stands out, the notices.

    `has_profile` adds the opinions of the policies, for a user who gave one.
    """
    counts = summary.counts
    fields = list(dict.fromkeys(field for row in summary.metrics for field in row.by))
    columns = left(*fields, "metric", "judge", "value", "interval", "counts", "undecided", "failed")
    columns += left("best to worst", "signature")
    held = [plural(counts.records, "response"), plural(counts.claims, "claim")]
    held += [plural(counts.verdicts, "verdict"), plural(counts.failures, "failure")]
    if summary.aspects is not None:
        held = [plural(counts.records, "sentence"), plural(summary.aspects.failed, "failed sentence")]
    table = Table(columns, [_markdown_cells(row, fields) for row in summary.metrics if row.value is not None])
    lines = [f"**{', '.join(held)}**", "", *markdown(table)]
    lines += ["", *(_profile_lines(summary) if has_profile else []), *_undefined_lines(summary)]
    advice = panel_advice(summary.metrics)
    lines += [f"- judges: {escaped(advice_text(advice))}"] if advice else []
    lines += [
        f"- {LABEL_WORDS[label].lower()}, top reasons: "
        + ", ".join(f"{code(row.reason or '')} {row.verdicts:,}" for row in group)
        for label, group in groupby(top_reasons(reasons), key=lambda row: row.label)
    ]
    lines += [f"- note: {escaped(notice)}" for notice in summary.notices]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_cells(row: MetricSummary, fields: list[str]) -> list[str | Cell]:
    name = f"{_alias(row)} {DIRECTION_WORDS[row.direction][0]}".strip()
    return [
        *(row.by.get(field, "") for field in fields),
        name,
        row.judge or "",
        value_words(row),
        format_pair(row.interval),
        format_counts(row),
        str(row.undecided),
        str(row.failed),
        format_pair(row.bounds),
        Cell(row.signature, is_code=True),
    ]


def _profile_lines(summary: Summary) -> list[str]:
    return [
        f"- **{escaped(profile.policy)}**: reliability {profile.reliability}"
        + (", high risk" if profile.is_high_risk else "")
        + (f" ({escaped('; '.join(profile.reasons))})" if profile.reasons else "")
        for profile in summary.profile.values()
    ]


def _alias(row: MetricSummary) -> str:
    metric = metric_named(row.metric)
    return metric.alias if metric else row.metric


def _undefined_lines(summary: Summary) -> list[str]:
    """What has no value: one line for each reason."""
    lines = []
    for group in undefined_groups((_alias(row), row) for row in summary.metrics):
        [(_, first), *others] = group.figures
        which = f"{len(group.figures):,} figures" if others else place_words(first)
        text = f"{', '.join(group.names)}{f' ({which})' if which else ''}: {group.reason}"
        lines.append(f"- undefined: {escaped(text)}")
    return lines


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
    rows = ([*(row.by.get(field, "") for field in fields), *_csv_cells(row)] for row in summary.metrics)
    return csv_text([[*fields, *CSV_COLUMNS], *rows], is_printable=True, is_raw=is_raw)


def _csv_cells(row: MetricSummary) -> list[object]:
    known = [row.metric, row.judge, row.count, row.total, row.value, *(row.interval or (None, None))]
    known += [row.interval_method, row.direction, row.undefined, row.undecided, row.failed]
    return [*known, *(row.bounds or (None, None)), row.signature, row.note]
