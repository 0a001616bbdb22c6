"""Small FHIR R4 records for tests, as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

SNOMED, LOINC = "http://snomed.info/sct", "http://loinc.org"
RXNORM = "http://www.nlm.nih.gov/research/umls/rxnorm"


def concept(code: str, words: str | None, system: str = SNOMED) -> Json:
    coding = {"system": system, "code": code, "display": words}
    return {"coding": [{key: value for key, value in coding.items() if value is not None}]}


def patient(patient_id: str = "p1", **fields: Any) -> Json:
    return {"resourceType": "Patient", "id": patient_id, "gender": "female", "birthDate": "1950-06-15", **fields}


def _about(kind: str, patient_id: str, fields: Json) -> Json:
    return {"resourceType": kind, "subject": {"reference": f"Patient/{patient_id}"}, **fields}


def condition(
    code: str, words: str | None, *, status: str = "active", since: str = "2010-01-01", of: str = "p1", **fields: Any
) -> Json:
    stated = {
        "id": f"c-{code}",
        "clinicalStatus": concept(status, None, "http://terminology.hl7.org/CodeSystem/condition-clinical"),
        "code": concept(code, words),
        "onsetDateTime": since,
    }
    return _about("Condition", of, {**stated, **fields})


def request(code: str, words: str | None, *, status: str = "active", on: str = "2015-01-01", **fields: Any) -> Json:
    stated = {
        "id": f"m-{code}",
        "status": status,
        "intent": "order",
        "medicationCodeableConcept": concept(code, words, RXNORM),
        "authoredOn": on,
    }
    return _about("MedicationRequest", fields.pop("of", "p1"), {**stated, **fields})


def observation(
    code: str, value: object, unit: str | None, *, on: str = "2019-01-01", of: str = "p1", **fields: Any
) -> Json:
    quantity = {"value": value, "unit": unit}
    stated = {
        "id": f"o-{code}-{on}",
        "status": "final",
        "code": concept(code, None, LOINC),
        "effectiveDateTime": on,
        "valueQuantity": {key: part for key, part in quantity.items() if part is not None},
    }
    return _about("Observation", of, {**stated, **fields})


def blood_pressure(*parts: tuple[str, float], on: str = "2019-01-01") -> Json:
    """A panel whose components stand in the order given."""
    components = [
        {"code": concept(code, None, LOINC), "valueQuantity": {"value": value, "unit": "mm[Hg]"}}
        for code, value in parts
    ]
    panel = {
        "id": f"bp-{on}",
        "status": "final",
        "code": concept("85354-9", "Blood pressure panel", LOINC),
        "effectiveDateTime": on,
        "component": components,
    }
    return _about("Observation", "p1", panel)


def procedure(code: str, words: str, *, status: str = "completed", on: str = "2018-01-01") -> Json:
    stated = {"id": f"pr-{code}", "status": status, "code": concept(code, words), "performedDateTime": on}
    return _about("Procedure", "p1", stated)


def bundle(*resources: Json, kind: str = "collection") -> Json:
    return {"resourceType": "Bundle", "type": kind, "entry": [{"resource": each} for each in resources]}


def write_bundle(path: Path, *resources: Json, kind: str = "collection") -> Path:
    return write_json(path, bundle(*resources, kind=kind))


def write_json(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


def write_ndjson(path: Path, *resources: Json) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in resources), encoding="utf-8")
    return path
