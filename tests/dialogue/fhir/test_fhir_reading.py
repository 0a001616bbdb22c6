"""FHIR R4 files in all their forms become the same patients."""

from __future__ import annotations

import gzip
import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from hallumeter.dialogue.fhir.patients import PatientRecord, Trouble, fhir_files, read_patients
from hallumeter.errors import InputError
from patient_records import (
    Json,
    blood_pressure,
    bundle,
    concept,
    condition,
    observation,
    patient,
    procedure,
    request,
    write_bundle,
    write_json,
    write_ndjson,
)

RESOURCES = (
    patient(),
    condition("38341003", "Hypertension"),
    request("316049", "Hydrochlorothiazide 25 MG"),
    observation("4548-4", 6.24, "%"),
    procedure("73761001", "Colonoscopy"),
)


def read(folder: Path) -> tuple[list[PatientRecord], list[Trouble]]:
    found = list(read_patients(fhir_files(folder), folder))
    return [each for each in found if isinstance(each, PatientRecord)], [x for x in found if isinstance(x, Trouble)]


def only(folder: Path) -> PatientRecord:
    [record], troubles = read(folder)
    assert not troubles
    return record


def counts(record: PatientRecord) -> tuple[int, ...]:
    return tuple(map(len, (record.conditions, record.medications, record.observations, record.procedures)))


@pytest.mark.parametrize("kind", ["transaction", "collection", "searchset", "batch", "document"])
def test_a_bundle_of_any_type_is_read(tmp_path: Path, kind: str) -> None:
    write_bundle(tmp_path / "a.json", *RESOURCES, kind=kind)
    record = only(tmp_path)
    assert (record.patient_id, counts(record)) == ("p1", (1, 1, 1, 1))
    assert record.observations[0].value_quantity is not None
    assert record.observations[0].value_quantity.value == Decimal("6.24")


def test_ndjson_of_a_bulk_export_is_joined_over_its_files(tmp_path: Path) -> None:
    for kind in sorted({str(each["resourceType"]) for each in RESOURCES}):
        write_ndjson(tmp_path / f"{kind}.ndjson", *(each for each in RESOURCES if each["resourceType"] == kind))
    assert counts(only(tmp_path)) == (1, 1, 1, 1)


def test_lines_of_all_types_may_be_mixed_and_in_any_order(tmp_path: Path) -> None:
    write_ndjson(tmp_path / "export.jsonl", *reversed(RESOURCES))
    assert counts(only(tmp_path)) == (1, 1, 1, 1)


def test_ndjson_under_a_name_that_ends_in_json_is_noticed(tmp_path: Path) -> None:
    write_ndjson(tmp_path / "export.json", *RESOURCES)
    assert counts(only(tmp_path)) == (1, 1, 1, 1)


def test_bundles_on_lines_are_patients_of_their_own(tmp_path: Path) -> None:
    other = [patient("p2"), condition("44054006", "Diabetes", of="p2")]
    write_ndjson(tmp_path / "bundles.ndjson", bundle(*RESOURCES), bundle(*other))
    records, troubles = read(tmp_path)
    assert [(each.patient_id, len(each.conditions)) for each in records] == [("p1", 1), ("p2", 1)]
    assert [each.source for each in records] == ["bundles.ndjson:1", "bundles.ndjson:2"]
    assert not troubles


def test_single_resources_in_files_of_their_own_are_joined(tmp_path: Path) -> None:
    for number, each in enumerate(RESOURCES):
        write_json(tmp_path / f"{number}.json", each)
    assert counts(only(tmp_path)) == (1, 1, 1, 1)


def test_pages_of_a_search_are_joined(tmp_path: Path) -> None:
    write_bundle(tmp_path / "page1.json", *RESOURCES[:2], kind="searchset")
    write_bundle(tmp_path / "page2.json", *RESOURCES[2:], kind="searchset")
    assert counts(only(tmp_path)) == (1, 1, 1, 1)


def test_compressed_files_and_files_with_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(json.dumps(bundle(*RESOURCES)).encode()))
    (tmp_path / "b.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(bundle(patient("p2"))).encode())
    records, troubles = read(tmp_path)
    assert [each.patient_id for each in records] == ["p1", "p2"]
    assert not troubles


def test_a_single_file_may_be_named_and_inner_folders_are_searched(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    file = write_bundle(tmp_path / "inner" / "a.json", *RESOURCES)
    assert only(tmp_path).source == str(Path("inner") / "a.json")
    assert only(file).source == "a.json"


@pytest.mark.parametrize(
    "reference",
    ["urn:uuid:abc", "Patient/abc", "https://example.org/fhir/Patient/abc", "Patient/abc/_history/3"],
)
def test_every_way_to_point_to_a_patient_is_followed(tmp_path: Path, reference: str) -> None:
    entry = {"fullUrl": "urn:uuid:abc", "resource": patient("abc")}
    pointing = {**condition("38341003", "Hypertension"), "subject": {"reference": reference}}
    content = {"resourceType": "Bundle", "type": "collection", "entry": [entry, {"resource": pointing}]}
    write_json(tmp_path / "a.json", content)
    assert len(only(tmp_path).conditions) == 1


def test_several_patients_in_one_bundle_are_kept_apart(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json", *RESOURCES, patient("p2"), condition("44054006", "Diabetes", of="p2"))
    records, _ = read(tmp_path)
    assert [(each.patient_id, counts(each)) for each in records] == [("p1", (1, 1, 1, 1)), ("p2", (1, 0, 0, 0))]


def test_a_patient_without_an_id_is_known_by_the_address_of_the_entry(tmp_path: Path) -> None:
    nameless = {key: value for key, value in patient().items() if key != "id"}
    content = {"resourceType": "Bundle", "type": "x", "entry": [{"fullUrl": "urn:uuid:77", "resource": nameless}]}
    write_json(tmp_path / "a.json", content)
    assert only(tmp_path).patient_id == "77"


MEDICATION: Json = {"resourceType": "Medication", "id": "med", "code": concept("860975", "Metformin 500 MG")}


@pytest.mark.parametrize("is_contained", [True, False], ids=["inside the request", "elsewhere in the bundle"])
def test_a_medication_that_is_pointed_to_is_put_in(tmp_path: Path, is_contained: bool) -> None:
    pointing = {
        **{key: value for key, value in request("1", None).items() if key != "medicationCodeableConcept"},
        "medicationReference": {"reference": "#med" if is_contained else "Medication/med"},
        **({"contained": [MEDICATION]} if is_contained else {}),
    }
    write_bundle(tmp_path / "a.json", patient(), pointing, *(() if is_contained else (MEDICATION,)))
    [use] = only(tmp_path).medications
    assert use.medication_codeable_concept is not None
    assert use.medication_codeable_concept.words == "Metformin 500 MG"


def test_a_medication_statement_is_read_like_a_request(tmp_path: Path) -> None:
    statement = {**request("1", "Metformin"), "resourceType": "MedicationStatement", "effectiveDateTime": "2019-02-02"}
    del statement["authoredOn"]
    write_bundle(tmp_path / "a.json", patient(), statement)
    [use] = only(tmp_path).medications
    assert use.date == "2019-02-02"


def test_reasons_are_followed_to_conditions(tmp_path: Path) -> None:
    reason = {"fullUrl": "urn:uuid:77", "resource": condition("38341003", "Hypertension")}
    use = request("1", "Amlodipine", reasonReference=[{"reference": "urn:uuid:77"}])
    entries = [{"resource": patient()}, reason, {"resource": use}]
    write_json(tmp_path / "a.json", {"resourceType": "Bundle", "type": "transaction", "entry": entries})
    [read_use] = only(tmp_path).medications
    assert [each.reference for each in read_use.reason_reference or ()] == ["Condition/c-38341003"]


def test_the_last_day_is_that_of_any_dated_entry_as_it_was_written(tmp_path: Path) -> None:
    shot = {"resourceType": "Immunization", "patient": {"reference": "Patient/p1"}}
    late = {**shot, "occurrenceDateTime": "2020-03-01T23:30:00-05:00"}
    write_bundle(tmp_path / "a.json", *RESOURCES, late)
    assert only(tmp_path).last_day == date(2020, 3, 1)


def test_values_of_a_panel_keep_their_codes(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json", patient(), blood_pressure(("8462-4", 84), ("8480-6", 131)))
    [panel] = only(tmp_path).observations
    own, *parts = panel.measured
    assert own.value_quantity is None
    codes = [part.code.first_code for part in parts if part.code]
    assert codes == ["8462-4", "8480-6"]


def test_the_type_of_a_resource_need_not_stand_first(tmp_path: Path) -> None:
    turned = [dict(reversed(each.items())) for each in RESOURCES]
    assert next(iter(turned[0])) != "resourceType"
    write_bundle(tmp_path / "a.json", *turned)
    assert counts(only(tmp_path)) == (1, 1, 1, 1)


def test_types_that_are_not_read_may_hold_anything(tmp_path: Path) -> None:
    odd = {"resourceType": "Claim", "id": 7, "status": {"code": ["x"]}, "subject": 3}
    write_bundle(tmp_path / "a.json", *RESOURCES, odd)
    assert counts(only(tmp_path)) == (1, 1, 1, 1)


def test_files_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        write_bundle(tmp_path / f"{name}.json", patient(f"of-{name}"))
    records, _ = read(tmp_path)
    assert [each.patient_id for each in records] == ["of-a", "of-b", "of-c"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder / "absent", "there is no such folder"),
        (lambda folder: folder, "no FHIR file found.*it is empty"),
    ],
)
def test_a_folder_without_files_is_refused(tmp_path: Path, make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(InputError, match=message):
        fhir_files(make(tmp_path))


def test_hidden_files_and_the_output_are_no_input(tmp_path: Path) -> None:
    file = write_bundle(tmp_path / "a.json", *RESOURCES)
    (tmp_path / ".b.json").write_text("{", encoding="utf-8")
    output = tmp_path / "scripts.jsonl"
    output.write_text("{}", encoding="utf-8")
    assert fhir_files(tmp_path, without=[output]) == [file]
