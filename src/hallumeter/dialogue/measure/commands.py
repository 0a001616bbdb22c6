"""Measure dialogues: from files or from Python, with or without a run folder."""

from __future__ import annotations

import math
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from threading import Event as StopEvent
from typing import IO

import msgspec
import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.dialogue.catalog import METRICS_BY_ID
from hallumeter.dialogue.records import EVENTS, SCRIPTS, Event
from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.records.claim import Failure
from hallumeter.records.judging import Judge
from hallumeter.records.manifest import MANIFEST_VERSION, InputFile, JudgeEntry, Manifest
from hallumeter.records.measurement import SUMMARY_VERSION, Counts, MetricSummary, Summary
from hallumeter.records.metric import Metric
from hallumeter.records.summaries import DialogueSummary, Fairness, ModeDifference
from hallumeter.run import run_folder
from hallumeter.run.digests import write_manifest
from hallumeter.run.engines.local import map_in_order
from hallumeter.run.finished import load
from hallumeter.run.identity import ended
from hallumeter.run.inputs import only_paths
from hallumeter.run.lanes import Lane, run_lanes
from hallumeter.stats.significance import holm, paired_bootstrap_difference, permutation_p_value
from hallumeter.stats.summarize import SummarySettings

from .inputs import Dialogues, opened_events, opened_files
from .patients import UNPARSABLE, MeasuredPatient, PatientTask, Task, measure_patients
from .rate_table import ONE_ANSWER, RateFile, RateRow, RateTable, metric_rates, parts_of, score_bins, summary_rows
from .record_lines import JUDGE, NEEDS_TRUTH
from .settings import DialogueSettings
from .setup import CONCURRENCY, DialogueSetup, setup_for

PLAIN = "llm"
"""The mode that others are compared with, where there is one of this name."""
TESTED = tuple(metric for metric in ONE_ANSWER if metric.id != "dialogue_score")
"""The overall score is made of the others, and takes no part in the tests."""
NO_TRUTH = "no answer has slots_truth"
NO_PAIRS = "no turn of a patient has a value in both modes"
PERMUTATIONS = 10_000


class _Pairs(Struct, frozen=True, eq=False):
    """Sums over the pairs of each patient."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    pairs: NDArray[np.float64]
    difference_squares: float
    """Of single pairs, added up over all patients."""


def mode_differences(
    rate_table: RateFile, modes: Sequence[str], settings: SummarySettings, *, workers: int = 1
) -> tuple[ModeDifference, ...]:
    """Every other mode against the first, or against the plain model where there is one."""
    if len(modes) < 2:
        return ()
    baseline = modes.index(PLAIN) if PLAIN in modes else 0
    found: list[ModeDifference] = []
    for other in range(len(modes)):
        if other != baseline:
            compare = partial(
                _difference, rate_table=rate_table, codes=(baseline, other), modes=modes, settings=settings
            )
            ids = [metric.id for metric in TESTED]
            found += _adjusted(list(map_in_order(compare, ids, workers=workers)))
    return tuple(found)


def _difference(
    metric_id: str, *, rate_table: RateFile, codes: tuple[int, int], modes: Sequence[str], settings: SummarySettings
) -> ModeDifference:
    metric = METRICS_BY_ID[metric_id]
    first, second = (modes[code] for code in codes)
    paired = _paired(rate_table, metric, codes)
    pairs = int(paired.pairs.sum())
    empty = ModeDifference(
        metric=metric.id,
        first=first,
        second=second,
        pairs=pairs,
        patients=len(paired.pairs),
        first_mean=None,
        second_mean=None,
        difference=None,
        interval=None,
        effect_size=None,
        p_value=None,
        adjusted_p_value=None,
        direction=metric.direction,
        undefined=NO_PAIRS,
    )
    if not pairs:
        return empty
    rng = np.random.default_rng([settings.seed, zlib.crc32(f"{metric.id}|{first}|{second}".encode())])
    result = paired_bootstrap_difference(
        (paired.second, paired.pairs),
        (paired.first, paired.pairs),
        rng=rng,
        resamples=settings.resamples,
        confidence=settings.confidence,
    )
    interval = None if result is None or result.interval is None else (result.interval.low, result.interval.high)
    sums = paired.second - paired.first
    return structs.replace(
        empty,
        first_mean=float(paired.first.sum()) / pairs,
        second_mean=float(paired.second.sum()) / pairs,
        difference=float(sums.sum()) / pairs,
        interval=interval,
        effect_size=_effect_size(float(sums.sum()), paired.difference_squares, pairs),
        p_value=permutation_p_value(sums, rng=rng, resamples=PERMUTATIONS),
        undefined=None,
    )


def _effect_size(total: float, squares: float, pairs: int) -> float | None:
    """Cohen's d of paired differences: their mean over their standard deviation; None when they do not vary.

    >>> _effect_size(3.0, 5.0, 3)  # differences 0, 1, 2: mean 1, standard deviation 1
    1.0
    """
    if pairs < 2:
        return None
    mean = total / pairs
    variance = (squares - pairs * mean**2) / (pairs - 1)
    # What is left of equal differences after rounding is no spread.
    return mean / math.sqrt(variance) if variance > 1e-12 * max(1.0, squares) else None


def _adjusted(rows: list[ModeDifference]) -> list[ModeDifference]:
    """Holm's correction over the metrics."""
    tested = [place for place, row in enumerate(rows) if row.p_value is not None]
    adjusted = holm([row.p_value for row in rows if row.p_value is not None]).tolist()
    found = list(rows)
    for place, p_value in zip(tested, adjusted, strict=True):
        found[place] = structs.replace(rows[place], adjusted_p_value=p_value)
    return found


def _paired(rate_table: RateFile, metric: Metric, codes: tuple[int, int]) -> _Pairs:
    parts = list(_paired_blocks(rate_table, metric, codes))
    none = np.empty(0)
    first, second, pairs = (np.concatenate([none, *(part[place] for part in parts)]) for place in range(3))
    return _Pairs(first, second, pairs, sum(part[3] for part in parts))


def _paired_blocks(
    rate_table: RateFile, metric: Metric, codes: tuple[int, int]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]]:
    for block in rate_table.blocks():
        rates = metric_rates(block, metric)
        arms = []
        for code in codes:
            rows = np.flatnonzero((block["mode"] == code) & (rates.totals > 0))
            # Questions of a patient are numbered from 0 and are few.
            keys = block["patient"][rows] * (1 << 20) + block["question"][rows]
            arms.append((keys, rates.counts[rows]))
        (one, first), (two, second) = arms
        keys, at_first, at_second = np.intersect1d(one, two, return_indices=True)
        if not len(keys):
            continue
        _, patients = np.unique(keys >> 20, return_inverse=True)
        values = first[at_first], second[at_second]
        sums = [np.bincount(patients, value).astype(np.float64) for value in values]
        yield sums[0], sums[1], np.bincount(patients).astype(np.float64), float(((values[1] - values[0]) ** 2).sum())


Given = str | Path | Sequence[str | Path] | Iterable[Event | Mapping[str, object]]


def _without_truth(row: MetricSummary) -> MetricSummary:
    """A row of answers about whose patients nothing is known, with the reason why it has no value."""
    needs_truth = row.metric.removesuffix("_pooled") in NEEDS_TRUTH
    return structs.replace(row, undefined=NO_TRUTH) if needs_truth and row.value is None else row


# Patients in, a summary out.

INSTRUMENT = "dialogue"
MOST_DIFFERENCES = 20
MOST_FACTS = 5
MOST_NOTES = 1_000
FIRST_FAILURES = 10_000
"""Failures that are kept in memory."""
_PATIENTS_AT_ONCE = 16
_BYTES_AT_ONCE = 1 << 18


class MeasuredDialogues(Struct, frozen=True, eq=False):
    """A summary, and what it was made from."""

    summary: Summary
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
        self._differences: list[str] = []
        self._differences_total = self._common_turns = self._patients = self._findings = 0
        self._notes: Counter[tuple[str, str]] = Counter()
        self._fields: dict[str, None] = {}
        self._refuse_if_strict(dialogues.failures)

    def add(self, patient: MeasuredPatient) -> None:
        """Take one patient."""
        faults = [failure for failure in patient.failures if failure.step == "read"]
        self._refuse_if_strict(faults)
        self._failures_total += len(patient.failures)
        self._failures.extend(patient.failures[: max(0, FIRST_FAILURES - len(self._failures))])
        self._fields.update(dict.fromkeys(patient.fields))
        self._note(patient.notes)
        room = MOST_DIFFERENCES - len(self._differences)
        self._differences.extend(patient.differences[:room])
        self._differences_total += patient.differences_total
        self._common_turns += patient.common_turns
        self._findings += patient.lines.findings if patient.lines is not None else 0
        rows = []
        for turn in patient.turns:
            self._turns[turn.turn_id] += 1
            group = self._groups.setdefault(turn.group, len(self._groups))
            mode = self._modes.setdefault(turn.mode, len(self._modes))
            rows.append(RateRow(self._patients, mode, turn.turn_id, turn.question, group, turn.is_failed, turn.rates))
        self._rate_table.add(rows)
        self._patients += 1

    def _note(self, notes: dict[tuple[str, str], int]) -> None:
        """Count what must be said; of facts that cannot be read only some are told apart, so that memory stays flat."""
        for (kind, detail), count in notes.items():
            is_kept_apart = kind != UNPARSABLE or len(self._notes) < MOST_NOTES or (kind, detail) in self._notes
            self._notes[kind, detail if is_kept_apart else ""] += count

    def measured(self, dialogue_setup: DialogueSetup) -> MeasuredDialogues:
        """Everything, pooled."""
        failures = (*self._dialogues.failures, *self._failures)
        if not len(self._rate_table):
            first = f"; the first fault: {failures[0].message}" if failures else ""
            raise InputError(f"no answer could be measured{first}")
        absent = [field for field in self._settings.by if field not in self._fields]
        if absent:
            found = ", ".join(sorted(self._fields))
            raise SettingsError(f"no event has the field {absent[0]!r}; fields found: {found}")
        fairness = self._fairness()
        numbers = self._summary_settings(dialogue_setup)
        modes = tuple(self._modes)
        rate_table = self._rate_table.finished()
        summary = Summary(
            version=SUMMARY_VERSION,
            instrument=INSTRUMENT,
            counts=Counts(
                records=len(self._rate_table),
                claims=self._findings,
                verdicts=self._findings,
                failures=len(self._dialogues.failures) + self._failures_total,
                judges=1,
                models=len(modes),
            ),
            metrics=tuple(self._summary_rows(rate_table, numbers, dialogue_setup)),
            notices=tuple(self._notices(fairness)),
            dialogue=DialogueSummary(
                differences=mode_differences(rate_table, modes, numbers, workers=self._workers),
                fairness=fairness,
                spread=score_bins(rate_table, modes),
            ),
        )
        spec = None if dialogue_setup.opinions is None else dialogue_setup.opinions.judge_spec
        return MeasuredDialogues(summary, failures, self._dialogues.inputs, self._settings, spec)

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

    def _summary_rows(
        self, rate_table: RateFile, numbers: SummarySettings, dialogue_setup: DialogueSetup
    ) -> Iterator[MetricSummary]:
        by = self._settings.by
        groups = [dict(zip(by, group, strict=True)) for group in self._groups]
        parts = parts_of(tuple(self._modes), sorted(self._turns), groups)
        requirements = dialogue_setup.requirements
        rows = summary_rows(rate_table, parts, settings=numbers, requirements=requirements, workers=self._workers)
        if self._notes["no_truth", ""] < len(self._rate_table):
            return rows
        return (_without_truth(row) for row in rows)

    def _fairness(self) -> Fairness | None:
        if len(self._modes) < 2:
            return None
        if self._settings.is_strict and self._differences_total:
            raise RecordError(
                f"the modes were not asked the same, {self._differences_total:,} differences; the first: "
                f"{self._differences[0]}; without --strict the turns that all were asked are compared"
            )
        return Fairness(
            modes=tuple(self._modes),
            patients=self._patients,
            common_turns=self._common_turns,
            differences=tuple(self._differences),
            differences_total=self._differences_total,
        )

    def _refuse_if_strict(self, failures: list[Failure]) -> None:
        if self._settings.is_strict and failures:
            raise RecordError(failures[0].message)

    def _notices(self, fairness: Fairness | None) -> Iterator[str]:
        if self._dialogues.replaced:
            yield (
                "events of a patient, mode, turn and question that has a later one, left out: "
                f"{self._dialogues.replaced:,}"
            )
        if fairness is not None and not fairness.is_fair:
            yield (
                f"the modes were not asked the same ({fairness.differences_total:,} differences); differences between "
                f"modes are over what all were asked; the first: {fairness.differences[0]}"
            )
        if without := self._notes["no_truth", ""]:
            yield f"answers without slots_truth, for which SFS, CSP and CUS are undefined: {without:,}"
        if silent := self._notes["no_question", ""]:
            yield f"answers whose question is not known, so that its cues cannot be read: {silent:,}"
        missing = {slot: count for (kind, slot), count in sorted(self._notes.items()) if kind == "missing"}
        if missing:
            text = ", ".join(f"{slot} {count:,}" for slot, count in missing.items())
            yield f"required facts that the patient's record lacks, left out of CUS, answers: {text}"
        yield from self._notices_of_values()
        yield from self._dialogues.notices

    def _notices_of_values(self) -> Iterator[str]:
        """Facts that cannot be read, and of what the overall score is made."""
        unread = [fact for kind, fact in self._notes if kind == UNPARSABLE]
        for fact in unread[:MOST_FACTS]:
            yield f"a fact is no number with a unit that fits it: {fact}"
        if len(unread) > MOST_FACTS:
            yield f"... and {len(unread) - MOST_FACTS:,} more facts that cannot be read"
        made_of = {parts: count for (kind, parts), count in self._notes.items() if kind == "overall"}
        for parts, count in sorted(made_of.items(), key=lambda item: -item[1])[:3]:
            yield f"the dialogue score of {count:,} answers is made of {parts}"


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
    started = datetime.now(UTC)
    with run_folder.new_run_folder(out) as folder, dialogues as opened:
        with RunWriter(folder, opened.failures) as writer:
            measured = measure_dialogues(opened, settings, judge=judge, progress=progress, keep=writer.add)
        writer.finish(measured)
        if opened.scripts is not None:
            shutil.copyfile(opened.scripts, folder / SCRIPTS)
        write_manifest(folder, _manifest(measured, started))
        load(folder, verify=False).to_html(folder / run_folder.REPORT)
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
