"""What is wrong with FHIR files is said, and the rest is read."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hallumeter.dialogue.fhir.patients import PatientRecord, Trouble, fhir_files, read_patients, validator
from hallumeter.errors import MissingExtraError
from patient_records import Json, bundle, condition, observation, patient, procedure, request, write_bundle, write_json


def read(folder: Path, **options: object) -> tuple[list[PatientRecord], list[Trouble]]:
    found = list(read_patients(fhir_files(folder), folder, **options))  # type: ignore[arg-type]
    return [each for each in found if isinstance(each, PatientRecord)], [x for x in found if isinstance(x, Trouble)]


def trouble_with(folder: Path) -> Trouble:
    """The only trouble of a folder from which no patient comes."""
    records, [trouble] = read(folder)
    assert not records
    return trouble


def test_a_bundle_without_a_patient_is_named_with_what_it_has(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json", condition("1", "X"), {"resourceType": "Practitioner", "id": "d"})
    trouble = trouble_with(tmp_path)
    assert trouble.code == "no_patient"
    assert trouble.message == "no Patient found among 1 Condition, 1 Practitioner"


def test_an_empty_bundle_is_named(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json")
    assert "no resource at all" in trouble_with(tmp_path).message


@pytest.mark.parametrize(
    ("resource", "version"),
    [
        ({**condition("1", "X"), "clinicalStatus": "active"}, "STU3"),
        ({**condition("1", "X"), "verificationStatus": "confirmed"}, "STU3"),
        ({**condition("1", "X"), "context": {"reference": "Encounter/1"}}, "STU3"),
        ({**observation("1", 1, "%"), "context": {"reference": "Encounter/1"}}, "STU3"),
        ({**procedure("1", "X"), "notDone": False}, "STU3"),
        ({**procedure("1", "X"), "context": {"reference": "Encounter/1"}}, "STU3"),
        ({**condition("1", "X"), "patient": {"reference": "Patient/p1"}}, "DSTU2"),
        ({"resourceType": "MedicationOrder", "patient": {"reference": "Patient/p1"}}, "DSTU2"),
        ({**request("1", "X"), "medication": {"concept": {"text": "Metformin"}}}, "R5"),
        ({**procedure("1", "X"), "occurrenceDateTime": "2020"}, "R5"),
        ({**procedure("1", "X"), "occurrencePeriod": {"start": "2020"}}, "R5"),
        ({"resourceType": "Encounter", "id": "e", "actualPeriod": {"start": "2020"}}, "R5"),
        ({**observation("1", 1, "%"), "meta": {"profile": ["http://hl7.org/fhir/5.0/StructureDefinition/bp"]}}, "R5"),
    ],
)
def test_another_version_of_fhir_is_refused_by_its_name(tmp_path: Path, resource: Json, version: str) -> None:
    write_bundle(tmp_path / "a.json", patient(), resource)
    trouble = trouble_with(tmp_path)
    assert trouble.code == "wrong_version"
    assert trouble.message.startswith(f"this is FHIR {version} (")
    assert "expected R4" in trouble.message


def test_a_bundle_may_name_its_version_in_its_profile(tmp_path: Path) -> None:
    content = {**bundle(patient()), "meta": {"profile": ["http://hl7.org/fhir/STU3/StructureDefinition/Bundle"]}}
    write_json(tmp_path / "a.json", content)
    assert "STU3" in trouble_with(tmp_path).message


def test_a_medication_statement_of_r4_may_have_a_context(tmp_path: Path) -> None:
    statement = {**request("1", "X"), "resourceType": "MedicationStatement", "context": {"reference": "Encounter/1"}}
    write_bundle(tmp_path / "a.json", patient(), statement)
    records, troubles = read(tmp_path)
    assert (len(records), troubles) == (1, [])


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"", "empty", "the file is empty"),
        (b"   \n", "empty", "the file is empty"),
        (b'{"resourceType": "Bundle", "entry": [', "bad_json", "not valid JSON"),
        (b"not json", "bad_json", "not valid JSON"),
        (b"[1, 2]", "not_fhir", "not a FHIR resource"),
        (b'{"name": "x"}', "not_fhir", "not a FHIR resource"),
        (b'{"resourceType": "Bundle", "entry": {"a": 1}}', "not_fhir", "entry"),
        ('{"resourceType": "Patient"}'.encode("utf-16"), "bad_encoding", "UTF-16"),
        (b'{"resourceType": "Bundle", "type": "\xff"}', "bad_encoding", "UTF-8"),
        (b'{"resourceType": "Bundle", "x": ' + b"[" * 100_000, "bad_json", "nested too deeply"),
    ],
    ids=["empty", "blank", "cut off", "text", "a list", "another object", "entries", "utf-16", "latin-1", "deep"],
)
def test_a_file_that_is_no_fhir_is_named(tmp_path: Path, content: bytes, code: str, message: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    write_bundle(tmp_path / "b.json", patient())
    [record], [trouble] = read(tmp_path)
    assert record.patient_id == "p1"
    assert trouble.place == "a.json"
    assert trouble.code == code
    assert message in trouble.message


def test_a_broken_line_is_named_with_its_number_and_the_others_are_read(tmp_path: Path) -> None:
    lines = [json.dumps(patient()), '{"resourceType": "Condition", "id": ', json.dumps(condition("1", "X")), ""]
    (tmp_path / "mixed.ndjson").write_text("\n".join(lines), encoding="utf-8")
    [record], [trouble] = read(tmp_path)
    assert len(record.conditions) == 1
    assert (trouble.place, trouble.code) == ("mixed.ndjson:2", "bad_json")


@pytest.mark.parametrize("content", [b"", '{"a"'.encode("utf-16")], ids=["empty", "utf-16"])
def test_ndjson_that_cannot_be_read_is_named_once(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.ndjson").write_bytes(content)
    assert trouble_with(tmp_path).place == "a.ndjson"


def test_a_damaged_gzip_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(b"\x1f\x8b\x08\x00 cut off")
    assert trouble_with(tmp_path).code == "unreadable"


def test_a_resource_that_cannot_be_read_is_left_out_and_the_record_kept(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json", patient(), observation("4548-4", "high", "%"), condition("1", "X"))
    [record], [trouble] = read(tmp_path)
    assert (len(record.observations), len(record.conditions)) == (0, 1)
    assert trouble.code == "bad_resource"
    assert "Observation" in trouble.message


def test_an_entry_without_a_type_is_left_out(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json", patient(), {"id": "x"})
    [_], [trouble] = read(tmp_path)
    assert "names no resourceType" in trouble.message


def test_a_patient_who_was_there_before_is_left_out(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json", patient())
    write_bundle(tmp_path / "b.json", patient())
    [record], [trouble] = read(tmp_path)
    assert record.source == "a.json"
    assert (trouble.place, trouble.code) == ("b.json", "duplicate_patient")
    assert "a.json" in trouble.message


def test_of_two_resources_with_one_id_the_last_updated_is_used(tmp_path: Path) -> None:
    first = {**condition("1", "First"), "meta": {"lastUpdated": "2019-01-01T00:00:00Z"}}
    later = {**condition("1", "Later"), "meta": {"lastUpdated": "2020-01-01T00:00:00Z"}}
    write_bundle(tmp_path / "a.json", patient(), first, later, {**condition("1", "No date")})
    [record], [notice] = read(tmp_path)
    assert [each.code.words for each in record.conditions if each.code] == ["Later"]
    assert not notice.is_fault
    assert "2 ids stand twice, as Condition/c-1" in notice.message


def test_resources_of_somebody_else_are_left_out_and_counted(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json", patient(), condition("1", "X", of="stranger"), condition("2", "Y"))
    [record], [notice] = read(tmp_path)
    assert len(record.conditions) == 1
    assert "1 resources point to no patient that is there" in notice.message


def test_resources_without_a_subject_are_the_only_patients(tmp_path: Path) -> None:
    nameless = {key: value for key, value in condition("1", "X").items() if key != "subject"}
    write_bundle(tmp_path / "a.json", patient(), nameless)
    [record], [notice] = read(tmp_path)
    assert len(record.conditions) == 1
    assert "name no subject" in notice.message
    write_bundle(tmp_path / "a.json", patient(), patient("p2"), nameless)
    records, [notice] = read(tmp_path)
    assert [len(each.conditions) for each in records] == [0, 0]
    assert "point to no patient" in notice.message


def test_validation_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fhir.resources.R4B", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'hallumeter\[fhir-validate\]'"):
        validator()


def test_a_resource_that_does_not_validate_is_left_out(tmp_path: Path) -> None:
    pytest.importorskip("fhir.resources")
    wrong = {**observation("4548-4", 6.2, "%"), "colour": "green"}
    write_bundle(
        tmp_path / "a.json", patient(), wrong, {"resourceType": "Nonsense"}, observation("2339-0", 90, "mg/dL")
    )
    [record], troubles = read(tmp_path, check=validator())
    assert [each.code.first_code for each in record.observations if each.code] == ["2339-0"]
    assert [each.code for each in troubles] == ["invalid", "invalid"]
    assert "colour" in troubles[0].message
    assert "no resource type 'Nonsense' in FHIR R4" in troubles[1].message
