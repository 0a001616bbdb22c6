"""A dialogue run in the form that a user asked for."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from hallumeter.report.markdown import escaped, markdown_text
from hallumeter.report.summary_text import summary_text

from .terminal import brief_table, dialogue_table
from .wording import difference_cells, fairness_words, metric_alias, result_words, too_few_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hallumeter.records import Summary
    from hallumeter.report.document import RecordFindings

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
    width, has_color = _terminal()
    return dialogue_table(summary, width=width, has_color=has_color)


def dialogue_brief(summary: Summary, records: Iterable[RecordFindings]) -> str:
    """Modes compared, and a finding of each kind in words, for the terminal."""
    width, has_color = _terminal()
    return brief_table(summary, records, width=width, has_color=has_color)


def _terminal() -> tuple[int | None, bool]:
    """How many columns there are, None in a pipe; and whether colours are shown."""
    is_terminal = sys.stdout.isatty()
    return shutil.get_terminal_size().columns if is_terminal else None, is_terminal


def _differences(summary: Summary) -> str:
    """The modes compared, as one more table."""
    found = summary.dialogue
    if found is None or not found.differences:
        return ""
    lines = ["", f"| {' | '.join(_HEAD)} |", f"|{' --- |' * len(_HEAD)}"]
    for row in found.differences:
        cells = [f"{row.second} minus {row.first}", metric_alias(row.metric), *difference_cells(row), result_words(row)]
        lines.append(f"| {' | '.join(map(escaped, cells))} |")
    caution = too_few_words(found.differences)
    notes = [caution] if caution else []
    if found.fairness is not None:
        notes += [fairness_words(found.fairness), *found.fairness.differences]
    lines += ["", *(f"- {escaped(note)}" for note in notes)] if notes else []
    return "\n".join(lines) + "\n"
