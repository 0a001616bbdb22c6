"""From resources to the facts of a script, without files."""

from __future__ import annotations

from datetime import date

import msgspec
from msgspec import Raw

from hallumeter.dialogue.fhir.patients import Entry, Gathering, PatientRecord
from hallumeter.dialogue.script.facts import Notes, PatientFacts, facts_of
from patient_records import Json, patient


def record_of(*resources: Json) -> PatientRecord:
    """The record of the only patient, who is made up when none is given."""
    given = resources if any(each["resourceType"] == "Patient" for each in resources) else (patient(), *resources)
    gathering = Gathering("test.json")
    for each in given:
        gathering.add(Entry(each["resourceType"], Raw(msgspec.json.encode(each)), None, "test.json"))
    [record] = [found for found in gathering.records() if isinstance(found, PatientRecord)]
    return record


def facts(*resources: Json, as_of: date | None = None, notes: Notes | None = None) -> PatientFacts:
    return facts_of(record_of(*resources), as_of, notes or Notes())
