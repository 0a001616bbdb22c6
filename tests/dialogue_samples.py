"""Summaries and documents of dialogues for the tests of their report."""

from __future__ import annotations

import msgspec

from hallumeter.records.claim import Claim, Finding, Label, Verdict
from hallumeter.records.measurement import Counts, MetricSummary, Summary
from hallumeter.records.response import Response
from hallumeter.records.summaries import DialogueSummary, Fairness, ModeDifference, ScoreBins
from hallumeter.report.build import build_document
from hallumeter.report.catalog import metric_texts
from hallumeter.report.document import Document, RecordFindings
from report_samples import manifest

MODES = ("llm", "agent")
METRICS = ("sfs", "csp", "mcs")


def metric_row(metric: str, value: float | None, **by: str) -> MetricSummary:
    return MetricSummary(
        metric=metric,
        by=by,
        judge=None,
        count=None if value is None else 10 * value,
        total=10.0,
        value=value,
        interval=None if value is None else (max(0.0, value - 0.1), min(1.0, value + 0.1)),
        interval_method="cluster_bootstrap",
        direction="lower" if metric == "csp" else "higher",
        undefined=None if value is not None else "nothing to count",
        undecided=0,
        failed=1 if metric == "sfs" else 0,
        bounds=None,
        signature=f"{metric}|v:1",
    )


def difference(metric: str, value: float | None, *, p_value: float = 0.01, second: str = "agent") -> ModeDifference:
    return ModeDifference(
        metric=metric,
        first="llm",
        second=second,
        pairs=0 if value is None else 20,
        patients=0 if value is None else 4,
        first_mean=None if value is None else 0.5,
        second_mean=None if value is None else 0.5 + value,
        difference=value,
        interval=None if value is None else (value - 0.1, value + 0.1),
        effect_size=None if value is None else 1.5,
        p_value=None if value is None else p_value / 2,
        adjusted_p_value=None if value is None else p_value,
        direction="lower" if metric == "csp" else "higher",
        undefined="no turn of a patient has a value in both modes" if value is None else None,
    )


def dialogue_summary(*, is_fair: bool = True, modes: tuple[str, ...] = MODES) -> Summary:
    rows = [metric_row("sfs", 0.8), metric_row("csp", 0.1), metric_row("mcs", None)]
    for place, mode in enumerate(modes):
        rows += [metric_row("sfs", 0.6 + 0.2 * place, mode=mode), metric_row("csp", 0.2 - 0.1 * place, mode=mode)]
        rows += [metric_row("sfs", 0.5 + 0.1 * turn, mode=mode, turn_id=str(turn)) for turn in (10, 9, 2)[: 2 + place]]
    faults = () if is_fair else ("patient p1: only llm was asked",)
    fairness = Fairness(modes, 4, 20, faults, len(faults) and 7)
    return Summary(
        version=1,
        instrument="dialogue",
        counts=Counts(records=20, claims=2, verdicts=2, judges=1, models=len(modes), failures=1),
        metrics=tuple(rows),
        notices=("a notice",),
        dialogue=DialogueSummary(
            differences=(difference("sfs", 0.2), difference("csp", -0.1, p_value=0.2), difference("mcs", None)),
            fairness=fairness,
            spread=tuple(ScoreBins("sfs", mode, (1, 0, 0, 4), 2 * place) for place, mode in enumerate(modes)),
        ),
    )


def answered(record_id: str, label: Label, *, kind: str = "slot", weight: float = 2.0) -> RecordFindings:
    claim = Claim(record_id, f"{record_id}#0", kind, 0, 5, "You a", weight)
    verdict = Verdict(record_id, claim.claim_id, "clinical-rules", label, reason="invented_medication")
    response = Response(record_id, question="Who am I?", response="You are well.", model="llm")
    return RecordFindings(response, (Finding(claim, (verdict,)),))


def dialogue_document(summary: Summary | None = None) -> Document:
    return build_document(
        summary=summary or dialogue_summary(),
        manifest=msgspec.structs.replace(manifest(), instrument="dialogue"),
        metric_texts=metric_texts(),
        records=[
            answered("right", Label.SUPPORTED),
            answered("unused", Label.NOT_ENOUGH_INFO, kind="slot_use"),
            answered("wrong", Label.REFUTED),
        ],
    )
