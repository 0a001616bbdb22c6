"""A transcripts run in the form that a user asked for."""

from __future__ import annotations

import csv
import io
import shutil
import sys
from typing import TYPE_CHECKING

import msgspec

from hallumeter.records import PageRow
from hallumeter.text.printable import printable

from .markdown import pages_markdown
from .terminal import pages_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hallumeter.records import Summary

_FIELDS = PageRow.__struct_fields__


def transcripts_text(summary: Summary, pages: Iterable[PageRow], form: str) -> str:
    """Engines and pages as a ``table`` for the terminal, ``json``, ``markdown`` or ``csv``.

    JSON is the summary with a list of pages added; CSV is the table of pages alone.
    """
    if form == "json":
        whole = {**msgspec.to_builtins(summary), "pages": [msgspec.to_builtins(row) for row in pages]}
        return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n"
    if form == "markdown":
        return pages_markdown(summary, pages)
    if form == "csv":
        return _csv_text(pages)
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else None
    return pages_table(summary, pages, width=width, has_color=is_terminal)


def _csv_text(pages: Iterable[PageRow]) -> str:
    """One row per page and engine; numbers unrounded, empty where not known, names safe to print."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_FIELDS)
    writer.writerows([_cell(getattr(row, name)) for name in _FIELDS] for row in pages)
    return stream.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return printable(value) if isinstance(value, str) else value
