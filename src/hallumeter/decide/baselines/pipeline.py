"""Every judge of a run beside the baselines: what `hallumeter baselines` runs."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct, structs

from hallumeter.claims.audit.entries import CaseJournal, Judged, Prepared
from hallumeter.claims.audit.judging import JudgeWorker, Judging
from hallumeter.claims.audit.setup import judge_setup
from hallumeter.claims.labelled.baselines import Asked, Material, gathered, held_against, keep_baselines
from hallumeter.claims.labelled.reading import drawing_order
from hallumeter.claims.labelled.scoring import BaselineSettings, Texts
from hallumeter.claims.settings import AuditSettings, LanguageModelSettings
from hallumeter.errors import HallumeterError, SettingsError
from hallumeter.models.pace import Interrupted, PaceSettings
from hallumeter.models.protocol import ProviderFault
from hallumeter.records.claim import Claim
from hallumeter.records.decisions import NullBaselines, ShuffledVerdict
from hallumeter.records.manifest import JudgeEntry
from hallumeter.records.response import Passage, Response
from hallumeter.report.segmentation import CONSENSUS
from hallumeter.report.wording import format_count, plural
from hallumeter.run.context import RunContext
from hallumeter.run.finished import Run, load
from hallumeter.run.journal import decoded
from hallumeter.run.progress import NoProgress, ProgressListener
from hallumeter.run.run_folder import JOURNAL
from hallumeter.run.stopping import stopping_on_signals

# Judges asked again, with the evidence of other responses: one who reads the evidence then does worse.

RECORDED = "recorded"
_HERE = ("rules", "embedded")
"""Judges that run on this machine, and cost nothing."""
_RECORDED = re.compile(rf"\b{RECORDED}\b")
_BATCH = re.compile(r"\bbatch=(\d+)")
_STOPPED = "asking judges again was interrupted"


class ShuffledCase(Struct, frozen=True):
    """A response beside the evidence of another."""

    response: Response
    claims: tuple[Claim, ...]
    passages: tuple[Passage, ...]

    def prepared(self) -> Prepared:
        """With the other evidence; whether the question has an answer is not known of that."""
        response = structs.replace(self.response, evidence=self.passages, samples=(), token_logprobs=None)
        return Prepared(response, self.claims, response.record_id)


def asked_again(
    judges: Sequence[JudgeEntry],
    cases: Sequence[ShuffledCase],
    costs: dict[str, float],
    *,
    settings: BaselineSettings,
    progress: ProgressListener,
) -> Asked:
    """Ask every judge that may be asked; `costs` are what the judges took for the same responses."""
    reasons: dict[str, str] = {}
    verdicts: list[ShuffledVerdict] = []
    notices: list[str] = []
    for judge in judges:
        reason = _why_not(judge, cases, costs.get(judge.name), settings=settings)
        if reason is not None:
            reasons[judge.name] = reason
            continue
        try:
            said, spec = _ask(judge, cases, settings=settings, progress=progress)
        except (HallumeterError, ProviderFault) as error:
            reasons[judge.name] = f"it could not be asked again: {error}"
            continue
        verdicts += said
        if spec != judge.spec:
            notices.append(f"{judge.name} was asked again as {spec}; in the run it was {judge.spec}")
    return Asked(tuple(verdicts), reasons, tuple(notices))


def chosen_cases(material: Material, *, limit: int) -> list[ShuffledCase]:
    """Labelled responses with other evidence, at most so many, those that a report draws first."""
    run, texts, exchange = material.runs[0], material.texts, material.exchange
    possible = [record_id for record_id in run.record_ids if exchange.other.get(record_id) is not None]
    found = []
    for record_id in sorted(possible, key=drawing_order)[:limit]:
        response, findings = texts.responses[record_id]
        number = exchange.other[record_id]
        assert number is not None
        claims = tuple(finding.claim for finding in findings)
        if claims:
            found.append(ShuffledCase(response, claims, texts.evidence[number].passages))
    return found


def _why_not(
    judge: JudgeEntry, cases: Sequence[ShuffledCase], cost: float | None, *, settings: BaselineSettings
) -> str | None:
    if not cases:
        return "there is no other evidence to ask it with" if settings.limit else "it was not asked again (--limit 0)"
    if _RECORDED.search(judge.spec):
        return "its verdicts came with the run; audit the same answers with a judge that can be asked"
    if judge.name.partition("@")[0].partition(":")[0] in _HERE or settings.is_any_judge_asked:
        return None
    calls = _calls(judge, cases)
    spent = f", about ${cost:.2f} by what the run paid" if cost else ""
    return (
        f"it is not asked again by itself; --shuffle asks it about {plural(len(cases), 'response')} "
        f"({format_count(calls)} calls{spent})"
    )


def _calls(judge: JudgeEntry, cases: Sequence[ShuffledCase]) -> int:
    found = _BATCH.search(judge.spec)
    size = int(found[1]) if found else 1
    return sum(math.ceil(len(case.claims) / size) for case in cases)


def _ask(
    judge: JudgeEntry, cases: Sequence[ShuffledCase], *, settings: BaselineSettings, progress: ProgressListener
) -> tuple[list[ShuffledVerdict], str]:
    name = judge.name.partition("@")[0] if judge.name.startswith(_HERE) else judge.name
    judging = AuditSettings(
        judges=(name,),
        cache=settings.cache,
        workers=settings.workers,
        language_model=LanguageModelSettings(seed=settings.seed),
        pace=PaceSettings(timeout_seconds=settings.timeout_seconds),
        concurrency=settings.concurrency,
    )
    with ExitStack() as opened:
        stop = opened.enter_context(stopping_on_signals())
        place = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        setup = judge_setup(judging, stop=stop, progress=progress)
        if setup.cache is not None:
            opened.enter_context(setup.cache)
        journal = CaseJournal.create(place / JOURNAL, settings=b"")
        assert isinstance(journal, CaseJournal)
        opened.enter_context(journal)
        journal.cases = cases
        [made] = setup.judges
        worker = JudgeWorker(0, made, setup.cache if made.spec.is_remote else None)
        context = RunContext(journal, stop, progress, setup.spending)
        work = Judging(context, (worker,), concurrency=judging.concurrency, workers=judging.workers)
        try:
            is_finished = work.run(sum(len(case.claims) for case in cases))
        except Interrupted:
            raise KeyboardInterrupt(_STOPPED) from None
        except ProviderFault as fault:
            raise SettingsError(fault.message) from None
        if not is_finished:
            raise KeyboardInterrupt(_STOPPED)
        judged = decoded((entry.body for entry in journal.entries(worker.step)), Judged)
        return [
            ShuffledVerdict(judge.name, said.record_id, said.claim_id, said.label.value, said.unsupported_probability)
            for each in judged
            for said in each.verdicts
        ], str(made.spec)


def baselines(
    run: Run | str | Path,
    settings: BaselineSettings | None = None,
    *,
    is_kept: bool = False,
    progress: ProgressListener | None = None,
) -> NullBaselines:
    """Hold every judge of a labelled run against what needs no judge: length, shared words, other evidence.

    Judges that run on this machine are asked again, with the evidence of other responses. `is_kept` writes the result
    into the run folder, for its report, as `hallumeter baselines` does.

    Raises:
        InputError: There are no labels, or they do not fit the run.
        SettingsError: The run has no such judge.
    """
    run = run if isinstance(run, Run) else load(run)
    settings = settings or BaselineSettings()
    material = gathered(run, settings, keeps_responses=True)
    cases = chosen_cases(material, limit=settings.limit)
    known = {judge.name: judge for judge in run.manifest.judges}
    names = [each.judge for each in material.runs if each.judge != CONSENSUS]
    judges = [known.get(name, JudgeEntry(name, RECORDED)) for name in names]
    costs = _costs(material.texts, {case.response.record_id for case in cases})
    asked = asked_again(judges, cases, costs, settings=settings, progress=progress or NoProgress())
    found = held_against(run, material, asked, settings=settings)
    if is_kept:
        keep_baselines(run.path, found)
    return found


def null_baselines(
    run: Run | str | Path, settings: BaselineSettings | None = None, *, progress: ProgressListener | None = None
) -> NullBaselines:
    """The same as `baselines`, under its first name."""
    return baselines(run, settings, progress=progress)


def _costs(texts: Texts, chosen: set[str]) -> dict[str, float]:
    """What each judge took for the chosen responses, as far as it is known."""
    costs: dict[str, float] = {}
    findings = [finding for record_id in chosen for finding in texts.responses[record_id][1]]
    for verdict in (verdict for finding in findings for verdict in finding.verdicts):
        if verdict.cost_usd is not None:
            costs[verdict.judge] = costs.get(verdict.judge, 0.0) + verdict.cost_usd
    return costs
