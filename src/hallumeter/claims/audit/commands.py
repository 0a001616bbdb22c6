"""Audit files, or records in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias, TypedDict, TypeGuard, Unpack

import msgspec
from msgspec import structs

from hallumeter.claims.extractors.protocol import Extractor
from hallumeter.claims.judges.function import FunctionJudge
from hallumeter.claims.measure.columns import CONSENSUS
from hallumeter.claims.samples import SampleReader
from hallumeter.claims.settings import AuditSettings
from hallumeter.errors import HallumeterError, SettingsError
from hallumeter.records.judging import Judge
from hallumeter.records.manifest import Manifest
from hallumeter.run.context import RunContext
from hallumeter.run.finished import Run, load, written_run
from hallumeter.run.inputs import paths_or_rows
from hallumeter.run.place import give_up, is_finished
from hallumeter.run.progress import NoProgress, ProgressListener
from hallumeter.run.run_folder import FIRST_FAILURES, REPORT, is_part
from hallumeter.run.runner import FinishedRun, RunOutcome, Step, run_work
from hallumeter.run.sharing import run_spending
from hallumeter.run.stopping import stopping_on_signals

from .entries import PREPARED, claim_count
from .finishing import write_files
from .identity import INSTRUMENT, AuditIdentity, identity_of, manifest_of_audit
from .inputs import Inputs, RecordInputs, opened_files
from .judging import Judging
from .prepare import REPORT as READING
from .prepare import Preparation, ReadingReport, check_fields, prepare_records, read_records, read_samples
from .setup import JudgeSetup, judge_setup

# Answers in, verdicts and a summary out: what `hallumeter audit` and `hallumeter.audit` run.

AuditOutcome: TypeAlias = RunOutcome[FinishedRun]


class AuditWork:
    """An audit: records are read, their claims found and judged, their samples compared."""

    instrument = INSTRUMENT

    def __init__(self, inputs: Inputs, folder: Path, *, settings: AuditSettings, setup: JudgeSetup) -> None:
        self.started = datetime.now(UTC)
        self.folder = folder
        self.identity = identity_of(setup, settings, inputs=inputs.files, version=version("hallumeter"))
        self._inputs, self._settings, self._setup = inputs, settings, setup
        self._samples = SampleReader(setup.equivalence)
        self._report: ReadingReport | None = None

    @property
    def manifest(self) -> Manifest:
        """What the run says of itself, but for the times."""
        records = {} if self._report is None else self._report.records_by_source
        return manifest_of_audit(self.identity, self._settings, records=records)

    @property
    def notices(self) -> tuple[str, ...]:
        """What went wrong beside the audit: with the cache, with files of the knowledge base, with models' settings."""
        return self._setup.troubles

    @property
    def steps(self) -> tuple[Step, ...]:
        """Everything that is done, in its order."""
        return self._read, self._prepare, self._judge, self._read_samples

    def opened(self, **_: object) -> AbstractContextManager[object]:
        """Hold the cache open; judges were made before, since they are a part of the identity."""
        return nullcontext() if self._setup.cache is None else self._setup.cache

    def _read(self, context: RunContext) -> bool:
        """Read the input, unless an earlier run has read it whole; one that cannot be used leaves nothing behind."""
        noted = context.journal.noted(READING)
        if noted is not None:
            self._report = msgspec.json.decode(noted, type=ReadingReport)
            check_fields(self._report, self._settings)
            return True
        context.progress.begin("reading", total=0)
        try:
            self._report = read_records(
                self._inputs.sources(self._settings.measure.shape), context.journal, self._settings, stop=context.stop
            )
        except HallumeterError:
            if context.journal.noted(READING) is None:
                give_up(self.folder, context.journal)
            raise
        return self._report is not None

    def _prepare(self, context: RunContext) -> bool:
        setup, settings, report = self._setup, self._settings, self._found
        preparation = Preparation(
            setup.extractor,
            report.names,
            knowledge_base=setup.knowledge_base,
            passages_per_claim=settings.passages_per_claim,
            samples=None if self._samples.is_remote else self._samples,
            is_strict=settings.measure.is_strict,
        )
        workers = settings.concurrency if setup.extractor.is_remote else settings.workers
        return prepare_records(context, preparation, records=report.records, workers=workers)

    def _judge(self, context: RunContext) -> bool:
        settings = self._settings
        judge_workers = self._setup.judge_workers(is_strict=settings.measure.is_strict)
        judging = Judging(context, judge_workers, concurrency=settings.concurrency, workers=settings.workers)
        return judging.run(sum(claim_count(entry.body) for entry in context.journal.entries(PREPARED)))

    def _read_samples(self, context: RunContext) -> bool:
        return read_samples(context, self._samples, self._found.names, concurrency=self._settings.concurrency)

    @property
    def _found(self) -> ReadingReport:
        assert self._report is not None  # the first step has read the input
        return self._report

    def write(self, folder: Path, context: RunContext) -> FinishedRun:
        """Write everything but the manifest and the report."""
        context.progress.begin("measuring", total=0)
        return write_files(
            folder,
            context.journal,
            self.identity,
            report=self._found,
            settings=self._settings,
            calibrated=self._setup.calibrated,
        )

    def write_report(self, folder: Path) -> None:
        """Write the report of a folder that has everything else; a part of a run has none of its own."""
        if not is_part():
            load(folder, verify=False).to_html(folder / REPORT)

    def read_finished(self) -> FinishedRun:
        """What an audit found that was finished before."""
        run = load(self.folder, verify=False)
        return FinishedRun(summary=run.summary, failures=run.failures[:FIRST_FAILURES])


def run_audit(
    inputs: Inputs, out: Path, *, settings: AuditSettings, progress: ProgressListener, is_resumed: bool = False
) -> AuditOutcome:
    """Audit the inputs into a run folder; an interrupted audit leaves its journal there.

    A finished audit of the same inputs with the same settings is not repeated when it is resumed.
    """
    with stopping_on_signals() as stop, run_spending(settings.budget_usd) as spending:
        setup = judge_setup(settings, spending=spending, stop=stop, progress=progress)
        work = AuditWork(inputs, out, settings=settings, setup=setup)
        _check_headline(work.identity, settings)
        # A finished run of another command is not resumed: its folder is taken.
        is_other = is_finished(out) and load(out, verify=False).manifest.instrument != INSTRUMENT
        return run_work(
            work, progress=progress, stop=stop, spending=setup.spending, is_resumed=is_resumed and not is_other
        )


def _check_headline(identity: AuditIdentity, settings: AuditSettings) -> None:
    """Refuse a headline by nobody, before anything is paid."""
    names = [judge.name for judge in identity.judges]
    if settings.measure.headline not in (None, CONSENSUS, *names):
        raise SettingsError(f"no judge is called {settings.measure.headline!r}; judges: {', '.join(names)}")


class FurtherOptions(TypedDict, total=False):
    """What few audits choose."""

    extractor: str | Extractor | None


def audit(
    responses: object,
    *,
    judge: str | Judge | Callable[..., object] | Iterable[str | Judge | Callable[..., object]] | None = None,
    by: str | Iterable[str] = (),
    out: str | Path | None = None,
    map: Mapping[str, str] | None = None,  # noqa: A002 (as the command line has it)
    settings: AuditSettings | None = None,
    **further: Unpack[FurtherOptions],
) -> Run:
    """Check every claim of every response against its evidence, and keep everything in a run.

    Give one file, several files, or rows in Python: a list or generator of dicts, responses or test cases, a single
    one, or a table of pandas, polars, pyarrow or datasets. Names of other tools and nested shapes are recognised; the
    `map` says where a field stands that is not: ``{"response": "output.text", "evidence": "docs[].content"}``. Rows
    that cannot be used are failures of the run. The `extractor` says how claims are found.

    Without `out` the run lives in a temporary folder, for as long as it is used; an audit that did not come to its end
    keeps its folder, to be gone on with. An `out` that holds an audit of the same records with the same settings is
    gone on with, or handed back when it is finished; nothing else is ever written over.

    Raises:
        KeyboardInterrupt: It was interrupted; the message says with which `out` to go on.

    >>> run = audit([{"id": "r1", "response": "The tower is 999 m high.", "evidence": "The tower is 330 m high."}])
    >>> [finding.verdicts[0].label.value for finding in run.findings()]
    ['REFUTED']
    """
    if unknown := further.keys() - FurtherOptions.__annotations__.keys():
        raise TypeError(f"audit() got an unexpected keyword argument {min(unknown)!r}")
    extractor = further.get("extractor")
    chosen = _chosen(settings or AuditSettings(), judge=judge, extractor=extractor, by=by, paths=map)
    return written_run(out, lambda place: _audited(responses, place, settings=chosen))


def audit_files(
    paths: Sequence[Path], out: Path, *, settings: AuditSettings, progress: ProgressListener, is_resumed: bool = False
) -> AuditOutcome:
    """Audit the records in some files into a run folder."""
    with opened_files(paths) as inputs:
        return run_audit(inputs, out, settings=settings, progress=progress, is_resumed=is_resumed)


def _chosen(
    settings: AuditSettings,
    *,
    judge: object,
    extractor: str | Extractor | None,
    by: str | Iterable[str],
    paths: Mapping[str, str] | None,
) -> AuditSettings:
    if judge is not None:
        settings = structs.replace(settings, judges=_judges(judge))
    if extractor is not None:
        settings = structs.replace(settings, extractor=extractor)
    fields = (by,) if isinstance(by, str) else tuple(by)
    if any(fields):
        settings = structs.replace(settings, measure=structs.replace(settings.measure, by=fields))
    if paths:
        settings = structs.replace(settings, measure=structs.replace(settings.measure, map=dict(paths)))
    return settings


def _judges(given: object) -> tuple[str | Judge, ...]:
    """One judge, or several; a judge that can be gone through is a judge all the same, and so is a function."""
    several = tuple(given) if isinstance(given, Iterable) and not _is_judge(given) else (given,)
    judges: list[str | Judge] = []
    for each in several:
        if callable(each) and not _is_judge(each):
            judges.append(FunctionJudge(each))
        elif _is_judge(each):
            judges.append(each)
        else:
            found = type(each).__name__
            raise SettingsError(f"judge: expected a name, a judge, a function, or several of them, found {found}")
    return tuple(judges)


def _is_judge(given: object) -> TypeGuard[str | Judge]:
    return isinstance(given, str) or (hasattr(given, "judge") and hasattr(given, "spec"))


def _audited(responses: object, out: Path, *, settings: AuditSettings) -> None:
    paths, rows = paths_or_rows(responses, "audit: paths and responses are mixed; give one kind")
    if paths:
        outcome = audit_files(paths, out, settings=settings, progress=NoProgress(), is_resumed=True)
    else:
        outcome = run_audit(RecordInputs(rows), out, settings=settings, progress=NoProgress(), is_resumed=True)
    if outcome.stopped == "interrupted":
        raise KeyboardInterrupt(f"the audit was interrupted; audit the same again with out={str(out)!r} to go on")
