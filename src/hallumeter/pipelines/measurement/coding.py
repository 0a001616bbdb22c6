"""Names as numbers, so that a million rows can be counted without touching a million texts again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hallumeter.formats import Coded, Numbers, expanded, label_of
from hallumeter.formats.labels import spelled
from hallumeter.records.columns import FAILED_CODE, LABEL_CODES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hallumeter.formats import Column

Codes: TypeAlias = "NDArray[np.signedinteger[Any]]"
"""Whole numbers that stand for names, kept as small as they fit: files of a hundred million rows go through here."""
LARGEST_DENSE = 1 << 26
"""Keys up to this number are counted by a table of flags rather than by sorting."""
MISSING = -1
"""Code of a value that is not known."""


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

    def encode(self, column: Column) -> Codes:
        """Codes of a whole column."""
        if isinstance(column, Coded):
            return self.encode(column.values)[column.codes]
        if isinstance(column, Numbers):
            return self.encode(column.expanded())
        if column and isinstance(column[0], str) and column[0] == column[-1] and column.count(column[0]) == len(column):
            return np.full(len(column), self[column[0]], dtype=np.int32)  # comparing is cheaper than looking up
        return np.fromiter(map(self.__getitem__, column), np.int32, len(column))


class FieldIndex(NameIndex):
    """Numbers the values of a field of any type by their texts, so that true and 1 are two values."""

    def encode(self, column: Column) -> Codes:
        """Codes of a whole column."""
        if isinstance(column, Coded):
            return self.encode(column.values)[column.codes]
        values = expanded(column)
        if not set(map(type, values)) <= {str, type(None)}:
            values = [value if value is None or isinstance(value, str) else _as_text(value) for value in values]
        return super().encode(list(values))


class LabelIndex(dict[object, int]):
    """Codes of labels as users spell them; -1 when missing, the code of a failure when unknown."""

    def __init__(self) -> None:
        super().__init__({label.value: code for label, code in LABEL_CODES.items()})
        self[None] = self[""] = MISSING
        self.aliases: dict[str, str] = {}

    def __missing__(self, name: object) -> int:
        label = label_of(str(name))
        code = FAILED_CODE if label is None else LABEL_CODES[label]
        if label is not None and spelled(str(name)) != label.value:
            self.aliases[str(name)] = label.value
        self[name] = code
        return code

    def encode(self, column: Column) -> Codes:
        """Codes of a whole column."""
        if isinstance(column, Coded):
            return self.encode(column.values)[column.codes]
        values = expanded(column)
        return np.fromiter(map(self.__getitem__, values), np.int8, len(values))


NO_HASH = hash(None)
"""What stands for a missing id among hashes."""


def hashes(column: Column) -> NDArray[np.int64]:
    """A 64-bit hash per value, equal for equal texts within one run; NO_HASH for a missing or empty value.

    Ids of claims are only ever compared, so their hashes stand in for them: a hundred million texts need not stay in
    memory. The chance that two of a million differing ids collide is one in forty million.
    """
    if isinstance(column, Coded):
        return hashes(column.values)[column.codes]
    values = expanded(column)
    if not set(map(type, values)) <= {str, type(None)}:
        values = [value if value is None or isinstance(value, str) else _as_text(value) for value in values]
    found = np.fromiter(map(hash, values), np.int64, len(values))
    found[found == hash("")] = NO_HASH
    return found


def numbers_of(column: Column) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A column as numbers, and which rows have none."""
    if isinstance(column, Numbers):
        return column.values, column.missing
    values = expanded(column)
    numbers = np.array(values, dtype=np.float64)  # None becomes NaN
    is_nan = np.isnan(numbers)
    if not is_nan.any():
        return numbers, is_nan
    return numbers, np.fromiter((value is None for value in values), bool, len(values))


def dense_codes(keys: Codes) -> tuple[Codes, Codes]:
    """The distinct keys in order, and which of them each row has; without sorting when the keys are small numbers."""
    largest = int(keys.max(initial=0))
    if largest > LARGEST_DENSE or (len(keys) and keys.min() < 0):
        distinct, inverse = np.unique(keys, return_inverse=True)
        return distinct, inverse.astype(np.int32)
    is_used = np.zeros(largest + 1, dtype=bool)
    is_used[keys] = True
    rank = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(is_used), rank[keys]


def first_appearance_order(keys: Codes) -> tuple[Codes, Codes]:
    """Number keys in order of first appearance: the row of each first appearance, and the number of every row."""
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        in_order = np.arange(len(keys), dtype=np.int32)
        return in_order, in_order
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order].astype(np.int32), rank[inverse].astype(np.int32)


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def value_at(column: Column, row: int) -> object:
    """One value of a column."""
    if isinstance(column, list):
        return column[row]
    if isinstance(column, Coded):
        return column.values[column.codes[row]]
    return None if column.missing[row] else float(column.values[row])
