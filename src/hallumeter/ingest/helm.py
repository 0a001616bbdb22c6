"""HELM: statistics per instance, as JSON or as JSON lines.

``per_instance_stats.json`` lists the statistics of each instance, ``display_predictions.json`` gives them by name
beside the text. A statistic without a value has a count of 0 and no mean there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from hallumeter.records.response import Response

from .documents import Document, Row
from .record import HIGHER, LOWER, UNKNOWN, ForeignRecord, Reading, Score, unmeasured
from .values import evidence_of, fields_of, first_of, is_nothing, mapping_of, mappings_of, number_of, text_of

_HIGHER = {
    *("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match", "f1_score", "rouge_l"),
    *("rouge_1", "rouge_2", "bleu_1", "bleu_4", "summac", "QAFactEval", "BERTScore-F", "faithfulness", "accuracy"),
    *("final_number_exact_match", "math_equiv", "math_equiv_chain_of_thought", "ifeval_strict_accuracy"),
}
_LOWER = {"toxic_frac", "hallucination_rate", "edit_distance"}
_UNBOUNDED = {"QAFactEval", "summac", "edit_distance"}
_BOOKKEEPING = ("num_", "max_prob", "finish_reason", "inference_", "training_", "batch_size", "estimated_", "logprob")
_OWN = frozenset({"instance_id", "stats", "predicted_text", "input", "question", "references", "reference", "model"})


def is_helm(document: Document) -> bool:
    """Whether a file holds statistics per instance."""
    return "instance_id" in document.first and isinstance(document.first.get("stats"), list | dict)


def read_helm(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
    """The instances with their statistics."""
    rows = [row for document in documents for row in document.rows]
    trials = len({text_of(row.values.get("train_trial_index")) for row in rows})
    for row in rows:
        if "instance_id" not in row.values or not isinstance(row.values.get("stats"), list | dict):
            reading.fault(row.place, "not_helm", "expected an instance_id with its stats")
            continue
        record = _record(row, is_one_trial=trials < 2)
        for score in record.scores:
            name = score.metric.removeprefix("helm:")
            kind = HIGHER if name in _HIGHER else LOWER if name in _LOWER else UNKNOWN
            is_share = name not in _UNBOUNDED
            reading.kinds[score.metric] = kind if is_share else type(kind)(kind.direction)
        yield record


def _record(row: Row, *, is_one_trial: bool) -> ForeignRecord:
    values = row.values
    parts = [text_of(values["instance_id"]) or "instance"]
    if not is_one_trial:
        parts.append(f"trial {text_of(values.get('train_trial_index'))}")
    perturbation = mapping_of(values.get("perturbation")).get("name")
    if not is_nothing(perturbation):
        parts.append(text_of(perturbation) or "")
    response = Response(
        record_id=" / ".join(parts),
        question=text_of(first_of(values, "input", "question")),
        response=text_of(first_of(values, "predicted_text", "completion", "output")) or "",
        evidence=evidence_of(first_of(values, "context", "contexts", "evidence")),
        reference=text_of(first_of(values, "reference", "references")),
        model=text_of(values.get("model")),
        fields=fields_of({name: value for name, value in values.items() if name not in _OWN}),
    )
    return ForeignRecord(response, scores=tuple(_scores(values["stats"])))


def _scores(stats: object) -> Iterator[Score]:
    named: dict[str, Mapping[str, object] | object]
    named = dict(stats) if isinstance(stats, dict) else {_stat_name(stat): stat for stat in mappings_of(stats)}
    for name, stat in named.items():
        if not name.startswith(_BOOKKEEPING):
            yield _score(f"helm:{name}", stat)


def _stat_name(stat: Mapping[str, object]) -> str:
    name = stat.get("name")
    return text_of(mapping_of(name).get("name") if isinstance(name, dict) else name) or "stat"


def _score(metric: str, stat: object) -> Score:
    if isinstance(stat, dict) and number_of(stat.get("count")) == 0:
        return unmeasured(metric, "no_count", "HELM counted nothing for this statistic")
    value = number_of(stat.get("mean") if isinstance(stat, dict) else stat)
    if value is None or math.isnan(value):
        return unmeasured(metric, "nan", "HELM gave no value")
    return Score(metric, value)
