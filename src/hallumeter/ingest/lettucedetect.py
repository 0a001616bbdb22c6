"""LettuceDetect: answers with spans, as its datasets hold them and as its detectors predict them.

A sample has ``answer``, ``prompt`` or ``context``, and ``labels``; a prediction, kept beside its answer by whoever
ran the detector, has ``predictions`` (or ``spans``) with start, end and confidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hallumeter.errors import InputError
from hallumeter.records.claim import Label
from hallumeter.records.response import Response

from .documents import Document, Row
from .record import ForeignRecord, Reading, Span, Spans
from .values import evidence_of, fields_of, first_of, mappings_of, number_of, text_of

LABELS, DETECTOR = "lettucedetect:labels", "lettucedetect"
_SPANS = ("predictions", "spans", "labels")
_CONTEXTS = ("context", "contexts", "prompt")


def is_lettucedetect(document: Document) -> bool:
    """Whether a file holds answers with spans, or a bare list of spans."""
    row = document.first
    is_answer = "answer" in row and any(isinstance(row.get(name), list) for name in _SPANS)
    return (is_answer and bool(row.keys() & set(_CONTEXTS))) or _is_bare(row)


def _is_bare(row: Mapping[str, object]) -> bool:
    return {"start", "end", "confidence"} <= row.keys()


def read_lettucedetect(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
    """The answers with their marks."""
    for document in documents:
        if _is_bare(document.first):
            raise InputError(
                f"{document.name}: spans without their answer; keep them as lines of"
                ' {"context": [...], "answer": "...", "predictions": [...]}'
            )
        for number, row in enumerate(document.rows, 1):
            name = next((name for name in _SPANS if isinstance(row.values.get(name), list)), None)
            if name is None or not isinstance(row.values.get("answer"), str):
                reading.fault(row.place, "not_lettucedetect", "expected an answer with labels, spans or predictions")
            else:
                yield _record(row, name, number, reading=reading)


def _record(row: Row, name: str, number: int, *, reading: Reading) -> ForeignRecord:
    values = row.values
    judge = LABELS if name == "labels" else DETECTOR
    reading.judges[judge] = "labels of a dataset" if name == "labels" else "spans of a detector"
    kept = {key: values.get(key) for key in ("split", "task_type", "dataset", "language", "category")}
    response = Response(
        record_id=text_of(first_of(values, "id", "record_id")) or str(number),
        question=text_of(values.get("question")),
        response=text_of(values.get("answer")) or "",
        evidence=evidence_of(first_of(values, *_CONTEXTS)),
        model=text_of(values.get("model")),
        fields=fields_of(kept),
    )
    labels = mappings_of(values.get(name))
    marked = [span for label in labels if (span := _span(label, response.response or "")) is not None]
    return ForeignRecord(response, spans=Spans(judge, tuple(marked), unplaced=len(labels) - len(marked)))


def _place(label: Mapping[str, object], answer: str) -> tuple[int, int] | None:
    """Where a span stands; one that misses its own text is put where that text is, if it is there once."""
    start, end = number_of(label.get("start")), number_of(label.get("end"))
    text = label.get("text")
    words = text.strip() if isinstance(text, str) else ""
    if start is not None and end is not None and 0 <= start < end <= len(answer):
        first, last = int(start), int(end)
        if not words or words == answer[first:last].strip():
            return first, last
    if not words or answer.count(words) != 1:
        return None
    return answer.index(words), answer.index(words) + len(words)


def _span(label: Mapping[str, object], answer: str) -> Span | None:
    place = _place(label, answer)
    if place is None:
        return None
    kind = text_of(first_of(label, "category", "label")) or ""
    probability = number_of(first_of(label, "confidence", "hallucination_score"))
    return Span(
        *place,
        Label.REFUTED if "contradict" in kind.lower() or "conflict" in kind.lower() else Label.NOT_ENOUGH_INFO,
        reason="_".join(kind.lower().split()) or None,
        probability=probability if probability is not None and 0 <= probability <= 1 else None,
    )
