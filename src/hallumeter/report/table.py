"""One table for every form: written for a terminal, as Markdown or as CSV.

Modules that show numbers build a `Table`, and never a string with bars in it. Texts of a table may come from files:
every renderer makes them safe for its reader.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from msgspec import Struct

from hallumeter.formats.delimited import csv_text
from hallumeter.text.normalize import one_line, printable, printable_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import Console
    from rich.text import Text

PIPE_WIDTH = 80
"""Columns used when nobody says how many there are."""
LEAST_WIDTH = 40
"""Columns that are filled whatever a terminal says: a window of a few columns cannot be read anyway."""
_ENDLESS = 10_000
_LEAST_PROSE = 14
"""Columns below which a column of sentences is a ladder of single words."""
_STEP = 4
"""How far a line goes in that continues another which leaves no room below its last column."""


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
    """A line of text beside tables in a terminal: one text, or pieces with a style each.

    It is broken between words. What follows the first line is indented as that is; with `hang`, as what stands after
    so many columns.
    """

    text: str | tuple[tuple[str, str], ...] = ""
    style: str = ""
    hang: int | None = None
    is_drawing: bool = False
    """Whether it is a line of a drawing, which is cut rather than broken."""


def left(*headings: str, **how: Any) -> list[Column]:
    """Columns of texts."""
    return [Column(heading, **how) for heading in headings]


def right(*headings: str, **how: Any) -> list[Column]:
    """Columns of numbers."""
    return [Column(heading, is_right=True, **how) for heading in headings]


class TerminalWidth(TypedDict):
    """How tables are printed."""

    width: int
    has_color: bool


def terminal_width() -> TerminalWidth:
    """The columns that `COLUMNS` or the terminal says, 80 in a pipe; and colour, which a pipe does not get."""
    is_terminal = sys.stdout.isatty()
    is_told = is_terminal or os.environ.get("COLUMNS", "").isdecimal()
    width = shutil.get_terminal_size().columns if is_told else PIPE_WIDTH
    return {"width": max(width, LEAST_WIDTH), "has_color": is_terminal}


def terminal(parts: Iterable[Table | Line], *, width: int | None = None, has_color: bool = False) -> str:
    """Tables and lines for a terminal, readable in a pipe as well; no line is wider than `width`.

    A table that is too wide for it is written as a list: the first cell of a row, and below it the others with their
    headings. Nothing is cut.
    """
    stream = io.StringIO()
    console = plain_console(stream, width=width, has_color=has_color)
    for part in parts:
        if isinstance(part, Table):
            _print_table(console, part)
        else:
            _print_line(console, part)
    return trimmed_text(stream)


def plain_console(stream: io.StringIO, *, width: int | None, has_color: bool) -> Console:
    """A console that prints tables, and names and texts as they are."""
    from rich.console import Console

    return Console(
        file=stream,
        width=width or terminal_width()["width"],
        force_terminal=has_color,
        no_color=not has_color,
        highlight=False,
        markup=False,  # square brackets and colons in names are only that
        emoji=False,
    )


def trimmed_text(stream: io.StringIO) -> str:
    """What was printed, without the spaces with which tables fill their lines; at most one empty line in a row."""
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    kept = [line for place, line in enumerate(lines) if line or (place and lines[place - 1])]
    return "\n".join(kept).rstrip("\n") + "\n"


def _print_table(console: Console, table: Table) -> None:
    from rich import table as rich_table
    from rich.box import SIMPLE_HEAD
    from rich.measure import Measurement

    printed = rich_table.Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="")
    for place, column in enumerate(table.columns):
        cells = [_lines(row[place]) for row in table.rows if row]
        printed.add_column(
            printable(column.heading),
            justify="right" if column.is_right else "left",
            no_wrap=column.wrap == "never",
            overflow="fold",
            min_width=column.min_width or _least_width(column, cells),
            max_width=column.max_width,
        )
    for row in table.rows:
        printed.add_row(*map(_cell, row)) if row else printed.add_section()
    if table.title:
        _print_line(console, Line(table.title, "bold"))
    # Measured as if there were all the room in the world: in less, a table says that it fits, and cuts its cells.
    needed = Measurement.get(console, console.options.update(max_width=_ENDLESS), printed)
    if needed.minimum <= console.width:
        console.print(printed)
    else:
        _print_stacked(console, table)
    console.print()


def _least_width(column: Column, cells: Sequence[str]) -> int | None:
    """The width without which a column would be cut, or could not be read."""
    from rich.cells import cell_len

    longest = max(
        (cell_len(line) for cell in (*cells, printable(column.heading)) for line in cell.splitlines()), default=0
    )
    if column.wrap == "never":
        return longest or None
    return min(longest, _LEAST_PROSE, column.max_width or _LEAST_PROSE) or None


def _cell(cell: str | Cell) -> Text:
    from rich.text import Text

    return Text(_lines(cell), cell.style if isinstance(cell, Cell) else "")


def _lines(cell: str | Cell) -> str:
    return printable_lines(cell.text) if isinstance(cell, Cell) else printable(cell)


def _print_stacked(console: Console, table: Table) -> None:
    """Write a table as a list: each row under its first cell, with the headings beside the other cells."""
    headings = [printable(column.heading) for column in table.columns]
    room = max(map(len, headings[1:]), default=0)
    for row in table.rows:
        if not row:
            console.print()
            continue
        _print_line(console, Line(_lines(row[0]) or headings[0], "bold"))
        for heading, cell in zip(headings[1:], row[1:], strict=True):
            text, style = _lines(cell), cell.style if isinstance(cell, Cell) else ""
            if text.strip():
                key = f"  {heading:<{room}}  " if room else "  "
                _print_line(console, Line(((key, ""), (one_line(text), style)), hang=len(key)))


def _print_line(console: Console, line: Line) -> None:
    from rich.text import Text

    pieces = ((line.text, line.style),) if isinstance(line.text, str) else line.text
    text = Text()
    for piece, style in pieces:
        text.append(printable(piece), style)
    if line.is_drawing:
        console.print(text, no_wrap=True, overflow="crop")
        return
    hang = _hang(text.plain) if line.hang is None else line.hang
    before, indent = hang, hang
    if console.width - hang < _LEAST_PROSE:  # too deep for what follows to be read
        before, indent = 0, _hang(text.plain) + _STEP
    begin, *others = text[before:].wrap(console, console.width - indent, overflow="fold") or [Text()]
    for place, each in enumerate((begin, *others)):
        each.rstrip()
        shown = (text[:before] if place == 0 else Text(" " * indent)).append_text(each)
        console.print(shown, no_wrap=True, overflow="ignore", crop=False)


def _hang(text: str) -> int:
    """How far a text is indented, with the sign of an item of a list."""
    item = text.lstrip(" ")
    return len(text) - len(item) + (2 if item.startswith("- ") else 0)


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
