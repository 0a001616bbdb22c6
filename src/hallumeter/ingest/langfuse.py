"""Langfuse: traces with their scores, as its API and its exports give them (JSON or JSON lines)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hallumeter.formats.shapes import evidence_in
from hallumeter.records.response import Response

from .documents import Document
from .record import ForeignRecord, Reading, Score, ScoreKind, kind_of_score, unmeasured
from .values import (
    Exchange,
    fields_of,
    first_of,
    in_one_line,
    list_of,
    literal_of,
    mapping_of,
    mappings_of,
    number_of,
    text_of,
)

_SIGNS = {"projectId", "htmlPath", "sessionId", "userId", "bookmarked", "observations", "timestamp"}
_SHARE = ScoreKind("none", 0.0, 1.0)


def is_langfuse(document: Document) -> bool:
    """Whether a file holds traces with scores."""
    first = _traces(document)[:1]
    return bool(first) and {"id", "input", "output", "scores"} <= first[0].keys() and bool(_SIGNS & first[0].keys())


def read_langfuse(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
    """The traces with their scores; a trace that nobody scored has none, and a notice counts them."""
    bare = 0
    for trace in (trace for document in documents for trace in _traces(document)):
        record = _record(trace, reading)
        bare += not record.scores
        yield record
    if bare:
        reading.notice(f"{bare} trace{'s' * (bare > 1)} had no score")


def _traces(document: Document) -> list[Mapping[str, object]]:
    """A list of traces, or the ``data`` of a reply of the API."""
    return [row.values for row in document.rows] or mappings_of(mapping_of(document.value).get("data"))


def _record(trace: Mapping[str, object], reading: Reading) -> ForeignRecord:
    given = (_decoded(trace.get(name)) for name in ("input", "output", "metadata"))
    exchange = Exchange.of(*given, retrieved=list(_retrieved(trace)))
    plain = {name: trace.get(name) for name in ("name", "sessionId", "userId", "release", "version", "environment")}
    response = Response(
        record_id=text_of(trace.get("id")) or "trace",
        question=exchange.question,
        response=exchange.response,
        evidence=exchange.evidence,
        fields=fields_of(plain),
    )
    return ForeignRecord(response, scores=tuple(_scores(_decoded(trace.get("scores")), reading)))


def _retrieved(trace: Mapping[str, object]) -> Iterator[object]:
    """The outputs of its observations that are retrievers, where an export holds them whole."""
    for observation in mappings_of(trace.get("observations")):
        if text_of(observation.get("type")) == "RETRIEVER":
            found = _decoded(observation.get("output"))
            inner = evidence_in(found)
            yield from list_of(found if inner is None else inner)


def _decoded(value: object) -> object:
    return literal_of(value) if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"') else value


def _scores(given: object, reading: Reading) -> Iterator[Score]:
    """Scores as a list of objects, or by name with one value or several."""
    if isinstance(given, dict):
        rows = [{"name": name, "value": value} for name, values in given.items() for value in list_of(values)]
    else:
        rows = [dict(row) for row in mappings_of(given)]
    for row in rows:
        name = text_of(row.get("name")) or "score"
        metric = f"langfuse:{name}"
        is_boolean = row.get("dataType") == "BOOLEAN" or isinstance(row.get("value"), bool)
        reading.kinds[metric] = _SHARE if is_boolean else reading.kinds.get(metric, kind_of_score(name))
        value = number_of(row.get("value"))
        if value is None or row.get("dataType") == "CATEGORICAL":
            shown = in_one_line(first_of(row, "stringValue", "value"), 60)
            yield unmeasured(metric, "no_number", f"the score is {shown!r}, which is no number")
        else:
            yield Score(metric, value)
