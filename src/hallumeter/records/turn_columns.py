"""Turns of dialogues as columns: what the arithmetic of the clinical metrics works on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from .rate import Rate, Rates

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


class TurnRates(Struct, frozen=True):
    """What one answer reaches, each as two sums; a total of 0 is undefined."""

    factuality: Rate
    """Weight of the mentions that are no inventions, of all mentions."""
    penalty: Rate
    """Weight of the safety rules that are violated, of all that apply."""
    utilisation: Rate
    """Weight of the required facts that are used, by how plainly, of all that are required and known."""
    slots_used: Rate
    """Required facts that are used at all, of all that are required and known."""
    consistency: Rate
    """Statements that contradict nothing earlier, of all that can be compared; undefined below two."""
    actionability: Rate
    """Elements found, of all that the turn must include."""
    overall: Rate
    """Weighted sum of the parts of the overall score that are there, of their weights."""


class TurnColumns(Struct, frozen=True, eq=False):
    """The rates of many answers, one row each.

    >>> one = TurnRates(Rate(6, 7), Rate(0, 0), Rate(2, 4), Rate(2, 3), Rate(0, 0), Rate(0, 0), Rate(0, 0))
    >>> TurnColumns.of([one]).column("factuality").value
    0.8571428571428571
    """

    table: NDArray[np.float64]
    """For each rate of an answer a column of counts and one of totals."""

    @classmethod
    def of(cls, turns: Iterable[TurnRates]) -> TurnColumns:
        """Columns from answers."""
        names = TurnRates.__struct_fields__
        rows = [[number for name in names for number in _pair(getattr(turn, name))] for turn in turns]
        return cls(np.array(rows, dtype=np.float64).reshape(-1, 2 * len(names)))

    def column(self, name: str) -> Rates:
        """One rate of all answers."""
        place = 2 * TurnRates.__struct_fields__.index(name)
        return Rates(self.table[:, place], self.table[:, place + 1])

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> TurnColumns:
        return TurnColumns(self.table[rows])


def _pair(rate: Rate) -> tuple[float, float]:
    return rate.count, rate.total
