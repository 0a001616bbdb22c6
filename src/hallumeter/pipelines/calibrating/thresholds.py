"""The threshold of a run, or of a slice: the most permissive one that keeps a promise, or why there is none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from hallumeter.records.decisions.calibration import AcceptanceThreshold
from hallumeter.stats.labels.risk_control import (
    Candidates,
    candidates_for,
    conformal_place,
    fewest_clean_units,
    learn_then_test,
    risk_sums,
    risk_upper_bound,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hallumeter.stats.labels.risk_control import ScoredUnits

    from .targets import Target
    from .units import RunUnits

CANDIDATES = 200
"""Thresholds that are tried: so many shares of all units, labelled or not."""
CLOSE = 1.5
"""So many times the limit is close to it."""
DIGITS = 4
"""Of a threshold, so that the one that is printed is the one that was tested."""


def acceptance_threshold(
    units: RunUnits, by: dict[str, str], target: Target, *, error: float | None
) -> AcceptanceThreshold:
    """The threshold of some units; `error` is the chance to break the promise, None for a promise on average."""
    labels = units.weights()
    labelled = units.labelled(labels.weights)
    row = AcceptanceThreshold(
        by=by,
        units=len(units),
        labelled=len(labelled),
        labelled_clusters=len(np.unique(labelled.clusters)),
        threshold=None,
        is_weighted=not labels.is_even,
        fewest_clean=None if error is None else fewest_clean_units(target.limit, error),
    )
    if not len(labelled):
        return structs.replace(row, why_not=f"no {units.unit} is labelled")
    candidates = candidate_thresholds(units, labels.weights, most=_most_labelled(units, labelled))
    if not len(candidates):
        return structs.replace(row, why_not=_nothing_to_try(units))
    search = _Search(units, labelled, candidates, target=target)
    return search.on_average(row) if error is None else search.with_confidence(row, error)


class _Search:
    """The search for a threshold among candidates."""

    def __init__(self, units: RunUnits, labelled: ScoredUnits, candidates: Candidates, *, target: Target) -> None:
        self._units, self._labelled, self._candidates, self._target = units, labelled, candidates, target

    def on_average(self, row: AcceptanceThreshold) -> AcceptanceThreshold:
        """By conformal risk control."""
        if row.is_weighted:
            return structs.replace(row, why_not="labels drawn at different rates allow no promise on average")
        target = self._target
        place = conformal_place(self._labelled, self._candidates, risk=target.risk, limit=target.limit)
        if place is None:
            return structs.replace(row, why_not="too few labels, or too many hallucinations with low probabilities")
        return self._found(row, place, None)

    def with_confidence(self, row: AcceptanceThreshold, error: float) -> AcceptanceThreshold:
        """By Learn-then-Test."""
        target = self._target
        found = learn_then_test(self._labelled, self._candidates, risk=target.risk, limit=target.limit, error=error)
        if found.place is not None:
            return self._found(row, found.place, found.error)
        best = None if found.best_place is None else float(self._candidates.thresholds[found.best_place])
        return structs.replace(
            row,
            why_not=_why_not(
                row, best=found.best_bound, limit=target.limit, unit=self._units.unit, cluster=self._units.cluster
            ),
            best_limit=found.best_bound,
            best_threshold=best,
            best_labelled_accepted=0 if best is None else int((self._labelled.scores <= best).sum()),
        )

    def _found(self, row: AcceptanceThreshold, place: int, error: float | None) -> AcceptanceThreshold:
        threshold = float(self._candidates.thresholds[place])
        is_accepted = self._units.scores <= threshold
        seen = self._units.truth[is_accepted & self._units.is_labelled]
        largest = float(self._candidates.largest[place])
        sums = risk_sums(self._labelled, self._target.risk, threshold, largest=largest)
        method = "binomial" if sums.is_binomial else "betting"
        return structs.replace(
            row,
            threshold=threshold,
            accepted=int(is_accepted.sum()),
            labelled_accepted=len(seen),
            hallucinated=float(seen.sum()),
            risk=sums.value,
            upper_bound=None if error is None else risk_upper_bound(sums, error),
            method="conformal" if error is None else method,
        )


def candidate_thresholds(units: RunUnits, weights: NDArray[np.float64], *, most: float) -> Candidates:
    """Rising thresholds, each accepting a little more of the units; none accepts a kind of which nothing is known.

    `most` is the largest weight that the labelled units of a cluster can have.
    """
    scores = units.scores[units.is_scored]
    if not len(scores):
        return Candidates(np.empty(0), np.empty(0))
    shares = np.arange(1, CANDIDATES + 1) / CANDIDATES
    found = {_rounded_up(value) for value in np.quantile(scores, shares, method="lower").tolist()}
    rising = np.array(sorted(found))
    unknown = units.scores[(weights == 0) & units.is_scored]
    candidates = candidates_for(
        rising[rising < unknown.min(initial=np.inf)], scores=units.scores, clusters=units.clusters, weights=weights
    )
    return Candidates(candidates.thresholds, np.minimum(candidates.largest, most))


def _rounded_up(value: float) -> float:
    """A threshold with few digits that accepts the value."""
    rounded = float(f"{value:.{DIGITS}g}")
    if rounded >= value:
        return rounded
    step = float(f"1e{math.floor(math.log10(value)) - DIGITS + 1}")
    return float(f"{rounded + step:.{DIGITS}g}")


def _most_labelled(units: RunUnits, labelled: ScoredUnits) -> float:
    """The most that the labelled units of a cluster can weigh; nothing is known where clusters are labelled in full.

    Where claims were drawn one by one, no response has as many labelled ones as it has claims: the most that any has.
    """
    sizes = np.bincount(units.clusters)
    drawn = np.bincount(units.clusters[units.is_labelled], minlength=len(sizes))
    if (drawn[drawn > 0] == sizes[drawn > 0]).all():
        return np.inf
    return float(np.bincount(labelled.clusters, weights=labelled.weights).max())


def _nothing_to_try(units: RunUnits) -> str:
    if not units.is_scored.any():
        return f"no {units.unit} has a probability"
    return f"none of the {units.unit}s with the lowest probabilities is labelled"


def _why_not(row: AcceptanceThreshold, *, best: float | None, limit: float, unit: str, cluster: str) -> str:
    """What stands in the way, as far as the numbers tell."""
    if row.fewest_clean is not None and row.labelled < row.fewest_clean:
        return f"{row.labelled:,} labelled {unit}s are too few"
    labels = f"{row.labelled:,} labelled {unit}s"
    if row.labelled_clusters < row.labelled:
        labels += f" of {row.labelled_clusters:,} {cluster}s"
    if best is not None and best <= CLOSE * limit:
        return f"{labels} come close, but do not show it"
    return f"{labels} do not show it for any threshold"
