"""What a rate could be, whatever the unmeasured part turns out to be."""

from __future__ import annotations

import math

from .intervals import check_proportion


def manski_bounds(count: float, total: float, unmeasured: float) -> tuple[float, float] | None:
    """Best and worst case of a rate when some units were not measured (Manski 1989).

    From count / (total + unmeasured), as if none of the unmeasured counted, to
    (count + unmeasured) / (total + unmeasured), as if all did. No assumption is made on why they are missing, and
    chance is left out: this is not an interval. Undefined when there is nothing at all.

    >>> manski_bounds(3, 8, 2)
    (0.3, 0.5)
    >>> manski_bounds(0, 0, 5)
    (0.0, 1.0)
    """
    check_proportion(count, total)
    if not 0 <= unmeasured < math.inf:
        raise ValueError(f"the number of unmeasured units must be finite and not negative, found {unmeasured}")
    everything = total + unmeasured
    if everything == 0:
        return None
    return count / everything, (count + unmeasured) / everything


def mean_bounds(
    value_sum: float, measured: int, unmeasured: int, *, low: float, high: float
) -> tuple[float, float] | None:
    """Best and worst case of a mean when some values, each from low to high, were not measured.

    Undefined when there is nothing at all.

    >>> mean_bounds(1.5, 2, 2, low=0, high=1)
    (0.375, 0.875)
    """
    width = high - low
    # Sums of shares near the ends may leave them by a rounding error.
    count = min(max((value_sum - measured * low) / width, 0.0), float(measured))
    ends = manski_bounds(count, measured, unmeasured)
    return None if ends is None else (low + width * ends[0], low + width * ends[1])
