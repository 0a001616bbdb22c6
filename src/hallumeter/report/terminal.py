"""A summary as tables for a terminal, readable in a pipe as well."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.text.printable import printable

from .segmentation import CONSENSUS
from .verdicts.codes import reason_words
from .verdicts.panel import advice_text, panel_advice
from .verdicts.reasons import top_reasons
from .wording import (
    ALL_JUDGES,
    DIRECTION_WORDS,
    LABEL_WORDS,
    NO_VALUE,
    format_counts,
    format_number,
    format_pair,
    plural,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hallumeter.records import MetricSummary, Profile, Summary

    from .document import ReasonCount

PIPE_WIDTH = 140
"""Columns used when no terminal says how many it has."""
GROUP_COLUMNS = ("mihr", "mahr", "factscore", "consensus_f1", "uncertainty_total", "far", "over_refusal_rate")
"""What the table of groups compares; the other formats have everything."""
JUDGE_COLUMNS = ("mihr", "mahr", "judge_sensitivity", "judge_specificity")
PANEL_COLUMNS = ("agreement_with_others", "alpha_without", "alpha_gain_without")
"""What tells whether to drop a judge."""
MOST_PAIRS = 6
"""Pairs of judges that are all named: those of four judges."""
_OF_ONE_JUDGE = {"judge_sensitivity", "judge_specificity", "cohen_kappa", *PANEL_COLUMNS}
_STYLES = {"high": "green", "medium": "yellow", "low": "red", "unknown": "dim"}


def table_text(
    summary: Summary, *, reasons: Sequence[ReasonCount] = (), width: int | None = None, has_color: bool = False
) -> str:
    """Everything a person needs at first: headline, groups, judges, reasons, profile, signatures."""
    stream = io.StringIO()
    console = plain_console(stream, width=width, has_color=has_color)
    console.print(Text(_head(summary), style="bold"))
    whole = [row for row in summary.metrics if not row.by]
    headline = whole[0].judge if whole else None
    mine = [row for row in whole if row.judge in (headline, None, ALL_JUDGES) and row.metric not in _OF_ONE_JUDGE]
    _print_rows(console, mine)
    _print_groups(console, [row for row in summary.metrics if row.by and row.judge in (headline, None)])
    _print_judges(console, [row for row in whole if row.judge is not None])
    _print_reasons(console, reasons)
    for profile in summary.profile.values():
        console.print(_profile_line(profile))
    _print_signatures(console, mine)
    return stream.getvalue()


def plain_console(stream: io.StringIO, *, width: int | None, has_color: bool) -> Console:
    """A console that prints tables, and names and texts as they are."""
    return Console(
        file=stream,
        width=width or PIPE_WIDTH,
        force_terminal=has_color,
        no_color=not has_color,
        highlight=False,
        markup=False,  # square brackets and colons in names are only that
        emoji=False,
    )


def _head(summary: Summary) -> str:
    counts = summary.counts
    parts = [plural(counts.records, "response"), plural(counts.claims, "claim"), plural(counts.verdicts, "verdict")]
    parts += [plural(counts.judges, "judge")] if counts.judges else []
    parts += [plural(counts.models, "model")] if counts.models else []
    parts += [plural(counts.failures, "failure")]
    parts += [f"{counts.records_without_claims:,} without a claim"] if counts.records_without_claims else []
    return " · ".join(parts)


def _print_rows(console: Console, rows: Sequence[MetricSummary]) -> None:
    """The headline: one row per metric."""
    table = plain_table("All responses")
    table.add_column("metric", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("95 % interval" if _is_usual(rows) else "interval", no_wrap=True)
    table.add_column("counts", justify="right", no_wrap=True)
    table.add_column("undecided", justify="right")
    table.add_column("failed", justify="right")
    table.add_column("best to worst case", no_wrap=True)
    for row in rows:
        if row.value is not None:
            table.add_row(
                _name(row.metric),
                format_number(row.value),
                format_pair(row.interval),
                format_counts(row),
                f"{row.undecided:,}" if row.undecided else "",
                f"{row.failed:,}" if row.failed else "",
                _best_to_worst(row),
            )
    if table.row_count:
        console.print(table)
    for reason, names in _reasons(rows).items():
        console.print(Text(printable(f"undefined: {', '.join(names)}: {reason}"), style="dim"))
    for row in rows:
        if row.note:
            console.print(Text(printable(f"warning: {row.metric}: {row.note}"), style="yellow"))


def _print_groups(console: Console, rows: Sequence[MetricSummary]) -> None:
    """One row per group, one column per metric that any group has."""
    metrics = [name for name in GROUP_COLUMNS if any(row.metric == name and row.value is not None for row in rows)]
    fields = tuple(dict.fromkeys(field for row in rows for field in row.by))
    cells = {(tuple(row.by.get(field, "") for field in fields), row.metric): row for row in rows}
    if not metrics:
        return
    table = plain_table(f"By {' and '.join(map(printable, fields))}")
    for field in fields:
        table.add_column(printable(field), overflow="ellipsis", max_width=40)
    has_claims = "mihr" in metrics
    if has_claims:
        table.add_column("claims", justify="right")
    for name in metrics:
        table.add_column(_name(name), no_wrap=True)
    for group in dict.fromkeys(key for key, _ in cells):
        counted = cells.get((group, "mihr"))
        claims = [f"{counted.total:,.0f}" if counted is not None and counted.total else ""] if has_claims else []
        values = (_value_and_interval(cells.get((group, name))) for name in metrics)
        table.add_row(*map(printable, group), *claims, *values)
    console.print(table)


def _print_judges(console: Console, rows: Sequence[MetricSummary]) -> None:
    """One row per judge, then how they agree; nothing for a single judge."""
    found = list(dict.fromkeys(row.judge for row in rows if row.metric == "mihr"))
    if len(found) < 2:
        return
    # A consensus that is not the headline stands after the judges that it joins.
    judges = [found[0], *sorted(found[1:], key=CONSENSUS.__eq__)]
    cells = {(row.judge, row.metric): row for row in rows}
    metrics = [name for name in JUDGE_COLUMNS if any(row.metric == name and row.value is not None for row in rows)]
    table = _judge_table("By judge", metrics)
    table.add_column("undecided", justify="right")
    table.add_column("failed", justify="right")
    for judge in judges:
        row = cells[judge, "mihr"]
        values = (_value_and_interval(cells.get((judge, name))) for name in metrics)
        table.add_row(printable(judge or ""), *values, f"{row.undecided:,}", f"{row.failed:,}")
    console.print(table)
    _print_panel(console, rows)
    _print_pairs(console, [row for row in rows if row.metric == "cohen_kappa"])


def _judge_table(title: str, metrics: Sequence[str]) -> Table:
    table = plain_table(title)
    table.add_column("judge", overflow="ellipsis", max_width=40)
    for name in metrics:
        table.add_column(_name(name), no_wrap=True)
    return table


def _print_panel(console: Console, rows: Sequence[MetricSummary]) -> None:
    """Each judge beside the others, and whether one stands apart; nothing where no judge could be left out."""
    advice = panel_advice(rows)
    if advice is None:
        return
    cells = {(row.judge, row.metric): row for row in rows}
    table = _judge_table("Each judge beside the others", PANEL_COLUMNS)
    for judge in dict.fromkeys(row.judge for row in rows if row.metric == "alpha_gain_without"):
        table.add_row(
            printable(judge or ""), *(_value_and_interval(cells.get((judge, name))) for name in PANEL_COLUMNS)
        )
    console.print(table)
    console.print(Text(printable(advice_text(advice)), style="yellow" if advice.judge else ""))


def _print_pairs(console: Console, rows: Sequence[MetricSummary]) -> None:
    """How pairs of judges agree; of many pairs, those that agree least."""
    shown = list(rows)
    if len(shown) > MOST_PAIRS:
        measured = [row for row in rows if row.value is not None]
        shown = sorted(measured, key=lambda row: row.value or 0.0)[: MOST_PAIRS // 2]
    for row in shown:
        console.print(f"Cohen's kappa, {printable(row.judge or '')}: {_value_and_interval(row)}")
    if len(shown) < len(rows):
        console.print(f"These pairs agree least; --format markdown has all {len(rows)}.")


def _print_signatures(console: Console, rows: Sequence[MetricSummary]) -> None:
    """What the headline depends on; with several judges, the rows on their agreement would say the same again."""
    shown = [row for row in rows if row.judge != ALL_JUDGES] or rows
    if shown:
        console.print(Text("\nsignatures", style="dim"))
    for row in shown:
        console.print(Text(f"  {printable(row.signature)}", style="dim"), soft_wrap=True)
    if len(shown) < len(rows):
        console.print(Text("  --format markdown has those of agreement, too", style="dim"))


def _print_reasons(console: Console, reasons: Sequence[ReasonCount]) -> None:
    """The most frequent reasons of each label; nothing when no judge gave any."""
    table = plain_table("Top reasons")
    table.add_column("label", no_wrap=True)
    table.add_column("reason", overflow="ellipsis", max_width=40)
    table.add_column("verdicts", justify="right", no_wrap=True)
    has_judges = len({judge for row in reasons for judge in row.judges}) > 1
    if has_judges:
        table.add_column("judges", overflow="ellipsis", max_width=40)
    table.add_column("meaning")
    for row in top_reasons(reasons):
        judges = [printable(", ".join(row.judges))] if has_judges else []
        words = reason_words(row.reason) or ""
        table.add_row(LABEL_WORDS[row.label], printable(row.reason or ""), f"{row.verdicts:,}", *judges, words)
    if table.row_count:
        console.print(table)


def trimmed_text(stream: io.StringIO) -> str:
    """What was printed, without the spaces with which tables fill their lines."""
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def plain_table(title: str) -> Table:
    """A table without lines at its sides; names in its title come from files."""
    return Table(title=printable(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)


def _name(metric: str) -> str:
    known = METRICS_BY_ID.get(metric)
    return f"{known.alias} {DIRECTION_WORDS[known.direction][0]}".rstrip() if known else metric


def _best_to_worst(row: MetricSummary) -> str:
    is_widened = row.bounds is not None and row.bounds[0] != row.bounds[1]
    return format_pair(row.bounds) if is_widened else ""


def _value_and_interval(row: MetricSummary | None) -> str:
    if row is None or row.value is None:
        return NO_VALUE
    interval = f"  {format_pair(row.interval)}" if row.interval else ""
    return f"{format_number(row.value)}{interval}"


def _reasons(rows: Iterable[MetricSummary]) -> dict[str, list[str]]:
    """Why metrics are undefined, each reason once."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.value is None:
            found.setdefault(row.undefined or "", []).append(row.metric)
    return found


def _is_usual(rows: Iterable[MetricSummary]) -> bool:
    return all("confidence:0.95" in row.signature for row in rows if row.interval)


def _profile_line(profile: Profile) -> Text:
    line = Text(f"Policy {printable(profile.policy)}: reliability ")
    line.append(profile.reliability, style=f"bold {_STYLES[profile.reliability]}")
    line.append(", HIGH RISK" if profile.is_high_risk else "", style="bold red")
    if profile.reasons:
        line.append(printable(f" ({'; '.join(profile.reasons)})"))
    return line
