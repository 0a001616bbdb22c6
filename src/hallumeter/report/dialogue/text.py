"""A dialogue run in the form that a user asked for."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from hallumeter.report.markdown import escaped, markdown_text
from hallumeter.report.summary_text import summary_text

from .terminal import dialogue_table
from .wording import difference_cells, fairness_words, metric_alias, result_words

if TYPE_CHECKING:
    from hallumeter.records import Summary

_HEAD = (
    *("compared", "metric", "first", "second", "difference", "interval", "d", "p", "p (Holm)"),
    *("pairs", "patients", "result"),
)


def dialogue_text(summary: Summary, form: str) -> str:
    """A summary of dialogues as a ``table`` for the terminal, ``json``, ``markdown`` or ``csv``.

    JSON is the summary as it stands in a run folder; CSV is its metrics alone.
    """
    if form == "markdown":
        return markdown_text(summary) + _differences(summary)
    if form != "table":
        return summary_text(summary, form)
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else None
    return dialogue_table(summary, width=width, has_color=is_terminal)


def _differences(summary: Summary) -> str:
    """The modes compared, as one more table."""
    found = summary.dialogue
    if found is None or not found.differences:
        return ""
    lines = ["", f"| {' | '.join(_HEAD)} |", f"|{' --- |' * len(_HEAD)}"]
    for row in found.differences:
        cells = [f"{row.second} minus {row.first}", metric_alias(row.metric), *difference_cells(row), result_words(row)]
        lines.append(f"| {' | '.join(map(escaped, cells))} |")
    if found.fairness is not None:
        lines += ["", f"- {escaped(fairness_words(found.fairness))}"]
        lines += [f"- {escaped(line)}" for line in found.fairness.differences]
    return "\n".join(lines) + "\n"
