"""A comparison for a terminal, readable in a pipe as well."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.text import Text

from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.report.terminal import plain_console, plain_table, trimmed_text
from hallumeter.report.wording import format_number, format_pair, interval_words, plural
from hallumeter.text.printable import one_line, printable

from .diagram import diagram_lines
from .ranking import letters_of, undefined_words
from .wording import (
    OUTCOME_WORDS,
    ROW_WORDS,
    bounds_words,
    change_words,
    difference_words,
    metric_words,
    p_words,
    records_words,
    slice_words,
    value_words,
)

if TYPE_CHECKING:
    from rich.console import Console

    from hallumeter.records import Ranking
    from hallumeter.records.decisions.comparison import Comparison, MetricComparison, RunRanking

MOST_REASONS = 6
MOST_EXAMPLES = 3
"""Changed claims that are shown of each transition."""
_STYLES = {"regression": "bold red", "no_regression": "bold green"}


def comparison_text(comparison: Comparison, *, width: int | None = None, has_color: bool = False) -> str:
    """Metrics, transitions and what they show."""
    stream = io.StringIO()
    console = plain_console(stream, width=width, has_color=has_color)
    names = f"{comparison.first.name} → {comparison.second.name}"
    console.print(Text(printable(f"{names} · {records_words(comparison)} · {comparison.instrument}"), style="bold"))
    _print_rows(console, comparison)
    _print_transitions(console, comparison)
    _print_examples(console, comparison)
    line = Text("Outcome: ")
    line.append(OUTCOME_WORDS[comparison.outcome], style=_STYLES.get(comparison.outcome, "bold yellow"))
    console.print(line)
    for reason in comparison.reasons[:MOST_REASONS]:
        console.print(f"  {printable(reason)}")
    if len(comparison.reasons) > MOST_REASONS:
        console.print(f"  ... and {len(comparison.reasons) - MOST_REASONS:,} more; --format json has all")
    return trimmed_text(stream)


def _print_rows(console: Console, comparison: Comparison) -> None:
    has_slices = any(row.by for row in comparison.rows)
    has_bounds = any(bounds_words(row) for row in comparison.rows)
    table = plain_table(f"By {comparison.cluster}, {comparison.second.name} less {comparison.first.name}")
    table.add_column("metric", no_wrap=True)
    if has_slices:
        table.add_column("slice", overflow="fold")  # breaks into lines where numbers need the width
    for name in ("first", "second", "difference"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(interval_words(comparison.confidence), no_wrap=True)
    table.add_column("p (Holm)", justify="right", no_wrap=True)
    table.add_column("detectable", justify="right", no_wrap=True)
    if has_bounds:
        table.add_column("best to worst case", no_wrap=True)
    table.add_column("shows")
    for row in comparison.rows:
        cells = [metric_words(row), *([printable(slice_words(row)) or "all"] if has_slices else [])]
        cells += [value_words(row.first), value_words(row.second), difference_words(row), format_pair(row.interval)]
        cells += [p_words(row), value_words(row.minimum_detectable), *([bounds_words(row)] if has_bounds else [])]
        table.add_row(*cells, _outcome(row))
    console.print(table)
    for row in comparison.rows:
        if row.undefined:
            where = f" ({slice_words(row)})" if row.by else ""
            console.print(Text(printable(f"undefined: {row.metric}{where}: {row.undefined}"), style="dim"))


def _outcome(row: MetricComparison) -> Text:
    return Text(ROW_WORDS[row.outcome], style={"worse": "bold red", "better": "green"}.get(row.outcome, ""))


def _print_transitions(console: Console, comparison: Comparison) -> None:
    transitions = comparison.transitions
    if not transitions.cells:
        return
    table = plain_table("Claims")
    table.add_column("from first to second", no_wrap=True)
    table.add_column("claims", justify="right")
    table.add_column("records", justify="right")
    for cell in transitions.cells:
        table.add_row(change_words(cell), f"{cell.claims:,}", f"{cell.records:,}")
    console.print(table)
    mid_p = transitions.claims_mid_p
    tested = f"; McNemar mid-p {format_number(mid_p)} as if claims were independent" if mid_p is not None else ""
    console.print(
        f"{transitions.exact:,} alike, {transitions.moved:,} moved, {transitions.reworded:,} reworded; "
        f"{transitions.broken:,} broken, {transitions.mended:,} mended{tested}"
    )


def _print_examples(console: Console, comparison: Comparison) -> None:
    shown = [(cell, change) for cell in comparison.transitions.cells for change in cell.examples[:MOST_EXAMPLES]]
    for cell, change in shown:
        console.print(Text(f"  {change_words(cell)}  {printable(change.record_id)}", style="dim"))
        for text in dict.fromkeys(text for text in (change.first, change.second) if text is not None):
            console.print(f"    {one_line(text)}", no_wrap=True, overflow="ellipsis")


def ranking_text(ranking: RunRanking, *, width: int | None = None, has_color: bool = False) -> str:
    """Every metric with its runs, best first; runs that share a letter do not differ."""
    stream = io.StringIO()
    console = plain_console(stream, width=width, has_color=has_color)
    runs = plural(len(ranking.runs), "run")
    console.print(Text(f"{runs} · {plural(ranking.common, 'record')} in all · by {ranking.cluster}", style="bold"))
    for each in ranking.rankings:
        _print_ranking(console, each, unit=ranking.cluster)
    return trimmed_text(stream)


def _print_ranking(console: Console, ranking: Ranking, *, unit: str) -> None:
    known = METRICS_BY_ID.get(ranking.metric)
    table = plain_table(known.alias if known else ranking.metric)
    table.add_column("run", overflow="ellipsis", max_width=40)
    table.add_column("mean rank", justify="right")
    table.add_column("alike")
    for run in ranking.engines:
        table.add_row(printable(run.engine), f"{run.mean_rank:.2f}", letters_of(ranking, run.engine))
    if table.row_count:
        console.print(table)
        console.print(Text("\n".join(diagram_lines(ranking)) + "\n"), no_wrap=True, overflow="crop")
    if ranking.undefined:
        console.print(f"undefined: {ranking.metric}: {undefined_words(ranking, unit)}")
    elif ranking.p_value is not None and ranking.critical_difference is not None:
        console.print(
            f"Friedman p {format_number(ranking.p_value)} on {ranking.pages:,} units; runs with a letter in common lie "
            f"closer than the critical difference {ranking.critical_difference:.2f}"
        )
