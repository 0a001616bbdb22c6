"""How unevenly a total is spread: whether a few pages make most of the errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def gini(values: ArrayLike) -> float | None:
    """Gini coefficient: 0 when all values are equal, (n - 1) / n when one of n holds everything.

    On ascending values x_1 ... x_n: 2 sum(i x_i) / (n sum(x)) - (n + 1) / n, as in Picarones. Undefined without values
    and when they add up to 0.

    >>> gini([0, 0, 0, 1])
    0.75
    """
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1 or not np.all((given >= 0) & (given < np.inf)):
        raise ValueError(f"shares of a total need one list of finite numbers, 0 or more; found {given}")
    ascending = np.sort(given)  # first of all: the order given must not show even in the last digit of the sum
    count, total = len(ascending), float(ascending.sum())
    if total == 0:
        return None
    weighted = float(np.arange(1, count + 1) @ ascending)
    return 2 * weighted / (count * total) - (count + 1) / count
