"""Dialogues cut into shards: whole patients in each, with the answers of all modes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.records.claim import Failure
from hallumeter.records.manifest import InputFile
from hallumeter.records.response import Response
from hallumeter.run.run_folder import RECORDS
from hallumeter.run.sharded import Plan, ShardDone, UsualKind
from hallumeter.run.shards import Part, PartUnits, unit_sources
from hallumeter.run.store import RunStore
from hallumeter.run.store_tables import cells_name

from .measure.commands import check_fields, write_dialogues
from .measure.events import event_of, script_of
from .measure.inputs import Dialogues
from .measure.patients import PatientTask, RawEvent
from .measure.settings import MODE, PATIENT, TURN, DialogueSettings
from .records import EVENTS, SCRIPTS

_USUAL = ("run_id", "question_id", "template", PATIENT, TURN, MODE)
"""Fields of every answer, beside its metadata."""
_BYTES_PER_EVENT = 4096
"""Roughly: an answer, its question and the facts of its patient."""


class PatientsToShard(Struct, frozen=True):
    """What every shard must know of the whole."""

    settings: dict[str, Any]
    modes: tuple[str, ...]


class PatientInput:
    """The patients of a run, with everything that was answered about them."""

    def __init__(self, dialogues: Dialogues, settings: DialogueSettings) -> None:
        self._dialogues, self._settings = dialogues, settings

    @property
    def settings(self) -> PatientsToShard:
        """What every shard must know."""
        if self._settings.judge is not None:
            raise SettingsError("--judge is asked by one process; leave out --engine and --shards, or --judge")
        folder = self._settings.config
        stored = structs.asdict(self._settings) | {
            "config": None if folder is None else str(folder.absolute()),
            "workers": 1,
        }
        return PatientsToShard(stored, self._dialogues.modes)

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
def patient_input(dialogues: AbstractContextManager[Dialogues], settings: DialogueSettings) -> Iterator[PatientInput]:
    """The patients of a run as the input of shards."""
    with dialogues as opened:
        yield PatientInput(opened, settings)


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
            raise InputError("no answer could be measured: no line holds an event")
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
        folder.mkdir()
        counts = write_dialogues(dialogues, folder, settings=_settings(plan)).summary.counts
        return ShardDone(records=counts.records, failures=counts.failures)

    def estimated(self, plan: Plan, part: Part, folder: Path) -> tuple[float, int, float | None]:
        """What a part takes: nobody is asked."""
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

    def write_files(self, folder: Path, store: RunStore, plan: Plan) -> tuple[str, ...]:
        """The scripts."""
        del plan
        scripts = store.read(SCRIPTS)
        if scripts is None:
            return ()
        (folder / SCRIPTS).write_bytes(scripts)
        return (SCRIPTS,)


def _key(fields: Mapping[str, object], place: str) -> str:
    return str(fields.get(PATIENT) or place)


def _settings(plan: Plan) -> DialogueSettings:
    stored = plan.settings["settings"]
    folder = stored["config"]
    return DialogueSettings(**stored | {"by": tuple(stored["by"]), "config": None if folder is None else Path(folder)})


def _task(fields: Mapping[str, Any]) -> PatientTask:
    events = tuple(RawEvent(place, line) for place, line in fields["events"])
    return PatientTask(fields[PATIENT], events, fields.get("script"))


SHARDED = ShardedDialogues()
