"""The few numbers by which a run is known in a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.report import MetricRow, MetricText, metric_texts

if TYPE_CHECKING:
    from hallumeter.records import Summary

FIRST = (
    *("mihr", "mahr", "factscore"),
    *("hallucinating_page_rate", "invented_rate", "cer"),
    *("sfs", "csp", "dialogue_score"),
    *("aspect_hallucination_rate", "tuple_f1_final"),
)
"""The metrics that come first, where a run has them."""
SHOWN = 2
_AGREEMENT = "agreement"


def whole_rows(summary: Summary) -> list[MetricRow]:
    """The metrics of a whole run: by the judge that the headline rests on, those that come first at the head."""
    texts = metric_texts()
    rows = [
        MetricRow(texts.get(metric.metric, MetricText(metric.metric, "", "")), metric)
        for metric in summary.metrics
        if not metric.by
    ]
    rows = [row for row in rows if row.text.family != _AGREEMENT]
    headline = next((row.summary.judge for row in rows if row.summary.judge is not None), None)
    own = [row for row in rows if row.summary.judge in {None, headline}]
    return sorted(own, key=lambda row: FIRST.index(row.summary.metric) if row.summary.metric in FIRST else len(FIRST))


def headline_rows(summary: Summary) -> list[MetricRow]:
    """The first of them that have a value."""
    return [row for row in whole_rows(summary) if row.summary.value is not None][:SHOWN]
