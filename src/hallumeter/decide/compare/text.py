"""A comparison as Markdown for a comment on a pull request: short, with details to unfold."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import groupby

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.records.comparison import Comparison, MetricComparison, RunRanking
from hallumeter.records.ranking import Ranking
from hallumeter.report.table import Cell, Line, Table, left, markdown, right, terminal
from hallumeter.report.wording import DIRECTION_WORDS, format_number, format_pair, interval_words, plural, unit_word
from hallumeter.text.normalize import one_line

from .ranking import diagram_lines, letters_of, undefined_words
from .wording import (
    OUTCOME_WORDS,
    ROW_WORDS,
    alias_of,
    bounds_words,
    change_words,
    difference_words,
    metric_words,
    named,
    p_words,
    records_words,
    slice_words,
    value_words,
)

# A comparison for a terminal, readable in a pipe as well.

MOST_REASONS = 6
MOST_EXAMPLES = 3
"""Changed claims that are shown of each transition."""
_STYLES = {"regression": "bold red", "no_regression": "bold green"}


def comparison_text(
    comparison: Comparison, *, is_verbose: bool = False, width: int | None = None, has_color: bool = False
) -> str:
    """Metrics, slices, transitions and what they show; with p values and what could be detected, if asked."""
    return terminal(_parts(comparison, is_verbose=is_verbose), width=width, has_color=has_color)


def _parts(comparison: Comparison, *, is_verbose: bool) -> Iterator[Table | Line]:
    names = f"{comparison.first.name} → {comparison.second.name}"
    yield Line(f"{names} · {records_words(comparison)} · {comparison.instrument}", "bold")
    yield Line()
    title = f"By {unit_word(comparison.cluster)}, {comparison.second.name} less {comparison.first.name}"
    yield _metric_table(comparison, [row for row in comparison.rows if not row.by], title, is_verbose=is_verbose)
    slices = [row for row in comparison.rows if row.by]
    if slices:
        gated = "they decide as well" if comparison.are_slices_gated else "they decide nothing without --gate-slices"
        yield from (Line(f"Slices ({gated})", "bold"), Line())
    for name, rows in groupby(slices, key=slice_words):
        yield _metric_table(comparison, list(rows), name, is_verbose=is_verbose)
    if not is_verbose:
        yield Line("--verbose adds corrected p values and the smallest difference that could be seen.", "dim")
    for row in comparison.rows:
        if row.undefined:
            yield Line(f"undefined: {named(row)}: {row.undefined}", "dim")
    yield from _transition_parts(comparison)
    yield from _example_lines(comparison)
    if comparison.transitions.cells:
        yield Line("")
    style = _STYLES.get(comparison.outcome, "bold yellow")
    yield Line((("Outcome: ", ""), (OUTCOME_WORDS[comparison.outcome], style)))
    yield from (Line(f"  {reason}") for reason in comparison.reasons[:MOST_REASONS])
    if len(comparison.reasons) > MOST_REASONS:
        yield Line(f"  ... and {len(comparison.reasons) - MOST_REASONS:,} more; --format json has all")


def _metric_table(comparison: Comparison, compared: list[MetricComparison], title: str, *, is_verbose: bool) -> Table:
    has_bounds = any(bounds_words(row) for row in compared)
    columns = left("metric", wrap="words")
    columns += [*right("first", "second", "difference"), *left(interval_words(comparison.confidence))]
    columns += right("p (Holm)", "detectable") if is_verbose else []
    columns += [*(left("best to worst case") if has_bounds else []), *left("shows", wrap="words")]
    rows: list[list[str | Cell]] = []
    for row in compared:
        style = {"worse": "bold red", "better": "green"}.get(row.outcome, "")
        bounds = [bounds_words(row)] if has_bounds else []
        figures = _figures(row) if is_verbose else _figures(row)[:-2]
        rows.append([metric_words(row), *figures, *bounds, Cell(ROW_WORDS[row.outcome], style)])
    return Table(columns, rows, title)


def _figures(row: MetricComparison) -> list[str]:
    values = [value_words(row.first), value_words(row.second), difference_words(row), format_pair(row.interval)]
    return [*values, p_words(row), value_words(row.minimum_detectable)]


def _transition_parts(comparison: Comparison) -> Iterator[Table | Line]:
    transitions = comparison.transitions
    if not transitions.cells:
        return
    rows = [[change_words(cell), f"{cell.claims:,}", f"{cell.records:,}"] for cell in transitions.cells]
    yield Line("")
    yield Table([*left("from first to second"), *right("claims", "records", wrap="words")], rows, "Claims")
    mid_p = transitions.claims_mid_p
    tested = f"; McNemar mid-p {format_number(mid_p)} as if claims were independent" if mid_p is not None else ""
    yield Line(
        f"{transitions.exact:,} alike, {transitions.moved:,} moved, {transitions.reworded:,} reworded; "
        f"{transitions.broken:,} broken, {transitions.mended:,} mended{tested}"
    )


def _example_lines(comparison: Comparison) -> Iterator[Line]:
    shown = [(cell, change) for cell in comparison.transitions.cells for change in cell.examples[:MOST_EXAMPLES]]
    for cell, change in shown:
        yield Line(f"  {change_words(cell)}  {change.record_id}", "dim")
        for text in dict.fromkeys(text for text in (change.first, change.second) if text is not None):
            yield Line(f"    “{one_line(text)}”")


def ranking_text(ranking: RunRanking, *, width: int | None = None, has_color: bool = False) -> str:
    """Every metric with its runs, best first; runs that share a letter do not differ."""
    runs = plural(len(ranking.runs), "run")
    parts: list[Table | Line] = [
        Line(f"{runs} · {plural(ranking.common, 'record')} in all · by {unit_word(ranking.cluster)}", "bold")
    ]
    for each in ranking.rankings:
        parts += _ranking_parts(each, unit=ranking.cluster)
    return terminal(parts, width=width, has_color=has_color)


def _ranking_parts(ranking: Ranking, *, unit: str) -> Iterator[Table | Line]:
    name = alias_of(ranking.metric)
    if ranking.engines:
        columns = [*left("run", wrap="words", max_width=40), *right("mean rank", wrap="words")]
        columns += left("alike", wrap="words")
        yield Table(columns, _ranks(ranking), name)
        yield from (Line(line, is_drawing=True) for line in (*diagram_lines(ranking), ""))
    if ranking.undefined:
        yield Line(f"undefined: {name}: {undefined_words(ranking, unit)}")
    elif ranking.p_value is not None and ranking.critical_difference is not None:
        yield Line(
            f"Friedman p {format_number(ranking.p_value)} on {ranking.pages:,} units; runs with a letter in common lie "
            f"closer than the critical difference {ranking.critical_difference:.2f}"
        )


def _ranks(ranking: Ranking) -> list[list[str]]:
    return [[run.engine, f"{run.mean_rank:.2f}", letters_of(ranking, run.engine)] for run in ranking.engines]


MOST_MARKDOWN_EXAMPLES = 5
LONGEST_TEXT = 160
_MARKS = re.compile(r"([\\`*_\[\]#|~@])")


def comparison_markdown(comparison: Comparison) -> str:
    """The outcome and the whole run first; slices, transitions and changed claims are folded."""
    return "\n".join(_lines(comparison)) + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    names = f"{_plain(comparison.first.name)} → {_plain(comparison.second.name)}"
    yield f"### hallumeter: {OUTCOME_WORDS[comparison.outcome]}"
    yield f"\n{names}, {_plain(records_words(comparison))}. " + _reasons(comparison)
    yield from _table(comparison, [row for row in comparison.rows if not row.by])
    slices = [row for row in comparison.rows if row.by]
    if slices:
        yield from _folded("By slice", _table(comparison, slices))
    changed = [cell for cell in comparison.transitions.cells if cell.first != cell.second]
    if changed:
        yield from _folded("Claims that changed", _changes(comparison))
    if comparison.notices:
        yield from _folded("Notes", (f"- {_plain(notice)}" for notice in comparison.notices))


def ranking_markdown(ranking: RunRanking) -> str:
    """Every metric with its runs, best first, and the diagram of their ranks folded."""
    return "\n".join(_ranking_lines(ranking)) + "\n"


def _ranking_lines(ranking: RunRanking) -> Iterator[str]:
    yield f"### hallumeter: {plural(len(ranking.runs), 'run')} ranked"
    records = plural(ranking.common, "record")
    unit = _plain(unit_word(ranking.cluster))
    yield f"\nOn the {records} that all have, by {unit}. Runs that share a letter do not differ."
    for each in ranking.rankings:
        known = METRICS_BY_ID.get(each.metric)
        yield f"\n**{known.alias if known else _plain(each.metric)}** {DIRECTION_WORDS[each.direction][0]}"
        if each.engines:
            yield ""
            yield from markdown(Table(left("run", "mean rank", "letters"), _ranks(each)), escape=_plain)
        if each.undefined:
            yield f"\nNot tested: {_plain(undefined_words(each, ranking.cluster))}."
        elif each.p_value is not None and each.critical_difference is not None:
            yield (
                f"\nFriedman p {format_number(each.p_value)} on {each.pages:,} units; "
                f"critical difference {each.critical_difference:.2f}.\n"
            )
            yield from _folded("Diagram", iter(["```text", *map(_fenced, diagram_lines(each)), "```"]))
    if ranking.notices:
        yield from _folded("Notes", (f"- {_plain(notice)}" for notice in ranking.notices))


def _fenced(line: str) -> str:
    """A line inside a fence that cannot close it."""
    return line.replace("`", "'")


def _reasons(comparison: Comparison) -> str:
    shown = " ".join(f"{_plain(why)}." for why in comparison.reasons[:MOST_MARKDOWN_EXAMPLES])
    more = len(comparison.reasons) - MOST_MARKDOWN_EXAMPLES
    return f"{shown} And {more:,} more." if more > 0 else shown


def _table(comparison: Comparison, rows: list[MetricComparison]) -> Iterator[str]:
    has_slices = any(row.by for row in rows)
    names = ["metric", *(["slice"] if has_slices else []), "first", "second", "difference"]
    names += [f"{comparison.confidence * 100:g} % interval", "p (Holm)", "detectable", "unmeasured allow", "shows"]
    cells = [
        [
            *(metric_words(row), *([slice_words(row)] if has_slices else []), *_figures(row)),
            *(bounds_words(row), ROW_WORDS[row.outcome]),
        ]
        for row in rows
    ]
    yield from ("", *markdown(Table(left(*names), cells), escape=_plain), "")


def _changes(comparison: Comparison) -> Iterator[str]:
    for cell in comparison.transitions.cells:
        yield f"- {change_words(cell)}: {cell.claims:,} claims in {cell.records:,} records"
        for change in cell.examples[:MOST_MARKDOWN_EXAMPLES]:
            texts = dict.fromkeys(text for text in (change.first, change.second) if text is not None)
            shown = " → ".join(f"“{_plain(text[:LONGEST_TEXT])}”" for text in texts)
            yield f"    - {_plain(change.record_id)}: {shown}"


def _folded(title: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"<details><summary>{title}</summary>\n"
    yield from lines
    yield "\n</details>\n"


def _plain(text: str) -> str:
    """Text of a run that Markdown shows and does not obey."""
    return _MARKS.sub(r"\\\1", html.escape(one_line(text), quote=False))
