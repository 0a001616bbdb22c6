"""What an evaluator made of the cases, as a table, as Markdown or as JSON."""

from __future__ import annotations

import shutil
import sys

import msgspec

from hallumeter.report.table import Cell, Table, left, markdown, terminal
from hallumeter.text.normalize import printable

from .cases import IntegrityResult

FORMS = ("table", "markdown", "json")
_HEADS = ("case", "returned", "with an error", "opinion", "why")


def result_text(result: IntegrityResult, form: str) -> str:
    """A result as ``table``, ``markdown`` or ``json``."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"
    if form == "markdown":
        return "\n".join([_head(result), "", *markdown(_table(result), escape=_plain)]) + "\n"
    is_terminal = sys.stdout.isatty()
    width = max(shutil.get_terminal_size().columns, 100) if is_terminal else 160
    return terminal([_table(result)], width=width, has_color=is_terminal)


def _head(result: IntegrityResult) -> str:
    unhandled = f" ({result.unhandled} by an error)" if result.unhandled else ""
    not_run = f" · {result.not_run} not run" if result.not_run else ""
    never = "" if result.measured else " · never gave a number where there was something to measure"
    name = printable(result.evaluator)
    return f"{name}: {result.honest} honest{unhandled} · {result.dishonest} dishonest{not_run}{never}"


def _table(result: IntegrityResult) -> Table:
    styles = {True: "green", False: "red", None: "dim"}
    rows: list[list[str | Cell]] = [
        [
            *(case.title, case.returned, case.returned_on_wrong or ""),
            Cell(printable(case.opinion), styles[case.is_honest]),
            case.why,
        ]
        for case in result.cases
    ]
    return Table(left(*_HEADS, wrap="anywhere"), rows, _head(result))


def _plain(text: str) -> str:
    """Text that ends no cell and opens no tag; lists and numbers stay as the evaluator wrote them."""
    return printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
