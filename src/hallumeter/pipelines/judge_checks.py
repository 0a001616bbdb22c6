"""What the labels of a run say about its judges, for its report: no judge is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.errors import HallumeterError
from hallumeter.pipelines.labelled import VERDICT_INSTRUMENTS, LabelSettings, read_labelled
from hallumeter.records.decisions.checks import JudgeChecks
from hallumeter.report.building import confidence_of
from hallumeter.report.counting.votes import reference_judge
from hallumeter.store import LABELS

from .baselines.checks import baselines_of_report
from .correcting.rates import corrected_rates
from .correcting.settings import CorrectSettings

if TYPE_CHECKING:
    from hallumeter.pipelines.labelled import OpenedRun


def judge_checks(run: OpenedRun) -> JudgeChecks | None:
    """Null baselines and corrected rates; None, at once, for a run without labels.

    A report is about verdicts: labels that cannot be used leave it as it was.
    """
    if not has_labels(run):
        return None
    confidence = confidence_of(run.manifest)
    try:
        baselines = baselines_of_report(run, confidence=confidence)
        labelled = read_labelled(run, LabelSettings().drawn_as_in(run.manifest))
    except HallumeterError:
        return None
    settings = CorrectSettings(confidence=confidence, seed=run.manifest.seed)
    correction = corrected_rates(labelled, name=run.path.name, settings=settings)
    return JudgeChecks(baselines=baselines, correction=correction if correction.is_corrected else None)


def has_labels(run: OpenedRun) -> bool:
    """Whether a run may have labels: some are kept beside it, or one of its judges is the truth."""
    manifest = run.manifest
    if manifest.instrument.split()[0] not in VERDICT_INSTRUMENTS:
        return False
    names = [judge.name for judge in manifest.judges]
    return (reference_judge(names) is not None and len(names) > 1) or (run.path / LABELS).is_file()
