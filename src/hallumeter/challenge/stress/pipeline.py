"""Supported claims in, what each judge makes of their edits out: what `hallumeter stress` runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import cast

from msgspec import Struct, structs

from hallumeter.claims.audit.entries import CaseJournal, Judged
from hallumeter.claims.audit.inputs import Inputs, RecordInputs, opened_files
from hallumeter.claims.audit.judging import JudgeWorker, Judging
from hallumeter.claims.audit.prepare import read_records
from hallumeter.claims.audit.setup import JudgeSetup, judge_setup
from hallumeter.claims.judges.function import FunctionJudge
from hallumeter.errors import RecordError, SettingsError
from hallumeter.formats.jsonl import write_jsonl
from hallumeter.models.pace import Interrupted
from hallumeter.models.prices import BudgetReached, Spending
from hallumeter.models.protocol import ProviderFault
from hallumeter.records.claim import Failure, Verdict
from hallumeter.records.judging import Judge
from hallumeter.records.response import Response
from hallumeter.run.context import RunContext
from hallumeter.run.journal import decoded
from hallumeter.run.progress import NoProgress, ProgressListener
from hallumeter.run.run_folder import JOURNAL, SUMMARY, new_run_folder, write_json
from hallumeter.run.stopping import stopping_on_signals

from .cases import Case, Selection, StressSettings, cases_of, select_claims
from .result import STRESS_VERSION, StressResult, judge_results

JudgeLike = str | Judge | Callable[..., object]


# The folder of a stress test: every edited claim with what was said of it, and the result.

STRESS = "stress.jsonl"


class Opinion(Struct, frozen=True, omit_defaults=True):
    """What one judge said of one claim."""

    label: str | None
    """None when there is no verdict."""
    start: int | None = None
    end: int | None = None
    reason: str | None = None
    note: str | None = None
    failure: str | None = None
    """Why there is no verdict."""


class StressRow(Struct, frozen=True):
    """One claim as the judges read it."""

    record_id: str
    claim_id: str
    kind: str
    is_error: bool
    original: str
    """The claim before it was edited."""
    text: str
    start: int | None
    """Where the wrong part stands in the text; None where nothing is wrong."""
    end: int | None
    replaced: str | None
    """What stood there; None for an unchanged claim."""
    verdicts: dict[str, Opinion]
    """By judge."""


def write_result(
    folder: Path, result: StressResult, cases: Sequence[Case], *, said: Mapping[str, Sequence[Verdict | Failure | None]]
) -> None:
    """Write the rows and the summary."""
    write_jsonl(folder / STRESS, _rows(cases, said))
    write_json(folder / SUMMARY, result)


def _rows(cases: Sequence[Case], said: Mapping[str, Sequence[Verdict | Failure | None]]) -> Iterator[StressRow]:
    for number, case in enumerate(cases):
        mutation = case.mutation
        yield StressRow(
            record_id=case.source.response.record_id,
            claim_id=case.source.claim_id,
            kind=case.kind,
            is_error=case.is_error,
            original=case.source.text,
            text=case.text,
            start=None if mutation is None else mutation.start,
            end=None if mutation is None else mutation.end,
            replaced=None if mutation is None else mutation.original,
            verdicts={judge: _opinion(own[number]) for judge, own in said.items()},
        )


def _opinion(item: Verdict | Failure | None) -> Opinion:
    if isinstance(item, Verdict):
        return Opinion(item.label.value, item.start, item.end, item.reason, item.note)
    return Opinion(None, failure="it was not asked" if item is None else item.message)


_Said = list[Verdict | Failure | None]
_INTERRUPTED = "the stress test was interrupted; what remote judges said is in the verdict cache"


class StressOutcome(Struct, frozen=True):
    """How a stress test ended."""

    result: StressResult
    failures: tuple[Failure, ...]
    """The first of each judge with each message."""
    spending: Spending
    troubles: tuple[str, ...]
    """What went wrong beside the judging: with the cache, with settings of models."""
    is_cut_short: bool
    """The budget was reached: what was not asked counts as failed."""


def run_stress(
    inputs: Inputs, *, settings: StressSettings, progress: ProgressListener, out: Path | None = None
) -> StressOutcome:
    """Edit claims, let every judge look at the edits, and count; with `out`, write a folder as well.

    Raises:
        KeyboardInterrupt: It was interrupted. What remote judges said is in the verdict cache, and not asked again.
    """
    with ExitStack() as opened:
        folder = None if out is None else opened.enter_context(new_run_folder(out))
        stop = opened.enter_context(stopping_on_signals())
        place = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        setup = judge_setup(settings.judging, stop=stop, progress=progress)
        if setup.cache is not None:
            opened.enter_context(setup.cache)
        journal = CaseJournal.create(place / JOURNAL, settings=b"")
        assert isinstance(journal, CaseJournal)
        opened.enter_context(journal)
        context = RunContext(journal, stop, progress, setup.spending)
        context.progress.begin("reading", total=0)
        report = read_records(inputs.sources(), context.journal, settings.judging, stop=context.stop)
        if report is None:
            raise KeyboardInterrupt(_INTERRUPTED)
        selection = select_claims(inputs, context.journal, report, settings=settings)
        progress.begin("editing claims", total=len(selection.claims))
        cases = tuple(cases_of(selection.claims, seed=settings.judging.measure.seed, progress=progress))
        journal.cases = cases
        said, is_cut_short = _judged(context, setup, settings, cases=cases)
        result = _result(selection, cases, said, settings=settings)
        if folder is not None:
            write_result(folder, result, cases, said=said)
    firsts: dict[tuple[str | None, str], Failure] = {}
    for own in said.values():
        for item in own:
            if isinstance(item, Failure):
                firsts.setdefault((item.judge, item.message), item)
    return StressOutcome(result, tuple(firsts.values()), setup.spending, setup.troubles, is_cut_short)


def _judged(
    context: RunContext, setup: JudgeSetup, settings: StressSettings, *, cases: tuple[Case, ...]
) -> tuple[dict[str, _Said], bool]:
    """What every judge said of every case, and whether the budget ended it."""
    judge_workers = setup.judge_workers(is_strict=settings.judging.measure.is_strict)
    judging = Judging(
        context, judge_workers, concurrency=settings.judging.concurrency, workers=settings.judging.workers
    )
    is_cut_short = False
    try:
        if not judging.run(len(cases)):
            raise KeyboardInterrupt(_INTERRUPTED)
    except Interrupted:
        raise KeyboardInterrupt(_INTERRUPTED) from None
    except BudgetReached:
        is_cut_short = True
    except ProviderFault as fault:
        raise SettingsError(f"{fault.message}; mend it and start again, verdicts so far are in the cache") from None
    return {worker.judge.spec.name: _said(worker, context, len(cases)) for worker in judge_workers}, is_cut_short


def _said(worker: JudgeWorker, context: RunContext, cases: int) -> _Said:
    """What a judge said of every case; None where it was not asked."""
    said: _Said = [None] * cases
    for entry in context.journal.entries(worker.step):
        [judged] = decoded([entry.body], Judged)
        answers: list[Verdict | Failure] = [*judged.verdicts, *judged.failures]
        said[entry.record] = answers[0] if answers else None
    return said


def _result(
    selection: Selection, cases: tuple[Case, ...], said: dict[str, _Said], *, settings: StressSettings
) -> StressResult:
    measure = settings.judging.measure
    return StressResult(
        version=STRESS_VERSION,
        hallumeter=version("hallumeter"),
        claims_from=selection.origin,
        claims=len(selection.claims),
        claims_available=selection.available,
        claims_skipped=selection.skipped,
        records=selection.records,
        records_read=selection.records_read,
        cases=len(cases),
        seed=measure.seed,
        confidence=measure.confidence,
        resamples=measure.resamples,
        judges=judge_results(cases, said, measure),
    )


# Put judges to the test with the claims of files, or of records in Python.


def stress(
    responses: str | Path | Iterable[Response] | Iterable[Mapping[str, object]],
    *,
    judge: JudgeLike | Sequence[JudgeLike] | None = None,
    out: str | Path | None = None,
    settings: StressSettings | None = None,
) -> StressResult:
    """Put errors of known kinds into supported claims, and see which of them judges catch.

    Give a file, or records in Python: each a response with its evidence. With `out`, every edited claim and what was
    said of it are written to a new folder.

    Raises:
        KeyboardInterrupt: It was interrupted.

    >>> text = "The tower was built in 1889. It is 330 m high and stands in Paris."
    >>> result = stress([{"id": "r1", "response": "It is high.", "evidence": text}], judge="rules")
    >>> [judge.judge for judge in result.judges], result.claims_from, result.claims
    (['rules@2'], 'evidence', 2)
    """
    chosen = settings or StressSettings()
    if judge is not None:
        chosen = structs.replace(chosen, judging=structs.replace(chosen.judging, judges=_judges(judge)))
    place = None if out is None else Path(out)
    if isinstance(responses, str | Path):
        return stress_files([Path(responses)], place, settings=chosen, progress=NoProgress()).result
    if isinstance(responses, Mapping | Response):
        raise RecordError("stress: expected a list of responses, found a single one; put it in a list")
    return run_stress(RecordInputs(responses), settings=chosen, progress=NoProgress(), out=place).result


def stress_files(
    paths: Sequence[Path], out: Path | None, *, settings: StressSettings, progress: ProgressListener
) -> StressOutcome:
    """Put judges to the test with the claims of some files."""
    with opened_files(paths) as inputs:
        return run_stress(inputs, settings=settings, progress=progress, out=out)


def _judges(given: JudgeLike | Sequence[JudgeLike]) -> tuple[str | Judge, ...]:
    return tuple(map(_judge, given if isinstance(given, list | tuple) else [given]))


def _judge(given: object) -> str | Judge:
    """A name, a judge as it is, or a function of a claim and its evidence."""
    if isinstance(given, str):
        return given
    if hasattr(given, "judge") and hasattr(given, "spec"):
        return cast("Judge", given)
    if callable(given):
        return FunctionJudge(given)
    found = type(given).__name__
    raise SettingsError(f"judge: expected a name, a judge, a function, or a list of them, found {found}")
