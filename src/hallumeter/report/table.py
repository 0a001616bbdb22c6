"""One table for every form: written for a terminal, as Markdown or as CSV.

Modules that show numbers build a `Table`, and never a string with bars in it. Texts of a table may come from files:
every renderer makes them safe for its reader.
"""

from __future__ import annotations

import io
import shutil
import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from msgspec import Struct

from hallumeter.formats.delimited import csv_text
from hallumeter.text.normalize import one_line, printable, printable_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import Console

PIPE_WIDTH = 140
"""Columns used when no terminal says how many it has."""


class Column(Struct, frozen=True):
    """The head of a column; `wrap` and the widths hold for a terminal alone."""

    heading: str
    is_right: bool = False
    wrap: Literal["never", "words", "anywhere"] = "never"
    min_width: int | None = None
    max_width: int | None = None


class Cell(Struct, frozen=True):
    """A cell that needs more than its text; line breaks of `text` are kept in a terminal."""

    text: str
    style: str = ""
    value: object = None
    """What CSV has instead of the text."""
    is_code: bool = False
    """Whether Markdown shows the text as code."""


class Table(Struct, frozen=True):
    """Columns and rows; an empty row parts the rows above it from those below."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[str | Cell]]
    title: str = ""


class Line(Struct, frozen=True):
    """A line of text beside tables in a terminal: one text, or pieces with a style each."""

    text: str | tuple[tuple[str, str], ...] = ""
    style: str = ""
    wrap: Literal["words", "ellipsis", "crop", "never"] = "words"


def left(*headings: str, **how: Any) -> list[Column]:
    """Columns of texts."""
    return [Column(heading, **how) for heading in headings]


def right(*headings: str, **how: Any) -> list[Column]:
    """Columns of numbers."""
    return [Column(heading, is_right=True, **how) for heading in headings]


class TerminalWidth(TypedDict):
    """How tables are printed."""

    width: int | None
    has_color: bool


def terminal_width(narrowest: int = 100) -> TerminalWidth:
    """The width of the terminal, and colour; neither in a pipe. Tables that adapt take any width: `narrowest` 0."""
    is_terminal = sys.stdout.isatty()
    width = max(shutil.get_terminal_size().columns, narrowest) if is_terminal else None
    return {"width": width, "has_color": is_terminal}


def terminal(
    parts: Iterable[Table | Line], *, width: int | None = None, has_color: bool = False, is_trimmed: bool = True
) -> str:
    """Tables and lines for a terminal, readable in a pipe as well.

    `is_trimmed` takes away the spaces with which tables fill their lines.
    """
    stream = io.StringIO()
    console = plain_console(stream, width=width, has_color=has_color)
    for part in parts:
        if isinstance(part, Table):
            _print_table(console, part)
        else:
            _print_line(console, part)
    return trimmed_text(stream) if is_trimmed else stream.getvalue()


def plain_console(stream: io.StringIO, *, width: int | None, has_color: bool) -> Console:
    """A console that prints tables, and names and texts as they are."""
    from rich.console import Console

    return Console(
        file=stream,
        width=width or PIPE_WIDTH,
        force_terminal=has_color,
        no_color=not has_color,
        highlight=False,
        markup=False,  # square brackets and colons in names are only that
        emoji=False,
    )


def trimmed_text(stream: io.StringIO) -> str:
    """What was printed, without the spaces with which tables fill their lines."""
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _print_table(console: Console, table: Table) -> None:
    from rich import table as rich_table
    from rich.box import SIMPLE_HEAD
    from rich.text import Text

    printed = rich_table.Table(
        title=printable(table.title), title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False
    )
    for column in table.columns:
        printed.add_column(
            printable(column.heading),
            justify="right" if column.is_right else "left",
            no_wrap=column.wrap == "never",
            overflow="fold" if column.wrap == "anywhere" else "ellipsis",
            min_width=column.min_width,
            max_width=column.max_width,
        )
    for row in table.rows:
        cells = (Text(printable_lines(c.text), c.style) if isinstance(c, Cell) else printable(c) for c in row)
        printed.add_row(*cells) if row else printed.add_section()
    console.print(printed)


_LINE_WRAPS: dict[str, dict[str, Any]] = {
    "words": {},
    "ellipsis": {"no_wrap": True, "overflow": "ellipsis"},
    "crop": {"no_wrap": True, "overflow": "crop"},
    "never": {"soft_wrap": True},
}


def _print_line(console: Console, line: Line) -> None:
    from rich.text import Text

    pieces = ((line.text, line.style),) if isinstance(line.text, str) else line.text
    text = Text()
    for piece, style in pieces:
        text.append(printable(piece), style)
    console.print(text, **_LINE_WRAPS[line.wrap])


def markdown(table: Table, *, escape: Callable[[str], str] | None = None) -> Iterator[str]:
    r"""The lines of a Markdown table, its title aside; `escape` is for what Markdown would obey, `escaped` if None.

    >>> list(markdown(Table([*left("run"), *right("claims")], [["a|b", "7"]])))
    ['| run | claims |', '| --- | ---: |', '| a\\|b | 7 |']
    """
    written = escape or escaped
    yield _bars(written(column.heading) for column in table.columns)
    yield _bars("---:" if column.is_right else "---" for column in table.columns)
    for row in table.rows:
        yield _bars(
            (code(c.text) if c.is_code else written(c.text)) if isinstance(c, Cell) else written(c) for c in row
        )


def csv(table: Table) -> str:
    """The table as CSV: the headings, then the values of the cells."""
    rows = ([cell.value if isinstance(cell, Cell) else cell for cell in row] for row in table.rows)
    return csv_text([[column.heading for column in table.columns], *rows], is_printable=True)


def escaped(text: str) -> str:
    """Text that stays inside its cell and means nothing to a Markdown renderer."""
    plain = one_line(text.replace("\\", "\\\\"))
    for mark in "|<>[]`*_~":
        plain = plain.replace(mark, f"\\{mark}")
    return plain


def code(text: str) -> str:
    """Text as code in a cell: nothing can be escaped there but the bar, so what would end the code is replaced."""
    plain = one_line(text).replace("`", "'").replace("\\", "/").replace("|", "\\|")
    return f"`{plain}`"


def _bars(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
