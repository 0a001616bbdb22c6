"""MLflow: traces with their assessments, in the database of a local store (``mlflow.db``).

Feedback becomes scores, expectations the reference. A feedback whose scorer failed has an error there and no value.
A store keeps all that was ever logged, so that a record says of which experiment and MLflow run it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hallumeter.records.response import Response
from hallumeter.report.wording import plural

from .documents import Document
from .record import ForeignRecord, Reading, Score, ScoreKind, kind_of_score, unmeasured
from .values import (
    Exchange,
    fields_of,
    in_one_line,
    literal_of,
    mapping_of,
    number_of,
    text_of,
    text_within,
)

_TRACES = "SELECT * FROM trace_info ORDER BY timestamp_ms, request_id"
_ASSESSMENTS = "SELECT * FROM assessments WHERE valid ORDER BY created_timestamp, assessment_id"
_SPANS = "SELECT trace_id, type, parent_span_id, content FROM spans ORDER BY start_time_unix_nano"
_RUNS = "SELECT request_id, value FROM trace_request_metadata WHERE key = 'mlflow.sourceRun'"
_SIDES = (("Inputs", "request_preview"), ("Outputs", "response_preview"))
_SHARE = ScoreKind("none", 0.0, 1.0)
"""Of a feedback that is true or false: which is better, only its author knows."""


def is_mlflow(document: Document) -> bool:
    """Whether a file is the database of a tracking store with traces."""
    return {"trace_info", "assessments", "spans"} <= document.tables


def read_mlflow(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
    """The traces with their feedback."""
    seen: set[str | None] = set()
    for document in documents:
        runs = document.query(_RUNS) if "trace_request_metadata" in document.tables else []
        run_of = {str(row["request_id"]): str(row["value"]) for row in runs}
        assessments, spans = _by_trace(document.query(_ASSESSMENTS)), _by_trace(document.query(_SPANS))
        for trace in document.query(_TRACES):
            trace_id = str(trace["request_id"])
            given = assessments.get(trace_id, [])
            scores = tuple(_scores(given, reading))
            run = run_of.get(trace_id)
            seen.add(run)
            yield ForeignRecord(_response({**trace, "run": run}, spans.get(trace_id, []), given), scores=scores)
    if len(seen) > 1:
        runs_seen = plural(len(seen - {None}), "MLflow run") + (" and of none" if None in seen else "")
        reading.notice(f"traces of {runs_seen} are taken together; --by mlflow_run tells them apart")


def _by_trace(rows: Sequence[Mapping[str, object]]) -> dict[str, list[Mapping[str, object]]]:
    found: dict[str, list[Mapping[str, object]]] = {}
    for row in rows:
        found.setdefault(str(row["trace_id"]), []).append(row)
    return found


def _response(
    trace: Mapping[str, object], spans: Sequence[Mapping[str, object]], given: Sequence[Mapping[str, object]]
) -> Response:
    contents = [(row, _attributes(row)) for row in spans]
    root = next((attributes for row, attributes in contents if row["parent_span_id"] is None), {})
    documents = [
        item for row, attributes in contents if row["type"] == "RETRIEVER" for item in _listed(attributes, "Outputs")
    ]
    asked, said = (_value(root, side, trace.get(preview)) for side, preview in _SIDES)
    exchange = Exchange.of(asked, said, retrieved=documents)
    expected = next((row for row in given if _is_expectation(row)), None)
    return Response(
        record_id=str(trace["request_id"]),
        question=exchange.question,
        response=exchange.response,
        evidence=exchange.evidence,
        reference=None if expected is None else text_within("reference", _decoded(expected["value"])),
        fields=fields_of(
            {
                **{name: trace.get(name) for name in ("trace_name", "session_id", "experiment_id")},
                "mlflow_run": trace["run"],
            }
        ),
    )


def _attributes(row: Mapping[str, object]) -> Mapping[str, object]:
    return mapping_of(mapping_of(literal_of(text_of(row["content"]) or "")).get("attributes"))


def _value(attributes: Mapping[str, object], side: str, preview: object) -> object:
    """What went into, or came out of, a span; the preview of the trace where the span does not say."""
    return _decoded(attributes.get(f"mlflow.span{side}", preview))


def _listed(attributes: Mapping[str, object], side: str) -> list[object]:
    found = _value(attributes, side, None)
    return found if isinstance(found, list) else []


def _decoded(value: object) -> object:
    return literal_of(value) if isinstance(value, str) else value


def _is_expectation(row: Mapping[str, object]) -> bool:
    return row["assessment_type"] == "expectation"


def _scores(given: Sequence[Mapping[str, object]], reading: Reading) -> Iterator[Score]:
    for row in given:
        if _is_expectation(row):
            continue
        metric, value = f"mlflow:{row['name']}", _decoded(row["value"])
        known = reading.kinds.get(metric, kind_of_score(str(row["name"])))
        reading.kinds[metric] = _SHARE if isinstance(value, bool) else known
        yield _score(metric, row, value)


def _score(metric: str, row: Mapping[str, object], value: object) -> Score:
    if row.get("error"):
        error = mapping_of(_decoded(row["error"]))
        cause = in_one_line(error.get("error_message") or error.get("error_code") or row["error"])
        return unmeasured(metric, "tool_error", f"the scorer failed: {cause}")
    number = number_of(value)
    if number is None:
        return unmeasured(metric, "no_number", f"the feedback is {in_one_line(value, 60)!r}, which is no number")
    return Score(metric, number)
