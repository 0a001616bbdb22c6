"""The schema of events that ships: made from the record, and true of what a run writes."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from hallumeter.dialogue.event_schema import event_schema, schema_text, shipped_schema
from hallumeter.dialogue.records import Event, EventQuestion, PatientSlots


def test_the_file_in_the_package_is_what_the_record_makes() -> None:
    assert shipped_schema() == schema_text()


@pytest.mark.parametrize("metric", ["SFS", "CSP", "CUS_improved"])
def test_the_three_metrics_are_a_number_or_null_and_described(metric: str) -> None:
    found = json.loads(shipped_schema())["properties"]["metrics"]["properties"][metric]
    assert found["type"] == ["number", "null"]
    assert "slots_truth" in found["description"]


def test_everything_that_an_event_has_is_described_and_required() -> None:
    schema = event_schema()
    assert set(schema["required"]) == set(schema["properties"]) == set(Event.__struct_fields__)
    assert all(field["description"] for field in schema["properties"].values())


EVENT: dict[str, Any] = {
    "schema_version": "events_record.v1",
    "run_id": "r",
    "mode": "llm",
    "patient_id": "p",
    "turn_id": 1,
    "question": {"question_id": "p:1", "text": "?", "template": None},
    "answer": None,
    "usage": {"input_tokens": None, "output_tokens": None, "estimated_cost_usd": None},
    "timing_ms": {"total": 1.5},
    "timestamps": {},
    "metadata": {"system": "llm"},
    "metrics": {"SFS": None, "CSP": 0.5},
    "slots_truth": {"age": 67, "key_labs": {"hba1c": "6.24%"}},
}


def fits(value: object, schema: dict[str, Any], definitions: dict[str, Any]) -> bool:
    """Whether a value fits a schema, as far as the words go that ours uses; written for this test alone."""
    if "$ref" in schema:
        return fits(value, definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return any(fits(value, each, definitions) for each in schema["anyOf"])
    if not fits_alone(value, schema):
        return False
    if isinstance(value, dict):
        known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        inside = all(fits(entry, known.get(key, others), definitions) for key, entry in value.items())
        return inside and set(schema.get("required", ())) <= set(value)
    return not isinstance(value, list) or all(fits(each, schema.get("items", {}), definitions) for each in value)


def fits_alone(value: object, schema: dict[str, Any]) -> bool:
    """Whether it is of the right kind and within bounds, whatever is inside."""
    kinds = schema.get("type", [])
    is_right = not kinds or any(is_kind(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))
    is_named = value in schema.get("enum", [value]) and value == schema.get("const", value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_right and is_named and not (is_number and value < schema.get("minimum", value))


def is_kind(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    kinds: dict[str, Any] = {
        "null": type(None),
        "string": str,
        "integer": int,
        "number": int | float,
        "object": dict,
        "array": list,
    }
    return kind in kinds and isinstance(value, kinds[kind])


def accepted(event: dict[str, Any]) -> bool:
    schema = json.loads(shipped_schema())
    return fits(event, schema, schema["$defs"])


def test_an_event_fits() -> None:
    assert accepted(EVENT)


@pytest.mark.parametrize(
    "change",
    [
        {"metrics": {"SFS": "high"}},
        {"turn_id": 0},
        {"answer": 7},
        {"schema_version": "events_record.v0"},
        {"slots_truth": {"age": "old"}},
        {"question": {"text": "?"}},
    ],
)
def test_what_is_no_event_does_not_fit(change: dict[str, Any]) -> None:
    assert not accepted({**EVENT, **change})


@pytest.mark.parametrize("missing", sorted(EVENT))
def test_nothing_may_be_missing(missing: str) -> None:
    assert not accepted({key: value for key, value in EVENT.items() if key != missing})


def test_a_record_that_is_written_fits() -> None:
    question = EventQuestion("p:1", "?")
    event = Event(
        run_id="r",
        mode="agent",
        patient_id="p",
        turn_id=3,
        question=question,
        answer="Walk.",
        slots_truth=PatientSlots(age=4, key_meds=("Metformin",)),
    )

    assert accepted(json.loads(msgspec.json.encode(event)))
