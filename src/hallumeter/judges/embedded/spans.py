"""The part of a claim that is unsupported, from what is said of its tokens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def best_stretch(weights: NDArray[np.floating]) -> tuple[int, int] | None:
    """First and one past the last place of the stretch with the largest sum; None when no weight is above zero.

    >>> best_stretch(np.array([-1.0, 2.0, -0.5, 1.0, -3.0, 1.5]))
    (1, 4)
    """
    best = 0.0
    found: tuple[int, int] | None = None
    total, first = 0.0, 0
    for place, weight in enumerate(weights.tolist()):
        if total <= 0.0:
            total, first = 0.0, place
        total += weight
        if total > best:
            best, found = total, (first, place + 1)
    return found
