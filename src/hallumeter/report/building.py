"""Build the report document from a summary and a stream of findings."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec
from msgspec import Struct

from .document import (
    USUAL_CONFIDENCE,
    BreakdownSection,
    Coverage,
    DistributionSection,
    Document,
    FailureCount,
    IntegritySection,
    JudgeRow,
    JudgeSection,
    MetricRow,
    MetricSection,
    MetricText,
    Provenance,
    RecordFindings,
    RecordSection,
    Section,
)
from .segmentation import CONSENSUS
from .selection import Selection, select, tally_of
from .views import record_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hallumeter.records import Failure, Manifest, Summary

    from .document import RecordView

AGREEMENT = "agreement"
"""The family of the metrics that compare judges."""
FAILURES_PER_RECORD = 5
_SURROGATE = re.compile("[\ud800-\udfff]")
_Value = TypeVar("_Value")


class Limits(Struct, frozen=True):
    """How much of a run a document holds; what is beyond is counted, never silently dropped."""

    worst: int = 500
    """Responses with most unsupported claims."""
    random: int = 100
    """Further responses drawn at random."""
    bytes: int = 6_000_000
    """Size of all responses, findings and distinct passages as JSON; an HTML file needs about two thirds of it."""
    failures: int = 50
    seed: int = 0
    """Of the random draw."""


class _Failures(Struct):
    """Failures, while they are being counted."""

    total: int
    counts: Counter[tuple[str, str]]
    first: list[Failure]
    by_record: dict[str, list[Failure]]


def build_document(
    *,
    summary: Summary,
    manifest: Manifest,
    metric_texts: Mapping[str, MetricText],
    records: Iterable[RecordFindings] = (),
    failures: Iterable[Failure] = (),
    limits: Limits | None = None,
) -> Document:
    """Everything that a report shows, in reading order; equal inputs give equal documents.

    `records` and `failures` are read once, as streams. A metric without a text is shown under its own name.
    """
    limits = limits or Limits()
    headline = _headline_judge(summary, metric_texts)
    selection = select(records, worst=limits.worst, random=limits.random, seed=limits.seed, headline=headline)
    chosen = {item.response.record_id for item in (*selection.worst, *selection.random)}
    broken = _count_failures(failures, chosen, kept=limits.failures)
    rows = [
        MetricRow(metric_texts.get(metric.metric, MetricText(metric.metric, "", "")), metric)
        for metric in summary.metrics
    ]
    sections = [
        *_metric_sections(rows, headline),
        *_distribution_sections(selection),
        *_breakdown_sections(rows, headline),
        _judge_section(rows, manifest, selection=selection),
        *_record_sections(selection, limits, failures=broken.by_record, headline=headline),
        _integrity_section(rows, summary, broken=broken, selection=selection),
    ]
    document = Document(
        title=_title(manifest),
        instrument=summary.instrument,
        provenance=Provenance(manifest.hallumeter, manifest.seed, manifest.inputs, manifest.judges, manifest.settings),
        counts=summary.counts,
        sections=tuple(sections),
        headline=headline,
        confidence=_confidence(manifest),
        profiles=summary.profile,
        notices=(*summary.notices, *_label_notices(manifest, selection, headline=headline)),
    )
    return encodable(document)


def encodable(value: _Value) -> _Value:
    r"""The same value with every lone surrogate replaced, since UTF-8 cannot carry one; positions stay.

    >>> encodable(("a\ud800b", 1))
    ('a�b', 1)
    """
    # The union of containers is walked by shape; each branch gives back the type that it was given.
    return _encodable(value)  # type: ignore[return-value]


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, tuple | list):
        return type(value)(_encodable(item) for item in value)
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, Struct):
        return type(value)(**{name: _encodable(getattr(value, name)) for name in value.__struct_fields__})
    return value


def _title(manifest: Manifest) -> str:
    """The instrument and what it read; only the first two of many files."""
    names = [file.name for file in manifest.inputs[:2]]
    if len(manifest.inputs) > len(names):
        names.append(f"{len(manifest.inputs) - len(names)} more")
    return ": ".join([manifest.instrument.capitalize(), *([", ".join(names)] if names else [])])


def _count_failures(failures: Iterable[Failure], chosen: set[str], *, kept: int) -> _Failures:
    broken = _Failures(0, Counter(), [], {})
    for failure in failures:
        broken.total += 1
        broken.counts[failure.step, failure.code] += 1
        if len(broken.first) < kept:
            broken.first.append(failure)
        if failure.record_id in chosen:
            own = broken.by_record.setdefault(failure.record_id, [])
            own += [failure] * (len(own) < FAILURES_PER_RECORD)
    return broken


def _headline_judge(summary: Summary, metric_texts: Mapping[str, MetricText]) -> str | None:
    """Whose verdicts the headline rests on: the first judge that the summary names for the whole run."""
    for row in sorted(summary.metrics, key=lambda row: bool(row.by)):
        text = metric_texts.get(row.metric)
        if row.judge is not None and (text is None or text.family != AGREEMENT):
            return row.judge
    return None


def _confidence(manifest: Manifest) -> float:
    given = manifest.settings.get("confidence")
    return given if isinstance(given, float) else USUAL_CONFIDENCE


def _label_notices(manifest: Manifest, selection: Selection, *, headline: str | None) -> list[str]:
    """A warning where the marks on the responses cannot follow the headline."""
    method = manifest.settings.get("consensus")
    is_known = headline != CONSENSUS or CONSENSUS in selection.overview.judges or method in {None, "majority"}
    if is_known or not selection.overview.responses:
        return []
    return [f"claims are marked by the majority of the judges; the headline rests on their {method} consensus"]


def _is_headline(row: MetricRow, headline: str | None) -> bool:
    return row.summary.judge in {None, headline} and row.text.family != AGREEMENT


def _metric_sections(rows: list[MetricRow], headline: str | None) -> list[Section]:
    chosen = tuple(row for row in rows if not row.summary.by and _is_headline(row, headline))
    return [MetricSection(chosen)] if chosen else []


def _breakdown_sections(rows: list[MetricRow], headline: str | None) -> list[Section]:
    """One section for each set of fields that the metrics are grouped by, metrics in the order of the headline."""
    groups: dict[tuple[str, ...], list[MetricRow]] = {}
    order = list(dict.fromkeys(row.summary.metric for row in rows))
    for row in sorted(rows, key=lambda row: order.index(row.summary.metric)):
        if row.summary.by:
            groups.setdefault(tuple(row.summary.by), []).append(row)
    sections: list[Section] = []
    for by, group in groups.items():
        chosen = tuple(row for row in group if _is_headline(row, headline))
        sections.append(BreakdownSection(by, chosen, len(group) - len(chosen)))
    return sections


def _distribution_sections(selection: Selection) -> list[Section]:
    overview = selection.overview
    if not overview.responses:
        return []
    models = overview.model_tallies()
    return [
        DistributionSection(
            bins=overview.share_bins(),
            without_decided_claim=overview.without_decided_claim,
            models=models,
            models_left_out=len(overview.models) - len(models),
        )
    ]


def _judge_section(rows: list[MetricRow], manifest: Manifest, *, selection: Selection) -> JudgeSection:
    specs = {judge.name: judge.spec for judge in manifest.judges}
    tallies = selection.overview.judges
    own_rows = [row for row in rows if not row.summary.by and row.text.family != AGREEMENT]
    measured = [row.summary.judge for row in own_rows if row.summary.judge is not None]
    names = sorted(dict.fromkeys([*specs, *sorted(tallies), *measured]), key=CONSENSUS.__eq__)
    judges = []
    for name in names:
        tally = tallies.get(name)
        judges.append(
            JudgeRow(
                judge=name,
                spec=specs.get(name),
                tally=None if tally is None else tally_of(tally.labels),
                cost_usd=None if tally is None else tally.cost_usd,
                verdicts_without_cost=0 if tally is None else tally.without_cost,
                rows=tuple(row for row in own_rows if row.summary.judge == name),
            )
        )
    agreement = [row for row in rows if row.text.family == AGREEMENT and not row.summary.by]
    return JudgeSection(tuple(judges), tuple(agreement))


def _record_sections(
    selection: Selection, limits: Limits, *, failures: Mapping[str, list[Failure]], headline: str | None
) -> list[Section]:
    """The chosen responses, as many as the limit of size lets in."""
    if not selection.overview.responses:
        return []
    kinds: tuple[tuple[Literal["worst", "random"], tuple[RecordFindings, ...]], ...] = (
        ("worst", selection.worst),
        ("random", selection.random),
    )
    chosen = [
        record_view(item, picked=kind, headline=headline, failures=tuple(failures.get(item.response.record_id, ())))
        for kind, items in kinds
        for item in items
    ]
    shown: list[RecordView] = []
    passages: set[str] = set()
    room = limits.bytes
    for view in map(encodable, chosen):
        size = _size(view, passages)
        if size <= room:
            room -= size
            passages.update(passage.text for passage in view.evidence)
            shown.append(view)
    picked = Counter(view.picked for view in shown)
    coverage = Coverage(
        responses=selection.overview.responses,
        worst=picked["worst"],
        random=picked["random"],
        too_large=len(chosen) - len(shown),
    )
    return [RecordSection(coverage, tuple(shown))]


def _size(view: RecordView, passages: set[str]) -> int:
    """Bytes that a response adds to the document; a passage that is already there costs nothing more."""
    known = sum(len(passage.text.encode()) for passage in view.evidence if passage.text in passages)
    return len(msgspec.json.encode(view)) - known


def _integrity_section(
    rows: list[MetricRow], summary: Summary, *, broken: _Failures, selection: Selection
) -> IntegritySection:
    counts = sorted(broken.counts.items(), key=lambda item: (-item[1], item[0]))
    return IntegritySection(
        tally=tally_of(selection.overview.labels),
        undefined=tuple(row for row in rows if row.summary.value is None),
        failure_counts=tuple(FailureCount(step, code, failures) for (step, code), failures in counts),
        failures=tuple(broken.first),
        failures_total=broken.total,
        records_without_claims=summary.counts.records_without_claims,
        not_aligned=selection.overview.not_aligned,
    )
