"""What each metric counts, as units with a judge's word and a truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hallumeter.pipelines.labelled.strata import claim_strata, merged_strata
from hallumeter.records import Label
from hallumeter.records.columns import LABEL_CODES
from hallumeter.stats import LabelledUnits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hallumeter.pipelines.labelled import LabelledRun

LEAST_WHOLE = 0.9
"""Share of the labelled responses that must be labelled in full, so that they stand for all responses."""


class MetricUnits(NamedTuple):
    """The units of one metric in one slice."""

    metric: str
    unit: str
    units: LabelledUnits
    undefined: str | None = None
    """Why labels cannot correct it, if that is known from how they were given."""
    is_complement: bool = False
    """Whether the metric is the share of the units that do not count."""


def metric_units(run: LabelledRun, records: NDArray[np.bool_]) -> list[MetricUnits]:
    """The units of every metric on some records."""
    chosen = run.is_decided & records[run.owners]
    is_refuted = run.codes == LABEL_CODES[Label.REFUTED]
    unsupported = _claims(run, chosen, is_flagged=run.is_flagged, truth=run.unsupported)
    why = None
    if run.census.labels and np.isnan(run.unsupported).all():
        why = "the labels speak of whole responses, not of claims"
    sizes = np.bincount(run.owners[chosen], minlength=len(run.record_ids))
    shares = 1.0 / np.maximum(sizes, 1)[run.owners[chosen]]
    weighted = LabelledUnits(
        unsupported.clusters, unsupported.strata, unsupported.is_flagged, unsupported.truth, weights=shares
    )
    return [
        MetricUnits("mihr", "claim", unsupported, why),
        MetricUnits("mihr_refuted", "claim", _claims(run, chosen, is_flagged=is_refuted, truth=run.refuted), why),
        MetricUnits("mihr_mean", "claim", weighted, why),
        MetricUnits("factscore", "claim", unsupported, why, is_complement=True),
        _responses(run, chosen),
    ]


def _claims(
    run: LabelledRun, chosen: NDArray[np.bool_], *, is_flagged: NDArray[np.bool_], truth: NDArray[np.float64]
) -> LabelledUnits:
    strata = claim_strata(run.codes, run.probabilities)[chosen]
    is_labelled = ~np.isnan(truth[chosen])
    return LabelledUnits(
        clusters=_numbered(run.clusters[run.owners[chosen]]),
        strata=merged_strata(strata, is_flagged[chosen], is_labelled),
        is_flagged=is_flagged[chosen],
        truth=truth[chosen],
    )


def _responses(run: LabelledRun, chosen: NDArray[np.bool_]) -> MetricUnits:
    """Responses with a decided claim: flagged when a claim of it is, true by its own label or by all of its claims'."""
    count = len(run.record_ids)
    owners, truth = run.owners[chosen], run.unsupported[chosen]
    decided = np.bincount(owners, minlength=count)
    labelled = np.bincount(owners[~np.isnan(truth)], minlength=count)
    flagged = np.bincount(owners[run.is_flagged[chosen]], minlength=count) > 0
    worst = np.zeros(count)
    np.maximum.at(worst, owners, np.nan_to_num(truth))
    is_whole = (labelled == decided) & (decided > 0)
    known = np.where(np.isnan(run.response_truth), np.where(is_whole, worst, np.nan), run.response_truth)
    rows = decided > 0
    units = LabelledUnits(
        clusters=_numbered(run.clusters[rows]),
        strata=flagged[rows].astype(np.int64),
        is_flagged=flagged[rows],
        truth=known[rows],
    )
    touched = int((labelled[rows] > 0).sum())
    whole = int(is_whole[rows].sum())
    has_own = bool((~np.isnan(run.response_truth[rows])).any())
    if has_own or whole >= LEAST_WHOLE * touched:
        return MetricUnits("mahr", "response", units)
    why = f"only {whole:,} of {touched:,} labelled responses are labelled in full; label whole responses"
    return MetricUnits("mahr", "response", units, why)


def _numbered(clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same clusters, numbered from 0 without gaps."""
    return np.unique(clusters, return_inverse=True)[1].astype(np.int64)
