"""lm-evaluation-harness: the samples of a task, as ``--log_samples`` writes them (``samples_*.jsonl``)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from hallumeter.records.response import Response

from .documents import Document, Row
from .record import HIGHER, UNKNOWN, ForeignRecord, Reading, Score, ScoreKind, unmeasured
from .values import evidence_of, fields_of, first_of, in_one_line, list_of, mapping_of, number_of, text_of

_HIGHER = {"acc", "acc_norm", "exact_match", "f1", "em", "rouge1", "rouge2", "rougeL", "pass@1", "mcc", "contains"}
_LOWER = {"perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte", "wer", "ter"}
_QUESTIONS = ("question", "query", "input", "prompt", "ctx", "text")
_PASSAGES = ("context", "passage", "contexts", "evidence", "document", "support")
_OWN = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash"),
}


def is_lm_eval(document: Document) -> bool:
    """Whether a file holds samples of a task."""
    return {"doc_id", "doc", "filtered_resps"} <= document.first.keys()


def read_lm_eval(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
    """The samples with their metrics; a sample that was filtered in several ways is a record for each."""
    rows = [row for document in documents for row in document.rows]
    filters = len({text_of(row.values.get("filter")) for row in rows})
    for row in rows:
        if "doc_id" not in row.values or "filtered_resps" not in row.values:
            reading.fault(row.place, "not_lm_eval", "expected a doc_id with its filtered_resps")
            continue
        record = _record(row, is_one_filter=filters < 2)
        for score in record.scores:
            name = score.metric.removeprefix("lm_eval:")
            lower = ScoreKind("lower", 0.0)
            reading.kinds[score.metric] = HIGHER if name in _HIGHER else lower if name in _LOWER else UNKNOWN
        yield record


def _record(row: Row, *, is_one_filter: bool) -> ForeignRecord:
    values = row.values
    doc = mapping_of(values.get("doc"))
    name = text_of(values["doc_id"]) or "sample"
    answers = list_of(values["filtered_resps"])
    response = Response(
        record_id=name if is_one_filter else f"{name} / {text_of(values.get('filter'))}",
        question=text_of(first_of(doc, *_QUESTIONS)) or _prompt(values.get("arguments")),
        response=(text_of(answers[0]) if answers else None) or "",
        evidence=evidence_of(first_of(doc, *_PASSAGES)),
        reference=text_of(values.get("target")),
        fields=fields_of({"filter": values.get("filter")}),
    )
    return ForeignRecord(response, scores=tuple(_scores(values)))


def _prompt(arguments: object) -> str | None:
    """The first argument of the first request: what the model was shown."""
    first = next(iter(mapping_of(arguments).values()), None)
    return text_of(mapping_of(first).get("arg_0"))


def _scores(values: Mapping[str, object]) -> Iterator[Score]:
    listed = [text_of(name) or "" for name in list_of(values.get("metrics"))]
    for name in listed or [name for name in values if name not in _OWN]:
        yield _score(f"lm_eval:{name}", values.get(name))


def _score(metric: str, value: object) -> Score:
    number = number_of(value)
    if number is None:
        found = in_one_line(value, 60)
        return unmeasured(metric, "no_number", f"the sample has {found!r}, from which only the whole task is counted")
    if math.isnan(number):
        return unmeasured(metric, "nan", "the harness gave no value")
    return Score(metric, number)
