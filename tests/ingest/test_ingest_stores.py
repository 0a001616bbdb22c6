"""Databases of DeepEval and MLflow, and files of Langfuse, Phoenix, lm-eval and EvalPlus become runs."""

from __future__ import annotations

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
