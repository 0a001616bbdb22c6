"""For how many units each labelled one stands, where some kinds of units were labelled more often than others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from hallumeter.stats.ranks import chi_square_survival

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

    Whether they do is told by a chi-square test at 1 %. It looks at who was labelled, not at what is true, so what
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
