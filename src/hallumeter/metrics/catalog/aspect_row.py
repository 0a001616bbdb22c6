"""A row of the catalog for a metric over scorecards of aspects."""

from __future__ import annotations

from functools import partial
from typing import Any

from hallumeter.metrics.aspects.rates import rate_of

from .metric import Metric

AGENTS = "the Korean ABSA agents"
OURS = "hallumeter"


def aspect_rate(metric_id: str, count: str, total: str, **told: Any) -> Metric:
    """A metric that divides one count of scorecards by another; `told` are the other fields of its row.

    Unless told otherwise it is a share, less of it is better, and it is known by its id.
    """
    known: dict[str, Any] = {"alias": metric_id, "direction": "lower", "range": (0, 1), "source": AGENTS}
    return Metric(
        id=metric_id,
        reads="aspects",
        compute=partial(rate_of, count=count, total=total),
        is_poolable=True,
        interval="cluster_bootstrap",
        **(known | told),
    )
