"""Rows on their way from a file: columns of a few thousand rows at a time, and what was wrong with the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


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
