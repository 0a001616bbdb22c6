"""A run in shards: split the input, let an engine work the shards off, merge what they found.

A shard is an ordinary small run in a scratch folder. Its files become Parquet tables in the store, with the row number
of the input beside each line, so that an export puts all lines in the order of the input again.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import HallumeterError, InputError, SettingsError
from hallumeter.instruments import instrument_of
from hallumeter.models.prices import Spending
from hallumeter.records.instrument import Partial, Partials
from hallumeter.records.manifest import PLAN, InputFile, JudgeEntry, Manifest
from hallumeter.records.measurement import Summary
from hallumeter.run.engines import Engine

from .digests import run_file
from .finished import Run
from .identity import shown_value, timed
from .ledger import LedgerAddress
from .run_folder import MANIFEST, REPORT, SUMMARY, RunFolder, keeping_partials, write_json
from .runner import FinishedRun, RunOutcome
from .shards import (
    PART,
    Found,
    InputRow,
    Part,
    Receipt,
    Shard,
    input_rows,
    is_of_unit,
    scratch_folder,
    split_rows,
    write_rows,
)
from .sharing import is_sharing, set_budget, sharing
from .store import COMMITS, RunStore, attempt_name, is_remote, pyarrow_module
from .store_tables import LinePlaces, cells_table, lines_table, local_copy, table_name

if TYPE_CHECKING:
    from hallumeter.formats.batch import Batch

_Finished = TypeVar("_Finished", bound=FinishedRun)

BUDGET = "budget_usd"
"""The name of the setting that says what all workers together may spend."""
PARTIAL = "partial"
"""Under which a shard keeps what it adds up to."""


class Plan(Struct, frozen=True, kw_only=True):
    """What a sharded run does: everything that a worker on another machine must know, and no secret."""

    hallumeter: str
    run: str
    """What manifests call the run, such as ``audit``."""
    settings: dict[str, Any]
    """As its instrument wrote them; judges by name."""
    inputs: tuple[InputFile, ...]
    shards: int
    slots: int = 1
    """How many shards are worked on at the same time: calls and pace are divided by it."""
    found: Found = msgspec.field(default_factory=Found)
    kept: tuple[str, ...] = ()
    """Files of the input that the run keeps whole."""
    id: str = ""
    """A name that no other run has: the workers know each other by it in the ledger."""

    def check_same(self, wanted: Plan, where: str) -> None:
        """Refuse to go on with a run that was begun with something else."""
        for name in ("hallumeter", "run", "inputs", "shards", "settings"):
            was, now = getattr(self, name), getattr(wanted, name)
            if name == "settings":  # a run may be resumed with another budget
                was, now = ({**each, BUDGET: None} for each in (was, now))
            if name == "inputs" and len(was) == len(now):  # a folder has no digest before its pages are read
                pairs = zip(was, now, strict=True)
                now = tuple(structs.replace(new, sha256=new.sha256 or old.sha256) for old, new in pairs)
            if was == now:
                continue
            what, was, now = _difference(name, was, now)
            raise SettingsError(
                f"{where}: the run was begun with {what} {shown_value(was)}, now it is {shown_value(now)}; "
                "give what it was begun with, or another --out"
            )


def _difference(name: str, was: Any, now: Any) -> tuple[str, Any, Any]:
    """The innermost setting that differs, by its own name."""
    if isinstance(was, dict) and isinstance(now, dict):
        inner = next(key for key in {**was, **now} if was.get(key) != now.get(key))
        return _difference(inner, was.get(inner), now.get(inner))
    return name, was, now


class ShardDone(Struct, frozen=True, kw_only=True):
    """What came of the work on a shard, beside its files."""

    records: int
    failures: int = 0
    calls: int = 0
    spent_usd: float = 0.0
    unpriced_calls: int = 0
    """Calls of which nobody knows what they have cost."""
    notices: tuple[str, ...] = ()
    """What a user should know beside the numbers, such as settings that a model does not take."""


def whole_outcome(outcome: RunOutcome[_Finished]) -> _Finished:
    """What the run of a shard came to; one that was stopped before its end is not committed."""
    if outcome.finished is None:
        raise KeyboardInterrupt
    if outcome.stopped == "budget":
        raise InputError("the budget is used up; give a larger --budget and --resume: what was paid is kept")
    return outcome.finished


def done_of(outcome: RunOutcome[_Finished], *, records: int, failures: int) -> ShardDone:
    """What came of a shard in which language models may have been asked."""
    counted = counted_calls(outcome.spending)
    return ShardDone(records=records, failures=failures, notices=tuple(outcome.notices), **counted)


def counted_calls(spending: Spending) -> dict[str, Any]:
    """The calls of a shard, as `ShardDone` has them."""
    unpriced = spending.calls_without_price - spending.calls_estimated
    return {"calls": spending.calls, "spent_usd": spending.charged_usd, "unpriced_calls": unpriced}


def share_of(limit: float | None, slots: int) -> float | None:
    """A worker's share of what all may ask in a minute; a ledger keeps the pace of all together."""
    return limit if limit is None or is_sharing() else limit / slots


class ShardedKind(LinePlaces, Protocol):
    """How runs of one kind are cut into shards; `Instrument.sharded` finds it by what manifests call the run."""

    @property
    def cells(self) -> Mapping[str, tuple[str, ...]]:
        """Files for spreadsheets with a row for every unit or so, and the columns that name the unit."""
        ...

    @property
    def has_numbers(self) -> bool:
        """Whether its shards add up to a summary; answers that nobody has measured do not."""
        ...

    def stored(self, settings: Any) -> dict[str, Any]:
        """The settings as JSON; whatever cannot be named is refused."""
        ...

    def key(self, settings: dict[str, Any]) -> Callable[[Mapping[str, object], str], str]:
        """What a row is sharded by, from its fields and its place."""
        ...

    def name(self, fields: Mapping[str, object]) -> str | None:
        """What every shard must know of a row in another, such as who judged; None for nothing."""
        ...

    def check(self, plan: Plan) -> None:
        """Refuse what the whole input shows to be impossible, such as a group by a field that no row has."""
        ...

    def check_done(self, plan: Plan, folder: Path) -> None:
        """Refuse what only the work on all shards shows to be impossible; `folder` is the whole run but for its end."""
        ...

    def work(self, plan: Plan, part: Part, folder: Path) -> ShardDone:
        """Make an ordinary run of a part in a new folder, without its report."""
        ...

    def estimated(self, plan: Plan, part: Part, folder: Path) -> tuple[float | None, int, float | None]:
        """What a part takes: seconds of work here, calls, and dollars; nobody who is paid is asked.

        Seconds are unknown (None) where nothing may be tried without asking somebody.
        """
        ...

    def record_rows(self, part: Part, folder: Path) -> dict[str, int]:
        """The row of every record of the run, by the name that it has there."""
        ...

    def write_files(self, folder: Path, store: RunStore, plan: Plan, *, whole: Any) -> tuple[str, ...]:
        """Write files of the whole run that are no list of what the shards have, and name them.

        `whole` is what all shards add up to.
        """
        ...


class UsualKind:
    """What kinds of runs have in common unless they say otherwise."""

    cells: Mapping[str, tuple[str, ...]] = {}
    has_numbers: bool = True

    def stored(self, settings: Any) -> dict[str, Any]:
        """The settings as JSON."""
        stored: dict[str, Any] = msgspec.to_builtins(settings)
        return stored

    def name(self, fields: Mapping[str, object]) -> str | None:
        """Nothing of one row that others must know."""
        del fields
        return None

    def check_done(self, plan: Plan, folder: Path) -> None:
        """Nothing."""
        del plan, folder

    def section(self, table: str, line: Mapping[str, Any], row: int) -> int:
        """Failures of the input come before those of units; every other file is one list."""
        del line
        return int(table == "failures" and is_of_unit(row))

    def names(self, table: str, line: Mapping[str, Any]) -> Iterable[str]:
        """By the message for what could not be read, else by the record."""
        del table
        return [str(line[name]) for name in ("message", "record_id") if line.get(name) is not None]

    def write_files(self, folder: Path, store: RunStore, plan: Plan, *, whole: Any) -> tuple[str, ...]:
        """Nothing but the files that every run has."""
        del folder, store, plan, whole
        return ()


def kind_of(run: str) -> ShardedKind:
    """How runs of a kind are cut into shards.

    Raises:
        SettingsError: They cannot be.
    """
    found = instrument_of(run).sharded
    kind: ShardedKind | None = None if found is None else found(run)
    if kind is None:
        raise SettingsError(f"a run of {run} cannot be cut into shards; leave out --engine and --shards")
    return kind


def planned(run: str, settings: Any, inputs: tuple[InputFile, ...], *, shards: int, slots: int) -> Plan:
    """The plan of a run, before its input has been read."""
    # As it will be read back: a tuple is a list there.
    stored = msgspec.json.decode(msgspec.json.encode(kind_of(run).stored(settings)))
    return Plan(hallumeter=version("hallumeter"), run=run, settings=stored, inputs=inputs, shards=shards, slots=slots)


# What a worker does.


class ShardTask(Struct, frozen=True):
    """Works on one shard: reads its part, makes a run of it, puts its files into the store and commits them."""

    location: str
    ledger: LedgerAddress | Path | None = None
    """Where workers share budget, pace and replies; None for each on its own."""

    def __call__(self, shard: Shard) -> Receipt:
        """Do it; a shard that somebody has committed is left alone."""
        begun = time.monotonic()
        store = RunStore(self.location, is_patient=True)
        known = store.commit_of(shard.number)
        if known is not None:
            return structs.replace(known, won=False)
        plan = read_plan(store)
        with scratch_folder() as scratch:
            part = opened_part(store, shard, plan.found, scratch=scratch)
            folder = scratch / "run"
            with self._sharing(plan, shard), keeping_partials():
                done = kind_of(plan.run).work(plan, part, folder)
            tables, others = shard_files(plan, part, folder)
        put = store.put(shard, attempt_name(), tables, others=others)
        receipt = structs.replace(put, seconds=time.monotonic() - begun, won=True, **structs.asdict(done))
        won = store.commit(receipt)
        return receipt if won else structs.replace(receipt, won=False)

    def _sharing(self, plan: Plan, shard: Shard) -> AbstractContextManager[object]:
        return nullcontext() if self.ledger is None else sharing(self.ledger, run=plan.id, scope=str(shard))


def opened_part(store: RunStore, shard: Shard, found: Found, *, scratch: Path) -> Part:
    """The part of a shard, unpacked into a folder."""
    path = scratch / "part"
    with store.opened(PART.format(shard.number)) as raw, path.open("wb") as target:
        stream = pyarrow_module().CompressedInputStream(raw, "zstd")
        while block := stream.read(1 << 20):
            target.write(block)
    return Part(path, shard, found)


def shard_files(plan: Plan, part: Part, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The files of a shard's run as tables, and the others: its manifest and what it adds up to."""
    kind = kind_of(plan.run)
    rows = kind.record_rows(part, folder)
    tables = {
        table_name(path.name): lines_table(path, rows, part.source_names, places=kind)
        for path in sorted(folder.iterdir())
        if path.suffix == ".jsonl"
    }
    tables |= {name: cells_table(folder / name, rows, columns) for name, columns in kind.cells.items()}
    others = {"manifest": (folder / MANIFEST).read_bytes()}
    if kind.has_numbers:
        others[PARTIAL] = _partials(plan.run).partial_of(folder).to_bytes()
    return tables, others


def _partials(run: str) -> Partials:
    found = instrument_of(run).partials
    if found is None:
        raise SettingsError(f"the parts of a run of {run} cannot be added up; leave out --engine and --shards")
    partials: Partials = found()
    return partials


# What the driver does.


class ShardProgress(Protocol):
    """Is called as a sharded run goes on."""

    def splitting(self, rows: int) -> None:
        """So many more rows of the input were read."""
        ...

    def begin(self, shards: int, done: Sequence[Receipt]) -> None:
        """The work on the shards begins; some were committed before."""
        ...

    def shard(self, receipt: Receipt) -> None:
        """A shard is done."""
        ...


class NoShardProgress:
    """Shows nothing."""

    def splitting(self, rows: int) -> None:
        """Say nothing."""

    def begin(self, shards: int, done: Sequence[Receipt]) -> None:
        """Say nothing."""

    def shard(self, receipt: Receipt) -> None:
        """Say nothing."""


class Sharding(Struct, frozen=True, kw_only=True):
    """How a run is distributed."""

    engine: Engine
    shards: int
    slots: int
    is_resumed: bool = False
    ledger: LedgerAddress | Path | None = None
    """Where workers share budget, pace and replies; None for each on its own."""


class ShardedOutcome(Struct, frozen=True):
    """How a sharded run ended."""

    store: RunStore
    summary: Summary | None = None
    """None when it was stopped before its end, or is of a kind that has none."""
    receipts: tuple[Receipt, ...] = ()
    """Of the shards that this command has worked on."""
    was_finished: bool = False
    is_stopped: bool = False


class ShardInput(Protocol):
    """What is cut into shards."""

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
        """What is read, by name and hash; some hashes are known only when everything has been read."""
        ...

    @property
    def kept(self) -> dict[str, Path]:
        """Files that the run keeps whole, by the names that they have there."""
        ...

    def sources(self) -> Iterator[tuple[str, Iterator[Batch]]]:
        """Rows by the name of their source."""
        ...


def run_sharded(
    location: str, plan: Plan, given: ShardInput, *, sharding: Sharding, progress: ShardProgress
) -> ShardedOutcome:
    """Begin a sharded run, or go on with it: every shard without a commit is worked on."""
    started = datetime.now(UTC)
    store = RunStore(location)
    begun = _begun(store, plan, is_resumed=sharding.is_resumed)
    if begun is not None and store.read(MANIFEST) is not None:
        summary = read_summary(store) if kind_of(begun.run).has_numbers else None
        return ShardedOutcome(store, summary, was_finished=True)
    store.check_commits()
    if begun is None:
        begun = split(store, plan, given, progress=progress)
    known = list(store.committed())
    left = [Shard(number, begun.shards) for number in range(begun.shards)]
    committed = {receipt.shard for receipt in known}
    left = [shard for shard in left if shard.number not in committed]
    if sharding.ledger is not None and plan.settings.get(BUDGET) is not None:
        set_budget(sharding.ledger, begun.id, plan.settings[BUDGET])
    progress.begin(begun.shards, known)
    receipts = []
    try:
        with closing(_worked(sharding, ShardTask(store.location, sharding.ledger), left)) as results:
            for receipt in results:
                receipts.append(receipt)
                progress.shard(receipt)
        return ShardedOutcome(store, finish(store, begun, started), tuple(receipts))
    except KeyboardInterrupt:
        return ShardedOutcome(store, None, tuple(receipts), is_stopped=True)


def _worked(sharding: Sharding, task: ShardTask, left: Sequence[Shard]) -> Generator[Receipt, None, None]:
    yield from sharding.engine.for_each(task, left, slots=sharding.slots) if left else ()


def _begun(store: RunStore, wanted: Plan, *, is_resumed: bool) -> Plan | None:
    """The plan of the run that is there; None where the place is free."""
    if store.read(PLAN) is None:
        if not is_remote(store.location) and _is_taken(Path(store.location)):
            raise InputError(f"{store.location}: exists already; choose another folder with --out")
        return None
    begun = read_plan(store)
    if not is_resumed:
        state = "a finished run" if store.read(MANIFEST) is not None else "a run that was not finished"
        raise InputError(f"{store.location}: holds {state}; go on with it by --resume, or choose another --out")
    begun.check_same(wanted, store.location)
    return begun


def _is_taken(folder: Path) -> bool:
    """Whether something else than the beginning of a run stands there."""
    if not folder.is_dir():
        return folder.exists()
    return not {entry.name for entry in folder.iterdir()} <= {"inputs", "commits"}


def split(store: RunStore, plan: Plan, given: ShardInput, *, progress: ShardProgress) -> Plan:
    """Cut the input into parts; the plan is written when all of them are there."""
    kind = kind_of(plan.run)

    def keep(number: int, path: Path) -> None:
        store.write(PART.format(number), _packed(path))

    key = kind.key(plan.settings)
    try:
        found = split_rows(given.sources(), plan.shards, key=key, keep=keep, name=kind.name, tell=progress.splitting)
        kept = given.kept
        whole = structs.replace(plan, inputs=given.files, found=found, kept=tuple(kept), id=secrets.token_hex(16))
        kind.check(whole)
    except (HallumeterError, KeyboardInterrupt):
        if store.read(PLAN) is None:  # else another command was faster, and works there
            _remove(store)
        raise
    for name, path in kept.items():
        store.write(name, path.read_bytes())
    store.write(PLAN, msgspec.json.format(msgspec.json.encode(whole), indent=1))
    return whole


def _remove(store: RunStore) -> None:
    """Leave no folder of an input that was refused, or not read to its end."""
    if is_remote(store.location):
        return
    folder = Path(store.location)
    for name in ("inputs", "commits", "data"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in (PLAN, COMMITS):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):  # something else stands in it
        folder.rmdir()


def _packed(path: Path) -> Any:
    arrow = pyarrow_module()
    sink = arrow.BufferOutputStream()
    with arrow.CompressedOutputStream(sink, "zstd") as packed, path.open("rb") as stream:
        while block := stream.read(1 << 20):
            packed.write(block)
    return sink.getvalue()


def read_plan(store: RunStore) -> Plan:
    """The plan of a run.

    Raises:
        InputError: There is none, or it is of another version.
    """
    body = store.read(PLAN)
    if body is None:
        raise InputError(f"{store.location}: holds no sharded run (it has no {PLAN})")
    try:
        return msgspec.json.decode(body, type=Plan)
    except msgspec.DecodeError as error:
        raise InputError(f"{store.location}/{PLAN}: damaged, or of another version ({error})") from error


def shards_begun(location: str) -> int | None:
    """Into how many shards a run was cut that is there; None where the place is free."""
    store = RunStore(location)
    return None if store.read(PLAN) is None else read_plan(store).shards


def read_summary(store: RunStore) -> Summary:
    """The summary of a finished run."""
    body = store.read(SUMMARY)
    if body is None:
        raise InputError(f"{store.location}: is not finished; give its command again with --resume")
    return msgspec.json.decode(body, type=Summary)


# What it would take.

_MEASURED_ROWS = 200
_FIRST_ROWS = 20
"""Worked on before the clock runs: a process loads modules and models once, however many rows there are."""


class Estimate(Struct, frozen=True, kw_only=True):
    """What a run would take, as far as its first rows tell."""

    rows: int
    measured: int
    seconds_per_row: float | None
    """None when it cannot be measured without asking somebody who may be paid."""
    calls: int = 0
    cost_usd: float | None = 0.0
    """None when a price is not known."""

    @property
    def core_hours(self) -> float | None:
        """Of one process."""
        return None if self.seconds_per_row is None else self.rows * self.seconds_per_row / 3600


def estimate(plan: Plan, given: ShardInput) -> Estimate:
    """Count the rows, and work on the first of them in a scratch folder; nobody who is paid is asked."""
    kind = kind_of(plan.run)
    found = Found(parts=[0])
    first: list[InputRow] = []
    with scratch_folder() as scratch:
        for number, (name, batches) in enumerate(given.sources()):
            found.sources = (*found.sources, name)
            for batch in batches:
                found.add(batch, name)
                found.rows += len(batch.lines) + len(batch.faults)
                first += islice(input_rows(batch, number), max(0, _MEASURED_ROWS - len(first)))
        found.names = list(dict.fromkeys(filter(None, (kind.name(row.fields) for row in first if row.fields))))
        whole = structs.replace(plan, found=found)
        kind.check(whole)
        with keeping_partials():
            for name, rows in {"untimed": first[:_FIRST_ROWS], "timed": first}.items():
                path = scratch / name
                write_rows(path, rows)
                part = Part(path, Shard(0, 1), found)
                seconds, calls, cost = kind.estimated(whole, part, scratch / f"{name}-run")
    share = found.rows / len(first) if first else 0.0
    return Estimate(
        rows=found.rows,
        measured=len(first),
        seconds_per_row=None if seconds is None else seconds / max(1, len(first)),
        calls=round(calls * share),
        cost_usd=None if cost is None else cost * share,
    )


# The end: one summary, one manifest, one report.


def finish(store: RunStore, plan: Plan, started: datetime) -> Summary | None:
    """Merge what the shards found, and write the files of the whole run; the manifest comes last."""
    store.close_commits()
    kind = kind_of(plan.run)
    whole = merged_partial(store) if kind.has_numbers else None
    summary = None if whole is None else whole.summary()
    manifest = timed(merged_manifest(store, plan), started)
    known = {MANIFEST: _json(manifest)} | {name: store.read(name) or b"" for name in plan.kept}
    with local_copy(store, known if summary is None else known | {SUMMARY: _json(summary)}) as folder:
        try:
            kind.check_done(plan, folder)
        except InputError:
            _remove(store)
            raise
        own = () if whole is None else (SUMMARY, *kind.write_files(folder, store, plan, whole=whole))
        files = tuple(run_file(folder / name) for name in (COMMITS, *plan.kept, *own))
        write_json(folder / MANIFEST, structs.replace(manifest, files=files))
        if whole is not None:
            Run(RunFolder(folder)).to_html(folder / REPORT)
            own = (*own, REPORT)
        for name in (*own, MANIFEST):
            store.write(name, (folder / name).read_bytes())
    return summary


def _json(record: Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def merged_partial(store: RunStore) -> Partial:
    """What all shards add up to."""
    partials = _partials(read_plan(store).run)
    whole: Partial | None = None
    for receipt in store.committed():
        part = partials.partial_from_bytes(store.read(dict(receipt.files)[PARTIAL]) or b"")
        whole = part if whole is None else whole.merge(part)
    assert whole is not None, "a run has at least one shard"
    return whole


def merged_manifest(store: RunStore, plan: Plan) -> Manifest:
    """What the run says of itself, but for the times: as every shard does, with the records of all."""
    records: dict[str, int] = {}
    first: Manifest | None = None
    judges: dict[str, JudgeEntry] = {}
    for receipt in store.committed():
        body = store.read(dict(receipt.files)["manifest"])
        manifest = msgspec.json.decode(body or b"", type=Manifest)
        first = first or manifest
        judges |= {judge.name: judge for judge in manifest.judges}
        for file in manifest.inputs:
            records[file.name] = records.get(file.name, 0) + file.records
    assert first is not None, "a run has at least one shard"
    inputs = tuple(structs.replace(file, records=records.get(file.name, 0)) for file in plan.inputs)
    return structs.replace(first, inputs=inputs, judges=tuple(judges.values()), files=(), started="", finished="")
