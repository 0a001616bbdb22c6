"""Engines compared on the same pages."""

from typing import Literal

from msgspec import Struct

Direction = Literal["lower", "higher", "none"]
"""Which way is better."""


class RankedEngine(Struct, frozen=True):
    """An engine and its mean rank over the pages that every engine has read; 1 is best."""

    engine: str
    mean_rank: float


class EnginePair(Struct, frozen=True):
    """Two engines on the pages that both have read."""

    first: str
    second: str
    pages: int
    difference: float | None
    """Typical difference of the metric on a page, first minus second (Hodges-Lehmann); None without a difference."""
    p_value: float | None
    """Wilcoxon's signed-rank test, two-sided; None when no page differs."""
    adjusted_p_value: float | None
    """The same after Holm's correction over all pairs."""


class Ranking(Struct, frozen=True):
    """Which engines differ: Friedman's test over all, Nemenyi's critical difference, Wilcoxon's test for each pair."""

    metric: str
    pages: int
    """Pages that every engine has read."""
    dropped: int
    """Pages that some engine lacks; they take part only in pairs."""
    engines: tuple[RankedEngine, ...]
    """Best first."""
    statistic: float | None
    """Friedman's, corrected for ties."""
    p_value: float | None
    critical_difference: float | None
    """Mean ranks that lie further apart than this differ (Nemenyi, 5 %)."""
    groups: tuple[tuple[str, ...], ...]
    """Largest sets of engines that do not differ from each other."""
    pairs: tuple[EnginePair, ...]
    undefined: str | None = None
    """Why there is no test; None when there is one."""
    direction: Direction = "lower"
    """Which way the metric is better."""
