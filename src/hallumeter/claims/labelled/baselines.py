"""Judges beside baselines, without asking any of them."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct, field, structs
from numpy.typing import NDArray

from hallumeter.claims.report.labels import MISSING, NO_LABEL, NOT_ASKED, TOGETHER, TOO_FEW
from hallumeter.errors import SettingsError
from hallumeter.records.claim import Label
from hallumeter.records.columns import FAILED_CODE, LABEL_CODES
from hallumeter.records.decisions import (
    BASELINES_VERSION,
    Baseline,
    BaselineRow,
    Discrimination,
    JudgeBaselines,
    Level,
    LevelBaselines,
    NullBaselines,
    ShuffledVerdict,
    Standing,
)
from hallumeter.report.segmentation import CONSENSUS
from hallumeter.run.run_folder import BASELINES, VERDICTS, is_sharded, write_json
from hallumeter.run.store import COMMITS
from hallumeter.stats.discrimination import (
    CHANCE,
    area_difference,
    area_interval,
    area_under_curve,
    areas_under_curves,
    cross_fitted_flags,
    decisions,
)
from hallumeter.stats.significance import holm

from .run import WHOLE, LabelledRun, OpenedRun, read_labelled_judges
from .scoring import (
    BaselineSettings,
    Exchange,
    Features,
    Kind,
    Texts,
    Units,
    claim_scores,
    exchange_of,
    features_of,
    kind_of,
    response_scores,
    units_of,
)
from .sources import LabelSettings

FloatArray = NDArray[np.float64]


# The result beside the run, so that a report can show it without asking a judge again.


def fingerprint_of(run: Path) -> str:
    """Of the verdicts of a run: short, and another when any of them is another."""
    with (run / (COMMITS if is_sharded(run) else VERDICTS)).open("rb") as stream:  # commits have digests of all
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def keep_baselines(run: Path, found: NullBaselines) -> Path:
    """Write the result into the run folder, in place of an earlier one; returns where it stands."""
    place = run / BASELINES
    draft = place.with_suffix(".json.new")
    write_json(draft, found)
    draft.replace(place)
    return place


def kept_baselines(run: Path) -> NullBaselines | None:
    """What was kept for the verdicts that the run has now; None where nothing was, or it cannot be read."""
    with contextlib.suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
        found = msgspec.json.decode((run / BASELINES).read_bytes(), type=NullBaselines)
        if found.version == BASELINES_VERSION and found.fingerprint == fingerprint_of(run):
            return found
    return None


# A judge beside each baseline, with what the difference shows.


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


MOST_RESPONSES_OF_A_REPORT = 500
"""Labelled responses that a report looks at: enough to tell, and read in a fraction of the time that it takes."""


class Asked(Struct, frozen=True):
    """What came of asking judges again with the evidence of other responses."""

    verdicts: tuple[ShuffledVerdict, ...] = ()
    reasons: dict[str, str] = field(default_factory=dict)
    """Of judges that were not asked, why."""
    notices: tuple[str, ...] = ()


class Material(Struct, frozen=True, eq=False):
    """A labelled run, once for each of its judges, and what its texts say."""

    runs: list[LabelledRun]
    texts: Texts
    exchange: Exchange


def baselines_of_report(run: OpenedRun, *, confidence: float) -> NullBaselines:
    """What a report shows: the baselines that need no judge, and those that `hallumeter baselines` kept.

    What was kept counts if it belongs to the verdicts that the run has.

    Raises:
        HallumeterError: The labels cannot be used.
    """
    kept = kept_baselines(run.path)
    settings = BaselineSettings(seed=run.manifest.seed if kept is None else kept.seed, confidence=confidence)
    asked = Asked() if kept is None else Asked(kept.verdicts, notices=kept.notices)
    material = gathered(run, settings, keeps_responses=False, most=MOST_RESPONSES_OF_A_REPORT)
    return structs.replace(held_against(run, material, asked, settings=settings), verdicts=())


def gathered(run: OpenedRun, settings: BaselineSettings, *, keeps_responses: bool, most: int | None = None) -> Material:
    """Read a run beside its labels; of more labelled responses than `most`, about so many are drawn.

    Raises:
        InputError: There are no labels, or they do not fit the run.
        SettingsError: The run has no such judge.
    """
    texts = Texts(keeps_responses=keeps_responses)
    runs = read_labelled_judges(run, _with_slices(settings.labels, run), progress=texts.add, most=most)
    if all((each.codes == FAILED_CODE).all() for each in runs):
        raise SettingsError(f"{run.path}: no judge has given a verdict, beside the reference")
    return Material(runs, texts, exchange_of(runs[0], texts, seed=settings.seed))


def held_against(run: OpenedRun, material: Material, asked: Asked, *, settings: BaselineSettings) -> NullBaselines:
    """Every judge beside the baselines."""
    runs = material.runs
    features = features_of(runs[0], material.texts, material.exchange)
    return NullBaselines(
        version=BASELINES_VERSION,
        run=run.path.resolve().name,
        fingerprint=fingerprint_of(run.path),
        cluster=runs[0].unit,
        confidence=settings.confidence,
        seed=settings.seed,
        census=runs[0].census,
        judges=tuple(_judge(each, features, asked, settings=settings) for each in runs),
        verdicts=asked.verdicts,
        notices=asked.notices,
    )


def _with_slices(labels: LabelSettings, run: OpenedRun) -> LabelSettings:
    """Evidence is exchanged within the groups of the run, where the user names no others."""
    own = run.manifest.settings.get("by")
    return structs.replace(labels, by=tuple(own)) if not labels.by and isinstance(own, list) else labels


def _judge(
    run: LabelledRun, features: dict[Level, Features], asked: Asked, *, settings: BaselineSettings
) -> JudgeBaselines:
    own = [verdict for verdict in asked.verdicts if verdict.judge == run.judge]
    shuffled = _shuffled_run(run, own) if own else None
    compared = Compared(settings.confidence, settings.seed)
    # In a run without claims each response is one: what is said of both would be the same.
    is_whole = set(run.claim_ids) == {WHOLE}
    levels = tuple(
        level_baselines(units, _shuffled_scores(units, shuffled, kind_of(run)), settings=compared)
        for units in units_of(run, features)
        if units.level == "response" or not is_whole
    )
    reason = TOGETHER if run.judge == CONSENSUS else asked.reasons.get(run.judge, NOT_ASKED)
    return JudgeBaselines(run.judge, levels, shuffled=None if own else reason)


def _shuffled_scores(units: Units, shuffled: LabelledRun | None, kind: Kind) -> ShuffledScores | None:
    if shuffled is None:
        return None
    if units.level == "claim":
        return ShuffledScores(claim_scores(shuffled, kind), shuffled.is_flagged)
    flags = np.bincount(shuffled.owners, weights=shuffled.is_flagged, minlength=len(shuffled.record_ids)) > 0
    return ShuffledScores(response_scores(shuffled, kind), flags)


def _shuffled_run(run: LabelledRun, verdicts: Sequence[ShuffledVerdict]) -> LabelledRun:
    """The run as if the judge had said what it says with other evidence; nothing where it was not asked."""
    said = {(verdict.record_id, verdict.claim_id): verdict for verdict in verdicts}
    codes = np.full(len(run.claim_ids), FAILED_CODE, dtype=np.int8)
    probabilities = np.full(len(run.claim_ids), np.nan)
    for place, (owner, claim_id) in enumerate(zip(run.owners.tolist(), run.claim_ids, strict=True)):
        verdict = said.get((run.record_ids[owner], claim_id))
        if verdict is not None:
            codes[place] = LABEL_CODES[Label(verdict.label)]
            if verdict.unsupported_probability is not None:
                probabilities[place] = verdict.unsupported_probability
    return structs.replace(run, codes=codes, probabilities=probabilities)
