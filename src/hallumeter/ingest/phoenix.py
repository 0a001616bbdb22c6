"""Phoenix: the runs of an experiment with their annotations, as ``GET /v1/experiments/ID/json`` gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hallumeter.records.claim import Failure
from hallumeter.records.response import Response

from .documents import Document, Row
from .record import ForeignRecord, Reading, Score, kind_of_score, unmeasured
from .values import (
    Exchange,
    fields_of,
    in_one_line,
    mappings_of,
    number_of,
    text_of,
    text_within,
)


def is_phoenix(document: Document) -> bool:
    """Whether a file holds runs of an experiment."""
    return {"example_id", "annotations"} <= document.first.keys()


def read_phoenix(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
    """The runs with their scores."""
    rows = [row for document in documents for row in document.rows]
    repeated = any((number_of(row.values.get("repetition_number")) or 1) > 1 for row in rows)
    for row in rows:
        if "example_id" not in row.values:
            reading.fault(row.place, "not_phoenix", "expected a run with its example_id")
            continue
        record = _record(row, has_repetitions=repeated)
        for score in record.scores:
            reading.kinds.setdefault(score.metric, kind_of_score(score.metric.removeprefix("phoenix:")))
        yield record


def _record(row: Row, *, has_repetitions: bool) -> ForeignRecord:
    values = row.values
    name = text_of(values["example_id"]) or "example"
    exchange = Exchange.of(values.get("input"), values.get("output"))
    response = Response(
        record_id=f"{name} / {text_of(values.get('repetition_number'))}" if has_repetitions else name,
        question=exchange.question,
        response=exchange.response,
        evidence=exchange.evidence,
        reference=text_within("response", values.get("reference_output")),
        fields=fields_of({"trace_id": values.get("trace_id")}),
    )
    if values.get("error"):
        message = f"the task failed: {in_one_line(values['error'])}"
        return ForeignRecord(response, error=Failure(response.record_id, None, "measure", None, "task_error", message))
    return ForeignRecord(response, scores=tuple(_score(item) for item in mappings_of(values.get("annotations"))))


def _score(item: Mapping[str, object]) -> Score:
    metric = f"phoenix:{text_of(item.get('name')) or 'annotation'}"
    if item.get("error"):
        return unmeasured(metric, "tool_error", f"the evaluator failed: {in_one_line(item['error'])}")
    value = number_of(item.get("score"))
    if value is None:
        label = in_one_line(item.get("label"), 60)
        return unmeasured(metric, "no_score", f"the evaluator gave the label {label!r} and no score")
    return Score(metric, value)
