"""MLflow: a scorer for `mlflow.genai.evaluate`, and a whole run with its intervals in an experiment."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from hallumeter.records.measurement import MetricSummary
from hallumeter.run.finished import Run, load
from hallumeter.run.run_folder import MANIFEST, REPORT, SUMMARY

from .checked_answer import UNSUPPORTED_RATE, CheckedAnswer, Checker, CheckerOptions, PartsReader, missing

try:
    import mlflow
    from mlflow.entities import AssessmentError, AssessmentSource, Feedback, SpanType, Trace
    from mlflow.genai.scorers import Scorer, scorer
except ImportError as error:
    raise missing("mlflow", "MLflow") from error

__all__ = ["log_run", "unsupported_claims"]

ROWS = "hallumeter/responses.json"
"""The table of responses among the artifacts of a run."""
LONGEST_VALUE = 500
"""Characters that MLflow keeps of a parameter or tag at least."""


def unsupported_claims(
    *,
    name: str = UNSUPPORTED_RATE,
    map: Mapping[str, str] | None = None,
    **options: Unpack[CheckerOptions],
) -> Scorer:
    """A scorer: the share of an answer's claims that the evidence does not support, 0 is best.

    Evidence is looked for in `outputs`, `inputs` and `expectations` under the usual names (``context``, ``documents``,
    ...), then in the retriever spans of the trace. What cannot be measured is a `Feedback` with an `error` and without
    a value; its code says which it is, such as ``NO_EVIDENCE`` or ``JUDGE_FAILED``.

    Args:
        name: Of the feedback.
        map: Where else something is, such as ``{"evidence": "inputs.docs[].body"}``.
        options: The judge and its settings, see `CheckerOptions`.
    """
    checker, reader = Checker(options), PartsReader(map)

    def scored(
        *, inputs: Any = None, outputs: Any = None, expectations: Any = None, trace: Trace | None = None
    ) -> Feedback:
        values = {"outputs": outputs, "inputs": inputs, "expectations": expectations, "trace": _retrieved(trace)}
        parts = reader.parts(values, answer="outputs", asked=("inputs", "expectations", "trace"))
        return _feedback(checker(parts), name=name)

    return scorer(scored, name=name, description="Share of claims that the evidence does not support; 0 is best.")


def _retrieved(trace: Trace | None) -> dict[str, object]:
    """What the retrievers of a trace found."""
    spans = [] if trace is None else trace.search_spans(span_type=SpanType.RETRIEVER)
    found = [span.outputs if isinstance(span.outputs, list) else [span.outputs] for span in spans if span.outputs]
    return {"evidence": [document for documents in found for document in documents]}


def _feedback(answer: CheckedAnswer, *, name: str) -> Feedback:
    problem = answer.problem
    # MLflow keeps texts alone.
    metadata = {key: value if isinstance(value, str) else json.dumps(value) for key, value in answer.metadata().items()}
    stated = {"error": AssessmentError(problem.upper(), answer.check.headline)} if problem else {}
    return Feedback(
        name=name,
        value=answer.unsupported_rate,
        rationale=answer.explanation,
        source=AssessmentSource(source_type="CODE", source_id=f"hallumeter/{answer.check.judge}"),
        metadata=metadata,
        **stated,
    )


def log_run(run: Run | str | Path, *, run_name: str | None = None) -> str:
    """Log a finished run to the active MLflow run, or to a new one, and return its id.

    Every metric of the whole run gets its value, the ends of its interval, and its counts (``mihr``, ``mihr.low``,
    ``mihr.high``, ``mihr.count``, ``mihr.total``). A metric without a value is not logged; a tag says why. The report,
    summary and manifest are artifacts, and so is a table with a row for each response.
    """
    opened = run if isinstance(run, Run) else load(run)
    if mlflow.active_run() is None:
        with mlflow.start_run(run_name=run_name or opened.path.name):
            return _logged(opened)
    return _logged(opened)


def _logged(run: Run) -> str:
    summary, manifest = run.summary, run.manifest
    rows = [row for name in summary if (row := summary.get(name)) is not None]
    mlflow.log_metrics({name: value for row in rows for name, value in _numbers(row).items()})
    mlflow.log_metrics({f"counts.{name}": getattr(summary.counts, name) for name in summary.counts.__struct_fields__})
    mlflow.log_params({"instrument": manifest.instrument, "seed": manifest.seed, "hallumeter": manifest.hallumeter})
    undefined = {f"undefined.{row.metric}": row.undefined[:LONGEST_VALUE] for row in rows if row.undefined is not None}
    judges = ", ".join(judge.name for judge in manifest.judges)
    mlflow.set_tags({**undefined, **({"judges": judges[:LONGEST_VALUE]} if judges else {})})
    _log_files(run)
    scores = run.scores()
    if len(scores):
        mlflow.log_table({name: scores[name] for name in scores.columns}, artifact_file=ROWS)
    active = mlflow.active_run()
    assert active is not None
    return str(active.info.run_id)


def _numbers(row: MetricSummary) -> dict[str, float]:
    if row.value is None:
        return {}
    low, high = row.interval or (None, None)
    found = {"": row.value, ".low": low, ".high": high, ".count": row.count, ".total": row.total}
    missed = {".undecided": row.undecided, ".failed": row.failed}
    return {f"{row.metric}{end}": float(value) for end, value in (found | missed).items() if value is not None}


def _log_files(run: Run) -> None:
    for name in (MANIFEST, SUMMARY):
        mlflow.log_artifact(str(run.path / name), "hallumeter")
    report = run.path / REPORT
    if report.exists():
        mlflow.log_artifact(str(report), "hallumeter")
        return
    with tempfile.TemporaryDirectory() as folder:
        run.to_html(Path(folder) / REPORT)
        mlflow.log_artifact(str(Path(folder) / REPORT), "hallumeter")
