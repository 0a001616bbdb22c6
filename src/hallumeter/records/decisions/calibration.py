"""A threshold with a promise, and how far the probabilities of a judge can be believed."""

from typing import Literal

from msgspec import Struct

from .labels import LabelCensus

CALIBRATION_VERSION = 1
"""Of the form of a calibration."""

RiskName = Literal["among_accepted", "of_all", "missed"]
"""Hallucinated among accepted; hallucinated and accepted among all; accepted among hallucinated."""
Unit = Literal["claim", "response"]


class Promise(Struct, frozen=True):
    """What is promised of what is accepted."""

    risk: RiskName
    limit: float
    """The largest share that is promised."""
    words: str
    """The same in words."""
    confidence: float | None
    """In so many of a hundred calibrations the promise is kept; None for a promise on average over all of them."""
    is_joint: bool = False
    """Whether the confidence holds for all rows at once, not for each on its own."""


class AcceptanceThreshold(Struct, frozen=True):
    """Up to which probability to accept, in all of a run or in a slice of it."""

    by: dict[str, str]
    """The slice, as field and value; empty for all."""
    units: int
    labelled: int
    labelled_clusters: int
    """Responses (patients, questions) that the labelled ones belong to."""
    threshold: float | None
    """The largest probability to be unsupported at which a unit is accepted; None when nothing can be promised."""
    accepted: int = 0
    """Units of the run that it accepts."""
    labelled_accepted: int = 0
    hallucinated: float = 0.0
    """Labelled, accepted and hallucinated; a share where annotators disagree counts as that."""
    risk: float | None = None
    """The share that is promised about, as the labels estimate it."""
    upper_bound: float | None = None
    """What it is at most, by the test of this threshold alone; None for a promise on average."""
    method: str | None = None
    """`binomial`, `betting` or `conformal`."""
    is_weighted: bool = False
    """Whether labelled units stand for different numbers of units."""
    why_not: str | None = None
    best_limit: float | None = None
    """Without a threshold: the smallest limit that could be promised at this confidence."""
    best_threshold: float | None = None
    best_labelled_accepted: int = 0
    fewest_clean: int | None = None
    """Labelled units without a hallucination that are the least to show the promise."""

    @property
    def accepted_share(self) -> float | None:
        """Of all units."""
        return self.accepted / self.units if self.units else None


class ReliabilityBin(Struct, frozen=True):
    """Labelled units whose probabilities are close to each other."""

    low: float
    high: float
    labelled: int
    mean_probability: float
    share: float
    """Of these, hallucinated."""
    interval: tuple[float, float] | None


class ProbabilityScores(Struct, frozen=True):
    """How far probabilities lie from what is true."""

    ece: float
    """Expected calibration error."""
    brier: float
    """Mean squared distance."""
    brier_interval: tuple[float, float] | None


class ProbabilityMap(Struct, frozen=True):
    """What makes the probabilities hold what they promise."""

    method: Literal["isotonic", "logistic"]
    knots: tuple[float, ...] = ()
    values: tuple[float, ...] = ()
    slope: float | None = None
    intercept: float | None = None


class Reliability(Struct, frozen=True):
    """Probabilities beside what is true, before and after they are mapped."""

    labelled: int
    bins: tuple[ReliabilityBin, ...]
    before: ProbabilityScores
    after: ProbabilityScores | None
    """Of maps that were fitted without the cluster they are tried on; None with a single cluster."""
    brier_change: float | None
    """After less before."""
    brier_change_interval: tuple[float, float] | None
    mapping: ProbabilityMap
    """Fitted on all labels."""


class Calibration(Struct, frozen=True):
    """What labels allow to promise about the judge of a run."""

    version: int
    run: str
    judge: str
    unit: Unit
    """What is accepted or not."""
    cluster: str
    """What is drawn together."""
    confidence: float
    """Of the intervals."""
    promise: Promise
    labels: LabelCensus
    unscored: int
    """Units without a probability: they are never accepted."""
    thresholds: tuple[AcceptanceThreshold, ...]
    reliability: Reliability | None
    """None when no labelled unit has a probability."""
    notices: tuple[str, ...] = ()

    @property
    def is_promised(self) -> bool:
        """Whether any threshold keeps the promise."""
        return any(row.threshold is not None for row in self.thresholds)
