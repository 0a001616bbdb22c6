"""A folder of FHIR files in, a file of scripts out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from hallumeter.dialogue.fhir.patients import PatientRecord, Trouble, fhir_files, read_patients
from hallumeter.dialogue.fhir.resources import day_of
from hallumeter.dialogue.fhir.validation import validator
from hallumeter.dialogue.records import Script
from hallumeter.errors import InputError
from hallumeter.records.claim import Failure
from hallumeter.run.progress import NoProgress, ProgressListener

from .facts import age_at, facts_of
from .notes import Note, Notes, ScriptSettings
from .wording import slots_of, turns_of

_DEFAULT = ScriptSettings()


class ScriptOutcome(Struct, frozen=True):
    """What became of a folder."""

    scripts: int
    files: int
    failures: tuple[Failure, ...]
    """What could not be used."""
    notes: tuple[Note, ...]
    """What was missing or odd in records that were used; patients who were passed over."""
    unknown: dict[str, dict[str, int]]
    """Codes that no table knows, by kind, with how often each stood in a record."""


class Scripting:
    """Makes scripts of records, and remembers what was to be said about them."""

    def __init__(self, folder: Path, settings: ScriptSettings = _DEFAULT) -> None:
        self._folder = folder
        self._settings = settings
        self._notes = Notes()
        self._failures: list[Failure] = []
        self._scripts = 0
        self._files = 0

    def scripts(self, *, without: Path | None = None, progress: ProgressListener | None = None) -> Iterator[Script]:
        """The scripts of all patients, or as many as are wanted; files are read as they are needed."""
        settings = self._settings
        shown = progress or NoProgress()
        files = fhir_files(self._folder, without=[without] if without else ())
        check = validator() if settings.is_validated else None
        shown.begin("reading FHIR", total=len(files))

        def when_read() -> None:
            self._files += 1
            shown.done(1)

        for found in read_patients(files, self._folder, check=check, when_read=when_read):
            if isinstance(found, Trouble):
                self._remember(found)
            elif self._is_wanted(found):
                self._scripts += 1
                yield self._script(found)
            if settings.max_patients is not None and self._scripts >= settings.max_patients:
                return

    def outcome(self) -> ScriptOutcome:
        """What has become of the folder so far."""
        unknown = {kind: dict(counts.most_common()) for kind, counts in self._notes.unknown.items() if counts}
        return ScriptOutcome(self._scripts, self._files, tuple(self._failures), tuple(self._notes.notes), unknown)

    def _remember(self, trouble: Trouble) -> None:
        message = f"{trouble.place}: {trouble.message}"
        if not trouble.is_fault:
            self._notes.notes.append(Note("", trouble.code, message))
            return
        if self._settings.is_strict:
            raise InputError(message)
        self._failures.append(Failure(None, None, "read", None, trouble.code, message))

    def _is_wanted(self, record: PatientRecord) -> bool:
        """Whether a patient lives, and was born, on the day that counts."""
        self._notes.patient_id = record.patient_id
        patient, day = record.patient, self._settings.as_of
        if (
            day is not None
            and patient.birth_date
            and day_of(patient.birth_date)
            and age_at(patient.birth_date, day) is None
        ):
            born = Trouble(record.source, "unborn", f"patient {record.patient_id} was born after {day}; left out")
            self._remember(born)
            return False
        died = day_of(patient.deceased_date_time)
        is_deceased = bool(patient.deceased_boolean or died) and not (died and day and died > day)
        if is_deceased and not self._settings.with_deceased:
            self._notes.say("deceased", "deceased, passed over; --include-deceased keeps such patients")
        return not is_deceased or self._settings.with_deceased

    def _script(self, record: PatientRecord) -> Script:
        settings = self._settings
        facts = facts_of(record, settings.as_of, self._notes)
        return Script(
            patient_id=record.patient_id,
            slots=slots_of(facts, settings.language),
            turns=turns_of(facts, settings.language, settings.seed),
            language=settings.language,
        )


def write_scripts(
    folder: Path, out: Path, *, settings: ScriptSettings = _DEFAULT, progress: ProgressListener | None = None
) -> ScriptOutcome:
    """Write one script per line; a file that is there already is replaced when all went well."""
    scripting = Scripting(folder, settings)
    encoder = msgspec.json.Encoder()
    with _replaced(out) as stream:
        for script in scripting.scripts(without=out, progress=progress):
            stream.write(encoder.encode(script) + b"\n")
        outcome = scripting.outcome()
        if not outcome.scripts:
            raise InputError(f"{folder}: no patient could be used ({_why_none(outcome)})")
    return outcome


def _why_none(outcome: ScriptOutcome) -> str:
    deceased = sum(note.code == "deceased" for note in outcome.notes)
    reasons = [f"{deceased} deceased, --include-deceased keeps them"] if deceased else []
    if outcome.failures:
        more = f", and {len(outcome.failures) - 1} more" if len(outcome.failures) > 1 else ""
        reasons.append(outcome.failures[0].message + more)
    return "; ".join(reasons) or "there is none"


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of another when it is complete, and leaves no trace when it is not."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file such as {path / 'scripts_5turn.jsonl'}")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with part.open("wb") as stream:
            yield stream
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
