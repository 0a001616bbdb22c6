"""What each metric counts, as units with a judge's word and a truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hallumeter.pipelines.labelled.strata import claim_strata, merged_strata
from hallumeter.records import Label
from hallumeter.records.columns import LABEL_CODES
from hallumeter.stats import LabelledUnits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hallumeter.pipelines.labelled import LabelledRun

ANSWER_WORDS = ("supported", "unsupported")
CODE_WORDS = ("supported", "refuted", "not enough info")
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
    # Of what is not supported both labels count; whether it is refuted depends on all three.
    unsupported = _Counted(run.is_flagged, run.unsupported, run.is_flagged)
    refuted = _Counted(run.codes == LABEL_CODES[Label.REFUTED], run.refuted, run.codes)
    units, why = _claims(run, chosen, unsupported)
    sizes = np.bincount(run.owners[chosen], minlength=len(run.record_ids))
    shares = 1.0 / np.maximum(sizes, 1)[run.owners[chosen]]
    weighted = LabelledUnits(units.clusters, units.strata, units.is_flagged, units.truth, weights=shares)
    return [
        MetricUnits("mihr", "claim", units, why),
        MetricUnits("mihr_refuted", "claim", *_claims(run, chosen, refuted)),
        MetricUnits("mihr_mean", "claim", weighted, why),
        MetricUnits("factscore", "claim", units, why, is_complement=True),
        _responses(run, chosen),
    ]


class _Counted(NamedTuple):
    """What a metric counts, of all claims."""

    is_flagged: NDArray[np.bool_]
    truth: NDArray[np.float64]
    answers: NDArray[Any]
    """Which claims the judge speaks of alike, as far as the metric cares."""


def _claims(run: LabelledRun, chosen: NDArray[np.bool_], counted: _Counted) -> tuple[LabelledUnits, str | None]:
    """The chosen claims, and why their labels correct nothing."""
    truth, answers = counted.truth[chosen], counted.answers[chosen]
    strata = claim_strata(run.codes, run.probabilities)[chosen]
    units = LabelledUnits(
        clusters=_numbered(run.clusters[run.owners[chosen]]),
        strata=merged_strata(strata, answers, ~np.isnan(truth)),
        is_flagged=counted.is_flagged[chosen],
        truth=truth,
    )
    if run.census.labels and np.isnan(run.unsupported).all():
        return units, "the labels speak of whole responses, not of claims"
    names = CODE_WORDS if counted.answers is run.codes else ANSWER_WORDS
    return units, _why_not(units, answers, unit="claim", names=names)


def _why_not(units: LabelledUnits, answers: NDArray[Any], *, unit: str, names: Sequence[str]) -> str | None:
    """Why labels correct nothing: there are none, or none for one of the judge's answers."""
    if not len(units):
        return f"no {unit} was decided"
    if not units.is_labelled.any():
        return f"no {unit} that counts here is labelled"
    for answer in np.unique(answers).tolist():
        mine = answers == answer
        if not units.is_labelled[mine].any():
            return f"none of the {int(mine.sum()):,} {unit}s that the judge calls {names[int(answer)]} is labelled"
    return None


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
    why = _why_not(units, units.is_flagged, unit="response", names=("supported", "hallucinated"))
    touched, whole = int((labelled[rows] > 0).sum()), int(is_whole[rows].sum())
    has_own = bool((~np.isnan(run.response_truth[rows])).any())
    if not has_own and whole < LEAST_WHOLE * touched:
        why = f"only {whole:,} of {touched:,} labelled responses are labelled in full; label whole responses"
    return MetricUnits("mahr", "response", units, why)


def _numbered(clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same clusters, numbered from 0 without gaps."""
    return np.unique(clusters, return_inverse=True)[1].astype(np.int64)
