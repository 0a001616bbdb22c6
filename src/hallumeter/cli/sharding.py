"""What commands share that can cut their work into shards: options, the run, its progress, and what is said of it."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import click

from .experiments import UNMEASURED, ExperimentCommand, failure_lines, run_command, say_lines
from .output import echo_wrapped
from .parameters import option, together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from rich.progress import Progress, TaskID

    from hallumeter.claims.audit.inputs import FileInputs
    from hallumeter.formats.batch import Batch
    from hallumeter.formats.shapes import RowShape
    from hallumeter.records.claim import Failure
    from hallumeter.records.measurement import Summary
    from hallumeter.run.ledger import LedgerAddress
    from hallumeter.run.runner import FinishedRun
    from hallumeter.run.sharded import Estimate, Plan, ShardedOutcome, ShardInput, ShardProgress
    from hallumeter.run.shards import Receipt

_Experiment = TypeVar("_Experiment", bound="PlacedExperiment")
_Finished = TypeVar("_Finished", bound="FinishedRun")
SHARDS = "Many records: shards, workers, object storage"
_BYTES_PER_SHARD = 8 << 20
_MOST_SHARDS = 100_000
_SECONDS_BETWEEN_DRAWINGS = 0.1
_FEW_HOURS = 0.01
_SHOWN_RECORDS = 100_000
"""Of larger runs the findings are not gone through once more for the terminal; the report has them."""

sharding_options = together(
    option(
        "--engine",
        metavar="ENGINE",
        section=SHARDS,
        help="Cut the input into shards, worked on by: local (processes), ray, ray://HOST:PORT, spark, "
        "spark://HOST:PORT or sc://HOST:PORT.",
    ),
    option(
        "--shards",
        type=click.IntRange(1, _MOST_SHARDS),
        metavar="N",
        section=SHARDS,
        help="Number of shards.  [default: one per 8 MB of input, at least one per worker]",
    ),
    option(
        "--ledger",
        metavar="URL",
        section=SHARDS,
        help="Where workers share budget, pace, replies and verdict cache: postgresql://USER@HOST/DATABASE.  "
        "[default: this machine's cache folder]",
    ),
)
resume_option = option("--resume", "is_resumed", is_flag=True, section=SHARDS, help="Resume a stopped run in shards.")
resume_or_estimate_options = together(
    resume_option,
    option("--dry-run", is_flag=True, section=SHARDS, help="Estimate what a run in shards takes, then stop."),
)
"""Of commands whose runs in one piece ask nobody, so that nothing is to be estimated of them."""

shard_workers_option = option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    section=SHARDS,
    help="Shards worked on at the same time.  [default: one per core]",
)


_LEDGER_NEEDED = (
    "{engine} may work on several machines, which keep a budget and a pace together only with a shared ledger: "
    "give --ledger postgresql://USER@HOST/DATABASE, or leave out --budget and the limits per minute"
)


_WHOLE_DRY = "--dry-run estimates a run in shards; give --engine or --shards, too"


class _Files:
    """Rows of files under the names that a shape gives them."""

    def __init__(self, inputs: FileInputs, settings: Any, shape: RowShape) -> None:
        self._inputs, self.settings, self._shape = inputs, settings, shape
        self.bytes, self.files = inputs.bytes, inputs.files
        self.kept: dict[str, Path] = {}

    def sources(self) -> Iterator[tuple[str, Iterator[Batch]]]:
        return self._inputs.sources(self._shape)


@contextmanager
def given_files(paths: Sequence[Path], settings: Any, shape: RowShape) -> Iterator[ShardInput]:
    """Files with answers or verdicts."""
    from hallumeter.claims.audit.inputs import opened_files

    with opened_files(paths) as inputs:
        yield _Files(inputs, settings, shape)


class Sharded:
    """What the command line says of shards; nothing where the run stays in one piece."""

    def __init__(self, options: dict[str, Any], out: str | Path | None, *, is_resumed: bool, is_quiet: bool) -> None:
        self._engine, self._shards = options.pop("engine"), options.pop("shards")
        self._ledger = options.pop("ledger", None)
        self._workers = options["workers"]
        self.out = out
        self._is_resumed, self.is_quiet = is_resumed, is_quiet
        self._is_dry = bool(options.pop("dry_run", False))
        if self._is_dry and not self:
            raise click.UsageError(_WHOLE_DRY, click.get_current_context())

    def __bool__(self) -> bool:
        return self._engine is not None or self._shards is not None or isinstance(self.out, str) or bool(self._ledger)

    def run(
        self, kind: str, given: AbstractContextManager[ShardInput], *, is_dry: bool = False
    ) -> tuple[Summary, Path] | None:
        """Run it; gives the summary and a folder to read the run from, and nothing after a dry run.

        Raises:
            click.exceptions.Exit: It was stopped.
        """
        from hallumeter.run.store_tables import run_folder_of

        outcome = self.outcome(kind, given, is_dry=is_dry)
        if outcome is None:
            return None
        assert outcome.summary is not None, "whatever is measured has a summary"
        return outcome.summary, run_folder_of(str(self.out))

    def outcome(
        self, kind: str, given: AbstractContextManager[ShardInput], *, is_dry: bool = False
    ) -> ShardedOutcome | None:
        """Run it to its end; nothing after a dry run.

        Raises:
            click.exceptions.Exit: It was stopped.
        """
        from hallumeter.run.engines import engine_by_name
        from hallumeter.run.sharded import Sharding, estimate, planned, run_sharded, shards_begun

        is_dry = is_dry or self._is_dry
        if self.out is None and not is_dry:
            raise click.UsageError("a run in shards needs a place: give --out RUN", click.get_current_context())
        engine = engine_by_name(self._engine or "local")
        with given as inputs, shown_shards(is_quiet=self.is_quiet) as progress:
            slots = self._slots()
            begun = shards_begun(str(self.out)) if self._is_resumed and not (self._shards or is_dry) else None
            shards = self._shards or begun or _default_shards(inputs.bytes, slots)
            plan = planned(kind, inputs.settings, inputs.files, shards=shards, slots=slots)
            if is_dry:
                echo_wrapped(estimate_text(estimate(plan, inputs), plan))
                return None
            ledger = self._place_of_ledger(plan)
            sharding = Sharding(engine=engine, shards=shards, slots=slots, is_resumed=self._is_resumed, ledger=ledger)
            outcome = run_sharded(str(self.out), plan, inputs, sharding=sharding, progress=progress)
        self._say_end(outcome, plan)
        return outcome

    def _place_of_ledger(self, plan: Plan) -> LedgerAddress | Path | None:
        """Where workers share what they spend: processes on this machine in its cache folder."""
        from hallumeter.errors import SettingsError
        from hallumeter.run.ledger import LedgerAddress
        from hallumeter.run.verdict_cache import cache_folder

        if self._ledger:
            return LedgerAddress(self._ledger)
        if "pace" not in plan.settings:  # nobody is asked, so there is nothing to share
            return None
        if self._engine in (None, "local"):
            return cache_folder()
        pace = plan.settings.get("pace") or {}
        limits = (plan.settings.get("budget_usd"), pace.get("requests_per_minute"), pace.get("tokens_per_minute"))
        if any(limit is not None for limit in limits):
            raise SettingsError(_LEDGER_NEEDED.format(engine=self._engine))
        return None

    def _slots(self) -> int:
        from hallumeter.run.engines.local import available_cores

        return self._workers or available_cores()

    def _say_end(self, outcome: ShardedOutcome, plan: Plan) -> None:
        if outcome.is_stopped:
            done = sum(1 for _ in outcome.store.committed())
            click.echo(
                f"stopped; {done:,} of {plan.shards:,} shards are kept in {self.out}. "
                "Resume with the same command and --resume",
                err=True,
            )
            raise click.exceptions.Exit(UNMEASURED)
        if self.is_quiet:
            return
        if outcome.was_finished:
            click.echo(f"{self.out}: this run is finished; nothing is left to do", err=True)
        notices = dict.fromkeys(notice for receipt in outcome.receipts for notice in receipt.notices)
        say_lines(f"note: {notice}" for notice in notices)
        calls = sum(receipt.calls for receipt in outcome.receipts)
        if calls:
            spent = sum(receipt.spent_usd for receipt in outcome.receipts)
            unpriced = sum(receipt.unpriced_calls for receipt in outcome.receipts)
            cost = [] if unpriced == calls and not spent else [f"cost ${spent:,.4f}"]
            cost += [f"price unknown for {unpriced:,} calls"] if unpriced else []
            click.echo(", ".join([f"{calls:,} calls", *cost]), err=True)

    def say_where(self) -> None:
        """Name the run and its report, unless nobody wants to know."""
        if not self.is_quiet:
            click.echo(f"run: {self.out}\nreport: {self.out}/report.html", err=True)


class PlacedExperiment(Protocol):
    """An experiment, of which is known here where its runs are kept."""

    @property
    def output(self) -> Path:
        """The folder of its runs, or a place in object storage."""
        ...


class ShardableCommand(ExperimentCommand[_Experiment, _Finished], Protocol):
    """A command that runs an experiment, in one piece or in shards."""

    kind: str
    """What manifests call its runs."""

    def cut(self, experiment: _Experiment, *, is_strict: bool) -> CutExperiment:
        """The experiment as the input of shards."""
        ...

    def say_shards(self, outcome: ShardedOutcome, place: str, cut: CutExperiment, *, is_quiet: bool) -> int:
        """Print what came of its shards; gives how much was answered."""
        ...


class CutExperiment(NamedTuple):
    """An experiment that was read, to be cut into shards."""

    run_id: str
    given: AbstractContextManager[ShardInput]
    failures: Sequence[Failure]
    """Of its input."""
    notices: Sequence[str] = ()


def run_experiment(command: ShardableCommand[_Experiment, _Finished], path: Path, options: dict[str, Any]) -> None:
    """Run an experiment and say what came of it: in shards, if the command line asks for them.

    Raises:
        click.exceptions.Exit: It did not come to its end, or nobody answered anything.
    """
    del options["is_resumed"]  # the same command goes on anyway
    flags = {name: bool(options.pop(name)) for name in ("quiet", "strict", "dry_run", "retry_failed")}
    sharded = Sharded(options, None, is_resumed=True, is_quiet=flags["quiet"])
    del options["workers"]
    options["output"] = None if options["output"] is None else Path(options["output"])
    experiment = command.read(path, options)
    output = str(experiment.output)
    if output.startswith(_REMOTE):  # a path has lost a slash
        sharded.out = output = f"s3://{output.removeprefix(_REMOTE).lstrip('/')}"
    if not sharded:
        run_command(command, experiment, **flags)
        return
    if flags["retry_failed"]:
        raise click.UsageError(_FINAL, click.get_current_context())
    cut = command.cut(experiment, is_strict=flags["strict"])
    sharded.out = place = f"{output}/{cut.run_id}"
    if not sharded.is_quiet:
        say_lines((*(f"note: {notice}" for notice in cut.notices), *failure_lines(cut.failures)))
    outcome = sharded.outcome(command.kind, cut.given, is_dry=flags["dry_run"])
    if outcome is not None and not command.say_shards(outcome, place, cut, is_quiet=sharded.is_quiet):
        raise click.exceptions.Exit(UNMEASURED)


def counted_shards(outcome: ShardedOutcome, place: str, *, is_quiet: bool) -> tuple[int, int]:
    """How much was answered in the shards of a run, and how much failed; the first failures are told."""
    from hallumeter.run.run_folder import FIRST_FAILURES, RunFolder
    from hallumeter.run.store_tables import run_folder_of

    receipts = list(outcome.store.committed())
    failed = sum(receipt.failures for receipt in receipts)
    if failed and not is_quiet:
        failures = RunFolder(run_folder_of(place)).failures()
        say_lines(failure_lines(list(islice((each for each in failures if each.step != "read"), FIRST_FAILURES))))
    return sum(receipt.records for receipt in receipts) - failed, failed


_REMOTE = "s3:/"
_FINAL = (
    "--retry-failed asks again what failed, but a shard that is committed stays as it is; leave out --engine and "
    "--shards, or give another --run-id"
)


def is_small(summary: Summary) -> bool:
    """Whether a run is gone through once more for what a terminal shows beside the numbers."""
    return summary.counts.records <= _SHOWN_RECORDS


def _default_shards(size: int, slots: int) -> int:
    return min(_MOST_SHARDS, max(slots, -(-size // _BYTES_PER_SHARD)))


def estimate_text(found: Estimate, plan: Plan) -> str:
    """What a run would take, as far as its first records tell."""
    lines = [f"{found.rows:,} rows in {plan.shards:,} shards, {plan.slots:,} at a time"]
    hours = found.core_hours
    if found.seconds_per_row is None or hours is None:
        lines.append(f"  core-hours   {'unknown':>13}   no language model or judge of yours is asked")
    else:
        without = "; without the calls" if found.calls else ""
        core_hours = f"{hours:,.2f}" if hours >= _FEW_HOURS else f"under {_FEW_HOURS}"
        lines += [
            f"  {found.seconds_per_row * 1000:.2f} ms a row, measured on the first {found.measured:,} rows here"
            + without,
            f"  core-hours   {core_hours:>13}   about {_span(hours / plan.slots)}",
        ]
    if not found.calls and found.cost_usd is None:
        lines.append(f"  calls        {'unknown':>13}   depends on what the answers say")
    if found.calls:
        cost = "unknown" if found.cost_usd is None else f"${found.cost_usd:,.4f}"
        which = "give the price with --price" if found.cost_usd is None else "at the table's or your prices"
        lines += [
            f"  calls        {found.calls:>13,}   estimated, without retries",
            f"  cost         {cost:>13}   {which}",
        ]
    return "\n".join(lines) + "\n"


def _span(hours: float) -> str:
    seconds = hours * 3600
    return (
        f"{hours:,.1f} hours"
        if hours >= 1
        else f"{seconds / 60:,.0f} minutes"
        if seconds >= 90
        else f"{seconds:,.0f} s"
        if seconds >= 1
        else "a second"
    )


# Progress: the same for every engine.


@contextmanager
def shown_shards(*, is_quiet: bool) -> Iterator[ShardProgress]:
    """A bar of shards on the standard error, for a person who waits; else nothing."""
    from hallumeter.run.sharded import NoShardProgress

    if is_quiet or not sys.stderr.isatty():
        yield NoShardProgress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[facts]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        yield ShownShards(progress)


class ShownShards:
    """Shards as a bar, with what is known of them so far."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None
        self._rows = self._records = self._failures = self._calls = 0
        self._spent = 0.0
        self._draw_at = 0.0

    def splitting(self, rows: int) -> None:
        """Show how many rows were read."""
        if self._task is None:
            self._task = self._progress.add_task("splitting", total=None, facts="")
        self._rows += rows
        if time.monotonic() >= self._draw_at:
            self._progress.update(self._task, facts=f"{self._rows:,} rows")
            self._progress.refresh()
            self._draw_at = time.monotonic() + _SECONDS_BETWEEN_DRAWINGS

    def begin(self, shards: int, done: Sequence[Receipt]) -> None:
        """Show the shards."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        for receipt in done:
            self._add(receipt)
        self._task = self._progress.add_task("shards", total=shards, completed=len(done), facts=self._facts())
        self._progress.refresh()

    def shard(self, receipt: Receipt) -> None:
        """Show one more shard."""
        self._add(receipt)
        if self._task is not None:
            self._progress.update(self._task, advance=1, facts=self._facts())
            if self._progress.finished:  # what comes now takes minutes where there are many shards
                self._progress.update(self._task, description="merging")
            self._progress.refresh()

    def _add(self, receipt: Receipt) -> None:
        self._records += receipt.records
        self._failures += receipt.failures
        self._calls += receipt.calls
        self._spent += receipt.spent_usd

    def _facts(self) -> str:
        facts = [
            f"{self._records:,} records",
            f"[red]{self._failures:,} failed[/red]" if self._failures else "",
            f"{self._calls:,} calls" if self._calls else "",
            f"${self._spent:,.4f}" if self._spent else "",
        ]
        return " ".join(filter(None, facts))
