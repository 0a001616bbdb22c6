"""How scores of another tool are read: their ranges as a run keeps them, and their rows in place of the catalog's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hallumeter.metrics.catalog import METRICS_BY_ID, Metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hallumeter.formats.foreign import ScoreKind
    from hallumeter.records import Direction, Manifest

RANGES = "ranges"
"""The setting of a run that has the smallest and the largest value of every score that has both."""


def range_lines(kinds: Mapping[str, ScoreKind]) -> list[str]:
    """The ranges that are known, as a manifest keeps them."""
    return [
        f"{metric} {kind.low:g} {kind.high:g}"
        for metric, kind in kinds.items()
        if kind.low is not None and kind.high is not None
    ]


def ranges_of(manifest: Manifest) -> dict[str, tuple[float, float]]:
    """The ranges that a run kept; a line that is none is passed over."""
    kept = manifest.settings.get(RANGES)
    found = {}
    for line in kept if isinstance(kept, list) else ():
        metric, *ends = line.rsplit(" ", 2)
        try:
            low, high = map(float, ends)
        except ValueError:
            continue
        if math.isfinite(low) and math.isfinite(high) and low < high:
            found[metric] = (low, high)
    return found


def metric_named(name: str, *, direction: Direction, low: float | None = None, high: float | None = None) -> Metric:
    """The row of the catalog, or one like it for a score that is not in it."""
    return METRICS_BY_ID.get(name) or Metric(
        id=name,
        alias=name,
        name=name,
        reads="labels",
        compute=lambda rates: rates,
        direction=direction,
        range=(-math.inf if low is None else low, high),
        undefined_when="no record has a score that was measured",
        is_poolable=True,
        interval="cluster_bootstrap",
        question="",
        formula="",
        example="",
        caution="",
        source="",
    )
