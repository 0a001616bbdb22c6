"""How a panel of judges would agree without one of them: which judge stands apart, and whether that is chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from hallumeter.records import Rates

from .agreement import Agreement, panel_krippendorff_alpha, resampled_alpha

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hallumeter.records import Ratings

FEWEST_JUDGES = 3
"""With two judges, nobody is left to agree with once one is gone."""


def alpha_without(ratings: Ratings, judge: int) -> Agreement:
    """Krippendorff's alpha of the other judges, over the claims that at least two of them decided.

    Undefined with fewer than three judges, and where the alpha of the others is.
    """
    if len(ratings.judges) < FEWEST_JUDGES:
        return Agreement(None, f"needs at least three judges, found {len(ratings.judges)}")
    return panel_krippendorff_alpha(_others(ratings, judge))


def alpha_gain_without(ratings: Ratings, judge: int) -> Agreement:
    """How much higher alpha is without a judge: alpha of the others less alpha of all.

    Undefined when one of the two is. `claims` are those that two of the other judges decided.
    """
    whole, others = panel_krippendorff_alpha(ratings), alpha_without(ratings, judge)
    if whole.value is None or others.value is None:
        return Agreement(None, others.undefined or whole.undefined, claims=others.claims)
    return Agreement(others.value - whole.value, None, claims=others.claims)


def resampled_alpha_without(ratings: Ratings, weights: NDArray[np.float64], *, judge: int) -> NDArray[np.float64]:
    """Alpha of the other judges for many resamples at once: one row of weights over the patterns each."""
    return resampled_alpha(_others(ratings, judge), weights)


def resampled_alpha_gain(ratings: Ratings, weights: NDArray[np.float64], *, judge: int) -> NDArray[np.float64]:
    """The gain for many resamples at once; both alphas come from the same resample, so what they share cancels."""
    return resampled_alpha_without(ratings, weights, judge=judge) - resampled_alpha(ratings, weights)


def agreement_with_others(ratings: Ratings, judge: int) -> Rates:
    """Claims on which a judge says what most of the others say, of those on which it and they have decided.

    One rate per cluster of responses; one per claim when every claim stands alone. A claim on which the others are
    evenly split, or none of them decided, is left out.

    >>> from hallumeter.records import Ratings
    >>> votes = Ratings(np.array([[0, 0, 1], [1, 0, 0], [0, 0, 1]]), np.array([1, 1, 0]), ("a", "b", "c"))
    >>> agreement_with_others(votes, 0).pooled
    Rate(count=0.0, total=1.0)
    """
    votes = _others(ratings, judge).counts()
    is_first = votes == votes.max(axis=1, keepdims=True)
    own = ratings.patterns[:, judge]
    is_shared = (is_first.sum(axis=1) == 1) & (own >= 0)
    is_same = is_shared & (is_first.argmax(axis=1) == own)
    if ratings.clusters is None:
        times = ratings.multiplicities
        return Rates(np.repeat(is_same, times).astype(np.float64), np.repeat(is_shared, times).astype(np.float64))
    return Rates((ratings.clusters @ is_same).astype(np.float64), (ratings.clusters @ is_shared).astype(np.float64))


def _others(ratings: Ratings, judge: int) -> Ratings:
    """The votes of all judges but one; patterns that become equal are kept apart, which changes no statistic."""
    names = (*ratings.judges[:judge], *ratings.judges[judge + 1 :])
    return structs.replace(ratings, patterns=np.delete(ratings.patterns, judge, axis=1), judges=names)
