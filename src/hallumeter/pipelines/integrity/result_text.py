"""What an evaluator made of the cases, as a table, as Markdown or as JSON."""

from __future__ import annotations

import io
import shutil
import sys
from typing import TYPE_CHECKING

import msgspec
from rich.text import Text

from hallumeter.report.terminal import plain_console, plain_table, trimmed_text
from hallumeter.text.printable import printable

if TYPE_CHECKING:
    from .outcome import CaseResult, IntegrityResult

FORMS = ("table", "markdown", "json")
_HEADS = ("case", "returned", "with an error", "opinion", "why")


def result_text(result: IntegrityResult, form: str) -> str:
    """A result as ``table``, ``markdown`` or ``json``."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"
    return _markdown(result) if form == "markdown" else _table(result)


def _cells(case: CaseResult) -> tuple[str, ...]:
    cells = (case.title, case.returned, case.returned_on_wrong or "", case.opinion, case.why)
    return tuple(map(printable, cells))


def _head(result: IntegrityResult) -> str:
    unhandled = f" ({result.unhandled} by an error)" if result.unhandled else ""
    not_run = f" · {result.not_run} not run" if result.not_run else ""
    never = "" if result.measured else " · never gave a number where there was something to measure"
    name = printable(result.evaluator)
    return f"{name}: {result.honest} honest{unhandled} · {result.dishonest} dishonest{not_run}{never}"


def _table(result: IntegrityResult) -> str:
    is_terminal = sys.stdout.isatty()
    width = max(shutil.get_terminal_size().columns, 100) if is_terminal else 160
    stream = io.StringIO()
    console = plain_console(stream, width=width, has_color=is_terminal)
    table = plain_table(_head(result))
    for head in _HEADS:
        table.add_column(head, overflow="fold")
    for case in result.cases:
        style = {True: "green", False: "red", None: "dim"}[case.is_honest]
        cells = [Text(cell) for cell in _cells(case)]
        cells[3].stylize(style)
        table.add_row(*cells)
    console.print(table)
    return trimmed_text(stream)


def _markdown(result: IntegrityResult) -> str:
    rows = [_HEADS, ("---",) * len(_HEADS), *map(_cells, result.cases)]
    escaped = ([cell.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;") for cell in row] for row in rows)
    lines = ["| " + " | ".join(row) + " |" for row in escaped]
    return "\n".join([_head(result), "", *lines]) + "\n"
