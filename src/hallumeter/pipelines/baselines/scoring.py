"""Scores of a judge, and of what needs no judge, on the units that people labelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct

from .shuffling import exchanged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hallumeter.pipelines.labelled import LabelledRun
    from hallumeter.records.decisions.baselines import Level

    from .texts import Texts

    FloatArray = NDArray[np.float64]

Kind = Literal["probability", "label", "count"]
UNMEASURED = float("nan")


class Features(Struct, frozen=True, eq=False):
    """What texts say, one number for each unit of a level; NaN where it is not known. High is suspicious."""

    length: FloatArray
    overlap: FloatArray
    """The share of words that the evidence lacks."""
    shuffled_overlap: FloatArray
    """The share that the evidence of another response lacks."""


class Exchange(Struct, frozen=True):
    """Whose evidence stands in for whose."""

    own: dict[str, int | None]
    """Records, and the numbers of their evidence."""
    other: dict[str, int | None]
    """The same of what stands in."""
    is_possible: bool
    """False when all records have the same evidence, or none."""


class Units(Struct, frozen=True, eq=False):
    """Everything of one level beside its truth, all units of the run; NaN is not known."""

    level: Level
    kind: Kind
    scores: FloatArray
    """The judge's."""
    is_flagged: NDArray[np.bool_]
    truth: FloatArray
    clusters: NDArray[np.int64]
    features: Features


def exchange_of(run: LabelledRun, texts: Texts, *, seed: int) -> Exchange:
    """Draw other evidence for every labelled record."""
    own = {record_id: row.evidence for record_id, row in texts.rows.items()}
    slice_of = dict(zip(run.record_ids, run.slices, strict=True))
    slices: dict[int, str] = {}
    for record_id, number in own.items():
        if number is not None:
            slices.setdefault(number, "\0".join(slice_of[record_id]))
    lengths = [each.length for each in texts.evidence]
    drawn = exchanged(lengths, slices, rng=np.random.default_rng(seed))
    partners = drawn or {}
    other = {record_id: None if number is None else partners.get(number) for record_id, number in own.items()}
    return Exchange(own, other, drawn is not None)


def features_of(run: LabelledRun, texts: Texts, exchange: Exchange) -> dict[Level, Features]:
    """What the texts of labelled records say, in the order of the claims and of the records of the run."""
    overlaps, shuffled = texts.overlaps(exchange.own), texts.overlaps(exchange.other)
    claims, records = len(run.claim_ids), len(run.record_ids)
    of_claims, of_records = (np.full((3, size), UNMEASURED) for size in (claims, records))
    firsts = np.searchsorted(run.owners, np.arange(records))
    for number, record_id in enumerate(run.record_ids):
        row = texts.rows.get(record_id)
        if row is None:
            continue
        own = slice(firsts[number], firsts[number] + len(row.claim_ids))
        whole, parts = overlaps[record_id]
        other_whole, other_parts = shuffled[record_id]
        of_records[:, number] = row.length, 1 - whole, 1 - other_whole
        of_claims[:, own] = row.claim_lengths, 1 - parts, 1 - other_parts
    return {"claim": Features(*of_claims), "response": Features(*of_records)}


def kind_of(run: LabelledRun) -> Kind:
    """Probabilities, where every decided claim of a labelled record has one; else labels."""
    is_labelled = ~np.isnan(run.response_truth)
    is_labelled[run.owners[~np.isnan(run.unsupported)]] = True
    of_interest = run.is_decided & is_labelled[run.owners]
    has_all = of_interest.any() and not np.isnan(run.probabilities[of_interest]).any()
    return "probability" if has_all else "label"


def claim_scores(run: LabelledRun, kind: Kind) -> FloatArray:
    """How unsupported the judge takes each claim to be; NaN where it is undecided or failed."""
    given = run.probabilities if kind == "probability" else run.is_flagged.astype(np.float64)
    return np.where(run.is_decided, given, UNMEASURED)


def response_scores(run: LabelledRun, kind: Kind) -> FloatArray:
    """The largest probability among the claims of each response, or how many of them are flagged; else NaN."""
    scores, size = claim_scores(run, kind), len(run.record_ids)
    known = ~np.isnan(scores)
    owners = run.owners[known]
    if kind == "probability":
        found = np.full(size, -np.inf)
        np.maximum.at(found, owners, scores[known])
    else:
        found = np.bincount(owners, weights=scores[known], minlength=size).astype(np.float64)
    found[np.bincount(owners, minlength=size) == 0] = UNMEASURED
    return found


def units_of(run: LabelledRun, features: dict[Level, Features]) -> tuple[Units, Units]:
    """The claims, and the responses."""
    kind, size = kind_of(run), len(run.record_ids)
    has_flag = np.bincount(run.owners, weights=run.is_flagged, minlength=size) > 0
    return (
        Units(
            "claim",
            kind,
            scores=claim_scores(run, kind),
            is_flagged=run.is_flagged,
            truth=run.unsupported,
            clusters=run.clusters[run.owners],
            features=features["claim"],
        ),
        Units(
            "response",
            "probability" if kind == "probability" else "count",
            scores=response_scores(run, kind),
            is_flagged=has_flag,
            truth=response_truth(run),
            clusters=run.clusters,
            features=features["response"],
        ),
    )


def response_truth(run: LabelledRun) -> FloatArray:
    """Whether something in a response is unsupported: as said of the whole, else by its claims if all are labelled.

    A response with some unlabelled claims is left out, whatever the others are: those with more labelled claims would
    else be hallucinated more often.
    """
    size, owners = len(run.record_ids), run.owners
    known = ~np.isnan(run.unsupported)
    worst = np.zeros(size)
    np.maximum.at(worst, owners[known], run.unsupported[known])
    claims, labelled = np.bincount(owners, minlength=size), np.bincount(owners[known], minlength=size)
    from_claims = np.where((claims > 0) & (labelled == claims), worst, UNMEASURED)
    found: FloatArray = np.where(np.isnan(run.response_truth), from_claims, run.response_truth)
    return found
