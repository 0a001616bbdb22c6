"""Verdicts of a run as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from .coding import MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .coding import Codes


class Distributions(Struct, frozen=True):
    """What one verdict row says about probabilities."""

    row: int
    probabilities: tuple[float, ...]
    drawn: tuple[tuple[float, ...], ...]
    """The samples to decompose; the distribution itself when there were fewer than two."""


class Table(Struct, frozen=True, eq=False):
    """All rows of a run; a row is a verdict on a claim, or a response on which there is none."""

    records: Codes
    models: Codes
    judges: Codes
    labels: Codes
    """Label codes; -1 for a response without a verdict."""
    claims: Codes
    """Hashes of the claim ids."""
    claim_keys: Codes
    """What the claims say, as hashes or as codes; 0 where the text or the model is not known."""
    questions: Codes
    answerable: NDArray[np.int8]
    """1 answerable, 0 not, -1 not known; known only on rows that carry a response."""
    abstained: NDArray[np.bool_]
    fields: dict[str, Codes]
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
    lines: Codes
    response_names: dict[tuple[int, int], str] = {}
    """What responses are called in the run, by the codes of record and model; empty when it is not settled yet."""


class GrowingColumns:
    """Columns that arrive in parts; a column that a part lacks costs nothing and is filled at the end."""

    def __init__(self) -> None:
        self._parts: dict[str, list[tuple[int, Codes]]] = {}
        self.rows = 0

    def append(self, size: int, columns: dict[str, Codes]) -> None:
        """Add rows."""
        for name, column in columns.items():
            self._parts.setdefault(name, []).append((self.rows, column))
        self.rows += size

    def take(self, name: str, fill: int = MISSING) -> Codes:
        """Hand over a whole column, with `fill` where it was not given; its parts are forgotten."""
        parts = self._parts.pop(name, [])
        kind = parts[0][1].dtype if parts else np.dtype(np.int8)
        whole = np.full(self.rows, fill, dtype=kind)
        for start, part in parts:
            whole[start : start + len(part)] = part
        return whole
