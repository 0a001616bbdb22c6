"""Dialogues cut into shards: whole patients in each, with the answers of all modes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from hallumeter.errors import InputError, RecordError
from hallumeter.plugins import function_named
from hallumeter.records.claim import Failure
from hallumeter.records.manifest import InputFile
from hallumeter.records.response import Response
from hallumeter.run.run_folder import RECORDS
from hallumeter.run.sharded import (
    Plan,
    ShardDone,
    ShardedKind,
    UsualKind,
    counted_calls,
    done_of,
    share_of,
    whole_outcome,
)
from hallumeter.run.shards import Part, PartUnits, unit_sources
from hallumeter.run.sharing import run_spending
from hallumeter.run.store_tables import cells_name

from .measure.commands import check_fields, write_dialogues
from .measure.events import event_of, script_of
from .measure.inputs import Dialogues
from .measure.patients import PatientTask, RawEvent
from .measure.settings import MODE, PATIENT, TURN, DialogueSettings
from .measure.setup import DialogueSetup
from .records import EVENTS, SCRIPTS
from .run.asking import record_name
from .run.experiment import OFFLINE, document_of, experiment_of
from .run.finishing import SETTINGS, write_settings
from .run.inputs import Conversation, Inputs
from .run.pipeline import DialogueIdentity, DialogueWork, Prepared, run_dialogues
from .run.plan import plan_of

_USUAL = ("run_id", "question_id", "template", PATIENT, TURN, MODE)
"""Fields of every answer, beside its metadata."""
_BYTES_PER_EVENT = 4096
"""Roughly: an answer, its question and the facts of its patient."""


class PatientsToShard(Struct, frozen=True):
    """What every shard must know of the whole."""

    settings: dict[str, Any]
    modes: tuple[str, ...]
    judge_maker: str | None = None
    """``module:function`` of whoever makes the judge that the settings name; None without one."""
    pace: dict[str, float | None] | UnsetType = UNSET
    """Unset where nobody is asked who may be paid."""


class PatientInput:
    """The patients of a run, with everything that was answered about them."""

    def __init__(self, dialogues: Dialogues, settings: DialogueSettings, judge_maker: str) -> None:
        self._dialogues, self._settings, self._judge_maker = dialogues, settings, judge_maker

    @property
    def settings(self) -> PatientsToShard:
        """What every shard must know."""
        folder = self._settings.config
        stored = structs.asdict(self._settings) | {
            "config": None if folder is None else str(folder.absolute()),
            "workers": 1,
        }
        if self._settings.judge is None:
            return PatientsToShard(stored, self._dialogues.modes)
        return PatientsToShard(stored, self._dialogues.modes, self._judge_maker, pace={})

    @property
    def bytes(self) -> int:
        """About how much text there is."""
        return self._dialogues.events * _BYTES_PER_EVENT

    @property
    def files(self) -> tuple[InputFile, ...]:
        """What is read."""
        return self._dialogues.inputs

    @property
    def kept(self) -> dict[str, Path]:
        """The scripts, also those of patients without an answer."""
        return {} if self._dialogues.scripts is None else {SCRIPTS: self._dialogues.scripts}

    def sources(self) -> Iterator[tuple[str, Any]]:
        """The patients, then what could not be read, then what must be said of the input."""
        notices = self._dialogues.notices
        return unit_sources("patients", self._patients(), failures=self._failures(), notices=notices)

    def _patients(self) -> Iterator[dict[str, Any]]:
        replaced = 0
        with closing(self._dialogues.patients) as patients:
            for patient in patients:
                yield {
                    PATIENT: patient.patient_id,
                    "events": [[event.place, event.line] for event in patient.events],
                    "script": patient.script,
                    "replaced": self._dialogues.replaced - replaced,
                    "fields": sorted({*_USUAL, *self._metadata(patient)}),
                }
                replaced = self._dialogues.replaced

    def _metadata(self, patient: PatientTask) -> Iterator[str]:
        """Names of what answers can be grouped by, if somebody asks for that."""
        if not set(self._settings.by) <= set(_USUAL):
            script = None if patient.script is None else script_of(patient.script)
            for event in patient.events:
                with suppress(RecordError):  # whoever measures it says so
                    yield from event_of(event.line, script).metadata

    def _failures(self) -> Iterator[Failure]:
        for failure in self._dialogues.failures:
            if self._settings.is_strict:
                raise RecordError(failure.message)
            yield failure


@contextmanager
def patient_input(
    dialogues: AbstractContextManager[Dialogues], settings: DialogueSettings, *, judge_maker: str
) -> Iterator[PatientInput]:
    """The patients of a run as the input of shards; `judge_maker` names who makes a judge by its name."""
    with dialogues as opened:
        yield PatientInput(opened, settings, judge_maker)


class ShardedDialogues(UsualKind):
    """Measurements of dialogues in shards."""

    def key(self, settings: dict[str, Any]) -> Callable[[Mapping[str, object], str], str]:
        """By the patient."""
        del settings
        return _key

    def name(self, fields: Mapping[str, object]) -> str | None:
        """By what the answers about a patient can be grouped, as JSON."""
        return msgspec.json.encode(fields["fields"]).decode() if "fields" in fields else None

    def check(self, plan: Plan) -> None:
        """Refuse an input without a patient, and a group by a field that no event has."""
        if not plan.found.names:
            raise InputError(f"no answer could be measured{plan.found.first_fault}")
        fields = chain.from_iterable(msgspec.json.decode(names, type=list[str]) for names in plan.found.names)
        check_fields(_settings(plan), set(fields))

    def work(self, plan: Plan, part: Part, folder: Path) -> ShardDone:
        """Measure the answers about the patients of a part."""
        units = PartUnits(part)
        dialogues = Dialogues(
            (_task(fields) for fields in units),
            units.count,
            sum(len(fields["events"]) for fields in units),
            tuple(plan.settings["modes"]),
            # Events of the inputs are counted once, by the first shard.
            tuple(structs.replace(file, records=file.records * (part.shard.number == 0)) for file in plan.inputs),
            units.failures,
            units.notices,
            replaced=sum(fields["replaced"] for fields in units),
        )
        settings, maker = _settings(plan), plan.settings.get("judge_maker")
        folder.mkdir()
        with run_spending(None) as spending:
            judge = None if maker is None else function_named(maker)(settings.judge, spending)
            counts = write_dialogues(dialogues, folder, settings=settings, judge=judge).summary.counts
        return ShardDone(records=counts.records, failures=counts.failures, **counted_calls(spending))

    def estimated(self, plan: Plan, part: Part, folder: Path) -> tuple[float | None, int, float | None]:
        """What a part takes; a judge is not asked, and so nothing is known."""
        if plan.settings.get("judge_maker") is not None:
            return None, 0, None
        begun = time.monotonic()
        self.work(plan, part, folder)
        return time.monotonic() - begun, 0, 0.0

    def record_rows(self, part: Part, folder: Path) -> dict[str, int]:
        """The rows of answers, of patients, of the places of events, and of what could not be read."""
        found = PartUnits(part).rows(
            lambda fields: (cells_name(fields[PATIENT]), *(place for place, _ in fields["events"]))
        )
        decoder = msgspec.json.Decoder(Response)
        with (folder / RECORDS).open("rb") as stream:
            for record in map(decoder.decode, stream):
                found[record.record_id] = found[cells_name(str(record.fields[PATIENT]))]
        return found

    def names(self, table: str, line: Mapping[str, Any]) -> Iterable[str]:
        """Events by their patients; failures by their messages, by the places in them, and by the answers."""
        if f"{table}.jsonl" == EVENTS:
            return [cells_name(str(line[PATIENT]))]
        place = str(line.get("message")).partition(": ")[0]
        return [*super().names(table, line), place]


def _key(fields: Mapping[str, object], place: str) -> str:
    return str(fields.get(PATIENT) or place)


def _settings(plan: Plan) -> DialogueSettings:
    stored = plan.settings["settings"]
    folder = stored["config"]
    return DialogueSettings(**stored | {"by": tuple(stored["by"]), "config": None if folder is None else Path(folder)})


def _task(fields: Mapping[str, Any]) -> PatientTask:
    events = tuple(RawEvent(place, line) for place, line in fields["events"])
    return PatientTask(fields[PATIENT], events, fields.get("script"))


# Systems that are asked: whole conversations in each shard, with the answers of all systems.

_CONVERSATION = "conversation"
_BYTES_PER_QUESTION = 2048
"""Roughly: a question, its answer and the facts of its patient."""


class QuestionsToShard(Struct, frozen=True, kw_only=True):
    """What every shard must know of an experiment."""

    experiment: dict[str, Any]
    """As `experiment.yaml` would have it, but for its budget."""
    identity: DialogueIdentity
    retrieval: str | None
    is_strict: bool
    checker: str | None
    """``module:function`` of whoever makes who checks the claims of answers; None where nobody does."""
    budget_usd: float | None
    pace: dict[str, float | None] | UnsetType = UNSET
    """Unset where no language model is asked."""


class QuestionInput:
    """The patients of an experiment, with their questions."""

    def __init__(self, ready: Prepared, folder: Path, *, is_strict: bool, checker: str | None) -> None:
        self._ready, self._is_strict, self._checker = ready, is_strict, checker
        self.files = (ready.inputs.file,)
        self.bytes = ready.inputs.turns * len(ready.experiment.systems) * _BYTES_PER_QUESTION
        write_settings(folder, ready.experiment, run_id=ready.run_id)
        self.kept = {SETTINGS: folder / SETTINGS}

    @property
    def settings(self) -> QuestionsToShard:
        """What every shard must know."""
        ready, experiment = self._ready, self._ready.experiment
        # Workers may stand in another folder.
        rules = None if experiment.rules is None else experiment.rules.absolute()
        given = structs.replace(experiment, run_id=ready.run_id, rules=rules, budget=None)
        asks_models = any(system.model not in (None, OFFLINE) for system in experiment.systems)
        return QuestionsToShard(
            experiment=document_of(given),
            identity=ready.identity,
            retrieval=ready.retrieval,
            is_strict=self._is_strict,
            checker=None if experiment.faithfulness == "off" else self._checker,
            budget_usd=experiment.budget,
            pace={name: getattr(experiment, name) for name in _PACE} if asks_models else UNSET,
        )

    def sources(self) -> Iterator[tuple[str, Any]]:
        """The patients, then the lines that could not be used."""
        inputs = self._ready.inputs
        patients = (
            {PATIENT: each.patient_id, _CONVERSATION: msgspec.to_builtins(each)} for each in inputs.conversations
        )
        return unit_sources("patients", patients, failures=inputs.failures, notices=())


_PACE = ("requests_per_minute", "tokens_per_minute")


@contextmanager
def question_input(ready: Prepared, *, is_strict: bool, checker: str | None) -> Iterator[QuestionInput]:
    """The questions of an experiment as the input of shards."""
    with TemporaryDirectory(prefix="hallumeter-") as folder:
        yield QuestionInput(ready, Path(folder), is_strict=is_strict, checker=checker)


class ShardedQuestions(UsualKind):
    """Runs of systems under test in shards."""

    has_numbers = False

    def key(self, settings: dict[str, Any]) -> Callable[[Mapping[str, object], str], str]:
        """By the patient."""
        del settings
        return _key

    def check(self, plan: Plan) -> None:
        """Nothing: the whole input was read before it was cut."""

    def work(self, plan: Plan, part: Part, folder: Path) -> ShardDone:
        """Ask the questions of a part."""
        ready, settings = _experiment_part(plan, part)
        work = DialogueWork(
            ready,
            folder,
            checker=None if settings.checker is None else function_named(settings.checker),
            is_strict=settings.is_strict,
            is_retrying=False,
        )
        outcome = run_dialogues(work, ready.experiment)
        finished = whole_outcome(outcome)
        failed = finished.retryable
        return done_of(outcome, records=finished.answered + failed, failures=failed)

    def estimated(self, plan: Plan, part: Part, folder: Path) -> tuple[float | None, int, float | None]:
        """What a part takes; only answers from a script are timed, since others may cost money."""
        ready, _ = _experiment_part(plan, part)
        systems = ready.experiment.systems
        calls = plan_of(ready, [{} for _ in systems])
        asked = sum(planned.calls for planned in calls.parts if planned.free is None)
        seconds = None
        if all(system.answers_by == OFFLINE for system in systems):
            begun = time.monotonic()
            self.work(plan, part, folder)
            seconds = time.monotonic() - begun
        return seconds, asked, calls.cost_usd

    def record_rows(self, part: Part, folder: Path) -> dict[str, int]:
        """The rows of patients, of their answers, and of what could not be read."""
        found = PartUnits(part).rows(lambda fields: (cells_name(fields[PATIENT]),))
        decoder = msgspec.json.Decoder(_Asked)
        with (folder / EVENTS).open("rb") as stream:
            for event in map(decoder.decode, stream):
                known = found[cells_name(event.patient_id)]
                found[record_name(event.mode, event.patient_id, event.turn_id)] = known
        return found

    def names(self, table: str, line: Mapping[str, Any]) -> Iterable[str]:
        """Events and scripts by their patients."""
        return super().names(table, line) if table == "failures" else [cells_name(str(line[PATIENT]))]


class _Asked(Struct, frozen=True):
    """What names an event."""

    mode: str
    patient_id: str
    turn_id: int


def _experiment_part(plan: Plan, part: Part) -> tuple[Prepared, QuestionsToShard]:
    """The experiment of a shard, as if it were read, and what it is made with."""
    settings, units = msgspec.convert(plan.settings, QuestionsToShard), PartUnits(part)
    given, slots = experiment_of(settings.experiment), plan.slots
    systems = tuple(
        structs.replace(system, concurrency=max(1, system.concurrency // slots)) for system in given.systems
    )
    shares = {name: share_of(getattr(given, name), slots) for name in _PACE}
    experiment = structs.replace(given, systems=systems, budget=settings.budget_usd, **shares)
    # Patients of the input are counted once, by the first shard.
    file = structs.replace(plan.inputs[0], records=plan.inputs[0].records * (part.shard.number == 0))
    conversations = tuple(msgspec.convert(fields[_CONVERSATION], Conversation) for fields in units)
    inputs = Inputs(conversations, file, tuple(units.failures))
    setup = DialogueSetup.of(experiment.rules)
    return Prepared(experiment, inputs, setup, settings.retrieval, settings.identity), settings


KINDS: dict[str, ShardedKind] = {"dialogue": ShardedDialogues(), "dialogue run": ShardedQuestions()}
