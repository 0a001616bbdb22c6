"""Ragas: the table of an evaluation, one row per sample and one column per metric.

Written by ``result.to_pandas()`` and then ``to_csv``, ``to_json(orient="records")`` or ``to_json(..., lines=True)``,
and by the experiments of newer versions. A metric that could not be computed is NaN there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from hallumeter.records.response import Response

from .documents import Document, Row
from .record import HIGHER, LOWER, UNKNOWN, ForeignRecord, Reading, Score, ScoreKind, unmeasured
from .values import evidence_of, fields_of, first_of, is_nothing, number_of, text_of

TEXTS = frozenset(
    {
        *("user_input", "question", "response", "answer", "reference", "ground_truth", "ground_truths"),
        *("retrieved_contexts", "contexts", "reference_contexts", "retrieved_context_ids", "reference_context_ids"),
        *("multi_responses", "rubrics", "rubric", "reference_tool_calls", "reference_topics", "id", "model"),
    }
)
"""Columns of a sample, which are no scores."""
_COSINE = ScoreKind("higher", -1.0, 1.0)
KINDS: dict[str, ScoreKind] = {
    **dict.fromkeys(
        (
            *("faithfulness", "faithfulness_with_hhem", "context_precision", "context_recall", "context_utilization"),
            *("llm_context_precision_with_reference", "llm_context_precision_without_reference"),
            *("non_llm_context_precision_with_reference", "non_llm_context_recall", "context_entity_recall"),
            *("factual_correctness", "answer_correctness", "summary_score", "nv_accuracy", "nv_context_relevance"),
            *("nv_response_groundedness", "bleu_score", "rouge_score", "exact_match", "string_present"),
            *("non_llm_string_similarity", "context_relevance", "response_groundedness", "answer_accuracy"),
        ),
        HIGHER,
    ),
    **dict.fromkeys(("answer_relevancy", "answer_similarity", "semantic_similarity"), _COSINE),
    **dict.fromkeys(("noise_sensitivity", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant"), LOWER),
}
"""By the name of the metric; what stands in brackets behind it, as in ``factual_correctness(mode=f1)``, is left out."""


def is_ragas(document: Document) -> bool:
    """Whether a file is such a table: the columns of a sample, and one at least of a known metric."""
    names = document.first.keys()
    has_sample = bool(names & {"user_input", "question"}) and bool(names & {"response", "answer"})
    return has_sample and any(_short(name) in KINDS for name in names)


def read_ragas(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
    """The samples with their scores."""
    for document in documents:
        samples = [row.values for row in document.rows if row.values.keys() & {"user_input", "question"}]
        names = dict.fromkeys(name for values in samples for name in values)
        metrics = [name for name in names if _is_score(name, [values.get(name) for values in samples])]
        for name in metrics:
            reading.kinds[f"ragas:{name}"] = KINDS.get(_short(name), UNKNOWN)
        for number, row in enumerate(document.rows, 1):
            if not row.values.keys() & {"user_input", "question"} or not metrics:
                reading.fault(row.place, "not_ragas", "expected user_input, response and a column per metric")
                continue
            yield _record(row, metrics, number)


def _short(name: str) -> str:
    return name.partition("(")[0].strip()


def _is_score(name: str, column: Sequence[object]) -> bool:
    """A known metric, or a column of numbers that is no part of a sample."""
    if name in TEXTS:
        return False
    if _short(name) in KINDS:
        return True
    values = [value for value in column if not is_nothing(value)]
    return bool(values) and all(number_of(value) is not None for value in values)


def _record(row: Row, metrics: Sequence[str], number: int) -> ForeignRecord:
    values = row.values
    response = Response(
        record_id=text_of(values.get("id")) or str(number),
        question=text_of(_plain(first_of(values, "user_input", "question"))),
        response=text_of(first_of(values, "response", "answer")) or "",
        evidence=evidence_of(first_of(values, "retrieved_contexts", "contexts")),
        reference=text_of(first_of(values, "reference", "ground_truth", "ground_truths")),
        model=text_of(values.get("model")),
        fields=fields_of({name: value for name, value in values.items() if name not in {*TEXTS, *metrics}}),
    )
    scores = tuple(_score(name, values, response) for name in metrics)
    return ForeignRecord(response, scores=scores)


def _plain(value: object) -> object:
    """The last message of a conversation."""
    if isinstance(value, list) and value and isinstance(value[-1], dict):
        return value[-1].get("content")
    return value


def _score(name: str, values: Mapping[str, object], response: Response) -> Score:
    metric = f"ragas:{name}"
    value = number_of(values.get(name))
    if value is not None and not math.isnan(value):
        return Score(metric, value)
    if not (response.response or "").strip():
        return unmeasured(metric, "nan", "Ragas gave NaN: the response is empty, so there was no statement to check")
    return unmeasured(
        metric, "nan", "Ragas gave NaN: no statement was found, or the judge's reply failed or could not be read"
    )
