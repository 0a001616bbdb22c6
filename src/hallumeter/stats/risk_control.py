"""Thresholds that keep a promise: at most such a share hallucinated, at such a confidence.

A unit (a claim, a response) is accepted when its score is at most the threshold. Its risk is one of three shares:
hallucinated among the accepted, hallucinated and accepted among all, accepted among the hallucinated. Each is a
quotient of two sums over clusters, so a risk of at most `limit` says that the loss of a cluster, `bad - limit * whole`,
is not positive on average. That is tested without assuming any distribution: by the binomial where no cluster has two
labelled units, else by betting (Waudby-Smith and Ramdas 2023).

Three things are taken as given. Clusters are independent, or drawn without replacement from a finite run. The labelled
units that have the same weight are a sample of those for which they stand. And no cluster has more accepted units than
the caller says: a single response with a thousand claims, never seen, could break any promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from .bootstrap import Cells, distinct_cells
from .intervals import check_probability, regularized_incomplete_beta

FloatArray = NDArray[np.float64]


Risk = Literal["among_accepted", "of_all", "missed"]
"""Hallucinated among accepted; hallucinated and accepted among all; accepted among hallucinated."""

STAKES = np.arange(1, 9) / 8
"""Shares of what a bet may at most risk; all are placed at once."""
_SHARES = STAKES**2 / (STAKES**2).sum()
"""Of the purse, for each stake. The high ones get more: they win where clusters are mostly smaller than the largest."""

STARTS = (1.0, 0.5, 0.25, 0.125)
"""Shares of the labelled accepted units at which the search for a threshold begins."""

ROUNDING = 1e-9
"""What sums of weights may differ in."""
_STEPS = 50
"""Halvings to find a bound."""


class ScoredUnits(Struct, frozen=True, eq=False):
    """Labelled units; one row each."""

    scores: FloatArray
    """Accepted up to a threshold; infinite for a unit that is never accepted."""
    truth: FloatArray
    """Whether it is hallucinated: 0 or 1, or a share where people disagree."""
    clusters: NDArray[np.int64]
    """Numbers from 0."""
    weights: FloatArray
    """For how many units of the run it stands."""

    def __len__(self) -> int:
        return len(self.scores)


class Candidates(Struct, frozen=True, eq=False):
    """Thresholds to choose from, rising. Nothing about them may depend on what is true."""

    thresholds: FloatArray
    largest: FloatArray
    """The most, by weight, that each of them may accept of a single cluster's labelled units."""

    def __len__(self) -> int:
        return len(self.thresholds)


class RiskSums(Struct, frozen=True, eq=False):
    """What a risk at one threshold is made of, cluster by cluster; clusters that are alike are counted."""

    cells: Cells
    """Columns: what is bad, and what the risk is a share of."""
    largest: float
    """The most that could be bad in one cluster."""
    is_binomial: bool
    """Whether every cluster is one yes or no."""

    @property
    def bad(self) -> float:
        """Over all clusters."""
        return float(self.cells.sums[0])

    @property
    def whole(self) -> float:
        """Over all clusters."""
        return float(self.cells.sums[1])

    @property
    def value(self) -> float | None:
        """The risk of the labelled units; undefined when it is a share of nothing."""
        return self.bad / self.whole if self.whole > 0 else None

    def worst_loss(self, limit: float) -> float:
        """The largest loss that a cluster could have: all that may be accepted of it is, and is bad."""
        return self.largest * (1 - limit)


class Certificate(Struct, frozen=True):
    """The most permissive threshold that is shown to keep a promise, or the best that can be promised instead."""

    place: int | None
    """Position among the thresholds; None when none keeps the promise."""
    error: float
    """The share of the error that its test was given."""
    best_place: int | None = None
    """The start with the smallest bound."""
    best_bound: float | None = None
    """What can be promised there, at the same confidence; None when there is nothing to test."""


def candidates_for(
    thresholds: FloatArray, *, scores: FloatArray, clusters: NDArray[np.int64], weights: FloatArray
) -> Candidates:
    """Thresholds, with the most that each accepts of any cluster of these units.

    Give all units, labelled or not: then it is known that no cluster has more. A threshold that accepts nothing of them
    might accept the heaviest one.

    >>> units = {"scores": np.array([0.1, 0.2, 0.8]), "clusters": np.array([0, 0, 1]), "weights": np.ones(3)}
    >>> candidates_for(np.array([0.1, 0.5, 0.9]), **units).largest.tolist()
    [1.0, 2.0, 2.0]
    """
    by_cluster = np.lexsort((scores, clusters))
    sums = np.cumsum(weights[by_cluster])
    is_first = np.diff(clusters[by_cluster], prepend=-1) != 0
    before = np.maximum.accumulate(np.where(is_first, sums - weights[by_cluster], 0.0))
    by_score = np.argsort(scores[by_cluster], kind="stable")
    most = np.maximum.accumulate((sums - before)[by_score])
    places = np.searchsorted(scores[by_cluster][by_score], thresholds, side="right")
    least = float(weights.max(initial=0.0))
    return Candidates(thresholds, np.maximum(np.concatenate([[0.0], most])[places], least))


def risk_sums(units: ScoredUnits, risk: Risk, threshold: float, *, largest: float) -> RiskSums:
    """The parts of a risk at a threshold, of which one cluster may have `largest` units accepted, by weight.

    >>> units = ScoredUnits(
    ...     np.array([0.1, 0.2, 0.8]), np.array([0.0, 1.0, 1.0]), np.array([0, 0, 1]), np.ones(3)
    ... )
    >>> [risk_sums(units, risk, 0.5, largest=2).value for risk in ("among_accepted", "of_all", "missed")]
    [0.5, 0.3333333333333333, 0.5]
    """
    accepted = units.scores <= threshold
    counted = accepted if risk == "among_accepted" else np.ones(len(units), dtype=bool)
    weight = np.where(accepted, units.weights, 0.0)
    whole = {"among_accepted": weight, "of_all": units.weights, "missed": units.weights * units.truth}[risk]
    columns = [np.bincount(units.clusters, weights=values) for values in (weight * units.truth, whole)]
    per_cluster = np.bincount(units.clusters[counted])
    is_plain = bool(np.isin(units.truth, (0.0, 1.0)).all() and (units.weights == 1).all())
    return RiskSums(
        cells=distinct_cells(np.stack(columns, axis=1)),
        largest=largest,
        is_binomial=is_plain and int(per_cluster.max(initial=0)) <= 1,
    )


def risk_p_value(sums: RiskSums, limit: float) -> float:
    """How well the labels would go with a risk above the limit: if it is, this falls to p or below with chance p.

    >>> clean = ScoredUnits(np.zeros(45), np.zeros(45), np.arange(45), np.ones(45))
    >>> round(risk_p_value(risk_sums(clean, "among_accepted", 0.5, largest=1), 0.05), 4)  # 0.95**45
    0.0994
    """
    check_probability(limit, "limit")
    if sums.whole <= 0:
        return 1.0
    if sums.is_binomial:
        return binomial_lower_tail(round(sums.bad), round(sums.whole), limit)
    return math.exp(min(0.0, -log_purse(sums, limit)))


def log_purse(sums: RiskSums, limit: float) -> float:
    """Logarithm of what a purse of 1 becomes that bets on every cluster against a risk above the limit.

    It wins `stake * -loss / worst loss`, which while the risk is above the limit is nothing or less on average: so it
    ends n times as full with a chance of at most 1 / n. The stakes are fixed beforehand. Then the order of the clusters
    does not matter; they need not be alike, as the mean of a product of independent factors is at most a power of their
    mean; and they may be drawn without replacement, by Maclaurin's inequality.
    """
    bad, whole = sums.cells.columns.T
    gains = (limit * whole - bad) / sums.worst_loss(limit)
    if gains.min() < -1 - ROUNDING:
        raise ValueError(f"a cluster has more than {sums.largest} accepted units, which was said to be the most")
    with np.errstate(divide="ignore"):  # the stake of everything may be lost
        purses = np.log1p(np.outer(STAKES, gains).clip(-1.0)) @ sums.cells.multiplicities + np.log(_SHARES)
    return float(np.logaddexp.reduce(purses))


def risk_upper_bound(sums: RiskSums, error: float) -> float:
    """The smallest limit that the labels rule out to be passed, with a chance of `error` to be wrong; at most 1.

    >>> clean = ScoredUnits(np.zeros(45), np.zeros(45), np.arange(45), np.ones(45))
    >>> round(risk_upper_bound(risk_sums(clean, "among_accepted", 0.5, largest=1), 0.1), 4)  # 1 - 0.1**(1 / 45)
    0.0499
    """
    check_probability(error, "error")
    return _smallest(lambda limit: risk_p_value(sums, limit) <= error)


def learn_then_test(
    units: ScoredUnits, candidates: Candidates, *, risk: Risk, limit: float, error: float
) -> Certificate:
    """The most permissive threshold whose risk is at most the limit, wrong with a chance of at most `error`.

    Learn-then-Test (Angelopoulos, Bates, Candès, Jordan and Lei 2021) by fixed sequences: from each start the
    thresholds are tested one by one, each more permissive than the last, until one fails. A risk that grows with the
    threshold has one start, the strictest. The share of hallucinations among the accepted need not grow, and tells
    nothing where little is accepted: it has several starts, which share the error, at an eighth, a quarter, half and
    all of the labelled units that the last threshold accepts; at fewer than could pass if all were clean
    there is no start, as it would cost the others.
    """
    check_probability(limit, "limit")
    check_probability(error, "error")
    if not len(candidates) or not len(units):
        return Certificate(None, error)
    fewest = fewest_clean_units(limit, error)
    starts = _starts(units, candidates.thresholds, fewest) if risk == "among_accepted" else [0]
    level = error / len(starts)
    sums = _Sums(units, candidates, risk)
    passed = -1
    for start in starts:
        place = max(start, passed + 1)
        while place < len(candidates) and risk_p_value(sums[place], limit) <= level:
            passed = place
            place += 1
    if passed >= 0:
        return Certificate(passed, level)
    bounds = {start: risk_upper_bound(sums[start], level) for start in starts}
    best = min(bounds, key=lambda start: (bounds[start], -start))
    return Certificate(None, level, best, bounds[best])


def conformal_place(units: ScoredUnits, candidates: Candidates, *, risk: Risk, limit: float) -> int | None:
    """The most permissive threshold that keeps a risk at the limit on average, over labels and new units.

    Conformal risk control (Angelopoulos, Bates, Fisch, Lei and Schuster 2022): the losses of all clusters, and the
    worst of one more, must not be positive. Only for risks that grow with the threshold, and units of equal weight.
    None when no threshold does.
    """
    check_probability(limit, "limit")
    if risk == "among_accepted":
        raise ValueError("the share of hallucinations among the accepted need not grow with the threshold")
    if len(np.unique(units.weights)) > 1:
        raise ValueError("units of different weights are not exchangeable")
    sums = _Sums(units, candidates, risk)
    found = None
    for place in range(len(candidates)):
        here = sums[place]
        if here.bad - limit * here.whole + here.worst_loss(limit) > 0:
            break
        found = place
    return found


def fewest_clean_units(limit: float, error: float) -> int:
    """So many units without a hallucination are the least that can show a risk of at most the limit.

    >>> fewest_clean_units(0.05, 0.1)
    45
    """
    check_probability(limit, "limit")
    check_probability(error, "error")
    return math.ceil(math.log(error) / math.log1p(-limit))


def binomial_lower_tail(count: int, total: int, rate: float) -> float:
    """The chance of at most `count` of `total` trials that succeed at this rate.

    >>> round(binomial_lower_tail(1, 3, 0.5), 12)
    0.5
    """
    return 1.0 if count >= total else regularized_incomplete_beta(1 - rate, total - count, count + 1)


class _Sums:
    """The parts of a risk at each of some thresholds, made when they are asked for."""

    def __init__(self, units: ScoredUnits, candidates: Candidates, risk: Risk) -> None:
        self._units, self._candidates, self._risk = units, candidates, risk

    def __getitem__(self, place: int) -> RiskSums:
        threshold, largest = (
            float(column[place]) for column in (self._candidates.thresholds, self._candidates.largest)
        )
        return risk_sums(self._units, self._risk, threshold, largest=largest)


def _starts(units: ScoredUnits, thresholds: FloatArray, fewest: int) -> list[int]:
    """Places at which a share of the labelled units is accepted that the last threshold accepts; strictest first."""
    accepted = np.searchsorted(np.sort(units.scores), thresholds, side="right")
    whole = float(accepted.max(initial=0))
    wanted = [whole * share for share in STARTS if share == 1 or whole * share >= fewest]
    return sorted({int(np.searchsorted(accepted, number)) for number in wanted})


def _smallest(holds: Callable[[float], bool]) -> float:
    """The smallest number between 0 and 1 from which on something holds; 1 when it never does."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
