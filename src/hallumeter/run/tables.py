"""A finished run as tables: claims, verdicts, scores of responses, metrics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hallumeter.formats.data_table import DataTable, Kind
from hallumeter.records.claim import Finding, Label, Verdict
from hallumeter.records.judging import claim_text
from hallumeter.records.manifest import Manifest
from hallumeter.records.measurement import MetricSummary, Summary
from hallumeter.records.response import Response
from hallumeter.report.segmentation import settled_label

from .run_folder import RunFolder

FAILED = "FAILED"
"""Stands in place of a label where there is no verdict."""
_UNSUPPORTED = (Label.REFUTED, Label.NOT_ENOUGH_INFO)
_CLAIMS: dict[str, Kind] = {
    "record_id": "text",
    "model": "text",
    "claim_id": "text",
    "text": "text",
    "label": "text",
    "unsupported_probability": "number",
    "reason": "text",
    "note": "text",
    "quote": "text",
    "evidence_id": "text",
    "start": "whole",
    "end": "whole",
    "wrong_start": "whole",
    "wrong_end": "whole",
    "kind": "text",
    "weight": "number",
}
_VERDICTS: dict[str, Kind] = {
    "record_id": "text",
    "claim_id": "text",
    "judge": "text",
    "text": "text",
    "label": "text",
    "unsupported_probability": "number",
    "confidence": "number",
    "reason": "text",
    "note": "text",
    "quote": "text",
    "evidence_id": "text",
    "start": "whole",
    "end": "whole",
    "cost_usd": "number",
}
_SCORES: dict[str, Kind] = {
    "record_id": "text",
    "model": "text",
    "question": "text",
    "response": "text",
    "claims": "whole",
    "supported": "whole",
    "unsupported": "whole",
    "undecided": "whole",
    "failed": "whole",
}
_METRICS: dict[str, Kind] = {
    "judge": "text",
    "count": "number",
    "total": "number",
    "value": "number",
    "low": "number",
    "high": "number",
    "interval_method": "text",
    "direction": "text",
    "undecided": "whole",
    "failed": "whole",
    "lowest_possible": "number",
    "highest_possible": "number",
    "undefined": "text",
    "note": "text",
    "signature": "text",
}


def headline_judge(summary: Summary, manifest: Manifest) -> str | None:
    """The judge whose labels count; None for what several judges settled together."""
    first = next((row.judge for row in summary.metrics if row.judge is not None and not row.by), None)
    return first if first in {judge.name for judge in manifest.judges} else None


def claims_table(folder: RunFolder) -> DataTable:
    """One row for each claim, with the label that it counts with."""
    headline = headline_judge(folder.summary, folder.manifest)
    rows = [_claim_row(response, each, headline) for response, own in folder.findings() for each in own]
    return DataTable(_CLAIMS, rows)


def _claim_row(response: Response, finding: Finding, headline: str | None) -> tuple[Any, ...]:
    claim, label = finding.claim, settled_label(finding, headline)
    said = _settling(finding, label, headline)
    is_wrong = label in _UNSUPPORTED and said is not None
    return (
        claim.record_id,
        response.model,
        claim.claim_id,
        claim_text(claim, response) or None,
        FAILED if label is None else label.value,
        None if said is None else said.unsupported_probability,
        None if said is None else said.reason,
        None if said is None else said.note,
        *_quote(said),
        claim.start,
        claim.end,
        said.start if is_wrong and said is not None else None,
        said.end if is_wrong and said is not None else None,
        claim.kind,
        claim.weight,
    )


def _settling(finding: Finding, label: Label | None, headline: str | None) -> Verdict | None:
    """The verdict that a claim's label rests on: the headline judge's, else the first that says the same."""
    agreeing = [verdict for verdict in finding.verdicts if verdict.label is label]
    return next((verdict for verdict in agreeing if verdict.judge == headline), agreeing[0] if agreeing else None)


def _quote(said: Verdict | None) -> tuple[str | None, str | None]:
    found = next((each for each in said.evidence if each.quote), None) if said is not None else None
    return (None, None) if found is None else (found.quote, found.evidence_id)


def verdicts_table(folder: RunFolder) -> DataTable:
    """One row for each verdict of each judge."""
    rows = [
        _verdict_row(response, finding, verdict)
        for response, own in folder.findings()
        for finding in own
        for verdict in finding.verdicts
    ]
    return DataTable(_VERDICTS, rows)


def _verdict_row(response: Response, finding: Finding, verdict: Verdict) -> tuple[Any, ...]:
    return (
        verdict.record_id,
        verdict.claim_id,
        verdict.judge,
        claim_text(finding.claim, response) or None,
        verdict.label.value,
        verdict.unsupported_probability,
        verdict.confidence,
        verdict.reason,
        verdict.note,
        *_quote(verdict),
        verdict.start,
        verdict.end,
        verdict.cost_usd,
    )


def scores_table(folder: RunFolder) -> DataTable:
    """One row for each response: its claims by label, its metrics, and the fields that came with it."""
    headline = headline_judge(folder.summary, folder.manifest)
    measured: dict[str, dict[str, float | None]] = {}
    metrics: dict[str, None] = {}
    for row in folder.measurements():
        if row.scope == "record" and row.record_id is not None:
            metrics.setdefault(row.metric)
            measured.setdefault(row.record_id, {}).setdefault(row.metric, row.value)
    counted: list[tuple[Any, ...]] = []
    given: list[Mapping[str, object]] = []
    for response, findings in folder.findings():
        own = measured.get(response.record_id, {})
        counted.append((*_score_row(response, findings, headline), *(own.get(metric) for metric in metrics)))
        given.append(response.fields)
    kinds: dict[str, Kind] = {**_SCORES, **dict.fromkeys(metrics, "number")}
    fields = _field_columns(given, taken=kinds)
    further = zip(*(values for _, values in fields.values()), strict=True) if fields else iter([()] * len(counted))
    rows = [(*row, *more) for row, more in zip(counted, further, strict=True)]
    return DataTable({**kinds, **{name: kind for name, (kind, _) in fields.items()}}, rows)


def _score_row(response: Response, findings: Sequence[Finding], headline: str | None) -> tuple[Any, ...]:
    labels = Counter(settled_label(finding, headline) for finding in findings)
    return (
        response.record_id,
        response.model,
        response.question,
        response.response,
        len(findings),
        labels[Label.SUPPORTED],
        labels[Label.REFUTED] + labels[Label.NOT_ENOUGH_INFO],
        labels[Label.UNDECIDED],
        labels[None],
    )


def _field_columns(
    given: Sequence[Mapping[str, object]], *, taken: Iterable[str]
) -> dict[str, tuple[Kind, list[object]]]:
    """The fields of the input as columns; one with the name of a column of ours is called ``field_...``."""
    ours, columns = set(taken), {}
    for name in dict.fromkeys(name for fields in given for name in fields):
        values = [_known(fields.get(name)) for fields in given]
        kind = _kind_of(values)
        plain: list[object] = [None if value is None else str(value) for value in values] if kind == "text" else values
        columns[f"field_{name}" if name in ours else name] = (kind, plain)
    return columns


def _known(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _kind_of(values: Iterable[object]) -> Kind:
    found = {type(value) for value in values if value is not None}
    if found == {bool}:
        return "truth"
    if found == {int}:
        return "whole"
    return "number" if found and found <= {int, float} else "text"


def metrics_table(summary: Summary, metrics: Sequence[str] = ()) -> DataTable:
    """One row for each metric, group and judge of a summary; `metrics` chooses some."""
    wanted = [summary.metric_id(name) for name in metrics]
    fields = list(dict.fromkeys(name for row in summary.metrics for name in row.by))
    chosen = [row for row in summary.metrics if not wanted or row.metric in wanted]
    groups: dict[str, Kind] = {f"by_{name}" if name in {"metric", *_METRICS} else name: "text" for name in fields}
    rows = [(row.metric, *(row.by.get(name) for name in fields), *_metric_row(row)) for row in chosen]
    return DataTable({"metric": "text", **groups, **_METRICS}, rows)


def _metric_row(row: MetricSummary) -> Iterator[Any]:
    yield from (row.judge, row.count, row.total, row.value)
    yield from row.interval or (None, None)
    yield from (row.interval_method, row.direction, row.undecided, row.failed)
    yield from row.bounds or (None, None)
    yield from (row.undefined, row.note, row.signature)
