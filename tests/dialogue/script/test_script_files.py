"""Folders of records to files of scripts."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hallumeter.dialogue.reading.reader import ClinicalReader
from hallumeter.dialogue.records import Mention, Script
from hallumeter.dialogue.script.facts import ScriptSettings
from hallumeter.dialogue.script.pipeline import Scripting, write_scripts
from hallumeter.errors import InputError, SettingsError
from patient_records import bundle, condition, observation, patient, request, write_bundle, write_json

PATIENTS = Path(str(resources.files("hallumeter.samples").joinpath("patients")))


@pytest.fixture(scope="module")
def scripts() -> dict[str, list[Script]]:
    """The bundled patients' scripts by language."""
    return {
        language: list(Scripting(PATIENTS, ScriptSettings(language=language)).scripts()) for language in ("en", "ko")
    }


def test_the_bundled_patients_have_the_main_conditions_that_their_readme_names(
    scripts: dict[str, list[Script]],
) -> None:
    found = [(each.slots.age, each.slots.sex, each.slots.primary_condition) for each in scripts["en"]]
    assert found == [
        (56, "female", "Hypertension"),
        (45, "female", "Type 2 diabetes mellitus"),
        (14, "male", "Childhood asthma"),
        (52, "male", "Anemia"),
        (73, "male", "Chronic congestive heart failure"),
    ]


def latest_by_hand(path: Path, code: str) -> float:
    """The latest value of a LOINC code, read with the standard library alone."""
    entries = [entry["resource"] for entry in json.loads(path.read_text(encoding="utf-8"))["entry"]]
    parts: list[tuple[str, dict[str, Any]]] = [
        (entry["effectiveDateTime"], part)
        for entry in entries
        if entry["resourceType"] == "Observation"
        for part in [entry, *entry.get("component", [])]
        if part["code"]["coding"][0]["code"] == code
    ]
    return float(max(parts, key=lambda each: each[0])[1]["valueQuantity"]["value"])


@pytest.mark.parametrize("code", ["8480-6", "8462-4", "29463-7", "39156-5"])
def test_vitals_of_the_bundled_patients_are_the_latest(scripts: dict[str, list[Script]], code: str) -> None:
    name = {"8480-6": "bp_systolic", "8462-4": "bp_diastolic", "29463-7": "weight", "39156-5": "bmi"}[code]
    unit = {"weight": "kg", "bmi": "kg/m2"}.get(name, "mmHg")
    for path, script in zip(sorted(PATIENTS.glob("*.json")), scripts["en"], strict=True):
        assert script.slots.key_vitals is not None
        shown = script.slots.key_vitals[name].removesuffix(unit)
        assert float(shown) == pytest.approx(latest_by_hand(path, code), abs=0.005001)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_what_a_patient_tells_is_found_again_by_the_reader_of_answers(
    scripts: dict[str, list[Script]], language: str
) -> None:
    reader = ClinicalReader()
    for script in scripts[language]:
        told: list[Mention] = [mention for turn in script.turns[:2] for mention in reader.read(turn.question).mentions]
        assert script.slots.age in {mention.value for mention in told if mention.kind == "age"}
        assert any(mention.kind == "sex" for mention in told)
        drugs = {mention.name for mention in told if mention.kind == "medication"}
        assert drugs == {name.lower() for name in script.slots.key_meds or ()}
        values = {(mention.name, mention.slot_value) for mention in told if mention.kind in {"lab", "vital"}}
        for name, shown in (script.slots.key_labs or {}).items():
            assert any(name == known and shown.startswith(f"{value:g}") for known, value in values if value is not None)


def test_a_bulk_export_gives_the_scripts_that_bundles_give(tmp_path: Path, scripts: dict[str, list[Script]]) -> None:
    lines: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PATIENTS.glob("*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8"))["entry"]:
            lines[entry["resource"]["resourceType"]].append(json.dumps(entry["resource"]))
    for kind, resources_of_kind in lines.items():
        (tmp_path / f"{kind}.ndjson").write_text("\n".join(resources_of_kind), encoding="utf-8")
    assert list(Scripting(tmp_path).scripts()) == scripts["ko"]


def test_the_same_seed_gives_the_same_bytes_and_another_one_other_questions(tmp_path: Path) -> None:
    first, second, other = (tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.jsonl"))
    write_scripts(PATIENTS, first)
    write_scripts(PATIENTS, second)
    write_scripts(PATIENTS, other, settings=ScriptSettings(seed=1))
    assert first.read_bytes() == second.read_bytes() != other.read_bytes()


def test_a_line_holds_patient_language_slots_and_turns(tmp_path: Path) -> None:
    out = tmp_path / "new" / "scripts_5turn.jsonl"
    outcome = write_scripts(PATIENTS, out, settings=ScriptSettings(language="en", max_patients=2))
    lines = out.read_bytes().splitlines()
    assert outcome.scripts == len(lines) == 2
    assert set(json.loads(lines[0])) == {"patient_id", "language", "slots", "turns"}
    script = msgspec.json.decode(lines[0], type=Script)
    assert (script.language, len(script.turns)) == ("en", 5)


def test_reading_stops_with_the_last_patient_that_is_wanted(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json", patient("a"))
    (tmp_path / "b.json").write_text("{", encoding="utf-8")
    scripting = Scripting(tmp_path, ScriptSettings(max_patients=1))
    assert [script.patient_id for script in scripting.scripts()] == ["a"]
    assert scripting.outcome().failures == ()


def test_the_dead_are_passed_over_unless_they_are_asked_for(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json", patient("dead", deceasedBoolean=True))
    write_bundle(tmp_path / "b.json", patient("died", deceasedDateTime="2015-01-01"))
    write_bundle(tmp_path / "c.json", patient("alive", deceasedBoolean=False))
    scripting = Scripting(tmp_path)
    assert [script.patient_id for script in scripting.scripts()] == ["alive"]
    assert [(note.patient_id, note.code) for note in scripting.outcome().notes if note.code == "deceased"] == [
        ("dead", "deceased"),
        ("died", "deceased"),
    ]
    everyone = Scripting(tmp_path, ScriptSettings(with_deceased=True)).scripts()
    assert [script.patient_id for script in everyone] == ["dead", "died", "alive"]
    earlier = Scripting(tmp_path, ScriptSettings(as_of=date(2014, 1, 1))).scripts()
    assert [script.patient_id for script in earlier] == ["died", "alive"]


def test_who_was_not_born_yet_is_left_out(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json", patient(birthDate="2001-01-01"))
    scripting = Scripting(tmp_path, ScriptSettings(as_of=date(2000, 1, 1)))
    assert list(scripting.scripts()) == []
    assert [failure.code for failure in scripting.outcome().failures] == ["unborn"]


def test_faults_are_kept_and_the_rest_is_written(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json", patient())
    write_bundle(tmp_path / "b.json", condition("1", "X"))
    write_json(tmp_path / "c.json", bundle(patient("p2"), {**condition("1", "X", of="p2"), "clinicalStatus": "active"}))
    outcome = write_scripts(tmp_path, tmp_path / "out.jsonl")
    assert outcome.scripts == 1
    assert [(failure.step, failure.code) for failure in outcome.failures] == [
        ("read", "no_patient"),
        ("read", "wrong_version"),
    ]
    assert outcome.failures[0].message.startswith("b.json: ")


def test_the_output_is_no_input_of_the_next_run(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json", patient(), observation("4548-4", 6, "%"))
    out = tmp_path / "scripts.jsonl"
    write_scripts(tmp_path, out)
    before = out.read_bytes()
    assert write_scripts(tmp_path, out).failures == ()
    assert out.read_bytes() == before


def test_a_file_that_was_there_is_kept_when_nothing_can_be_written(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json", patient(deceasedBoolean=True))
    (tmp_path / "b.json").write_text("{", encoding="utf-8")
    out = tmp_path / "scripts.txt"
    out.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"no patient could be used \(1 deceased.*b.json: not valid JSON"):
        write_scripts(tmp_path, out)
    assert out.read_text(encoding="utf-8") == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.json", "scripts.txt"]


def test_strict_stops_at_the_first_fault(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a.json", patient())
    (tmp_path / "b.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"b\.json"):
        write_scripts(tmp_path, tmp_path / "out.jsonl", settings=ScriptSettings(is_strict=True))


def test_a_folder_cannot_be_written_to_as_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        write_scripts(PATIENTS, tmp_path)


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SettingsError, match="language 'fr'"):
        ScriptSettings(language="fr")
    with pytest.raises(SettingsError, match="expected 1 or more"):
        ScriptSettings(max_patients=0)


def test_a_script_keeps_every_active_condition_and_every_drug(tmp_path: Path) -> None:
    names = ("Hypertension", "Gout", "Anemia", "Asthma", "Obesity", "Prediabetes")
    drugs = ("Metformin", "Warfarin", "Digoxin", "Lisinopril")
    entries = [condition(name, name) for name in names] + [request(name, name) for name in drugs]
    write_bundle(tmp_path / "p.json", patient(), *entries)
    [script] = Scripting(tmp_path, ScriptSettings(language="en")).scripts()
    slots = script.slots
    asked = [slots.primary_condition, *(slots.comorbidities or ())]
    assert len(asked) == 4
    assert sorted([*asked, *(slots.other_conditions or ())], key=str) == sorted(names)
    assert len(slots.key_meds or ()) == 3
    assert sorted([*(slots.key_meds or ()), *(slots.other_meds or ())]) == sorted(drugs)
