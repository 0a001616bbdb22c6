"""The sections of a report on aspects, made from a summary and from what is known of the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from .blaming import ErrorCount, flow_section
from .families import BRIEF, BY_RUN, DECIDED, DECISIONS, SECTIONS
from .sections import BlameSection, FlowSection, PartSection
from .tracing import trace_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hallumeter.records import Finding, MetricSummary, Summary
    from hallumeter.records.aspects.traced_sentence import TracedSentence
    from hallumeter.report.document import MetricRow

    from .trace import SentenceTrace

ASPECTS = "aspects"
"""The instrument that measures aspects."""
BLAMED = ("step", "error")
"""What the rates of steps are grouped by."""


class ToldSentences(Struct, frozen=True):
    """What is known of the ways of sentences."""

    traces: dict[str, SentenceTrace]
    """By record, of those that are shown."""
    flow: FlowSection
    blame: BlameSection


def told_sentences(
    traced: Iterable[TracedSentence], summary: Summary, *, shown: Mapping[str, tuple[Finding, ...]]
) -> ToldSentences:
    """Count the errors of all sentences, and trace those that are shown."""
    count, traces = ErrorCount(), {}
    missing: str | None = "outputs"
    for sentence in traced:
        missing = "blame" if sentence.errors is None else None
        count.add(sentence.errors or ())
        if sentence.record_id in shown:
            traces[sentence.record_id] = trace_of(sentence, shown[sentence.record_id])
    rows = blame_rows(summary)
    return ToldSentences(traces, flow_section(count, rows, missing=missing), count.blame(rows))


def executive_rows(rows: list[MetricRow]) -> tuple[MetricRow, ...]:
    """The metrics of a first look that have a value."""
    whole = {row.summary.metric: row for row in rows if not row.summary.by and row.summary.value is not None}
    return tuple(whole[metric] for metric in BRIEF if metric in whole)


def metric_families(rows: list[MetricRow]) -> dict[str, tuple[MetricRow, ...]]:
    """The metrics of the whole run that have a value, under the titles of their families."""
    whole = {row.summary.metric: row for row in rows if not row.summary.by and row.summary.value is not None}
    families = {title: [whole[metric] for metric in metrics if metric in whole] for title, metrics in SECTIONS.items()}
    return {title: tuple(found) for title, found in families.items() if found}


def blame_rows(summary: Summary) -> list[MetricSummary]:
    """What each step did to errors of every kind, where there was anything to count."""
    return [row for row in summary.metrics if tuple(row.by) == BLAMED and row.value is not None]


def run_rows(rows: list[MetricRow]) -> list[MetricRow]:
    """The metrics by which runs are compared."""
    return [row for row in rows if row.summary.metric in BY_RUN and row.summary.by and row.summary.value is not None]


def part_sections(summary: Summary) -> dict[str, PartSection]:
    """Breakdowns of the whole run, under their titles: those of decisions apart from the others."""
    found = summary.aspects
    if found is None:
        return {}
    whole = [each for each in found.breakdowns if not each.by and each.total]
    decisions = tuple(
        sorted((one for one in whole if one.name in DECISIONS), key=lambda one: DECISIONS.index(one.name))
    )
    others = tuple(each for each in whole if each.name not in DECISIONS)
    sections = {
        "decisions": PartSection(decisions, title=DECIDED),
        "others": PartSection(others, found.warnings),
    }
    return {name: section for name, section in sections.items() if section.breakdowns or section.warnings}
