"""From columns of counts to rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from hallumeter.records import Rates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hallumeter.records.aspects.columns import CaseColumns


class CountColumns(Protocol):
    """Counts of scorecards, a column for each of `ASPECT_COUNTS`: `AspectColumns`, or whatever keeps more of them."""

    def column(self, name: str) -> NDArray[np.float64]:
        """One count of all scorecards."""
        ...


RESOLUTION = ("risks_before", "risks_after")
"""The counts that risk resolution is made from."""


def rate_of(cards: CountColumns, *, count: str, total: str) -> Rates:
    """One count over another, a rate for each scorecard."""
    return Rates(cards.column(count), cards.column(total))


def case_rate(cases: CaseColumns, *, same: str, total: str) -> Rates:
    """Of the sentences that were run several times, those that stay the same."""
    return Rates(getattr(cases, same), getattr(cases, total))


def case_difference(cases: CaseColumns, *, same: str, total: str) -> Rates:
    """Of the sentences that were run several times, those that do not stay the same."""
    return Rates(getattr(cases, total) - getattr(cases, same), getattr(cases, total))


def risk_resolution(cards: CountColumns) -> float | None:
    """By how much there are fewer risks after stage 2 than before, as a share of those before.

    Risks that appear where there was none count against it, so that it may be negative.
    """
    sums = np.array([[cards.column(name).sum() for name in RESOLUTION]])
    value = float(resolution_of_sums(sums)[0])
    return None if np.isnan(value) else value


def resolution_of_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for many sums at once, NaN without a risk before.

    >>> resolution_of_sums(np.array([[4.0, 1.0], [0.0, 2.0], [2.0, 3.0]])).tolist()
    [0.75, nan, -0.5]
    """
    before, after = sums[:, 0], sums[:, 1]
    found = np.full(len(sums), np.nan)
    np.divide(before - after, before, out=found, where=before > 0)
    return found
