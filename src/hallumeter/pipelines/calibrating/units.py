"""What is accepted or not: claims, or whole responses, with their scores and what is true of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from hallumeter.errors import InputError
from hallumeter.pipelines.labelled.strata import OUTSIDE, claim_strata
from hallumeter.stats.labels.risk_control import ScoredUnits
from hallumeter.stats.labels.weights import label_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hallumeter.pipelines.labelled import LabelledRun
    from hallumeter.records.decisions.calibration import Unit
    from hallumeter.stats.labels.weights import LabelWeights

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
        other = "label all claims of some responses, or" if chosen == "response" else "label claims, or"
        other_unit = "claim" if chosen == "response" else "response"
        raise InputError(f"no {chosen} is labelled; {other} take --unit {other_unit}")
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
