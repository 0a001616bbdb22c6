"""A run and labels in, thresholds with a promise out, or why there are none: what `hallumeter calibrate` runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.claims.labelled.run import OUTSIDE, LabelledRun, claim_strata, read_labelled, record_slices
from hallumeter.errors import InputError
from hallumeter.records.decisions import (
    CALIBRATION_VERSION,
    AcceptanceThreshold,
    Calibration,
    ProbabilityMap,
    ProbabilityScores,
    Promise,
    Reliability,
    ReliabilityBin,
    Unit,
)
from hallumeter.report.wording import unit_word
from hallumeter.run.finished import Run, load
from hallumeter.stats.allocation import LabelWeights, label_weights
from hallumeter.stats.bootstrap import cluster_bootstrap_interval
from hallumeter.stats.calibration import cross_fitted, expected_calibration_error, recalibrate
from hallumeter.stats.intervals import Interval
from hallumeter.stats.risk_control import (
    Candidates,
    ScoredUnits,
    candidates_for,
    conformal_place,
    fewest_clean_units,
    learn_then_test,
    risk_sums,
    risk_upper_bound,
)
from hallumeter.stats.significance import paired_bootstrap_difference

from .settings import CalibrateSettings, Target

FloatArray = NDArray[np.float64]


# What is accepted or not: claims, or whole responses, with their scores and what is true of them.

MOST_WHOLE = 0.5
"""Share of the labelled responses that are labelled in full from which on responses are what is accepted."""


class RunUnits(Struct, frozen=True, eq=False):
    """Every unit of a run, or of a slice; one row each."""

    unit: Unit
    cluster: str
    """What is drawn together."""
    records: NDArray[np.int64]
    """The record that it belongs to, or is."""
    scores: NDArray[np.float64]
    """Probability to be unsupported; infinite where there is none, so that it is never accepted."""
    truth: NDArray[np.float64]
    """NaN where nobody said."""
    clusters: NDArray[np.int64]
    strata: NDArray[np.int64]
    """What the judge said of it, roughly: labels may be drawn at different rates from each."""

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def is_labelled(self) -> NDArray[np.bool_]:
        """Which units have a truth."""
        return ~np.isnan(self.truth)

    @property
    def is_scored(self) -> NDArray[np.bool_]:
        """Which units have a probability."""
        return np.isfinite(self.scores)

    def chosen(self, rows: NDArray[np.bool_]) -> RunUnits:
        """Some of the units."""
        return RunUnits(
            self.unit,
            self.cluster,
            self.records[rows],
            self.scores[rows],
            self.truth[rows],
            self.clusters[rows],
            self.strata[rows],
        )

    def weights(self) -> LabelWeights:
        """For how many units a labelled one stands."""
        return label_weights(self.strata, self.is_labelled)

    def labelled(self, weights: NDArray[np.float64]) -> ScoredUnits:
        """The labelled ones, for a test."""
        rows = self.is_labelled
        clusters = np.unique(self.clusters[rows], return_inverse=True)[1].astype(np.int64)
        return ScoredUnits(self.scores[rows], self.truth[rows], clusters, weights[rows])


def run_units(run: LabelledRun, unit: Unit | None) -> RunUnits:
    """The units of a run.

    Raises:
        InputError: The judge gave no probabilities, or nothing of that unit is labelled.
    """
    if np.isnan(run.probabilities).all():
        raise InputError(
            f"the verdicts of {run.judge!r} have no unsupported_probability, so there is nothing to set a threshold "
            "on; judge with `hallumeter audit`, or give probabilities with the verdicts"
        )
    chosen = unit or _usual_unit(run)
    units = _responses(run) if chosen == "response" else _claims(run)
    if not units.is_labelled.any():
        other = "label all claims of some answers, or" if chosen == "response" else "label claims, or"
        other_unit = "claim" if chosen == "response" else "response"
        raise InputError(f"no {unit_word(chosen)} is labelled; {other} take --unit {other_unit}")
    return units


def partly_labelled(run: LabelledRun) -> int:
    """Responses of which some claims are labelled, others not, and nobody said what the whole is."""
    sizes, labelled = _label_counts(run)
    return int(((labelled > 0) & (labelled < sizes) & np.isnan(run.response_truth)).sum())


def _usual_unit(run: LabelledRun) -> Unit:
    if not np.isnan(run.response_truth).all():
        return "response"
    sizes, labelled = _label_counts(run)
    touched = int((labelled > 0).sum())
    whole = int(((labelled > 0) & (labelled == sizes)).sum())
    # A claim that is its whole response is labelled in full by any label.
    return "response" if whole > MOST_WHOLE * touched else "claim"


def _label_counts(run: LabelledRun) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Claims of each record, and labelled ones."""
    count = len(run.record_ids)
    is_labelled = ~np.isnan(run.unsupported)
    return np.bincount(run.owners, minlength=count), np.bincount(run.owners[is_labelled], minlength=count)


def _claims(run: LabelledRun) -> RunUnits:
    return RunUnits(
        unit="claim",
        cluster=run.unit,
        records=run.owners,
        scores=np.where(np.isnan(run.probabilities), np.inf, run.probabilities),
        truth=run.unsupported,
        clusters=run.clusters[run.owners],
        strata=claim_strata(run.codes, run.probabilities),
    )


def _responses(run: LabelledRun) -> RunUnits:
    """A response is as likely hallucinated as its likeliest claim, and true by its own label or by all its claims'."""
    count = len(run.record_ids)
    known = ~np.isnan(run.probabilities)
    scores = np.full(count, -np.inf)
    np.maximum.at(scores, run.owners[known], run.probabilities[known])
    scores[np.isinf(scores)] = np.inf
    sizes, labelled = _label_counts(run)
    worst = np.zeros(count)
    np.maximum.at(worst, run.owners, np.nan_to_num(run.unsupported))
    whole = np.where((sizes > 0) & (labelled == sizes), worst, np.nan)
    flagged = np.bincount(run.owners[run.is_flagged], minlength=count) > 0
    is_scored = np.isfinite(scores)
    strata = np.full(count, OUTSIDE, dtype=np.int64)
    strata[is_scored] = claim_strata(flagged[is_scored].astype(np.int8), scores[is_scored])
    return RunUnits(
        unit="response",
        cluster=run.unit,
        records=np.arange(count, dtype=np.int64),
        scores=scores,
        truth=np.where(np.isnan(run.response_truth), whole, run.response_truth),
        clusters=run.clusters,
        strata=strata,
    )


# Whether probabilities hold what they promise, and what makes them do so.

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
        return structs.replace(row, why_not=f"no {unit_word(units.unit)} is labelled")
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
        return f"no {unit_word(units.unit)} has a probability"
    return f"none of the {unit_word(units.unit)}s with the lowest probabilities is labelled"


def _why_not(row: AcceptanceThreshold, *, best: float | None, limit: float, unit: str, cluster: str) -> str:
    """What stands in the way, as far as the numbers tell."""
    if row.fewest_clean is not None and row.labelled < row.fewest_clean:
        return f"{row.labelled:,} labelled {unit_word(unit)}s are too few"
    labels = f"{row.labelled:,} labelled {unit_word(unit)}s"
    if row.labelled_clusters < row.labelled:
        labels += f" of {row.labelled_clusters:,} {unit_word(cluster)}s"
    if best is not None and best <= CLOSE * limit:
        return f"{labels} come close, but do not show it"
    return f"{labels} do not show it for any threshold"


def calibrate(run: Run | str | Path, *, settings: CalibrateSettings | None = None) -> Calibration:
    """Choose the threshold up to which claims or responses of a run can be accepted, so that a promise is kept.

    Raises:
        InputError: There are no labels or no probabilities, or labels speak of nothing in the run or contradict.
    """
    chosen = settings or CalibrateSettings()
    target = chosen.promised
    opened = run if isinstance(run, Run) else load(run)
    labelled = read_labelled(opened, chosen.source)
    units = run_units(labelled, chosen.unit)
    slices = [(by, units.chosen(rows[units.records])) for by, rows in record_slices(labelled, chosen.source.by)]
    error = 1 - chosen.confidence
    if chosen.is_joint:
        error /= len(slices)
    rows = tuple(
        acceptance_threshold(part, by, target, error=None if chosen.is_on_average else error) for by, part in slices
    )
    return Calibration(
        version=CALIBRATION_VERSION,
        run=opened.path.name or str(opened.path),
        judge=labelled.judge,
        unit=units.unit,
        cluster=labelled.unit,
        confidence=chosen.confidence,
        promise=Promise(
            risk=target.risk,
            limit=target.limit,
            words=target.words,
            confidence=None if chosen.is_on_average else chosen.confidence,
            is_joint=chosen.is_joint,
        ),
        labels=labelled.census,
        unscored=int((~units.is_scored).sum()),
        thresholds=rows,
        reliability=reliability(units, chosen),
        notices=tuple(_notices(labelled, units, rows)),
    )


def _notices(run: LabelledRun, units: RunUnits, rows: tuple[AcceptanceThreshold, ...]) -> Iterator[str]:
    if any(row.is_weighted for row in rows):
        yield (
            "labels were drawn at different rates by what the judge said: each stands for as many as it was drawn "
            "from, which costs certainty"
        )
    part = partly_labelled(run) if units.unit == "response" else 0
    if part:
        yield f"{part:,} answers are labelled only in part; they do not count"
    unscored = int((~units.is_scored).sum())
    if unscored:
        yield f"{unscored:,} of {len(units):,} {unit_word(units.unit)}s have no probability; they are never accepted"
    census = run.census
    if census.detached:
        yield f"{census.detached:,} labels speak of claims that now say something else, or are gone; they do not count"
    if census.disputed:
        yield f"annotators disagree on {census.disputed:,} claims; they count by their shares"
