"""What commands share that can cut their work into shards: options, the run, its progress, and what is said of it."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from .experiments import UNMEASURED
from .output import echo_wrapped
from .parameters import option, together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from rich.progress import Progress, TaskID

    from hallumeter.claims.audit.inputs import FileInputs
    from hallumeter.formats.batch import Batch
    from hallumeter.formats.shapes import RowShape
    from hallumeter.records.manifest import InputFile
    from hallumeter.records.measurement import Summary
    from hallumeter.run.ledger import LedgerAddress
    from hallumeter.run.sharded import Estimate, Plan, ShardedOutcome, ShardProgress
    from hallumeter.run.shards import Receipt

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
        help="Cut the input into shards and let these work on them: local (processes), ray, ray://HOST:PORT, spark, "
        "spark://HOST:PORT or sc://HOST:PORT.",
    ),
    option(
        "--shards",
        type=click.IntRange(1, _MOST_SHARDS),
        metavar="N",
        section=SHARDS,
        help="Number of shards.  [default: one for 8 MB of input, at least one for each worker]",
    ),
    option(
        "--ledger",
        metavar="URL",
        section=SHARDS,
        help="Where workers share budget, pace, replies and verdict cache: postgresql://USER@HOST/DATABASE.  "
        "[default: this machine's cache folder]",
    ),
)
resume_option = option(
    "--resume", "is_resumed", is_flag=True, section=SHARDS, help="Resume a run in shards that was stopped."
)


_LEDGER_NEEDED = (
    "{engine} may work on several machines, which keep a budget and a pace together only with a shared ledger: "
    "give --ledger postgresql://USER@HOST/DATABASE, or leave out --budget and the limits per minute"
)


class GivenInput(Protocol):
    """What the command line gives to cut into shards, and what to do with it; see `ShardInput` for the rest."""

    @property
    def settings(self) -> Any:
        """As the kind of the run takes them."""
        ...

    @property
    def bytes(self) -> int:
        """About how much it is."""
        ...

    @property
    def files(self) -> tuple[InputFile, ...]:
        """What is read."""
        ...

    @property
    def kept(self) -> dict[str, Path]:
        """Files that the run keeps whole."""
        ...

    def sources(self) -> Iterator[tuple[str, Iterator[Batch]]]:
        """Rows by the name of their source."""
        ...


class _Files:
    """Rows of files under the names that a shape gives them."""

    def __init__(self, inputs: FileInputs, settings: Any, shape: RowShape) -> None:
        self._inputs, self.settings, self._shape = inputs, settings, shape
        self.bytes, self.files = inputs.bytes, inputs.files
        self.kept: dict[str, Path] = {}

    def sources(self) -> Iterator[tuple[str, Iterator[Batch]]]:
        return self._inputs.sources(self._shape)


@contextmanager
def given_files(paths: Sequence[Path], settings: Any, shape: RowShape) -> Iterator[GivenInput]:
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

    def __bool__(self) -> bool:
        return self._engine is not None or self._shards is not None or isinstance(self.out, str) or bool(self._ledger)

    def run(
        self, kind: str, given: AbstractContextManager[GivenInput], *, is_dry: bool = False
    ) -> tuple[Summary, Path] | None:
        """Run it; gives the summary and a folder to read the run from, and nothing after a dry run.

        Raises:
            click.exceptions.Exit: It was stopped.
        """
        from hallumeter.run.engines import engine_by_name
        from hallumeter.run.sharded import Sharding, estimate, planned, run_sharded

        if self.out is None:
            raise click.UsageError("a run in shards needs a place: give --out RUN", click.get_current_context())
        engine = engine_by_name(self._engine or "local")
        with given as inputs, shown_shards(is_quiet=self.is_quiet) as progress:
            slots = self._slots()
            shards = self._shards or _default_shards(inputs.bytes, slots)
            plan = planned(kind, inputs.settings, inputs.files, shards=shards, slots=slots)
            if is_dry:
                echo_wrapped(estimate_text(estimate(plan, inputs), plan))
                return None
            ledger = self._place_of_ledger(plan)
            sharding = Sharding(engine=engine, shards=shards, slots=slots, is_resumed=self._is_resumed, ledger=ledger)
            outcome = run_sharded(str(self.out), plan, inputs, sharding=sharding, progress=progress)
        return self._ended(outcome, plan)

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

    def _ended(self, outcome: ShardedOutcome, plan: Plan) -> tuple[Summary, Path]:
        from hallumeter.run.store_tables import run_folder_of

        if outcome.summary is None:
            done = sum(1 for _ in outcome.store.committed())
            click.echo(
                f"stopped; {done:,} of {plan.shards:,} shards are kept in {self.out}. "
                "Resume with the same command and --resume",
                err=True,
            )
            raise click.exceptions.Exit(UNMEASURED)
        if outcome.was_finished and not self.is_quiet:
            click.echo(f"{self.out}: this run is finished; nothing is left to do", err=True)
        calls = sum(receipt.calls for receipt in outcome.receipts)
        if calls and not self.is_quiet:
            spent = sum(receipt.spent_usd for receipt in outcome.receipts)
            click.echo(f"{calls:,} calls, cost ${spent:,.4f}", err=True)
        return outcome.summary, run_folder_of(str(self.out))

    def say_where(self) -> None:
        """Name the run and its report, unless nobody wants to know."""
        if not self.is_quiet:
            click.echo(f"run: {self.out}\nreport: {self.out}/report.html", err=True)


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
