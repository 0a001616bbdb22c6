"""A run folder holds the files and fields that were agreed on, in the order of the records, the same every time."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples

import hallumeter
from hallumeter import InputError, MeasureSettings
from hallumeter.claims.measure.commands import measure_to_folder
from hallumeter.run.finished import load
from verdict_rows import Row, verdict_rows, write_lines

QUICK = MeasureSettings(resamples=100)
FILES = {
    "records.jsonl": "record_id question response evidence reference samples token_logprobs answerable model fields",
    "claims.jsonl": "record_id claim_id kind start end text weight",
    "verdicts.jsonl": (
        "record_id claim_id judge label unsupported_probability reason start end evidence note cost_usd "
        "confidence probabilities inference_samples"
    ),
    "failures.jsonl": "record_id claim_id step judge code message attempts",
    "measurements.jsonl": "metric scope record_id by judge count total value undefined",
}
SUMMARY_FIELDS = "version instrument counts metrics profile notices ranking dialogue aspects"
METRIC_FIELDS = "metric by judge count total value interval interval_method direction undefined undecided failed bounds"
MANIFEST_FIELDS = "version hallumeter instrument inputs settings judges seed started finished files"
ROWS: list[Row] = [
    {
        "record_id": "r1",
        "claim_id": "c1",
        "label": "REFUTED",
        "judge": "a",
        "text": "born in 1970",
        "response": "She was born in 1970.",
        "question": "When?",
        "evidence": ["She was born in 1980."],
        "model": "m",
        "task": "QA",
        "start": 8,
        "end": 20,
        "reason": "number_mismatch",
        "unsupported_probability": 0.9,
    },
    {"record_id": "r1", "claim_id": "c2", "label": "maybe", "judge": "a"},
    {"record_id": "r2", "claim_id": "c1", "label": "SUPPORTED", "judge": "a", "weight": 2},
]


def make(tmp_path: Path, *files: list[Row], name: str = "run", settings: MeasureSettings = QUICK) -> Path:
    paths = [write_lines(tmp_path / f"{name}-{number}.jsonl", rows) for number, rows in enumerate(files)]
    measure_to_folder(paths, tmp_path / name, settings=settings)
    return tmp_path / name


def lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def one(rows: list[Row]) -> list[Row]:
    """Rows of one model, given on each."""
    return [{**row, "model": "m"} for row in rows]


def test_a_run_has_all_files_with_their_fields_in_order(tmp_path: Path) -> None:
    run = make(tmp_path, one(ROWS))
    assert sorted(path.name for path in run.iterdir()) == sorted(
        [*FILES, "summary.json", "manifest.json", "report.html"]
    )
    for name, fields in FILES.items():
        found = lines(run / name)
        assert found
        assert all(list(line) == fields.split() for line in found), name
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    assert list(summary) == SUMMARY_FIELDS.split()
    assert all(list(row) == [*METRIC_FIELDS.split(), "signature", "note"] for row in summary["metrics"])
    assert list(summary["counts"])[:4] == ["records", "claims", "verdicts", "failures"]
    assert list(json.loads((run / "manifest.json").read_text(encoding="utf-8"))) == MANIFEST_FIELDS.split()


def test_a_line_of_each_file_says_what_the_row_said(tmp_path: Path) -> None:
    run = make(tmp_path, one(ROWS))
    record = lines(run / "records.jsonl")[0]
    assert (record["question"], record["response"]) == ("When?", "She was born in 1970.")
    assert record["evidence"] == [{"evidence_id": "e1", "text": "She was born in 1980."}]
    assert (record["model"], record["fields"]) == ("m", {"task": "QA"})
    claims = lines(run / "claims.jsonl")
    assert [(claim["record_id"], claim["claim_id"]) for claim in claims] == [("r1", "c1"), ("r1", "c2"), ("r2", "c1")]
    assert (claims[0]["start"], claims[0]["end"], claims[0]["text"]) == (8, 20, "born in 1970")
    assert claims[2]["weight"] == 2.0
    [first, second] = lines(run / "verdicts.jsonl")
    assert (first["label"], first["unsupported_probability"], first["reason"]) == ("REFUTED", 0.9, "number_mismatch")
    assert (second["record_id"], second["label"]) == ("r2", "SUPPORTED")
    [failure] = lines(run / "failures.jsonl")
    assert (failure["record_id"], failure["claim_id"], failure["code"]) == ("r1", "c2", "unknown_label")


def test_a_claim_whose_span_is_impossible_has_none(tmp_path: Path) -> None:
    row: Row = {"record_id": "r", "claim_id": "c", "label": "REFUTED", "text": "t", "start": 5, "end": 3}
    [claim, _] = lines(make(tmp_path, [row, {**row, "claim_id": "d", "start": 3, "end": 5}]) / "claims.jsonl")
    assert (claim["start"], claim["end"], claim["text"]) == (None, None, "t")


def test_measurements_are_those_of_each_response(tmp_path: Path) -> None:
    run = make(tmp_path, one(ROWS))
    found = {
        (line["record_id"], line["metric"]): (line["count"], line["total"], line["value"])
        for line in lines(run / "measurements.jsonl")
    }
    assert found["r1", "mihr"] == (1.0, 1.0, 1.0)
    assert found["r2", "mihr"] == (0.0, 1.0, 0.0)
    assert found["r2", "factscore"] == (1.0, 1.0, 1.0)


def test_a_response_without_a_decided_claim_has_measurements_without_a_value(tmp_path: Path) -> None:
    run = make(tmp_path, [{"record_id": "r", "claim_id": "c", "label": "UNDECIDED"}])
    for line in lines(run / "measurements.jsonl"):
        assert line["value"] is None
        assert line["undefined"] == "no claim of this response is decided"


def test_no_file_holds_a_number_that_json_does_not_know(tmp_path: Path) -> None:
    run = make(tmp_path, one(ROWS))
    for path in run.glob("*.json*"):
        text = path.read_text(encoding="utf-8")
        for part in text.splitlines() if path.suffix == ".jsonl" else [text]:
            json.loads(part, parse_constant=pytest.fail)


def test_lines_stand_in_the_order_of_the_records_when_judges_come_one_after_the_other(tmp_path: Path) -> None:
    first: list[Row] = [
        {"record_id": f"r{n % 3}", "claim_id": f"c{n}", "label": "REFUTED", "judge": "a"} for n in range(9)
    ]
    second: list[Row] = [{**row, "judge": "b", "label": "SUPPORTED"} for row in reversed(first)]
    run = make(tmp_path, first, second)
    assert [line["record_id"] for line in lines(run / "records.jsonl")] == ["r0", "r1", "r2"]
    assert [line["record_id"] for line in lines(run / "claims.jsonl")] == ["r0"] * 3 + ["r1"] * 3 + ["r2"] * 3
    assert [line["record_id"] for line in lines(run / "verdicts.jsonl")] == ["r0"] * 6 + ["r1"] * 6 + ["r2"] * 6
    assert not list(run.glob("*.ordered"))
    for finding in load(run).findings():
        assert [verdict.judge for verdict in finding.verdicts] == ["a", "b"]
        assert {verdict.claim_id for verdict in finding.verdicts} == {finding.claim.claim_id}


def test_a_record_that_several_models_answered_has_an_id_for_each(tmp_path: Path) -> None:
    rows: list[Row] = [
        {"record_id": "q", "claim_id": "c", "label": "REFUTED", "model": model, "response": f"by {model}"}
        for model in ("one", "two")
    ]
    run = make(tmp_path, [*rows, {"record_id": "alone", "claim_id": "c", "label": "REFUTED", "model": "one"}])
    records = lines(run / "records.jsonl")
    assert [record["record_id"] for record in records] == ["q@one", "q@two", "alone"]
    assert [record["response"] for record in records] == ["by one", "by two", None]
    assert records[0]["fields"] == {"question_id": "q"}
    assert [finding.claim.record_id for finding in load(run).findings()] == ["q@one", "q@two", "alone"]


def test_unknown_fields_are_kept_whatever_their_type(tmp_path: Path) -> None:
    row: Row = {"record_id": "r", "claim_id": "c", "label": "REFUTED", "nested": {"a": [1]}}
    run = make(tmp_path, [row])
    assert lines(run / "records.jsonl")[0]["fields"] == {"nested": '{"a":[1]}'}
    run = make(tmp_path, [{**row, "nested": None}, {**row, "claim_id": "d", "nested": True}], name="late")
    assert lines(run / "records.jsonl")[0]["fields"] == {"nested": True}


def test_the_manifest_tells_what_the_run_was_made_from(tmp_path: Path) -> None:
    settings = MeasureSettings(resamples=100, by=("task",), seed=3)
    run = make(tmp_path, one(ROWS), settings=settings)
    manifest = load(run).manifest
    [source] = manifest.inputs
    content = (tmp_path / "run-0.jsonl").read_bytes()
    assert (source.name, source.sha256, source.records) == ("run-0.jsonl", hashlib.sha256(content).hexdigest(), 3)
    assert (manifest.seed, manifest.settings["by"], manifest.settings["resamples"]) == (3, ["task"], 100)
    assert [(judge.name, judge.spec) for judge in manifest.judges] == [("a", "recorded")]
    assert manifest.started <= manifest.finished


def test_the_report_is_there_and_shows_no_time(tmp_path: Path) -> None:
    run = make(tmp_path, one(ROWS))
    page = (run / "report.html").read_text(encoding="utf-8")
    manifest = load(run).manifest
    assert "She was born in" in page
    assert manifest.started not in page
    assert manifest.started[:10] not in page


@examples(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(verdict_rows(judges=2))
def test_two_runs_differ_in_nothing_but_the_times(tmp_path_factory: pytest.TempPathFactory, rows: list[Row]) -> None:
    tmp_path = tmp_path_factory.mktemp("twice")
    path = write_lines(tmp_path / "v.jsonl", [{"record_id": "sound"}, *rows])
    runs = [tmp_path / name for name in ("first", "second")]
    for run in runs:
        measure_to_folder([path], run, settings=QUICK)
    for file in runs[0].iterdir():
        first, second = (run.joinpath(file.name).read_bytes() for run in runs)
        if file.name == "manifest.json":
            times = {"started": "", "finished": ""}
            first, second = (json.dumps(json.loads(content) | times).encode() for content in (first, second))
        assert first == second, file.name


@examples(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(verdict_rows(judges=2, labels=("SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED")))
def test_the_verdicts_of_a_run_give_its_numbers_again(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row]
) -> None:
    tmp_path = tmp_path_factory.mktemp("again")
    rows = [{name: value for name, value in row.items() if name != "confidence"} for row in rows if "claim_id" in row]
    if not rows:
        return
    run = make(tmp_path, rows)
    again = hallumeter.measure(run / "verdicts.jsonl", settings=QUICK)
    assert again.metrics == load(run).summary.metrics


def test_the_standard_input_is_kept_for_the_second_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = "".join(json.dumps(row) + "\n" for row in one(ROWS)).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    measure_to_folder([Path("-")], tmp_path / "run", settings=QUICK)
    [source] = load(tmp_path / "run").manifest.inputs
    assert (source.name, source.sha256, source.records) == ("<stdin>", hashlib.sha256(content).hexdigest(), 3)
    assert len(list(load(tmp_path / "run").findings())) == 3


def test_a_run_that_fails_leaves_nothing_and_the_target_as_it_was(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "v.jsonl", ROWS)
    with pytest.raises(InputError, match="no such file"):
        measure_to_folder([path, tmp_path / "nothing.jsonl"], tmp_path / "run", settings=QUICK)
    assert [entry.name for entry in tmp_path.iterdir()] == ["v.jsonl"]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("kept", encoding="utf-8")
    with pytest.raises(InputError, match="exists already"):
        measure_to_folder([path], tmp_path / "run", settings=QUICK)
    assert [entry.name for entry in (tmp_path / "run").iterdir()] == ["mine"]
