"""Whether probabilities hold what they promise, and what makes them do so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hallumeter.records.decisions.calibration import ProbabilityMap, ProbabilityScores, Reliability, ReliabilityBin
from hallumeter.stats import cluster_bootstrap_interval, expected_calibration_error, paired_bootstrap_difference
from hallumeter.stats.labels.recalibration import cross_fitted, recalibrate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hallumeter.stats import Interval

    from .settings import CalibrateSettings
    from .units import RunUnits

    FloatArray = NDArray[np.float64]

BINS = 10
"""Of equal width."""


def reliability(units: RunUnits, settings: CalibrateSettings) -> Reliability | None:
    """Probabilities of the labelled units beside their truth; None when none has both."""
    known = _Known(units, settings)
    if not len(known.truth):
        return None
    mapping = recalibrate(known.probabilities, known.truth, known.weights)
    after = cross_fitted(
        known.probabilities,
        known.truth,
        known.weights,
        clusters=known.clusters,
        rng=np.random.default_rng(settings.seed),
    )
    change = None if after is None else known.brier_change(after)
    return Reliability(
        labelled=len(known.truth),
        bins=tuple(known.bins()),
        before=known.scores(known.probabilities),
        after=None if after is None else known.scores(after),
        brier_change=None if change is None else change[0],
        brier_change_interval=None if change is None else _pair(change[1]),
        mapping=ProbabilityMap(mapping.method, mapping.knots, mapping.values, mapping.slope, mapping.intercept),
    )


class _Known:
    """Labelled units with a probability."""

    def __init__(self, units: RunUnits, settings: CalibrateSettings) -> None:
        rows = units.is_labelled & units.is_scored
        self.probabilities, self.truth = units.scores[rows], units.truth[rows]
        self.weights = units.weights().weights[rows]
        self.clusters = np.unique(units.clusters[rows], return_inverse=True)[1].astype(np.int64)
        self._settings = settings

    def bins(self) -> Iterator[ReliabilityBin]:
        """Those that are not empty."""
        places = bin_of(self.probabilities)
        for place in np.unique(places).tolist():
            mine = places == place
            weights = np.where(mine, self.weights, 0.0)
            totals = weights.sum()
            yield ReliabilityBin(
                low=place / BINS,
                high=(place + 1) / BINS,
                labelled=int(mine.sum()),
                mean_probability=float(weights @ self.probabilities / totals),
                share=float(weights @ self.truth / totals),
                interval=_pair(self._interval(weights * self.truth, weights)),
            )

    def scores(self, probabilities: FloatArray) -> ProbabilityScores:
        """How far such probabilities lie from the truth."""
        places = bin_of(probabilities)
        sums = [
            np.bincount(places, weights=self.weights * values)
            for values in (self.truth, np.ones(len(places)), probabilities)
        ]
        # Sums of weights may pass their total in the last digit.
        error = expected_calibration_error(np.minimum(sums[0], sums[1]), sums[1], sums[2])
        assert error is not None
        squares = self.weights * (probabilities - self.truth) ** 2
        return ProbabilityScores(
            ece=error,
            brier=float(squares.sum() / self.weights.sum()),
            brier_interval=_pair(self._interval(squares, self.weights)),
        )

    def brier_change(self, after: FloatArray) -> tuple[float, Interval | None]:
        """After less before, with whole clusters drawn again."""
        totals = self._by_cluster(self.weights)
        arms = [self._by_cluster(self.weights * (each - self.truth) ** 2) for each in (after, self.probabilities)]
        found = paired_bootstrap_difference(
            (arms[0], totals),
            (arms[1], totals),
            rng=np.random.default_rng(self._settings.seed),
            resamples=self._settings.resamples,
            confidence=self._settings.confidence,
        )
        assert found is not None
        return found.difference, found.interval

    def _interval(self, counts: FloatArray, totals: FloatArray) -> Interval | None:
        return cluster_bootstrap_interval(
            self._by_cluster(counts),
            self._by_cluster(totals),
            rng=np.random.default_rng(self._settings.seed),
            resamples=self._settings.resamples,
            confidence=self._settings.confidence,
        )

    def _by_cluster(self, values: FloatArray) -> FloatArray:
        return np.bincount(self.clusters, weights=values).astype(np.float64)


def bin_of(probabilities: FloatArray) -> NDArray[np.int64]:
    """The bin of each probability, numbered from 0; a probability of 1 is in the last."""
    return np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)


def _pair(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.low, interval.high)
