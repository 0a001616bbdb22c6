"""A summary as tables for a terminal, readable in a pipe as well."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hallumeter.metrics.catalog import METRICS_BY_ID

from .wording import DIRECTION_WORDS, format_counts, format_number, format_pair, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hallumeter.records import MetricSummary, Profile, Summary

PIPE_WIDTH = 150
"""Columns used when no terminal says how many it has."""
_STYLES = {"high": "green", "medium": "yellow", "low": "red", "unknown": "dim"}


def table_text(summary: Summary, *, width: int | None = None, has_color: bool = False) -> str:
    """Everything in a summary as text: headline, groups, judges, profile, signatures."""
    stream = io.StringIO()
    console = Console(
        file=stream, width=width or PIPE_WIDTH, force_terminal=has_color, no_color=not has_color, highlight=False
    )
    counts = summary.counts
    head = [plural(counts.records, "response"), plural(counts.claims, "claim"), plural(counts.verdicts, "verdict")]
    head += [plural(counts.judges, "judge")] if counts.judges else []
    head += [plural(counts.models, "model")] if counts.models else []
    head += [plural(counts.failures, "failure")]
    console.print(Text(" · ".join(head), style="bold"))
    if counts.records_without_claims:
        console.print(f"{plural(counts.records_without_claims, 'response')} without a claim")
    whole = [row for row in summary.metrics if not row.by]
    headline = whole[0].judge if whole else None
    mine = [row for row in whole if row.judge in (headline, None, "all judges")]
    _print_table(console, "All responses", mine, ())
    grouped = [row for row in summary.metrics if row.by]
    _print_table(console, "By group", [row for row in grouped if row.judge in (headline, None)], _fields(grouped))
    _print_table(console, "By judge", [row for row in whole if row not in mine], ("judge",))
    for profile in summary.profile.values():
        console.print(_profile_line(profile))
    _print_signatures(console, mine)
    return stream.getvalue()


def _fields(rows: Iterable[MetricSummary]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(field for row in rows for field in row.by))


def _print_table(console: Console, title: str, rows: Sequence[MetricSummary], keys: tuple[str, ...]) -> None:
    if not rows:
        return
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for key in keys:
        table.add_column(key, overflow="fold")
    table.add_column("metric", no_wrap=True)
    table.add_column("value", justify="right")
    table.add_column("95 % interval" if _is_usual(rows) else "interval", no_wrap=True)
    table.add_column("counts", justify="right", no_wrap=True)
    table.add_column("undecided", justify="right")
    table.add_column("failed", justify="right")
    table.add_column("best to worst case", no_wrap=True)
    for row in rows:
        group = [row.judge or "" if key == "judge" else row.by.get(key, "") for key in keys]
        name = f"{METRICS_BY_ID[row.metric].alias if row.metric in METRICS_BY_ID else row.metric}"
        label = f"{name} {DIRECTION_WORDS[row.direction][0]}".rstrip()
        if row.value is None:
            table.add_row(*group, label, Text("undefined", style="dim"), Text(row.undefined or "", style="dim"))
            continue
        table.add_row(
            *group,
            label,
            format_number(row.value),
            format_pair(row.interval),
            format_counts(row),
            str(row.undecided or ""),
            str(row.failed or ""),
            format_pair(row.bounds) if row.undecided or row.failed or _is_widened(row) else "",
        )
    console.print(table)
    for row in rows:
        if row.note:
            console.print(Text(f"warning: {row.metric}: {row.note}", style="yellow"))


def _is_widened(row: MetricSummary) -> bool:
    return row.bounds is not None and row.bounds[0] != row.bounds[1]


def _is_usual(rows: Iterable[MetricSummary]) -> bool:
    return all("confidence:0.95" in row.signature for row in rows if row.interval)


def _profile_line(profile: Profile) -> Text:
    line = Text(f"{profile.policy}: reliability ")
    line.append(profile.reliability, style=f"bold {_STYLES[profile.reliability]}")
    line.append(", HIGH RISK" if profile.is_high_risk else "", style="bold red")
    if profile.reasons:
        line.append(f" ({'; '.join(profile.reasons)})")
    return line


def _print_signatures(console: Console, rows: Sequence[MetricSummary]) -> None:
    console.print(Text("\nsignatures", style="dim"))
    for row in rows:
        console.print(Text(f"  {row.signature}", style="dim"), soft_wrap=True)
