"""How many claims are unsupported in expectation: the mean of the probabilities that a judge gives.

A share of flagged claims depends on where a judge draws its line. The mean of calibrated probabilities does not: when
claims with a probability of 0.3 are unsupported in 3 of 10 cases, the probabilities add up to the number of
unsupported claims, whichever of them are called so. How well a judge is calibrated was itself measured on finitely
many claims. Refits of the calibration on resampled claims, each a shift and a slope of the logit, tell how far that
could be off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hallumeter.records.columns import ProbabilitySums
from hallumeter.records.rate import Rates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Refits = tuple[tuple[float, float], ...]
    """Shift and slope of the logit, one pair for each refit."""


def expected_unsupported_rate(sums: ProbabilitySums) -> Rates:
    """Mean probability of being unsupported over the claims that have one. Undefined when none has.

    >>> sums = ProbabilitySums(np.array([2, 1]), np.array([0.5, 0.1]), unknown=np.array([0, 3]))
    >>> expected_unsupported_rate(sums).pooled
    Rate(count=0.6, total=3.0)
    """
    return Rates(sums.expected, sums.claims.astype(np.float64))


def expected_bounds(sums: ProbabilitySums) -> tuple[float, float] | None:
    """The values possible if all claims without a probability were supported, and if none were; None without claims.

    >>> expected_bounds(ProbabilitySums(np.array([3]), np.array([0.6]), unknown=np.array([1])))
    (0.15, 0.4)
    """
    expected, unknown = float(sums.expected.sum()), int(sums.unknown.sum())
    claims = int(sums.claims.sum()) + unknown
    return (expected / claims, (expected + unknown) / claims) if claims else None


def recalibrated(probabilities: NDArray[np.float64], shift: float, slope: float) -> NDArray[np.float64]:
    """Probabilities after another calibration; 0 and 1 stay what they are.

    >>> recalibrated(np.array([0.0, 0.5, 1.0]), 0.0, 2.0).tolist()
    [0.0, 0.5, 1.0]
    """
    with np.errstate(divide="ignore", over="ignore"):
        logits = np.log(probabilities) - np.log1p(-probabilities)
        return np.asarray(1.0 / (1.0 + np.exp(-(shift + slope * logits))))


def changes_by_response(
    responses: NDArray[np.int64], probabilities: NDArray[np.float64], refits: Refits, *, size: int
) -> NDArray[np.float64]:
    """By how much each refit changes the sum of the probabilities of each response; one column for each refit."""
    changes = np.zeros((size, len(refits)))
    for column, (shift, slope) in enumerate(refits):
        differences = recalibrated(probabilities, shift, slope) - probabilities
        changes[:, column] = np.bincount(responses, differences, minlength=size)
    return changes


def calibration_shifts(sums: ProbabilitySums) -> Sequence[NDArray[np.float64]]:
    """By how much each refit moves the expected share; one array for each calibration, empty without claims.

    The bootstrap adds one of them, drawn at random, to the share of each resample. That is exact for all responses
    together and of first order for a resample: how much a refit moves a share differs between resamples by less than
    either moves it alone, and no sum of each response under each refit is needed for it.
    """
    claims = int(sums.claims.sum())
    return [change.sum(axis=0) / claims for change in sums.changes] if claims else []
