"""Databases of DeepEval and MLflow, and files of Langfuse, Phoenix, lm-eval and EvalPlus become runs."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from hallumeter import Run
from hallumeter.errors import InputError
from hallumeter.ingest.pipeline import ingest
from hallumeter.records.measurement import MetricSummary
from hallumeter.run.run_folder import RunFolder

RESULTS = Path(__file__).parent / "results"


def database(folder: Path, name: str) -> Path:
    """A database with the tables that were kept as text."""
    path = folder / f"{name}.db"
    connection = sqlite3.connect(path)
    connection.executescript((RESULTS / f"{name}.sql").read_text(encoding="utf-8"))
    connection.close()
    return path


def row(run: Run, metric: str) -> MetricSummary:
    [found] = [row for row in run.summary.metrics if row.metric == metric and not row.by]
    return found


def codes(run: Run) -> Counter[str]:
    return Counter(failure.code for failure in run.failures)


def test_the_runs_of_a_deepeval_database_say_what_its_json_says(tmp_path: Path) -> None:
    run = ingest(database(tmp_path, "deepeval"))
    found = row(run, "deepeval:faithfulness")
    assert (found.count, found.total, found.failed) == (1.5, 2, 1)
    assert row(run, "mihr").count == 1
    assert [record.record_id for record in RunFolder(run.path).records()] == ["supported", "refuted", "greeting"]


def test_feedback_of_a_local_mlflow_store_is_measured_and_a_failed_scorer_is_not(tmp_path: Path) -> None:
    run = ingest(database(tmp_path, "mlflow"))
    found = row(run, "mlflow:unsupported")
    assert (found.count, found.total, found.failed) == (0.5, 3, 3)
    assert (row(run, "mlflow:is_polite").count, row(run, "mlflow:is_polite").total) == (5, 6)
    assert codes(run) == {"tool_error": 3, "no_number": 6}
    messages = " ".join(failure.message for failure in run.failures)
    assert "the judge's reply was no JSON" in messages
    first = next(RunFolder(run.path).records())
    assert first.response == "The Seine is 777 km long. It flows through Paris."
    assert first.question == "How long is the Seine, and through which city does it flow?"
    assert first.evidence[0].text.startswith("The Seine is 777 km long.")
    assert first.reference == "777 km; Paris"


def test_runs_of_an_mlflow_store_are_told_apart(tmp_path: Path) -> None:
    path = database(tmp_path, "mlflow")
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE trace_request_metadata (key, value, request_id)")
    connection.execute(
        "INSERT INTO trace_request_metadata"
        " SELECT 'mlflow.sourceRun', CASE timestamp_ms % 2 WHEN 1 THEN 'odd' ELSE 'even' END, request_id"
        " FROM trace_info"
    )
    connection.commit()
    connection.close()
    run = ingest(path, by=("mlflow_run",))
    assert {entry.by["mlflow_run"] for entry in run.summary.metrics if entry.by} == {"odd", "even"}
    assert "traces of 2 MLflow runs are taken together; --by mlflow_run tells them apart" in run.summary.notices
    assert next(RunFolder(run.path).records()).fields["experiment_id"] == 1


def test_what_a_running_program_wrote_last_is_read_too(tmp_path: Path) -> None:
    path = database(tmp_path, "mlflow")
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("UPDATE assessments SET value = '1.0' WHERE value = '0.5'")
    writer.commit()
    found = row(ingest(path), "mlflow:unsupported")
    writer.close()
    assert (found.count, found.total) == (1.0, 3)


def test_a_damaged_or_unknown_database_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\0" + b"x" * 100)
    with pytest.raises(InputError, match="cannot be read"):
        ingest(tmp_path / "broken.db")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE t (a)")
    other.commit()
    other.close()
    with pytest.raises(InputError, match="not known as a result"):
        ingest(tmp_path / "other.db")
    older = sqlite3.connect(tmp_path / "older.db")
    for table in ("test_runs", "test_cases", "metric_data"):
        older.execute(f"CREATE TABLE {table} (a)")
    older.commit()
    older.close()
    with pytest.raises(InputError, match="of a version we know"):
        ingest(tmp_path / "older.db")


SCORES = [
    ("langfuse.json", "langfuse:faithfulness", 1, 2, 0),
    ("langfuse.json", "langfuse:polite", 1, 1, 0),
    ("langfuse.json", "langfuse:verdict", 0, 0, 1),
    ("phoenix.json", "phoenix:faithful", 1, 1, 2),
    ("lm_eval.jsonl", "lm_eval:exact_match", 1, 2, 1),
    ("lm_eval_run.jsonl", "lm_eval:exact_match", 0, 2, 0),
    ("lm_eval_run.jsonl", "lm_eval:bleu", 0, 0, 2),
    ("evalplus.json", "evalplus:base", 2, 3, 0),
    ("evalplus.json", "evalplus:plus", 1, 2, 1),
    ("humaneval_results.jsonl", "humaneval:passed", 1, 2, 0),
]


@pytest.mark.parametrize(("name", "metric", "count", "total", "failed"), SCORES)
def test_scores_are_pooled_where_they_were_measured(
    name: str, metric: str, count: float, total: float, failed: int
) -> None:
    found = row(ingest(RESULTS / name), metric)
    assert (found.count, found.total, found.failed) == (count, total, failed)
    assert found.value == (count / total if total else None)


def test_why_something_was_not_measured_is_kept() -> None:
    assert codes(ingest(RESULTS / "phoenix.json")) == {"tool_error": 1, "task_error": 1}
    assert codes(ingest(RESULTS / "lm_eval.jsonl")) == {"nan": 1, "no_number": 1}
    assert codes(ingest(RESULTS / "lm_eval_run.jsonl")) == {"no_number": 2}
    assert codes(ingest(RESULTS / "evalplus.json")) == {"no_status": 1}
    traces = ingest(RESULTS / "langfuse.json")
    assert codes(traces) == {"no_number": 1}
    assert "1 trace had no score" in traces.summary.notices


def test_questions_and_evidence_come_along() -> None:
    for name in ("langfuse.json", "phoenix.json", "lm_eval.jsonl"):
        run = ingest(RESULTS / name)
        first = next(RunFolder(run.path).records())
        assert first.question == "How long is the Seine, and through which city does it flow?", name
        assert first.evidence[0].text == "The Seine is 777 km long. It flows through Paris.", name
        assert first.response in ("It is 777 km long.", "777 km"), name


TRACE = {"id": "t", "projectId": "p", "timestamp": "2026-11-01T00:00:00Z", "scores": [{"name": "s", "value": 1}]}
CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How long is it?"}]
COMPLETION = {"choices": [{"message": {"role": "assistant", "content": "It is 777 km long."}}]}
DOCUMENT = {"pageContent": "ignored", "page_content": "It is 777 km long.", "metadata": {}}
SHAPES = {
    "chat and completion": ({"messages": CHAT}, COMPLETION | {"contexts": ["It is 777 km long."]}, []),
    "as a chain has it": ({"input": "How long is it?", "context": [DOCUMENT]}, {"answer": "It is 777 km long."}, []),
    "JSON in text": ('{"query": "How long is it?", "source": "It is 777 km long."}', '"It is 777 km long."', []),
    "a retriever": ("How long is it?", "It is 777 km long.", [{"type": "RETRIEVER", "output": [DOCUMENT]}]),
    "a retriever of a chain": (
        {"question": "How long is it?", "context": "not this"},
        {"output": "It is 777 km long."},
        [{"type": "SPAN", "output": "nor this"}, {"type": "RETRIEVER", "output": {"documents": [DOCUMENT]}}],
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_traces_are_read_in_the_shapes_that_an_audit_reads(shape: str, tmp_path: Path) -> None:
    asked, said, observations = SHAPES[shape]
    path = tmp_path / "traces.json"
    path.write_text(json.dumps([{**TRACE, "input": asked, "output": said, "observations": observations}]))
    [record] = RunFolder(ingest(path, out=tmp_path / "run").path).records()
    found = (record.question, record.response, [passage.text for passage in record.evidence])
    assert found == ("How long is it?", "It is 777 km long.", ["It is 777 km long."])


def test_scores_of_our_own_adapters_keep_their_direction_and_bounds(tmp_path: Path) -> None:
    scores = [{"name": "unsupported_rate", "value": 0.25}, {"name": "supported_rate", "value": 0.75}]
    path = tmp_path / "traces.json"
    path.write_text(json.dumps([{**TRACE, "input": "q", "output": "a", "scores": scores}]))
    run = ingest(path, out=tmp_path / "run")
    directions = {
        found.metric: found.direction for found in run.summary.metrics if found.metric.startswith("langfuse:")
    }
    assert directions == {"langfuse:unsupported_rate": "lower", "langfuse:supported_rate": "higher"}


def test_evalplus_counts_as_evalplus_does(tmp_path: Path) -> None:
    def results(*statuses: tuple[str, str | None]) -> Path:
        runs = [
            {"task_id": "T/0", "solution": "x", "base_status": base, "plus_status": plus} for base, plus in statuses
        ]
        path = tmp_path / f"{len(statuses)}_eval_results.json"
        path.write_text(json.dumps({"date": "2026-11-01", "hash": "h", "eval": {"T/0": runs}}))
        return path

    both = ingest(results(("pass", "pass"), ("fail", "pass"), ("pass", "fail")), out=tmp_path / "both")
    assert (row(both, "evalplus:plus").count, row(both, "evalplus:plus").total) == (1, 3)
    base_only = ingest(results(("pass", None), ("fail", None)), out=tmp_path / "base")
    assert (row(base_only, "evalplus:base").count, codes(base_only)) == (1, Counter())
    assert not [found for found in base_only.summary.metrics if found.metric == "evalplus:plus"]
