"""The one way in which a run goes on: resume or begin, work off the steps, stop, write the files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Generic, Literal, Protocol, TypeVar

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import HallumeterError, InputError, SettingsError
from hallumeter.models.pace import Interrupted
from hallumeter.models.prices import BudgetReached, Spending
from hallumeter.models.protocol import ProviderFault
from hallumeter.records.claim import Failure
from hallumeter.records.manifest import Manifest
from hallumeter.records.measurement import Summary

from .context import RunContext
from .digests import check_files, write_manifest
from .identity import RunIdentity, timed
from .place import is_finished, opened_journal, written_together
from .progress import ProgressListener, kept_progress
from .run_folder import RunFolder, is_part, is_sharded

Stopped = Literal["interrupted", "budget"]
"""Why a run stopped before its end."""
SHARD_FAULT = "{fault}; what was answered is kept: mend it and go on with --resume"
"""A model cannot be asked at all, in a shard."""
Step = Callable[[RunContext], bool]
"""Does everything of its kind that the journal lacks; False when it was stopped."""


class FinishedRun(Struct, frozen=True, kw_only=True):
    """What the files of a run hold; each instrument adds its counts."""

    failures: tuple[Failure, ...] = ()
    """The first of them."""
    retryable: int = 0
    """What failed and may be asked again: the journal is kept for it."""
    summary: Summary | None = None


_Finished = TypeVar("_Finished", bound=FinishedRun)
_Made_co = TypeVar("_Made_co", bound=FinishedRun, covariant=True)


class RunWork(Protocol[_Made_co]):
    """What an instrument brings to a run: which run it is, what is done, and which files are made of it."""

    instrument: str
    started: datetime

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        ...

    @property
    def identity(self) -> RunIdentity:
        """What makes it the same run as another."""
        ...

    @property
    def manifest(self) -> Manifest:
        """What the run says of itself, but for the times; read when everything is done."""
        ...

    @property
    def notices(self) -> Iterable[str]:
        """What a user should know beside the results; read when everything is done."""
        ...

    @property
    def steps(self) -> Sequence[Step]:
        """In their order; one that may spend no more leaves the others to do what costs nothing."""
        ...

    def opened(self, *, stop: Event, spending: Spending) -> AbstractContextManager[object]:
        """Open what the steps need, such as models; before there is a journal, so that a missing key leaves none."""
        ...

    def write(self, folder: Path, context: RunContext) -> _Made_co:
        """Write the files from the journal, but for the manifest and the report."""
        ...

    def write_report(self, folder: Path) -> None:
        """Write the report of a folder that has everything else."""
        ...

    def read_finished(self) -> _Made_co:
        """What the files of the finished run hold."""
        ...


class RunOutcome(Struct, Generic[_Finished], frozen=True):
    """How a run ended."""

    folder: Path
    finished: _Finished | None
    """None when it was interrupted: there is a journal to resume, and nothing else."""
    stopped: Stopped | None
    """Why it stopped before its end."""
    spending: Spending
    notices: tuple[str, ...] = ()
    """What a user should know beside the results, such as settings that a model does not take."""
    was_finished: bool = False
    """It had come to its end before; nobody was asked."""

    @property
    def summary(self) -> Summary | None:
        """What was measured."""
        return None if self.finished is None else self.finished.summary

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The first of them."""
        return () if self.finished is None else self.finished.failures


def run_work(
    work: RunWork[_Finished],
    *,
    progress: ProgressListener,
    stop: Event,
    spending: Spending,
    is_resumed: bool = True,
) -> RunOutcome[_Finished]:
    """Do what is left of a run and write its files; an interrupted run leaves its journal.

    A run that has come to its end is not repeated when it is resumed.
    """
    if is_sharded(work.folder):
        raise InputError(f"{work.folder}: holds a run in shards; give --engine as before, or choose another place")
    if is_resumed and is_finished(work.folder):
        return RunOutcome(work.folder, _read_finished(work), None, spending, was_finished=True)
    with (
        work.opened(stop=stop, spending=spending),
        opened_journal(work.folder, work.identity, is_resumed=is_resumed) as journal,
        kept_progress(progress, work.folder, instrument=work.instrument) as kept,
    ):
        context = RunContext(journal, stop, kept, spending)
        stopped = _worked_off(work, context)
        outcome: RunOutcome[_Finished] = RunOutcome(work.folder, None, stopped, spending, tuple(work.notices))
        if stopped == "interrupted":
            return outcome
        with written_together(work.folder) as draft:
            finished = work.write(draft, context)
            write_manifest(draft, timed(work.manifest, work.started))
            work.write_report(draft)
        if stopped is None and not finished.retryable:
            journal.remove()
    return structs.replace(outcome, finished=finished)


def _worked_off(work: RunWork[_Finished], context: RunContext) -> Stopped | None:
    """Take every step; says why it ended early, and keeps what was spent."""
    stopped: Stopped | None = None
    context.resume_spending()
    try:
        for step in work.steps:
            ended = _taken(step, context)
            if ended == "interrupted":
                return ended
            stopped = ended or stopped
    except Interrupted:
        return "interrupted"
    except ProviderFault as fault:
        wording = SHARD_FAULT if is_part() else work.identity.wording.fault
        raise SettingsError(wording.format(fault=fault.message, folder=str(work.folder))) from None
    finally:
        if context.journal.is_open:
            context.note_spending()
    return stopped


def _taken(step: Step, context: RunContext) -> Stopped | None:
    """Take one step; a spent budget leaves undone what costs money, and later steps write what there is."""
    try:
        return None if step(context) else "interrupted"
    except BudgetReached:
        return "budget"


def _read_finished(work: RunWork[_Finished]) -> _Finished:
    """What a run came to that was finished before, if it is the one that is wanted."""
    wording = work.identity.wording
    try:
        manifest = RunFolder(work.folder).manifest
        check_files(work.folder, manifest)
        finished = work.read_finished()
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, HallumeterError) as error:
        raise InputError(wording.damaged.format(folder=work.folder, cause=error)) from error
    work.identity.check_finished(manifest, work.manifest, work.folder)
    return finished
