"""Whether probabilities hold what they promise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def expected_calibration_error(counts: ArrayLike, totals: ArrayLike, probability_sums: ArrayLike) -> float | None:
    """How far probabilities lie from what came true, on average (Naeini, Cooper and Hauskrecht 2015).

    The items are put into bins by their probability; `counts` are those of each bin that came true, `totals` all of
    them, `probability_sums` their probabilities added up. The distance between the share that came true and the mean
    probability is weighted with the size of the bin: sum |counts - probability_sums| / sum totals. Undefined when all
    bins are empty.

    >>> expected_calibration_error([0, 8], [10, 10], [1.0, 9.0])
    0.1
    >>> expected_calibration_error([0], [0], [0]) is None
    True
    """
    true, items, promised = (np.asarray(values, dtype=np.float64) for values in (counts, totals, probability_sums))
    if not true.shape == items.shape == promised.shape or not np.all((true >= 0) & (true <= items)):
        raise ValueError("counts, totals and probability sums need one number per bin, with 0 <= count <= total")
    if not items.sum():
        return None
    return float(np.abs(true - promised).sum() / items.sum())
