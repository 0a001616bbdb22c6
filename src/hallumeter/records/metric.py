"""What is known about a metric: how to compute it, how to read it, and what it does not tell."""

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

from .ranking import Direction

IntervalKind = Literal["cluster_bootstrap", "wilson", "pattern_bootstrap"]


class Metric(Struct, frozen=True, kw_only=True):
    """One row of the catalog; its words are filled in from the data files of its instrument."""

    id: str
    """The name in files and on the command line."""
    alias: str = ""
    """The name in the literature and in tables."""
    name: str = ""
    reads: str
    """Which columns of its instrument it works on: `labels` are LabelCounts, `pages` PageColumns, and so on."""
    compute: Callable[..., Any]
    """From the columns it reads to `Rates` (when poolable) or to a statistic."""
    resample: Callable[..., Any] | None = None
    """The same statistic for many resamples at once, where its interval needs that."""
    direction: Direction
    """Which way is better."""
    range: tuple[float, float | None]
    """Smallest and largest possible value; None when there is no largest."""
    undefined_when: str = ""
    is_poolable: bool = False
    """Whether it returns rates, so that two halves pooled equal the whole."""
    interval: IntervalKind | None = None
    is_widened_by_claimless: bool = False
    """Whether a response without a claim could have been either way, which widens the bounds."""
    settings: tuple[tuple[str, str], ...] = ()
    """What its signature states beside the judge."""
    question: str = ""
    """The question that it answers."""
    formula: str = ""
    example: str = ""
    """A calculation by hand."""
    caution: str = ""
    """What it does not tell."""
    source: str = ""
