"""What the labels of a run say about its judges, for its report: no judge is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from hallumeter.errors import HallumeterError
from hallumeter.records.decisions import JudgeChecks
from hallumeter.report.build import confidence_of
from hallumeter.report.tallies import reference_judge
from hallumeter.run.labels import LABELS

from .sources import VERDICT_INSTRUMENTS, LabelSettings

if TYPE_CHECKING:
    from .reading import OpenedRun


def judge_checks(run: OpenedRun) -> JudgeChecks | None:
    """Null baselines and corrected rates; None, at once, for a run without labels.

    A report is about verdicts: labels that cannot be used leave it as it was.
    """
    if not has_labels(run):
        return None
    from .baselines import baselines_of_report
    from .correction import CorrectSettings, corrected_rates
    from .reading import read_labelled

    confidence = confidence_of(run.manifest)
    try:
        baselines = baselines_of_report(run, confidence=confidence)
        labelled = read_labelled(run, LabelSettings().drawn_as_in(run.manifest))
    except HallumeterError:
        return None
    settings = CorrectSettings(confidence=confidence, seed=run.manifest.seed)
    # A report does not name its folder: while it is written the folder is a draft, and equal runs have equal reports.
    correction = corrected_rates(labelled, name="", settings=settings)
    nameless = None if baselines is None else structs.replace(baselines, run="")
    return JudgeChecks(baselines=nameless, correction=correction if correction.is_corrected else None)


def has_labels(run: OpenedRun) -> bool:
    """Whether a run may have labels: some are kept beside it, or one of its judges is the truth."""
    manifest = run.manifest
    if manifest.instrument.split()[0] not in VERDICT_INSTRUMENTS:
        return False
    names = [judge.name for judge in manifest.judges]
    return (reference_judge(names) is not None and len(names) > 1) or (run.path / LABELS).is_file()
