"""Rows on their way from a file: columns of a few thousand rows at a time, and what was wrong with the others."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

# What a decoder's error means for the person who wrote the file.

_WRONG_TYPE = re.compile(
    r"Expected `(?P<expected>.+?)`, got `(?P<found>.+?)`(?: - at `\$(?:\[\d+\])?\.?(?P<path>.*)`)?$"
)
_OTHER = re.compile(r"(?P<what>.+) - at `\$(?:\[\d+\])?\.?(?P<path>.*)`$")
TOO_DEEP = "nested too deeply; a row may hold lists within lists, but not hundreds of them"


def plain_message(error: Exception) -> str:
    """An error as one sentence: the field, what was expected there and what was found.

    >>> import msgspec
    >>> plain_message(msgspec.ValidationError("Expected `str | null`, got `int` - at `$.label`"))
    'label: expected text, found a whole number'
    """
    if isinstance(error, RecursionError):
        return TOO_DEEP
    text = str(error)
    found = _WRONG_TYPE.match(text)
    if found:
        expected, actual = _in_words(found["expected"]), _in_words(found["found"])
        return f"{found['path'] or 'row'}: expected {expected}, found {actual}"
    if "malformed" in text or "truncated" in text or "trailing" in text:
        reason = text.removeprefix("JSON is malformed: ").removesuffix(".")
        return f"not valid JSON ({reason}); write one object per line, and null for a value that is not known"
    other = _OTHER.match(text)
    return f"{other['path'].replace('[...]', '') or 'row'}: {other['what'].lower()}" if other else text


def _in_words(types: str) -> str:
    words: Mapping[str, str] = {
        "str": "text",
        "int": "a whole number",
        "float": "a number",
        "bool": "true or false",
        "array": "a list",
        "object": "an object",
        "null": "null",
    }
    names = [name for name in types.split(" | ") if name != "null" or types == "null"]
    return " or ".join(words.get(name, name) for name in names)


class Coded(Struct, frozen=True, eq=False):
    """A column of repeating values as its distinct values and, per row, which of them."""

    values: list[object]
    codes: NDArray[np.int64]

    def expanded(self) -> list[object]:
        """The column row by row."""
        values = self.values
        return [values[code] for code in self.codes.tolist()]

    def __len__(self) -> int:
        return len(self.codes)


class Numbers(Struct, frozen=True, eq=False):
    """A column of numbers, and which rows have none."""

    values: NDArray[np.float64]
    missing: NDArray[np.bool_]

    def expanded(self) -> list[object]:
        """The column row by row, None where there is no number."""
        return [
            None if is_missing else value
            for value, is_missing in zip(self.values.tolist(), self.missing.tolist(), strict=True)
        ]

    def __len__(self) -> int:
        return len(self.values)


Column = list[object] | Coded | Numbers


def expanded(column: Column) -> list[object]:
    """A column of any form row by row."""
    return column if isinstance(column, list) else column.expanded()


def _only(column: Column, rows: NDArray[np.int64]) -> Column:
    """Some rows of a column, in its own form."""
    if isinstance(column, Coded):
        return Coded(column.values, column.codes[rows])
    if isinstance(column, Numbers):
        return Numbers(column.values[rows], column.missing[rows])
    return [column[row] for row in rows.tolist()]


class Fault(Struct, frozen=True):
    """A row that could not be read, and why."""

    line: int
    code: str
    """What is wrong, in one word: ``bad_json``, ``wrong_type``."""
    message: str
    """Field, what was expected and what was found; the place is added by whoever knows the file's name."""


class Batch(Struct, frozen=True, eq=False):
    """Some rows of a file."""

    columns: dict[str, Column]
    """By hallumeter's own field names; a field that no row of the batch has is absent."""
    lines: Sequence[int]
    """The line, or row, of the file that each row stands on."""
    faults: tuple[Fault, ...] = ()
    aliases: dict[str, str] = field(default_factory=dict)
    """Names found in the file that stand for hallumeter's own."""
    notices: dict[str, int] = field(default_factory=dict)
    """What a reader must know of some rows, and of how many."""

    def without(self, lines: Container[int]) -> Batch:
        """The batch without the rows that stand on some lines."""
        return self.only(np.array([row for row, line in enumerate(self.lines) if line not in lines], dtype=np.int64))

    def only(self, rows: NDArray[np.int64]) -> Batch:
        """The batch with some of its rows."""
        columns = {name: _only(column, rows) for name, column in self.columns.items()}
        lines = [self.lines[row] for row in rows.tolist()]
        return Batch(columns, lines, self.faults, self.aliases, self.notices)
