"""Aggregated scorecards in the form that a user asked for."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from hallumeter.report.summary_text import summary_text

from .terminal import aspect_table, brief_table

if TYPE_CHECKING:
    from hallumeter.records import Summary


def aspects_text(summary: Summary, form: str) -> str:
    """A summary of scorecards as a ``table`` for the terminal, ``json``, ``markdown`` or ``csv``."""
    if form != "table":
        return summary_text(summary, form)
    width, has_color = _terminal()
    return aspect_table(summary, width=width, has_color=has_color)


def aspects_brief(summary: Summary) -> str:
    """What was dropped, how good the results are, and which steps erred, for the terminal."""
    width, has_color = _terminal()
    return brief_table(summary, width=width, has_color=has_color)


def _terminal() -> tuple[int | None, bool]:
    """How many columns there are, None in a pipe; and whether colours are shown."""
    is_terminal = sys.stdout.isatty()
    return max(shutil.get_terminal_size().columns, 100) if is_terminal else None, is_terminal
