"""RAGTruth: answers with the spans that annotators marked, and the sources they were written from.

``response.jsonl`` holds the answers; ``source_info.jsonl``, given too or lying beside it, the evidence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from hallumeter.records.claim import Label
from hallumeter.records.response import Passage, Response

from .documents import Document, read_document
from .record import ForeignRecord, Reading, Span, Spans
from .values import evidence_of, fields_of, mapping_of, mappings_of, number_of, text_of

Source = Mapping[str, object]


SOURCES = "source_info.jsonl"
ANNOTATORS = "ragtruth:annotators"


def is_ragtruth(document: Document) -> bool:
    """Whether a file holds the answers, or the sources."""
    return _is_answer(document.first) or _is_source(document.first)


def _is_answer(row: Mapping[str, object]) -> bool:
    return {"source_id", "labels", "response"} <= row.keys()


def _is_source(row: Mapping[str, object]) -> bool:
    return {"source_id", "source_info"} <= row.keys()


def read_ragtruth(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
    """The answers with their marks."""
    rows = [row for document in documents for row in document.rows]
    sources = {text_of(row.values["source_id"]): row.values for row in rows if _is_source(row.values)}
    sources = sources or _beside(documents, reading)
    reading.judges[ANNOTATORS] = "people; conflicts are REFUTED, baseless information is NOT_ENOUGH_INFO"
    missing = 0
    for row in rows:
        if _is_source(row.values):
            continue
        if not _is_answer(row.values):
            reading.fault(row.place, "not_ragtruth", "expected an answer with source_id, response and labels")
            continue
        source = sources.get(text_of(row.values["source_id"]), {})
        missing += not source
        yield _record(row.values, source)
    if missing:
        reading.notice(f"{missing} answers have no source: give {SOURCES} as well, or lay it beside the file")


def _beside(documents: Sequence[Document], reading: Reading) -> dict[str | None, Source]:
    found = documents[0].path.with_name(SOURCES)
    if not found.is_file():
        return {}
    reading.notice(f"{SOURCES}, which lies beside the file, was read for the evidence")
    rows = [row.values for row in read_document(found).rows]
    return {text_of(row["source_id"]): row for row in rows if _is_source(row)}


def _record(row: Mapping[str, object], source: Source) -> ForeignRecord:
    info = source.get("source_info")
    record_id = text_of(row.get("id")) or f"{text_of(row['source_id'])} / {text_of(row.get('model')) or 'model'}"
    kept = {name: row.get(name) for name in ("split", "quality", "temperature")}
    response = Response(
        record_id=record_id,
        question=text_of(mapping_of(info).get("question") or source.get("prompt")),
        response=text_of(row.get("response")) or "",
        evidence=_evidence(info),
        model=text_of(row.get("model")),
        fields=fields_of({"task": source.get("task_type") or row.get("task_type"), **kept}),
    )
    length = len(response.response or "")
    labels = mappings_of(row.get("labels"))
    marked = [span for label in labels if (span := _span(label)) is not None and span.end <= length]
    return ForeignRecord(response, spans=Spans(ANNOTATORS, tuple(marked), unplaced=len(labels) - len(marked)))


def _evidence(info: object) -> tuple[Passage, ...]:
    if isinstance(info, dict):
        passages = info.get("passages")
        return evidence_of(passages) if passages is not None else evidence_of(json.dumps(info, ensure_ascii=False))
    return evidence_of(info)


def _span(label: Mapping[str, object]) -> Span | None:
    start, end = number_of(label.get("start")), number_of(label.get("end"))
    if start is None or end is None or not 0 <= start < end < float("inf"):
        return None
    kind = text_of(label.get("label_type")) or ""
    is_conflict = "conflict" in kind.lower()
    return Span(
        int(start),
        int(end),
        Label.REFUTED if is_conflict else Label.NOT_ENOUGH_INFO,
        reason="_".join(kind.lower().split()) or None,
        note=text_of(label.get("meta")) or None,
    )
