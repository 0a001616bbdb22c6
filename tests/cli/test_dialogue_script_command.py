"""`hallumeter dialogue script` as a newcomer types it."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest
from command_line import refused, run, succeed

from patient_records import condition, observation, patient, request, write_bundle

PATIENTS = Path(str(resources.files("hallumeter.samples").joinpath("patients")))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "scripts_5turn.jsonl"


def test_the_names_of_options_may_have_dashes_or_underscores(out: Path) -> None:
    succeed("dialogue", "script", "--fhir_dir", PATIENTS, "--output_path", out)
    first = out.read_bytes()
    succeed("dialogue", "script", "--fhir-dir", PATIENTS, "--output-path", out, "--max_patients", 2)
    assert out.read_bytes() == b"".join(first.splitlines(keepends=True)[:2])


def test_what_was_written_is_said_on_the_standard_error(out: Path) -> None:
    result = succeed("dialogue", "script", "--fhir_dir", PATIENTS, "--output_path", out, "--language", "en")
    assert result.stdout == ""
    assert f"scripts: {out} (5 patients of 5 files)" in result.stderr
    assert "observation codes that no table knows, left out: 72514-3" in result.stderr
    quiet = succeed("dialogue", "script", "--fhir_dir", PATIENTS, "--output_path", out, "--quiet")
    assert quiet.stderr == ""


def test_the_day_changes_the_age(tmp_path: Path, out: Path) -> None:
    folder = tmp_path / "fhir"
    folder.mkdir()
    write_bundle(folder / "a.json", patient(birthDate="1950-06-15"), observation("4548-4", 6, "%", on="2019-01-01"))
    for options, age in ([], 68), (["--as-of", "2030-06-15"], 80):
        succeed("dialogue", "script", "--fhir_dir", folder, "--output_path", out, *options)
        assert json.loads(out.read_text(encoding="utf-8"))["slots"]["age"] == age


def test_notes_of_one_kind_are_said_together(tmp_path: Path, out: Path) -> None:
    folder = tmp_path / "fhir"
    folder.mkdir()
    for number in range(12):
        write_bundle(folder / f"{number:02}.json", patient(f"p{number}", birthDate=None), observation("4548-4", 6, "%"))
    result = succeed("dialogue", "script", "--fhir_dir", folder, "--output_path", out)
    assert result.stderr.count("no birth date, so no age") == 2
    assert "... and 10 more of this kind" in result.stderr


def test_faults_are_said_and_counted_and_the_rest_is_written(tmp_path: Path, out: Path) -> None:
    folder = tmp_path / "fhir"
    folder.mkdir()
    write_bundle(folder / "a.json", patient(), condition("1", "Purple\x1b[31m spots"), request("0", "Zorblaxine 5 MG"))
    for number in range(12):
        (folder / f"b{number}.json").write_text("{", encoding="utf-8")
    result = succeed("dialogue", "script", "--fhir_dir", folder, "--output_path", out)
    assert "b0.json: not valid JSON" in result.stderr
    assert "... and 2 more that could not be used" in result.stderr
    assert "drug codes that no table knows, kept by their words: 0 Zorblaxine 5 MG (1)" in result.stderr
    assert "\x1b" not in result.stderr
    assert "b0.json" in refused("dialogue", "script", "--fhir_dir", folder, "--output_path", out, "--strict")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fhir_dir", "absent"], "there is no such folder"),
        (["--as-of", "yesterday"], "yesterday"),
        (["--max-patients", "0"], "0"),
        (["--language", "fr"], "fr"),
        (["--seed", "x"], "x"),
    ],
)
def test_every_fault_is_one_line(out: Path, options: list[str], message: str) -> None:
    words = ["--fhir_dir", PATIENTS, "--output_path", out, *options]  # the last of two counts
    assert message in refused("dialogue", "script", *words)
    assert not out.exists()


def test_what_is_missing_is_named() -> None:
    assert "--fhir-dir" in refused("dialogue", "script", "--output_path", "x.jsonl")
    assert "--output-path" in refused("dialogue", "script", "--fhir_dir", "x")


def test_help_shows_examples() -> None:
    assert "hallumeter dialogue script --fhir-dir fhir/" in run("dialogue", "script", "--help").stdout
    assert "script" in run("dialogue").stdout


def test_resources_can_be_validated(tmp_path: Path, out: Path) -> None:
    pytest.importorskip("fhir.resources")
    folder = tmp_path / "fhir"
    folder.mkdir()
    write_bundle(folder / "a.json", patient(), {**observation("4548-4", 6, "%"), "colour": "green"})
    result = succeed("dialogue", "script", "--fhir_dir", folder, "--output_path", out, "--validate")
    assert "colour" in result.stderr
    assert "key_labs" not in json.loads(out.read_text(encoding="utf-8"))["slots"]
