"""A judge beside each baseline, with what the difference shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from hallumeter.records.decisions.baselines import BaselineRow, Discrimination, LevelBaselines
from hallumeter.report.verdicts.baselines import MISSING, NO_LABEL, TOO_FEW
from hallumeter.stats import holm
from hallumeter.stats.labels.discrimination import (
    CHANCE,
    area_difference,
    area_interval,
    area_under_curve,
    areas_under_curves,
    cross_fitted_flags,
    decisions,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hallumeter.records.decisions.baselines import Baseline, Standing

    from .scoring import Units

    FloatArray = NDArray[np.float64]


class Compared(Struct, frozen=True):
    """How baselines are held against judges."""

    confidence: float
    seed: int


class _Baseline(Struct, frozen=True, eq=False):
    name: Baseline
    scores: FloatArray
    flags: NDArray[np.bool_] | None = None
    """Its decisions; None to choose a threshold."""
    direction: str | None = None


class ShuffledScores(Struct, frozen=True, eq=False):
    """The judge with other evidence, on every unit of a level; NaN where it was not asked."""

    scores: FloatArray
    is_flagged: NDArray[np.bool_]


def level_baselines(units: Units, shuffled: ShuffledScores | None, *, settings: Compared) -> LevelBaselines:
    """The judge and every baseline on the labelled units that the judge decided."""
    is_labelled = ~np.isnan(units.truth)
    is_known = is_labelled & ~np.isnan(units.scores)
    judge = _discrimination(units, units.scores, is_known, flags=units.is_flagged, confidence=settings.confidence)
    rows = [_row(units, each, is_known, settings=settings) for each in _baselines(units, is_known, shuffled)]
    return LevelBaselines(
        level=units.level,
        score=units.kind,
        judge=judge,
        rows=_corrected(rows, alpha=1 - settings.confidence),
        left_out=int(is_labelled.sum() - is_known.sum()),
    )


def _baselines(units: Units, is_known: NDArray[np.bool_], shuffled: ShuffledScores | None) -> list[_Baseline]:
    features, everything = units.features, np.ones(len(units.scores))
    # Which length is suspicious is not known beforehand: the baseline gets the benefit of the labels.
    known = is_known & ~np.isnan(features.length)
    area = area_under_curve(features.length[known], units.truth[known])
    is_shorter = area is not None and area < CHANCE
    found = [
        _Baseline("always_positive", everything, flags=everything > 0),
        _Baseline(
            "length",
            -features.length if is_shorter else features.length,
            direction="shorter" if is_shorter else "longer",
        ),
        _Baseline("overlap", features.overlap),
        _Baseline("shuffled_overlap", features.shuffled_overlap),
    ]
    if shuffled is not None:
        found.append(_Baseline("shuffled_judge", shuffled.scores, flags=shuffled.is_flagged))
    return found


def _row(units: Units, baseline: _Baseline, is_known: NDArray[np.bool_], *, settings: Compared) -> BaselineRow:
    both = is_known & ~np.isnan(baseline.scores)
    truth, clusters = units.truth[both], units.clusters[both]
    flags = baseline.flags
    if flags is None:
        flags = np.zeros(len(both), dtype=bool)
        rng = np.random.default_rng(settings.seed)
        flags[both] = cross_fitted_flags(baseline.scores[both], truth, clusters, rng=rng)
    found = _discrimination(units, baseline.scores, both, flags=flags, confidence=settings.confidence)
    if is_known.any() and not both.any():
        found = structs.replace(found, undefined=MISSING[baseline.name])
    direction = baseline.direction if found.auroc is not None else None
    row = BaselineRow(baseline.name, found, direction=direction)  # type: ignore[arg-type]
    areas = areas_under_curves(np.stack([units.scores[both], baseline.scores[both]], axis=1), truth, clusters)
    if areas is None:
        return row
    apart = area_difference(areas, 0, 1, confidence=settings.confidence)
    return structs.replace(
        row,
        judge_auroc=float(areas.values[0]),
        difference=apart.difference,
        interval=(apart.interval.low, apart.interval.high),
        p_value=apart.p_value,
    )


def _discrimination(
    units: Units,
    scores: FloatArray,
    chosen: NDArray[np.bool_],
    *,
    flags: NDArray[np.bool_],
    confidence: float,
) -> Discrimination:
    truth, clusters = units.truth[chosen], units.clusters[chosen]
    decided = decisions(flags[chosen], truth)
    areas = areas_under_curves(scores[chosen], truth, clusters)
    interval = None if areas is None else area_interval(areas, 0, confidence=confidence)
    return Discrimination(
        units=decided.units,
        positives=decided.positives,
        clusters=len(np.unique(clusters)),
        auroc=None if areas is None else float(areas.values[0]),
        interval=None if interval is None else (interval.low, interval.high),
        flagged=decided.flagged,
        precision=decided.precision,
        recall=decided.recall,
        f1=decided.f1,
        undefined=None if areas is not None else TOO_FEW if decided.units else NO_LABEL,
    )


def _corrected(rows: Sequence[BaselineRow], *, alpha: float) -> tuple[BaselineRow, ...]:
    tested = [row for row in rows if row.p_value is not None]
    adjusted = dict(
        zip((row.baseline for row in tested), holm([row.p_value or 0.0 for row in tested]).tolist(), strict=True)
    )
    return tuple(
        structs.replace(
            row,
            adjusted_p_value=adjusted[row.baseline],
            standing=_standing(row.difference or 0.0, adjusted[row.baseline], alpha=alpha),
        )
        if row.baseline in adjusted
        else row
        for row in rows
    )


def _standing(difference: float, p_value: float, *, alpha: float) -> Standing:
    if p_value > alpha:
        return "not_distinguishable"
    return "better" if difference > 0 else "worse"
