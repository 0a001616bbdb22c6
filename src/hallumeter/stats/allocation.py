"""Where the next label says most: which stratum to draw it from, and how sure the rate will then be.

The rate over strata has the variance sum of W² s² / n, with W the share of the units, s² the variance of the truth and
n the labels of a stratum. One more label takes W² s² (1/n - 1/(n+1)) away. Drawing where this is largest, again and
again, is the best allocation there is (Neyman 1934), rounded to whole labels.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from .ranks import chi_square_survival

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


# For how many units each labelled one stands, where some kinds of units were labelled more often than others.

UNEVEN = 0.01
"""Labels drawn alike from all strata look as uneven as that, or more, with this chance."""


class LabelWeights(Struct, frozen=True, eq=False):
    """Weights of units, by the strata in which they were labelled."""

    weights: NDArray[np.float64]
    """Of each unit, if it is labelled; 0 in a stratum without a label."""
    is_even: bool
    """Whether all strata may have been labelled alike; then every weight is 1."""


def label_weights(strata: NDArray[np.int64], is_labelled: NDArray[np.bool_]) -> LabelWeights:
    """Units of a stratum for each labelled one of it; all 1 where the strata do not differ by more than chance.

    Whether they do is tally by a chi-square test at 1 %. It looks at who was labelled, not at what is true, so what
    follows from the labels stays valid.

    >>> strata = np.repeat([0, 1], [90, 10])
    >>> found = label_weights(strata, np.arange(100) >= 80)  # a ninth of the first, all of the second
    >>> sorted(set(found.weights.tolist())), found.is_even
    ([1.0, 9.0], False)
    """
    _, places, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    labelled = np.bincount(places[is_labelled], minlength=len(sizes))
    if _is_even(labelled, sizes):
        return LabelWeights(np.ones(len(strata)), is_even=True)
    with np.errstate(divide="ignore"):
        worth = np.where(labelled > 0, sizes / labelled, 0.0)
    return LabelWeights(worth[places], is_even=False)


def _is_even(labelled: NDArray[np.int64], sizes: NDArray[np.int64]) -> bool:
    share = labelled.sum() / max(1, sizes.sum())
    if len(sizes) < 2 or share in (0.0, 1.0):
        return True
    apart = (labelled - share * sizes) ** 2 / (share * (1 - share) * sizes)
    return chi_square_survival(float(apart.sum()), len(sizes) - 1) > UNEVEN


FEWEST_LABELS = 2
"""Every stratum gets so many before any gets more: the spread of a single label is not known."""
PRIOR_WEIGHT = 6.0
"""How many labels the judge's own opinion is worth. Far fewer would let the first labels decide where the next ones
are drawn, which pulls low rates down; see benchmarks/label_allocation.py."""
LEAST_DOUBT = 0.1
"""No judge is taken to err more seldom than this before there are labels."""


class LabelTally(Struct, frozen=True, eq=False):
    """What is known of each stratum; one row per stratum."""

    sizes: IntArray
    """Units."""
    labelled: IntArray
    """Units with a truth."""
    true: FloatArray
    """What these add up to."""
    expected: FloatArray
    """The share that is true, as the judge has it."""
    left: IntArray
    """Units that can still be asked for."""

    @property
    def shares(self) -> FloatArray:
        """What each stratum weighs in the rate."""
        found: FloatArray = self.sizes / self.sizes.sum()
        return found

    @property
    def spreads(self) -> FloatArray:
        """The variance of the truth in each stratum, as the labels and, for a little, the judge have it.

        >>> one = np.array([10])
        >>> LabelTally(one, one * 0, np.zeros(1), np.array([0.5]), one).spreads.tolist()
        [0.25]
        """
        judged = np.clip(self.expected, LEAST_DOUBT, 1 - LEAST_DOUBT)
        rates = (self.true + PRIOR_WEIGHT * judged) / (self.labelled + PRIOR_WEIGHT)
        found: FloatArray = rates * (1 - rates)
        return found


def next_stratum(tally: LabelTally) -> int | None:
    """The stratum from which one more label makes the rate most certain; None when nothing is left to be asked.

    A stratum with fewer than two labels comes first.

    >>> sizes = np.array([900, 100])
    >>> tally = LabelTally(sizes, np.array([5, 5]), np.array([0.0, 2.0]), np.array([0.1, 0.5]), sizes - 5)
    >>> next_stratum(tally)  # the first is more certain, but much larger
    0
    """
    return _next(tally, tally.labelled, tally.left)


def expected_variances(tally: LabelTally, more: int) -> list[float]:
    """The variance of the rate now, and after each of so many more labels drawn one by one from `next_stratum`.

    Shorter when fewer are left to be asked. Every stratum is taken to go on as it began, and one without a label
    counts as if it had one.

    >>> sizes = np.array([50, 50])
    >>> tally = LabelTally(sizes, np.array([2, 2]), np.ones(2), np.full(2, 0.5), sizes - 2)
    >>> [round(variance, 4) for variance in expected_variances(tally, 2)]  # a third label in one, then in both
    [0.0625, 0.0521, 0.0417]
    """
    labelled, left = tally.labelled.copy(), tally.left.copy()
    weights = tally.shares**2 * tally.spreads
    found: list[float] = []
    while True:
        found.append(float((weights / np.maximum(labelled, 1)).sum()))
        stratum = _next(tally, labelled, left) if len(found) <= more else None
        if stratum is None:
            return found
        labelled[stratum] += 1
        left[stratum] -= 1


def _next(tally: LabelTally, labelled: IntArray, left: IntArray) -> int | None:
    is_open = left > 0
    if not is_open.any():
        return None
    is_bare = is_open & (labelled < FEWEST_LABELS)
    if is_bare.any():
        # Of those with the fewest labels the largest.
        return int(np.lexsort((-tally.sizes, labelled, ~is_bare))[0])
    gains = tally.shares**2 * tally.spreads / (labelled * (labelled + 1.0) + ~is_open)
    return int(np.where(is_open, gains, -1.0).argmax())
