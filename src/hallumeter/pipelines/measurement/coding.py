"""Names as numbers, so that a million rows can be counted without touching a million texts again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hallumeter.formats import Coded
from hallumeter.records import Label
from hallumeter.records.columns import FAILED_CODE, LABEL_CODES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hallumeter.formats import Column

MISSING = -1
"""Code of a value that is not known."""

LABEL_ALIASES = {
    "SUPPORTS": Label.SUPPORTED,
    "ENTAILMENT": Label.SUPPORTED,
    "ENTAILED": Label.SUPPORTED,
    "REFUTES": Label.REFUTED,
    "CONTRADICTION": Label.REFUTED,
    "CONTRADICTED": Label.REFUTED,
    "NEI": Label.NOT_ENOUGH_INFO,
    "NEUTRAL": Label.NOT_ENOUGH_INFO,
    "UNVERIFIABLE": Label.NOT_ENOUGH_INFO,
    "UNKNOWN": Label.NOT_ENOUGH_INFO,
}
"""What other tools call the labels, in capitals with underscores."""


class NameIndex(dict[object, int]):
    """Numbers names in order of first appearance; a missing or empty name is -1."""

    def __init__(self) -> None:
        super().__init__({None: MISSING, "": MISSING})
        self.names: list[str] = []

    def __missing__(self, name: object) -> int:
        if isinstance(name, str):
            code = len(self.names)
            self.names.append(name)
        else:
            code = self[_as_text(name)]
        self[name] = code
        return code

    def encode(self, column: Column) -> NDArray[np.int64]:
        """Codes of a whole column."""
        if isinstance(column, Coded):
            return self.encode(column.values)[column.codes]
        try:
            return np.fromiter(map(self.__getitem__, column), np.int64, len(column))
        except TypeError:  # a list or an object in a field used for grouping
            return self.encode([value if isinstance(value, str) else _as_text(value) for value in column])


class LabelIndex(dict[object, int]):
    """Codes of labels as users spell them; -1 when missing, the code of a failure when unknown."""

    def __init__(self) -> None:
        super().__init__({label.value: code for label, code in LABEL_CODES.items()})
        self[None] = self[""] = MISSING
        self.aliases: dict[str, str] = {}

    def __missing__(self, name: object) -> int:
        spelled = "_".join(str(name).replace("-", " ").replace("_", " ").upper().split())
        alias = LABEL_ALIASES.get(spelled)
        code = LABEL_CODES[alias] if alias else self[spelled] if spelled in self and spelled != name else FAILED_CODE
        if alias:
            self.aliases[str(name)] = alias.value
        self[name] = code
        return code

    def encode(self, column: Column) -> NDArray[np.int64]:
        """Codes of a whole column."""
        if isinstance(column, Coded):
            return self.encode(column.values)[column.codes]
        return np.fromiter(map(self.__getitem__, column), np.int64, len(column))


def hashes(column: Column) -> NDArray[np.int64]:
    """A 64-bit hash per value, equal for equal texts within one run; the missing value hashes like None.

    Ids of claims are only ever compared, so their hashes stand in for them: a hundred million texts need not stay in
    memory. The chance that two of a million differing ids collide is one in forty million.
    """
    if isinstance(column, Coded):
        return hashes(column.values)[column.codes]
    if not set(map(type, column)) <= {str, type(None)}:
        column = [value if value is None or isinstance(value, str) else _as_text(value) for value in column]
    return np.fromiter(map(hash, column), np.int64, len(column))


def is_missing(column: Column | None, size: int) -> NDArray[np.bool_]:
    """Which rows of a column have no value."""
    if column is None:
        return np.ones(size, dtype=bool)
    if isinstance(column, Coded):
        return is_missing(column.values, len(column.values))[column.codes]
    if None not in column and "" not in column:
        return np.zeros(size, dtype=bool)
    return np.fromiter((value is None or value == "" for value in column), bool, size)


def first_appearance_order(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number keys in order of first appearance: the row of each first appearance, and the number of every row."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order].astype(np.int64), rank[inverse].astype(np.int64)


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def texts_of(column: Column) -> Sequence[object]:
    """The values of a column row by row."""
    return column.expanded() if isinstance(column, Coded) else column
