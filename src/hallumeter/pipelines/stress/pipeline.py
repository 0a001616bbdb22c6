"""Supported claims in, what each judge makes of their edits out: what `hallumeter stress` runs."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.errors import SettingsError
from hallumeter.pipelines.audit.entries import CaseJournal, Judged, Means, decoded
from hallumeter.pipelines.audit.equipment import Equipment, equipment_for
from hallumeter.pipelines.audit.judging import Bench, Judging
from hallumeter.pipelines.audit.reading import read_records
from hallumeter.providers.language_models import ProviderFault
from hallumeter.records import Failure, Verdict
from hallumeter.runner import BudgetReached, Interrupted, Spending, stopping_on_signals
from hallumeter.store import JOURNAL, new_run_folder

from .cases import Case, cases_of
from .claims import Selection, select_claims
from .result import STRESS_VERSION, StressResult
from .scoring import judge_results
from .writing import write_result

if TYPE_CHECKING:
    from hallumeter.pipelines.audit.inputs import Inputs
    from hallumeter.runner import Watch

    from .settings import StressSettings

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


def run_stress(inputs: Inputs, *, settings: StressSettings, watch: Watch, out: Path | None = None) -> StressOutcome:
    """Edit claims, let every judge look at the edits, and count; with `out`, write a folder as well.

    Raises:
        KeyboardInterrupt: It was interrupted. What remote judges said is in the verdict cache, and not asked again.
    """
    with ExitStack() as opened:
        folder = None if out is None else opened.enter_context(new_run_folder(out))
        stop = opened.enter_context(stopping_on_signals())
        place = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        equipment = equipment_for(settings.judging, stop=stop, watch=watch)
        if equipment.cache is not None:
            opened.enter_context(equipment.cache)
        journal = CaseJournal.create(place / JOURNAL, settings=b"")
        assert isinstance(journal, CaseJournal)
        opened.enter_context(journal)
        means = Means(journal, stop, watch, equipment.spending)
        selection = _selection(inputs, means, settings)
        watch.begin("editing claims", total=len(selection.claims))
        cases = tuple(cases_of(selection.claims, seed=settings.judging.measure.seed, watch=watch))
        journal.cases = cases
        said, is_cut_short = _judged(means, equipment, settings, cases=cases)
        result = _result(selection, cases, said, settings=settings)
        if folder is not None:
            write_result(folder, result, cases, said=said)
    return StressOutcome(result, _first_failures(said), equipment.spending, equipment.troubles, is_cut_short)


def _selection(inputs: Inputs, means: Means, settings: StressSettings) -> Selection:
    means.watch.begin("reading", total=0)
    report = read_records(inputs.sources(), means.journal, settings.judging, stop=means.stop)
    if report is None:
        raise KeyboardInterrupt(_INTERRUPTED)
    return select_claims(inputs, means.journal, report, settings=settings)


def _judged(
    means: Means, equipment: Equipment, settings: StressSettings, *, cases: tuple[Case, ...]
) -> tuple[dict[str, _Said], bool]:
    """What every judge said of every case, and whether the budget ended it."""
    benches = tuple(
        Bench(
            number,
            judge,
            equipment.cache if judge.spec.is_remote else None,
            is_strict=settings.judging.measure.is_strict,
        )
        for number, judge in enumerate(equipment.judges)
    )
    judging = Judging(means, benches, concurrency=settings.judging.concurrency, workers=settings.judging.workers)
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
    return {bench.judge.spec.name: _said(bench, means, len(cases)) for bench in benches}, is_cut_short


def _said(bench: Bench, means: Means, cases: int) -> _Said:
    """What a judge said of every case; None where it was not asked."""
    said: _Said = [None] * cases
    for entry in means.journal.entries(bench.step):
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


def _first_failures(said: dict[str, _Said]) -> tuple[Failure, ...]:
    firsts: dict[tuple[str | None, str], Failure] = {}
    for own in said.values():
        for item in own:
            if isinstance(item, Failure):
                firsts.setdefault((item.judge, item.message), item)
    return tuple(firsts.values())
