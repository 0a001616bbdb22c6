"""Answers in, verdicts and a summary out: what `hallumeter audit` and `hallumeter.audit` run."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import HallumeterError, SettingsError
from hallumeter.pipelines.measurement.inputs import CONSENSUS
from hallumeter.pipelines.run import load
from hallumeter.pipelines.samples import SampleReader
from hallumeter.providers.language_models import ProviderFault
from hallumeter.records import Failure, Manifest, Summary
from hallumeter.runner import BudgetReached, Interrupted, Spending, kept_progress, stopping_on_signals
from hallumeter.store import MANIFEST, REPORT, write_json

from .comparing import read_samples
from .entries import PREPARED, Means, claim_count
from .equipment import Equipment, equipment_for
from .finishing import FIRST_FAILURES, write_files
from .identity import INSTRUMENT, check_same_run, identity_of, manifest_of
from .judging import Bench, Judging
from .preparing import Preparation, prepare_records
from .reading import REPORT as READING
from .reading import ReadingReport, check_fields, read_records
from .run_place import give_up, is_finished, opened_journal, written_together

if TYPE_CHECKING:
    from pathlib import Path

    from hallumeter.runner import Watch
    from hallumeter.store import Journal

    from .identity import AuditIdentity
    from .inputs import Inputs
    from .settings import AuditSettings

Stopped = Literal["interrupted", "budget"]


class AuditOutcome(Struct, frozen=True):
    """How an audit ended."""

    summary: Summary | None
    """None when it was interrupted: there is a journal to go on with, and nothing else."""
    failures: tuple[Failure, ...]
    """The first of them."""
    stopped: Stopped | None
    """Why it stopped before its end."""
    spending: Spending
    passing: int = 0
    """Claims on which a judge failed for reasons that may pass; the journal stays, and resuming asks again."""
    troubles: tuple[str, ...] = ()
    """What went wrong beside the audit: with the cache, with files of the knowledge base, with settings of models."""


class _Audit(Struct, frozen=True):
    """An audit under way."""

    means: Means
    equipment: Equipment
    settings: AuditSettings

    @property
    def journal(self) -> Journal:
        """Where everything that was done is kept."""
        return self.means.journal

    def report(self, inputs: Inputs) -> ReadingReport | None:
        """What the input holds; it is read unless an earlier run has read it whole. None when it was stopped."""
        noted = self.journal.noted(READING)
        if noted is not None:
            report = msgspec.json.decode(noted, type=ReadingReport)
            check_fields(report, self.settings)
            return report
        self.means.watch.begin("reading", total=0)
        return read_records(inputs.sources(), self.journal, self.settings, stop=self.means.stop)

    def run(self, report: ReadingReport) -> Stopped | None:
        """Do everything that is left; says why it stopped before the end."""
        self.means.resume_spending()
        try:
            return self._stopped(report)
        except Interrupted:
            return "interrupted"
        except ProviderFault as fault:
            kept = self.journal.path.parent
            raise SettingsError(
                f"{fault.message}; what was done is kept in {kept}: mend it and go on with --resume, in Python with "
                f"out={str(kept)!r}"
            ) from None
        finally:
            self.means.note_spending()

    def _stopped(self, report: ReadingReport) -> Stopped | None:
        """Take every step; one that may cost no more leaves the others to do what costs nothing."""
        stopped: Stopped | None = None
        for step in (self._prepare, self._judge, self._read_samples):
            try:
                if not step(report):
                    return "interrupted"
            except BudgetReached:
                stopped = "budget"
        return stopped

    def _prepare(self, report: ReadingReport) -> bool:
        equipment, settings = self.equipment, self.settings
        preparation = Preparation(
            equipment.extractor,
            report.names,
            knowledge_base=equipment.knowledge_base,
            passages_per_claim=settings.passages_per_claim,
            is_strict=settings.measure.is_strict,
        )
        workers = settings.concurrency if equipment.extractor.is_remote else settings.workers
        return prepare_records(self.means, preparation, records=report.records, workers=workers)

    def _judge(self, _: ReadingReport) -> bool:
        settings, equipment = self.settings, self.equipment
        benches = tuple(
            Bench(
                number,
                judge,
                equipment.cache if judge.spec.is_remote else None,
                is_strict=settings.measure.is_strict,
            )
            for number, judge in enumerate(equipment.judges)
        )
        judging = Judging(self.means, benches, concurrency=settings.concurrency, workers=settings.workers)
        return judging.run(self.claims)

    def _read_samples(self, report: ReadingReport) -> bool:
        reader = SampleReader(self.equipment.equivalence)
        return read_samples(self.means, reader, report.names, concurrency=self.settings.concurrency)

    @property
    def claims(self) -> int:
        """Claims found so far."""
        return sum(claim_count(entry.body) for entry in self.journal.entries(PREPARED))


def run_audit(
    inputs: Inputs, out: Path, *, settings: AuditSettings, watch: Watch, is_resumed: bool = False
) -> AuditOutcome:
    """Audit the inputs into a run folder; an interrupted audit leaves its journal there.

    A finished audit of the same inputs with the same settings is not repeated when it is resumed.
    """
    started = datetime.now(UTC)
    with stopping_on_signals() as stop, ExitStack() as opened:
        equipment = equipment_for(settings, stop=stop, watch=watch)
        if equipment.cache is not None:
            opened.enter_context(equipment.cache)
        identity = identity_of(equipment, settings, inputs=inputs.files, version=version("hallumeter"))
        _check_headline(identity, settings)
        if is_resumed and is_finished(out) and load(out).manifest.instrument == INSTRUMENT:
            return _finished_before(out, manifest_of(identity, settings, records={}), equipment.spending)
        with (
            opened_journal(out, identity, is_resumed=is_resumed) as journal,
            kept_progress(watch, out, instrument=INSTRUMENT) as told,
        ):
            audit = _Audit(Means(journal, stop, told, equipment.spending), equipment, settings)
            report = _report_or_nothing(audit, inputs, out)
            stopped = "interrupted" if report is None else audit.run(report)
            outcome = AuditOutcome(
                summary=None,
                failures=(),
                stopped=stopped,
                spending=equipment.spending,
                troubles=equipment.troubles,
            )
            if report is None or stopped == "interrupted":
                return outcome
            told.begin("measuring", total=0)
            with written_together(out) as folder:
                finished = write_files(folder, journal, identity, report=report, settings=settings)
                manifest = manifest_of(identity, settings, records=report.records_by_source)
                times = {"started": _time_text(started), "finished": _time_text(datetime.now(UTC))}
                write_json(folder / MANIFEST, structs.replace(manifest, **times))
                load(folder).to_html(folder / REPORT)
            if stopped is None and not finished.passing:
                journal.remove()
    return structs.replace(outcome, summary=finished.summary, failures=finished.failures, passing=finished.passing)


def _check_headline(identity: AuditIdentity, settings: AuditSettings) -> None:
    """Refuse a headline by nobody, before anything is paid."""
    names = [judge.name for judge in identity.judges]
    if settings.measure.headline not in (None, CONSENSUS, *names):
        raise SettingsError(f"no judge is called {settings.measure.headline!r}; judges: {', '.join(names)}")


def _report_or_nothing(audit: _Audit, inputs: Inputs, out: Path) -> ReadingReport | None:
    """What the input holds; an input that cannot be used leaves nothing behind."""
    try:
        return audit.report(inputs)
    except HallumeterError:
        if audit.journal.noted(READING) is None:
            give_up(out, audit.journal)
        raise


def _finished_before(out: Path, wanted: Manifest, spending: Spending) -> AuditOutcome:
    """The outcome of an audit that was finished before, if it is the one that is wanted."""
    run = load(out)
    check_same_run(out, run.manifest, wanted)
    return AuditOutcome(summary=run.summary, failures=run.failures[:FIRST_FAILURES], stopped=None, spending=spending)


def _time_text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
