"""Facts of a patient's FHIR record that agents can look up, beside those of the script."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from hallumeter.errors import InputError
from hallumeter.formats.fhir import (
    Concept,
    Observation,
    PatientRecord,
    Quantity,
    day_of,
    fhir_files,
    moment_of,
    read_patients,
)

Fact = tuple[str, str]
"""The kind of a fact, as the words of each language name it, and what it says."""
_VOID = {"entered-in-error", "refuted", "not-done", "cancelled"}


def facts_by_patient(folder: Path, wanted: Collection[str]) -> dict[str, tuple[Fact, ...]]:
    """What bundles in a folder say of some patients.

    Raises:
        InputError: The folder has none of them.
    """
    found: dict[str, tuple[Fact, ...]] = {}
    for record in read_patients(fhir_files(folder), folder):
        if isinstance(record, PatientRecord) and record.patient_id in wanted:
            found[record.patient_id] = tuple(dict.fromkeys(facts_of(record)))
    if not found:
        raise InputError(f"{folder}: none of the {len(wanted)} patients of the scripts is in there; check fhir_dir")
    return found


def facts_of(record: PatientRecord) -> Iterator[Fact]:
    """Diagnoses, drugs, the latest value of each observation, and procedures; void entries are left out."""
    for condition in record.conditions:
        if _code(condition.verification_status) not in _VOID:
            yield from _fact("fhir_condition", condition.code, condition.date, more=_code(condition.clinical_status))
    for use in record.medications:
        if use.status not in _VOID and not use.do_not_perform:
            yield from _fact("fhir_medication", use.medication_codeable_concept, use.date, more=use.status)
    yield from _latest(record.observations)
    for procedure in record.procedures:
        if procedure.status not in _VOID and not procedure.not_done:
            yield from _fact("fhir_procedure", procedure.code, procedure.date)


def _latest(observations: Iterable[Observation]) -> Iterator[Fact]:
    """The last value of each code, those of components on their own."""
    dated = [(moment_of(each.date), each) for each in observations if each.status not in _VOID]
    latest: dict[str, Fact] = {}
    for _, observation in sorted(
        ((moment, each) for moment, each in dated if moment is not None), key=lambda pair: pair[0]
    ):
        for measured in observation.measured:
            value = _value(measured.value_quantity)
            if value is None or measured.code is None:
                continue
            code = measured.code.first_code or measured.code.words or ""
            for fact in _fact("fhir_observation", measured.code, observation.date, more=value):
                latest[code] = fact
    yield from latest.values()


def _fact(kind: str, concept: Concept | None, date: str | None, *, more: str | None = None) -> Iterator[Fact]:
    words = None if concept is None else concept.words
    if words is not None:
        day = day_of(date)
        yield kind, ", ".join(filter(None, [words, more, None if day is None else day.isoformat()]))


def _value(quantity: Quantity | None) -> str | None:
    if quantity is None or quantity.value is None:
        return None
    return " ".join(filter(None, [f"{quantity.comparator or ''}{quantity.value:f}", quantity.unit or quantity.code]))


def _code(status: Concept | str | None) -> str | None:
    return status.first_code if isinstance(status, Concept) else status
