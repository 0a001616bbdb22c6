"""Rates corrected for the errors of the judge that counted."""

from msgspec import Struct

from .labels import LabelCensus

CORRECTION_VERSION = 1
"""Of the form of corrected rates."""


class EstimatedRate(Struct, frozen=True):
    """A rate that labels allow to estimate."""

    value: float | None
    interval: tuple[float, float] | None = None
    interval_method: str | None = None
    undefined: str | None = None
    """Why there is no value; None when there is one."""


class CorrectedRate(Struct, frozen=True):
    """What a judge counts, and what there would be to count."""

    metric: str
    by: dict[str, str]
    """The slice, as field and value; empty for all."""
    unit: str
    """What is counted: claim or response."""
    flagged: int
    """Units that the judge counts."""
    total: int
    """Units that the metric is measured on."""
    labelled: int
    """Units of these with a truth."""
    labelled_clusters: int
    """Responses (patients, questions) that these belong to."""
    raw: EstimatedRate
    """The judge's own rate; its interval knows nothing of the judge's errors."""
    corrected: EstimatedRate
    """Prediction-powered: what the labels say each answer of the judge is worth."""
    rogan_gladen: EstimatedRate
    """From the judge's rate, sensitivity and specificity."""
    sensitivity: EstimatedRate
    specificity: EstimatedRate
    more_labels: int | None = None
    """Labels that are still missing for the wanted width; None when labels alone do not suffice."""
    narrowest: float | None = None
    """Half the width of the interval if every unit were labelled; None without an estimate."""


class Correction(Struct, frozen=True):
    """Every rate of a run that its labels allow to correct."""

    version: int
    run: str
    judge: str
    cluster: str
    """The unit of resampling."""
    confidence: float
    half_width: float
    """What `more_labels` is asked for."""
    labels: LabelCensus
    rates: tuple[CorrectedRate, ...]
    notices: tuple[str, ...] = ()

    @property
    def is_corrected(self) -> bool:
        """Whether any rate could be."""
        return any(rate.corrected.value is not None for rate in self.rates)
