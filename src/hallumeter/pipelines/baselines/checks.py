"""Judges beside baselines, without asking any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, field, structs

from hallumeter.errors import SettingsError
from hallumeter.pipelines.labelled import LabelledRun, LabelSettings, read_labelled_judges
from hallumeter.pipelines.labelled.findings import WHOLE
from hallumeter.records import Label
from hallumeter.records.columns import FAILED_CODE, LABEL_CODES
from hallumeter.records.decisions.baselines import (
    BASELINES_VERSION,
    JudgeBaselines,
    NullBaselines,
    ShuffledVerdict,
)
from hallumeter.report.segmentation import CONSENSUS
from hallumeter.report.verdicts.baselines import NOT_ASKED, TOGETHER

from .comparing import Compared, ShuffledScores, level_baselines
from .keeping import fingerprint_of, kept_baselines
from .scoring import Exchange, Features, claim_scores, exchange_of, features_of, kind_of, response_scores, units_of
from .settings import BaselineSettings
from .texts import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.pipelines.labelled import OpenedRun
    from hallumeter.records.decisions.baselines import Level

    from .scoring import Kind, Units

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
    runs = read_labelled_judges(run, _with_slices(settings.labels, run), watch=texts.add, most=most)
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
