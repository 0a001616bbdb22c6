"""Which rows count, how often, and under which name: in the summary and in the run folder alike."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import hallumeter
from hallumeter import MeasureSettings, MetricSummary, Summary
from hallumeter.claims.measure.commands import MeasuredRun, measure_files, measure_to_folder
from hallumeter.run.finished import load

Row = dict[str, Any]
VERDICT: Row = {"record_id": "r1", "claim_id": "c1", "label": "REFUTED"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, *rows: Row) -> Path:
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return Path(name)


def run_of(*rows: Row) -> MeasuredRun:
    return measure_to_folder([write("v.jsonl", *rows)], Path("run"), settings=MeasureSettings())


def lines(name: str) -> list[Row]:
    return [json.loads(line) for line in Path("run", name).read_text(encoding="utf-8").splitlines()]


def row_of(summary: Summary, metric: str, **by: str) -> MetricSummary:
    return next(row for row in summary.metrics if row.metric == metric and row.by == by)


def test_a_refused_row_counts_nowhere_wherever_it_stands() -> None:
    refused: Row = {"record_id": "r9", "label": "REFUTED"}  # no claim_id
    assert hallumeter.measure([refused, VERDICT]).counts == hallumeter.measure([VERDICT, refused]).counts
    rows = [{**VERDICT, "kind": "a"}, {**VERDICT, "claim_id": "c2", "label": "SUPPORTED", "kind": "b"}]
    assert row_of(hallumeter.measure([refused, *rows], by=["kind"]), "mahr").total == 1


def test_a_refused_row_makes_no_record_and_no_measurement() -> None:
    run_of({"record_id": "r9", "label": "REFUTED"}, VERDICT)
    assert [line["record_id"] for line in lines("records.jsonl")] == ["r1"]
    metrics = [(line["record_id"], line["metric"]) for line in lines("measurements.jsonl")]
    assert len(metrics) == len(set(metrics))


def test_an_answer_is_counted_once_however_its_claims_are_grouped() -> None:
    rows = [{**VERDICT, "claim_id": k, "kind": k, "response": "It is so.", "answerable": False} for k in "ab"]
    assert row_of(hallumeter.measure(rows, by=["kind"]), "far").total == 1
    assert row_of(hallumeter.measure(rows), "far").total == 1


def test_an_answer_is_counted_once_when_documents_are_resampled() -> None:
    rows = [
        {"record_id": f"r{i}", "response": "It is so.", "answerable": False, "document": f"d{i // 2}"} for i in range(4)
    ]
    summary = hallumeter.measure(rows, settings=MeasureSettings(cluster="document"))
    assert (row_of(summary, "far").count, row_of(summary, "far").total) == (4, 4)


def test_a_group_that_holds_only_answers_is_measured() -> None:
    rows: list[Row] = [{**VERDICT, "claim_id": k, "kind": k} for k in "ab"]
    rows.append({"record_id": "r2", "response": "It is so.", "answerable": False, "kind": "c"})
    assert row_of(hallumeter.measure(rows, by=["kind"]), "far", kind="c").value == 1


def test_grouping_does_not_narrow_the_interval_of_the_whole() -> None:
    rows = [
        {**VERDICT, "record_id": f"r{i // 4}", "claim_id": i, "kind": "xyz"[i % 3], "probabilities": [p, 1 - p]}
        for i, p in enumerate(0.5 + step / 99 for step in range(24))
    ]
    alone, grouped = hallumeter.measure(rows), hallumeter.measure(rows, by=["kind"])
    # The draws follow what was counted, which is kept by group: the same interval, up to the draw.
    expected = pytest.approx(row_of(alone, "shannon_entropy").interval, abs=0.005)
    assert row_of(grouped, "shannon_entropy").interval == expected


def test_a_model_on_the_first_row_of_a_response_holds_for_all_its_rows() -> None:
    rows = [{**VERDICT, "model": "m1"}, {**VERDICT, "claim_id": "c2"}, {**VERDICT, "record_id": "r2", "model": "m2"}]
    summary = hallumeter.measure(rows, by="model")
    assert summary.counts.records == 2
    assert row_of(summary, "mihr", model="m1").total == 2
    run_of(*rows[:2])
    assert [line["record_id"] for line in lines("records.jsonl")] == ["r1"]


def test_a_row_without_a_model_stays_apart_where_several_models_share_the_record() -> None:
    rows = [{**VERDICT, "model": "a"}, {**VERDICT, "model": "b"}, {**VERDICT, "claim_id": "c2"}]
    assert hallumeter.measure(rows).counts.records == 3


def test_two_processes_write_the_same_bytes() -> None:
    write("v.jsonl", {**VERDICT, **dict.fromkeys("zyxwv", 1)})
    for seed in "12":
        command = [sys.executable, "-m", "hallumeter", "measure", "v.jsonl", "--out", seed, "--quiet"]
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True)
    for name in ("records.jsonl", "verdicts.jsonl", "summary.json", "report.html"):
        assert Path("1", name).read_bytes() == Path("2", name).read_bytes()


@pytest.mark.parametrize(
    "change",
    [{"start": 5, "end": 3}, {"start": 5}, {"start": -1, "end": 2}, {"weight": -1}, {"cost_usd": -1}],
    ids=str,
)
def test_an_impossible_span_weight_or_cost_is_a_failure_in_the_summary_and_in_the_folder(change: Row) -> None:
    run = run_of({**VERDICT, **change}, {**VERDICT, "record_id": "r2"})
    assert row_of(run.summary, "mihr").total == 1
    assert [line["record_id"] for line in lines("verdicts.jsonl")] == ["r2"]
    assert [failure.record_id for failure in run.failures] == ["r1"]
    assert run.failures[0].message.startswith("v.jsonl:1: ")


def test_a_verdict_that_failed_is_not_among_the_verdicts() -> None:
    run_of({**VERDICT, "inference_samples": [[0.5, 0.5], [1.0]]}, {**VERDICT, "record_id": "r2"})
    assert [line["record_id"] for line in lines("verdicts.jsonl")] == ["r2"]


def test_a_second_verdict_does_not_replace_a_failed_first_one() -> None:
    run_of({**VERDICT, "label": "?"}, VERDICT)
    assert lines("verdicts.jsonl") == []


def test_measurements_name_the_records_of_the_run() -> None:
    run_of({**VERDICT, "model": "a"}, {**VERDICT, "model": "b"})
    assert {line["record_id"] for line in lines("measurements.jsonl")} == {"r1@a", "r1@b"}
    assert {line["record_id"] for line in lines("records.jsonl")} == {"r1@a", "r1@b"}


@pytest.mark.parametrize("extra", [{}, {"claim_id": "c2", "label": "?"}], ids=["duplicate", "failed"])
def test_a_duplicate_or_failed_verdict_adds_no_uncertainty(extra: Row) -> None:
    rows = [{**VERDICT, "probabilities": [1.0, 0.0]}, {**VERDICT, "probabilities": [0.5, 0.5], **extra}]
    assert row_of(hallumeter.measure(rows), "shannon_entropy").total == 1


def test_a_judge_called_consensus_does_not_replace_the_consensus() -> None:
    rows = [{**VERDICT, "judge": judge} for judge in ("consensus", "a", "b")]
    rows[1]["label"] = rows[2]["label"] = "SUPPORTED"
    summary = hallumeter.measure(rows)
    assert summary.metrics[0].judge == "consensus of all judges"
    assert summary.metrics[0].count == 0  # two of three say SUPPORTED


def test_the_signature_says_how_judges_were_joined() -> None:
    rows = [{**VERDICT, "judge": judge} for judge in "abc"]
    joined = {
        method: hallumeter.measure(rows, settings=MeasureSettings(consensus=method)).metrics[0].signature
        for method in ("majority", "dawid-skene")
    }
    assert "|joined:majority|" in joined["majority"]
    assert "|joined:dawid-skene|" in joined["dawid-skene"]


def test_rows_without_the_field_are_the_group_of_none_beside_lists_as_well() -> None:
    rows = [{**VERDICT, "tag": [1]}, {**VERDICT, "record_id": "r2"}]
    assert {row.by["tag"] for row in hallumeter.measure(rows, by=["tag"]).metrics if row.by} == {"[1]", "(none)"}


def test_true_and_one_are_two_groups_in_every_order() -> None:
    rows = [{**VERDICT, "record_id": str(i), "tag": tag} for i, tag in enumerate([1, True])]
    for some in (rows, rows[::-1]):
        groups = {row.by["tag"] for row in hallumeter.measure(some, by=["tag"]).metrics if row.by}
        assert groups == {"1", "true"}


def test_two_fields_of_many_values_need_no_table_of_all_pairs() -> None:
    rows = [{"record_id": f"r{i}", "claim_id": f"c{i}", "label": "REFUTED"} for i in range(300)]
    tracemalloc.start()
    hallumeter.measure(rows, by=["record_id", "claim_id"], settings=MeasureSettings(resamples=100))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6  # a table of all pairs needs more than that


def test_two_files_of_one_name_are_counted_apart() -> None:
    for folder, rows in {"a": [VERDICT], "b": [{**VERDICT, "record_id": name} for name in "xy"]}.items():
        Path(folder).mkdir()
        write(f"{folder}/v.jsonl", *rows)
    measure_to_folder([Path("a/v.jsonl"), Path("b/v.jsonl")], Path("run"), settings=MeasureSettings())
    assert [source.records for source in load("run").manifest.inputs] == [1, 2]


def test_one_row_is_a_list_of_one() -> None:
    assert hallumeter.measure(VERDICT) == hallumeter.measure([VERDICT])


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(hallumeter.InputError, match="rows:1: a text holds half of a character"):
        hallumeter.measure([{**VERDICT, "judge": "\ud800"}])


def test_a_row_of_the_wrong_type_is_named_by_its_number() -> None:
    strict = MeasureSettings(is_strict=True)
    with pytest.raises(hallumeter.RecordError, match="rows:3: label"):
        hallumeter.measure([VERDICT, {**VERDICT, "claim_id": "c2"}, {**VERDICT, "label": 5}], settings=strict)


def test_no_consensus_of_no_judges_is_claimed() -> None:
    summary = hallumeter.measure([{"record_id": 1, "response": "x", "answerable": True}])
    assert not any("consensus" in notice for notice in summary.notices)


def test_answers_alone_leave_the_bounds_of_claims_as_they_are() -> None:
    answer: Row = {"record_id": "r2", "response": "It is so.", "answerable": True}
    summary = measure_files([write("v.jsonl", VERDICT, answer)], settings=MeasureSettings()).summary
    assert row_of(summary, "mahr").bounds == (1, 1)
    assert summary.counts.records_without_claims == 0
