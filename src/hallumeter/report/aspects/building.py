"""The sections of a report on aspects, made from a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .families import BY_RUN, SECTIONS
from .sections import PartSection

if TYPE_CHECKING:
    from hallumeter.records import Summary
    from hallumeter.report.document import MetricRow

ASPECTS = "aspects"
"""The instrument that measures aspects."""
BLAMED = ("step", "error")
"""What the rates of steps are grouped by."""
_TOLD = ("ungrounded", "against_gold")
"""Kinds of error in a first look; the three that make up the second stand in blame.csv."""


def metric_families(rows: list[MetricRow]) -> dict[str, tuple[MetricRow, ...]]:
    """The metrics of the whole run that have a value, under the titles of their families."""
    whole = {row.summary.metric: row for row in rows if not row.summary.by and row.summary.value is not None}
    families = {title: [whole[metric] for metric in metrics if metric in whole] for title, metrics in SECTIONS.items()}
    return {title: tuple(found) for title, found in families.items() if found}


def blame_rows(rows: list[MetricRow]) -> list[MetricRow]:
    """What each step did to aspects that are not in the text, and against gold, where there was anything to count."""
    return [
        row
        for row in rows
        if tuple(row.summary.by) == BLAMED and row.summary.value is not None and row.summary.by["error"] in _TOLD
    ]


def run_rows(rows: list[MetricRow]) -> list[MetricRow]:
    """The metrics by which runs are compared."""
    return [row for row in rows if row.summary.metric in BY_RUN and row.summary.by and row.summary.value is not None]


def part_section(summary: Summary) -> PartSection | None:
    """Breakdowns of the whole run; None when there is none."""
    found = summary.aspects
    if found is None:
        return None
    whole = tuple(each for each in found.breakdowns if not each.by and each.total)
    return PartSection(whole, found.warnings) if whole or found.warnings else None
