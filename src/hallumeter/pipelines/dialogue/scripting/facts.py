"""From a patient's record to the few facts that a script is about."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hallumeter.formats.fhir import (
    Coding,
    Concept,
    Condition,
    MedicationUse,
    Observation,
    Procedure,
    day_of,
    is_whole_date,
)

from .conditions import rank_of, ranked_conditions
from .measurements import COMMON_LABS, VITALS, chosen_labs, chosen_vitals, latest_measurements
from .medications import Drugs, drugs_taken
from .naming import Named
from .procedures import weighty_procedures

if TYPE_CHECKING:
    from hallumeter.formats.fhir import Patient, PatientRecord

    from .notes import Notes

Dated = TypeVar("Dated", Condition, MedicationUse, Observation, Procedure)

MOST_COMORBIDITIES = 3
OLDEST = 130
"""Years; a higher age is a fault of the record."""
_ACTIVE = Concept(coding=(Coding(code="active"),))
_SEX_CODES: dict[str, Literal["M", "F"]] = {"male": "M", "female": "F"}


class PatientFacts(Struct, frozen=True):
    """What is known of a patient, in no language; None is not known."""

    patient_id: str
    age: int | None
    sex_code: Literal["M", "F"] | None
    primary: Named | None
    comorbidities: tuple[Named, ...] | None
    drugs: Drugs | None
    vitals: dict[str, str]
    labs: dict[str, str]
    procedures: tuple[Named, ...] | None


def facts_of(record: PatientRecord, as_of: date | None, notes: Notes) -> PatientFacts:
    """The facts of a record at a day; None is the last day of the record. What is dated later is left out."""
    notes.patient_id = record.patient_id
    day = as_of or record.last_day
    left_out = 0
    if as_of is not None:
        record, left_out = _until(record, as_of)
    if left_out:
        notes.say("later", f"{left_out} entries are dated after {as_of} and left out")
    ranked = ranked_conditions(record.conditions, notes)
    if not ranked:
        notes.say("no_condition", "no condition is known")
    reasons = {reference: place for place, each in enumerate(ranked) for reference in each.references}
    primary = ranked[0].named if ranked else None
    rank = rank_of(primary.lexicon) if primary else None
    relevant = rank.labs if rank else ()
    values = latest_measurements(record.observations, {*relevant, *COMMON_LABS, *VITALS}, notes)
    return PatientFacts(
        patient_id=record.patient_id,
        age=_age(record.patient, day, notes),
        sex_code=_sex_code(record.patient, notes),
        primary=primary,
        comorbidities=tuple(each.named for each in ranked[1 : MOST_COMORBIDITIES + 1]) if ranked else None,
        drugs=drugs_taken(record.medications, reasons, notes),
        vitals=chosen_vitals(values),
        labs=chosen_labs(values, relevant),
        procedures=weighty_procedures(record.procedures),
    )


def _until(record: PatientRecord, day: date) -> tuple[PatientRecord, int]:
    """A record as it was on a day, and how many entries are later."""
    conditions = tuple(_as_it_was(each, day) for each in _earlier(record.conditions, day))
    kept = replace(
        record,
        conditions=conditions,
        medications=_earlier(record.medications, day),
        observations=_earlier(record.observations, day),
        procedures=_earlier(record.procedures, day),
    )
    return kept, _entries(record) - _entries(kept)


def _earlier(found: tuple[Dated, ...], day: date) -> tuple[Dated, ...]:
    return tuple(each for each in found if (day_of(each.date) or day) <= day)


def _as_it_was(condition: Condition, day: date) -> Condition:
    """A condition that ended later was still active."""
    ended = day_of(condition.abatement_date_time)
    return condition if ended is None or ended <= day else replace(condition, clinical_status=_ACTIVE)


def _entries(record: PatientRecord) -> int:
    parts = (record.conditions, record.medications, record.observations, record.procedures)
    return sum(map(len, parts))


def age_at(birth_date: str, day: date) -> int | None:
    """Whole years from a birth date to a day; None when there is no such date, or it is later.

    A month or year alone is counted from its middle.

    >>> age_at("1950-06-02", date(2020, 6, 1)), age_at("1950", date(2020, 6, 1)), age_at("2021-01-01", date(2020, 6, 1))
    (69, 69, None)
    """
    born = day_of(birth_date)
    if born is None or born > day:
        return None
    if not is_whole_date(birth_date):
        born = born.replace(month=7) if len(birth_date) == len("1950") else born.replace(day=15)
    return max(day.year - born.year - ((day.month, day.day) < (born.month, born.day)), 0)


def _age(patient: Patient, day: date | None, notes: Notes) -> int | None:
    if patient.birth_date is None:
        notes.say("no_birth_date", "no birth date, so no age")
        return None
    if day is None:
        notes.say("no_date", "nothing in the record is dated, so no age; give --as-of")
        return None
    died = day_of(patient.deceased_date_time)
    age = age_at(patient.birth_date, min(day, died) if died else day)
    if age is None or age > OLDEST:
        notes.say("bad_birth_date", f"birth date {patient.birth_date!r} gives no age on {day}")
        return None
    if not is_whole_date(patient.birth_date):
        notes.say("part_birth_date", f"birth date {patient.birth_date!r} has no day; the age may be wrong by one year")
    return age


def _sex_code(patient: Patient, notes: Notes) -> Literal["M", "F"] | None:
    code = _SEX_CODES.get((patient.gender or "").lower())
    if code is None:
        notes.say("no_sex", f"gender is {patient.gender!r}, so no sex")
    return code
