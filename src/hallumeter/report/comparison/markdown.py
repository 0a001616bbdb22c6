"""A comparison as Markdown for a comment on a pull request: short, with details to unfold."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from hallumeter.metrics.catalog import METRICS_BY_ID
from hallumeter.report.wording import DIRECTION_WORDS, format_number, format_pair, plural
from hallumeter.text.printable import one_line

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
    from collections.abc import Iterator

    from hallumeter.records.decisions.comparison import Comparison, MetricComparison, RunRanking

MOST_EXAMPLES = 5
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
    yield f"\nOn the {records} that all have, by {_plain(ranking.cluster)}. Runs that share a letter do not differ."
    for each in ranking.rankings:
        known = METRICS_BY_ID.get(each.metric)
        yield f"\n**{known.alias if known else _plain(each.metric)}** {DIRECTION_WORDS[each.direction][0]}"
        if each.engines:
            yield "\n| run | mean rank | letters |\n| --- | --- | --- |"
            for run in each.engines:
                yield f"| {_plain(run.engine)} | {run.mean_rank:.2f} | {letters_of(each, run.engine)} |"
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
    shown = " ".join(f"{_plain(why)}." for why in comparison.reasons[:MOST_EXAMPLES])
    more = len(comparison.reasons) - MOST_EXAMPLES
    return f"{shown} And {more:,} more." if more > 0 else shown


def _table(comparison: Comparison, rows: list[MetricComparison]) -> Iterator[str]:
    has_slices = any(row.by for row in rows)
    names = ["metric", *(["slice"] if has_slices else []), "first", "second", "difference"]
    names += [f"{comparison.confidence * 100:g} % interval", "p (Holm)", "detectable", "unmeasured allow", "shows"]
    yield f"\n| {' | '.join(names)} |"
    yield f"|{' --- |' * len(names)}"
    for row in rows:
        cells = [metric_words(row), *([_plain(slice_words(row))] if has_slices else [])]
        cells += [value_words(row.first), value_words(row.second), difference_words(row), format_pair(row.interval)]
        cells += [p_words(row), value_words(row.minimum_detectable), bounds_words(row), ROW_WORDS[row.outcome]]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _changes(comparison: Comparison) -> Iterator[str]:
    for cell in comparison.transitions.cells:
        yield f"- {change_words(cell)}: {cell.claims:,} claims in {cell.records:,} records"
        for change in cell.examples[:MOST_EXAMPLES]:
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
