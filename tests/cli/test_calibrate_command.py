"""`hallumeter calibrate`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import refused, run, succeed

from compared_runs import run_of, verdict_rows
from labelled_runs import labelled_run, write_labels

TARGET = "at most 10% hallucinated among accepted"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calibrated")
    labelled_run(folder / "run")
    return folder


@pytest.fixture
def folder(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(shared)
    return shared


def test_a_table_names_the_threshold_the_promise_and_the_reliability(folder: Path) -> None:
    text = succeed("calibrate", "run", "--labels", "labels.csv", "--target", TARGET, "--confidence", "0.9").stdout
    for words in ("Thresholds for answers", "Reliability of j's probabilities", "ECE", "Brier score", "o-", TARGET):
        assert words in text
    assert "(confidence 90 %)" in text


def test_a_promise_that_cannot_be_kept_exits_with_3(folder: Path) -> None:
    result = run("calibrate", "run", "--labels", "labels.csv", "--target", "at most 0.1% hallucinated among accepted")
    assert result.exit_code == 3
    assert "No threshold can promise" in result.stdout


def test_json_and_the_written_file_are_the_same(folder: Path) -> None:
    words = ["calibrate", "run", "--labels", "labels.csv", "--target", TARGET, "--by", "task"]
    printed = succeed(*words, "--format", "json", "--out", "calibration.json").stdout
    assert (folder / "calibration.json").read_text(encoding="utf-8") == printed
    found = json.loads(printed)
    assert found["promise"]["limit"] == 0.1
    assert found["thresholds"][0]["threshold"] > 0
    assert found["reliability"]["mapping"]["method"] == "logistic"
    assert printed == succeed(*words, "--format", "json").stdout
    assert succeed(*words, "--format", "markdown").stdout.startswith("### run · ")


def test_notices_are_on_the_standard_error_unless_it_is_quiet(folder: Path) -> None:
    write_labels(folder / "one.csv", [{"record_id": "r1", "claim_id": "r1-0", "label": "SUPPORTED"}])
    words = ["calibrate", "run", "--labels", "one.csv", "--unit", "claim"]
    assert "label" in run(*words).stdout
    assert run(*words, "--quiet").stderr == ""


def test_what_cannot_be_calibrated_is_refused_in_one_line(folder: Path) -> None:
    words = ["calibrate", "run", "--labels", "labels.csv"]
    assert "expected one of" in refused(*words, "--target", "be honest")
    assert "confidence" in refused(*words, "--confidence", "2")
    assert "may fall while the threshold rises" in refused(*words, "--on-average")
    assert "no record of the run has that field" in refused(*words, "--by", "nothing")
    assert "no judge 'x'" in refused(*words, "--judge", "x")
    assert "there are no labels" in refused("calibrate", "run")
    assert "not a run folder" in refused("calibrate", "nowhere")
    assert "nowhere.csv" in refused("calibrate", "run", "--labels", "nowhere.csv")
    assert "resamples are too few" in refused(*words, "--resamples", "5")


def test_labels_that_speak_of_nothing_or_contradict_are_refused(folder: Path) -> None:
    label = {"record_id": "r1", "claim_id": "r1-0", "label": "SUPPORTED"}
    write_labels(folder / "unknown.csv", [label, {**label, "claim_id": "r1-99"}])
    assert "unknown.csv:3: " in refused("calibrate", "run", "--labels", "unknown.csv")
    write_labels(folder / "both.csv", [label, {**label, "label": "REFUTED"}])
    assert "both.csv:3: " in refused("calibrate", "run", "--labels", "both.csv")


def test_verdicts_without_probabilities_are_refused(folder: Path) -> None:
    run_of(folder / "plain", verdict_rows({"r1": "ss"}))
    write_labels(folder / "plain.csv", [{"record_id": "r1", "claim_id": "r1-0", "label": "SUPPORTED"}])
    assert "no unsupported_probability" in refused("calibrate", "plain", "--labels", "plain.csv")


def test_a_calibration_is_not_written_over_a_folder(folder: Path) -> None:
    (folder / "taken").mkdir(exist_ok=True)
    assert "taken" in refused("calibrate", "run", "--labels", "labels.csv", "--out", "taken")
