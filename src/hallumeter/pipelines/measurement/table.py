"""Verdicts of a run as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from .coding import MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Distributions(Struct, frozen=True):
    """What one verdict row says about probabilities."""

    row: int
    probabilities: tuple[float, ...]
    drawn: tuple[tuple[float, ...], ...]
    """The samples to decompose; the distribution itself when there were fewer than two."""


class Table(Struct, frozen=True, eq=False):
    """All rows of a run; a row is a verdict on a claim, or a response on which there is none."""

    records: NDArray[np.int64]
    models: NDArray[np.int64]
    judges: NDArray[np.int64]
    labels: NDArray[np.int64]
    """Label codes; -1 for a response without a verdict."""
    claims: NDArray[np.int64]
    """Hashes of the claim ids."""
    claim_keys: NDArray[np.int64]
    """What the claims say, as hashes or as codes; 0 where the text or the model is not known."""
    questions: NDArray[np.int64]
    answerable: NDArray[np.int8]
    """1 answerable, 0 not, -1 not known; known only on rows that carry a response."""
    abstained: NDArray[np.bool_]
    fields: dict[str, NDArray[np.int64]]
    """Codes of the further fields that were asked for."""
    distributions: tuple[Distributions, ...]
    record_names: tuple[str, ...]
    model_names: tuple[str, ...]
    judge_names: tuple[str, ...]
    field_names: dict[str, tuple[str, ...]]
    claim_texts: tuple[str, ...]
    """What the claims say, by their key less one; empty unless it was asked for."""
    places: tuple[tuple[str, int], ...]
    """Where each batch came from: the file's name and how many rows."""
    lines: NDArray[np.int64]


class GrowingColumns:
    """Columns that arrive in parts; a column that a part lacks costs nothing and is filled at the end."""

    def __init__(self) -> None:
        self._parts: dict[str, list[tuple[int, NDArray[np.int64]]]] = {}
        self.rows = 0

    def append(self, size: int, columns: dict[str, NDArray[np.int64]]) -> None:
        """Add rows."""
        for name, column in columns.items():
            self._parts.setdefault(name, []).append((self.rows, column))
        self.rows += size

    def column(self, name: str, fill: int = MISSING) -> NDArray[np.int64]:
        """A whole column, with `fill` where it was not given."""
        parts = self._parts.get(name, [])
        if sum(len(part) for _, part in parts) == self.rows and parts:
            return np.concatenate([part for _, part in parts])
        whole = np.full(self.rows, fill, dtype=np.int64)
        for start, part in parts:
            whole[start : start + len(part)] = part
        return whole
