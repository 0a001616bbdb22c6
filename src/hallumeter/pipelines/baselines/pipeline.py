"""Every judge of a run beside the baselines: what `hallumeter baselines` runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.records import JudgeEntry
from hallumeter.report.segmentation import CONSENSUS
from hallumeter.runner import NoWatch

from .asking import RECORDED, asked_again, chosen_cases
from .checks import gathered, held_against
from .settings import BaselineSettings

if TYPE_CHECKING:
    from hallumeter.pipelines.run import Run
    from hallumeter.records.decisions.baselines import NullBaselines
    from hallumeter.runner import Watch

    from .texts import Texts


def null_baselines(run: Run, settings: BaselineSettings | None = None, *, watch: Watch | None = None) -> NullBaselines:
    """Hold every judge of a run against baselines, by the labels of the run.

    Judges that run on this machine are asked again, with the evidence of other responses.

    Raises:
        InputError: There are no labels, or they do not fit the run.
        SettingsError: The run has no such judge.
    """
    settings = settings or BaselineSettings()
    material = gathered(run, settings, keeps_responses=True)
    cases = chosen_cases(material, limit=settings.limit)
    known = {judge.name: judge for judge in run.manifest.judges}
    names = [each.judge for each in material.runs if each.judge != CONSENSUS]
    judges = [known.get(name, JudgeEntry(name, RECORDED)) for name in names]
    costs = _costs(material.texts, {case.response.record_id for case in cases})
    asked = asked_again(judges, cases, costs, settings=settings, watch=watch or NoWatch())
    return held_against(run, material, asked, settings=settings)


def _costs(texts: Texts, chosen: set[str]) -> dict[str, float]:
    """What each judge took for the chosen responses, as far as it is known."""
    costs: dict[str, float] = {}
    findings = [finding for record_id in chosen for finding in texts.responses[record_id][1]]
    for verdict in (verdict for finding in findings for verdict in finding.verdicts):
        if verdict.cost_usd is not None:
            costs[verdict.judge] = costs.get(verdict.judge, 0.0) + verdict.cost_usd
    return costs
