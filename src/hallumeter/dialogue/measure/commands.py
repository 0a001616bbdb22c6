"""Measure dialogues: from files or from Python, with or without a run folder."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from threading import Event as StopEvent
from typing import IO, Any

import msgspec
from msgspec import Struct, structs

from hallumeter.dialogue.partial import INSTRUMENT, DialogueNotes, DialoguePartial, settings_of_numbers
from hallumeter.dialogue.records import EVENTS, SCRIPTS, Event
from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.records.claim import Failure
from hallumeter.records.judging import Judge
from hallumeter.records.manifest import MANIFEST_VERSION, InputFile, JudgeEntry, Manifest
from hallumeter.records.measurement import Counts, Summary
from hallumeter.run import run_folder
from hallumeter.run.digests import write_manifest
from hallumeter.run.engines.local import map_in_order
from hallumeter.run.finished import load
from hallumeter.run.identity import ended
from hallumeter.run.inputs import only_paths
from hallumeter.run.lanes import Lane, run_lanes
from hallumeter.run.run_folder import RunFolder, is_part
from hallumeter.stats.summarize import SummarySettings

from .inputs import Dialogues, opened_events, opened_files
from .patients import UNPARSABLE, MeasuredPatient, PatientTask, Task, measure_patients
from .rate_table import Code, RateRow, RateTable, pair_tallies, part_tallies, parts_of, score_bins
from .record_lines import JUDGE
from .settings import DialogueSettings
from .setup import CONCURRENCY, DialogueSetup, setup_for

Given = str | Path | Sequence[str | Path] | Iterable[Event | Mapping[str, object]]


# Patients in, a summary out.

FIRST_FAILURES = 10_000
"""Failures that are kept in memory."""
_PATIENTS_AT_ONCE = 16
_NOTED_AT_ONCE = 1_024
_BYTES_AT_ONCE = 1 << 18


class MeasuredDialogues(Struct, frozen=True, eq=False):
    """A summary, and what it was made from."""

    summary: Summary
    partial: DialoguePartial
    failures: tuple[Failure, ...]
    """The first of them; a run folder has all."""
    inputs: tuple[InputFile, ...]
    settings: DialogueSettings
    judge: str | None = None
    """Who judged safety and contradictions, with all settings; None when words and rules did."""


def measure_dialogues(
    dialogues: Dialogues,
    settings: DialogueSettings,
    *,
    judge: Judge | None = None,
    progress: Callable[[int, int], None] | None = None,
    keep: Callable[[MeasuredPatient], None] | None = None,
) -> MeasuredDialogues:
    """Measure all answers; `progress` is told how many patients of how many are done, `keep` takes each as it comes.

    `judge` is the one that the settings name, made by whoever calls.
    """
    dialogue_setup = setup_for(settings, judge)
    shared = None if judge is None else dialogue_setup
    task = Task(settings=settings, modes=dialogues.modes, is_kept=keep is not None, dialogue_setup=shared)
    take, tell = keep or _leave, progress or _leave
    with RateTable() as rate_table:
        collected = _Collected(dialogues, settings, rate_table)
        with closing(dialogues.patients), closing(_measured(dialogues.patients, task)) as measured:
            for done, patient in enumerate(measured, 1):
                collected.add(patient)
                take(patient)
                tell(done, dialogues.count)
        return collected.measured(dialogue_setup)


def _leave(*_: object) -> None:
    """Nobody keeps the findings, or wants to be told."""


def _measured(patients: Iterator[PatientTask], task: Task) -> Generator[MeasuredPatient, None, None]:
    """Patients in their order: in processes, or in threads where something outside is waited for."""
    measure = partial(measure_patients, task=task)
    with closing(_shares(patients)) as shares:
        if task.settings.judge is not None:
            yield from _in_threads(measure, shares)
            return
        with closing(map_in_order(measure, shares, workers=task.settings.workers)) as found:
            for share in found:
                yield from share


def _in_threads(
    measure: Callable[[list[PatientTask]], list[MeasuredPatient]], shares: Iterator[list[PatientTask]]
) -> Iterator[MeasuredPatient]:
    """Ask about several patients at once; a batch is given back in order when all of it is there."""
    while batch := [patient for share in islice(shares, CONCURRENCY) for patient in share]:
        found: dict[str, MeasuredPatient] = {}

        def keep(results: list[tuple[str, PatientTask, MeasuredPatient]], kept: dict[str, MeasuredPatient]) -> None:
            kept.update((result.patient_id, result) for _, _, result in results)

        lane = Lane(
            name=INSTRUMENT,
            tasks=iter(batch),
            work=lambda patient: measure([patient])[0],
            concurrency=CONCURRENCY,
        )
        run_lanes([lane], partial(keep, kept=found), stop=StopEvent())
        yield from (found[patient.patient_id] for patient in batch)


def _shares(patients: Iterator[PatientTask]) -> Generator[list[PatientTask], None, None]:
    """Some patients at a time: enough to be worth sending to another process, few enough that memory stays flat."""
    share: list[PatientTask] = []
    size = 0
    for patient in patients:
        share.append(patient)
        size += sum(len(event.line) for event in patient.events)
        if size >= _BYTES_AT_ONCE or len(share) == _PATIENTS_AT_ONCE:
            yield share
            share, size = [], 0
    if share:
        yield share


class _Collected:
    """What is gathered while the patients come in."""

    def __init__(self, dialogues: Dialogues, settings: DialogueSettings, rate_table: RateTable) -> None:
        self._dialogues = dialogues
        self._settings = settings
        self._rate_table = rate_table
        self._modes = {mode: code for code, mode in enumerate(dialogues.modes)}
        self._turns: Counter[int] = Counter()
        self._groups: dict[tuple[str, ...], int] = {}
        self._failures: list[Failure] = []
        self._failures_total = 0
        self._notes = DialogueNotes()
        self._waiting: list[MeasuredPatient] = []
        """Patients whose notes are not among them yet."""
        self._patients = self._findings = 0
        self._fields: dict[str, None] = {}
        self._refuse_if_strict(dialogues.failures)

    def add(self, patient: MeasuredPatient) -> None:
        """Take one patient."""
        faults = [failure for failure in patient.failures if failure.step == "read"]
        self._refuse_if_strict(faults)
        self._failures_total += len(patient.failures)
        self._failures.extend(patient.failures[: max(0, FIRST_FAILURES - len(self._failures))])
        self._fields.update(dict.fromkeys(patient.fields))
        self._waiting.append(structs.replace(patient, turns=(), failures=(), lines=None))
        if len(self._waiting) == _NOTED_AT_ONCE:
            self._note()
        self._findings += patient.lines.findings if patient.lines is not None else 0
        rows = []
        for turn in patient.turns:
            self._turns[turn.turn_id] += 1
            group = self._groups.setdefault(turn.group, len(self._groups))
            mode = self._modes.setdefault(turn.mode, len(self._modes))
            rows.append(RateRow(self._patients, mode, turn.turn_id, turn.question, group, turn.is_failed, turn.rates))
        self._rate_table.add(rows)
        self._patients += 1

    def _note(self) -> None:
        self._notes = self._notes.merge(_notes_of(self._waiting))
        self._waiting = []

    def measured(self, dialogue_setup: DialogueSetup) -> MeasuredDialogues:
        """Everything, pooled."""
        failures = (*self._dialogues.failures, *self._failures)
        if not len(self._rate_table) and not is_part():
            reason = f"; the first fault: {failures[0].message}" if failures else ": no line holds an event"
            raise InputError(f"no answer could be measured{reason}")
        if not is_part():
            check_fields(self._settings, self._fields)
        self._note()
        self._refuse_unfair_if_strict()
        partial = self._partial(dialogue_setup)
        spec = None if dialogue_setup.opinions is None else dialogue_setup.opinions.judge_spec
        summary = partial.summary(workers=self._workers)
        return MeasuredDialogues(summary, partial, failures, self._dialogues.inputs, self._settings, spec)

    def _partial(self, dialogue_setup: DialogueSetup) -> DialoguePartial:
        modes, rate_table = tuple(self._modes), self._rate_table.finished()
        parts = parts_of(modes, sorted(self._turns), sorted(self._groups), by=self._settings.by)
        codes: dict[Code, int] = dict[Code, int](self._modes.items()) | dict[Code, int](self._groups.items())
        others = DialogueNotes(replaced=self._dialogues.replaced, others=tuple(sorted({*self._dialogues.notices})))
        turns = dialogue_setup.requirements.turns
        return DialoguePartial(
            settings=settings_of_numbers(self._settings),
            numbers=self._summary_settings(dialogue_setup),
            modes=modes,
            least={name: turn.min_expected for name, turn in sorted(turns.items()) if turn.min_expected is not None},
            counts=Counts(
                records=len(self._rate_table),
                claims=self._findings,
                verdicts=self._findings,
                failures=len(self._dialogues.failures) + self._failures_total,
                judges=1,
                models=len(modes),
            ),
            parts=part_tallies(rate_table, parts, codes, workers=self._workers),
            pairs=pair_tallies(rate_table, modes, workers=self._workers),
            bins=score_bins(rate_table, modes),
            notes=self._notes.merge(others),
        )

    def _summary_settings(self, dialogue_setup: DialogueSetup) -> SummarySettings:
        return SummarySettings(
            version=version("hallumeter"),
            seed=self._settings.seed,
            resamples=self._settings.resamples,
            confidence=self._settings.confidence,
            cluster="patient",
            stated=dialogue_setup.signature,
        )

    @property
    def _workers(self) -> int:
        """Processes for the summary; a process that has asked a language model has threads, and is not copied."""
        return 1 if self._settings.judge is not None else self._settings.workers

    def _refuse_unfair_if_strict(self) -> None:
        if self._settings.is_strict and len(self._modes) > 1 and self._notes.differences_total:
            raise RecordError(
                f"the modes were not asked the same, {self._notes.differences_total:,} differences; the first: "
                f"{self._notes.differences[0]}; without --strict the turns that all were asked are compared"
            )

    def _refuse_if_strict(self, failures: list[Failure]) -> None:
        if self._settings.is_strict and failures:
            raise RecordError(failures[0].message)


def _notes_of(patients: Sequence[MeasuredPatient]) -> DialogueNotes:
    """What must be said of the answers about some patients."""
    counted: dict[str, dict[str, int]] = {}
    facts: dict[str, None] = {}
    for patient in patients:
        for (kind, detail), count in patient.notes.items():
            if kind == UNPARSABLE:
                facts[detail] = None
            else:
                own = counted.setdefault(kind, {})
                own[detail] = own.get(detail, 0) + count
    return DialogueNotes(
        counted,
        tuple(facts),
        len(patients),
        sum(patient.common_turns for patient in patients),
        tuple(difference for patient in patients for difference in patient.differences),
        sum(patient.differences_total for patient in patients),
    )


def check_fields(settings: DialogueSettings, fields: Iterable[str]) -> None:
    """Refuse to group answers by a field that none of them has."""
    known = sorted(fields)
    absent = [field for field in settings.by if field not in known]
    if absent:
        raise SettingsError(f"no event has the field {absent[0]!r}; fields found: {', '.join(known)}")


# The files of a dialogue run, patient by patient as they are measured.

_ENCODER = msgspec.json.Encoder()


class RunWriter:
    """Writes records, claims, verdicts, measurements and events in the order of the patients; the rest at the end."""

    def __init__(self, folder: Path, failures: Iterable[Failure]) -> None:
        """Begin with what could not be read at all."""
        self._folder = folder
        self._files = ExitStack()
        self._failures = self._files.enter_context((folder / run_folder.FAILURES).open("wb"))
        self._failures.write(_ENCODER.encode_lines(list(failures)))
        files = {
            "record": run_folder.RECORDS,
            "claims": run_folder.CLAIMS,
            "verdicts": run_folder.VERDICTS,
            "measurements": run_folder.MEASUREMENTS,
            "event": EVENTS,
        }
        self._streams: dict[str, IO[bytes]] = {
            kind: self._files.enter_context((folder / name).open("wb")) for kind, name in files.items()
        }

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def add(self, patient: MeasuredPatient) -> None:
        """Write what was found in the answers about a patient, and what failed."""
        if patient.failures:
            self._failures.write(_ENCODER.encode_lines(patient.failures))
        if patient.lines is not None:
            for kind, stream in self._streams.items():
                stream.write(getattr(patient.lines, kind))

    def finish(self, measured: MeasuredDialogues) -> None:
        """Write what is known only at the end."""
        run_folder.write_json(self._folder / run_folder.SUMMARY, measured.summary)
        run_folder.keep_partial(self._folder, measured.partial)


def measured_dialogues(
    dialogues: AbstractContextManager[Dialogues],
    *,
    settings: DialogueSettings,
    judge: Judge | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MeasuredDialogues:
    """Measure answers without keeping their findings."""
    with dialogues as opened:
        return measure_dialogues(opened, settings, judge=judge, progress=progress)


def dialogue_to_folder(
    dialogues: AbstractContextManager[Dialogues],
    out: Path,
    *,
    settings: DialogueSettings,
    judge: Judge | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MeasuredDialogues:
    """Measure answers and keep everything in a run folder with its report."""
    with run_folder.new_run_folder(out) as folder, dialogues as opened:
        measured = write_dialogues(opened, folder, settings=settings, judge=judge, progress=progress)
        load(folder, verify=False).to_html(folder / run_folder.REPORT)
    return measured


def write_dialogues(
    dialogues: Dialogues,
    folder: Path,
    *,
    settings: DialogueSettings,
    judge: Judge | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MeasuredDialogues:
    """Measure answers and write everything but the report into an empty folder."""
    started = datetime.now(UTC)
    with RunWriter(folder, dialogues.failures) as writer:
        measured = measure_dialogues(dialogues, settings, judge=judge, progress=progress, keep=writer.add)
    writer.finish(measured)
    if dialogues.scripts is not None:
        shutil.copyfile(dialogues.scripts, folder / SCRIPTS)
    write_manifest(folder, _manifest(measured, started))
    return measured


def opened_dialogues(given: Given, scripts: str | Path | None) -> AbstractContextManager[Dialogues]:
    """Files of events, or events in Python, as dialogues."""
    beside = None if scripts is None else Path(scripts)
    if isinstance(given, str | Path):
        return opened_files([Path(given)], beside)
    items = list(given)
    if not items:
        raise RecordError("dialogue: nothing given; expected files of events, or events")
    paths = only_paths(items, "dialogue: files and events are mixed; give one kind")
    if paths:
        return opened_files(paths, beside)
    return opened_events([item for item in items if not isinstance(item, str | Path)])


def _manifest(measured: MeasuredDialogues, started: datetime) -> Manifest:
    settings = measured.settings
    judges = [JudgeEntry(JUDGE, "words and rules")]
    if measured.judge is not None:
        judges.append(JudgeEntry(str(settings.judge), measured.judge))
    return Manifest(
        version=MANIFEST_VERSION,
        hallumeter=version("hallumeter"),
        instrument=INSTRUMENT,
        inputs=measured.inputs,
        settings={
            "config": None if settings.config is None else str(settings.config),
            "by": list(settings.by),
            "judge": settings.judge,
            "indirect_by_vectors": settings.is_indirect_by_vectors,
            "reader": settings.reader,
            "resamples": settings.resamples,
            "confidence": settings.confidence,
        },
        judges=tuple(judges),
        seed=settings.seed,
        started=started.isoformat(timespec="seconds"),
        finished=ended(started).isoformat(timespec="seconds"),
    )


# The numbers of a measured dialogue once more, from the events that the run keeps.


def recompute(run: Path, into: Path) -> dict[str, str]:
    """Read every answer again and write what comes of it into a folder; what cannot be, by topic, and why."""
    manifest = RunFolder(run).manifest
    stated: dict[str, Any] = manifest.settings
    if manifest.instrument != INSTRUMENT:
        return {"numbers": "a run of questions keeps answers and no summary; verify the run of `dialogue measure`"}
    for name, kept in (
        ("config", "the files of --config"),
        ("judge", "what the judge was asked"),
        ("reader", "the reader"),
    ):
        if stated.get(name) is not None:
            return {"numbers": f"{kept} of this run are not kept in it"}
    settings = DialogueSettings(
        by=tuple(stated["by"]),
        is_indirect_by_vectors=stated["indirect_by_vectors"],
        seed=manifest.seed,
        resamples=stated["resamples"],
        confidence=stated["confidence"],
    )
    scripts = run / SCRIPTS
    with opened_files([run / EVENTS], scripts if scripts.exists() else None) as opened:
        with RunWriter(into, opened.failures) as writer:
            measured = measure_dialogues(opened, settings, keep=writer.add)
        writer.finish(measured)
    return {}
