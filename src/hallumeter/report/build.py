"""Build the report document from a summary and a stream of findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypedDict, Unpack

import msgspec

from hallumeter.records.claim import Failure
from hallumeter.records.decisions import JudgeChecks
from hallumeter.records.manifest import Manifest
from hallumeter.records.measurement import Profile, Summary

from .charts import concentration_section
from .document import (
    USUAL_CONFIDENCE,
    BreakdownSection,
    Coverage,
    DistributionSection,
    Document,
    IntegritySection,
    MetricRow,
    MetricSection,
    MetricText,
    Provenance,
    RecordFindings,
    RecordSection,
    RecordView,
    Section,
    encodable,
)
from .findings import FindingPicker
from .integrity import count_failures, cut_counts, language_counts, says_nothing
from .judges import AGREEMENT
from .overview import overview_sections
from .presentation import Gathered, presentation_of
from .reasons import reason_section
from .sections import PageCensus
from .segmentation import CONSENSUS
from .selection import Limits, record_view, select
from .tallies import Tallies, reference_judge
from .wording import title_words


class Streams(TypedDict, total=False):
    """What a run holds, as streams that are read once, and what is known of it beside."""

    records: Iterable[RecordFindings]
    failures: Iterable[Failure]
    own: Any
    """What the instrument reads of a run beside that: what the `read` of its presentation gives."""
    checks: JudgeChecks | None
    """What labels say about the judges; None where nothing is labelled."""


def build_document(
    *,
    summary: Summary,
    manifest: Manifest,
    metric_texts: Mapping[str, MetricText],
    limits: Limits | None = None,
    **streams: Unpack[Streams],
) -> Document:
    """Everything that a report shows, in reading order; equal inputs give equal documents.

    The streams are read once. A metric without a text is shown under its own name.
    """
    gathered = _gathered(summary, manifest, metric_texts, limits=limits or Limits(), streams=streams)
    built = presentation_of(summary.instrument).sections(gathered)
    missing = _integrity_section(gathered, built.sections, built.census)
    is_whole = says_nothing(missing)
    return encodable(
        Document(
            title=title_words(manifest.instrument, [file.name for file in manifest.inputs]),
            instrument=summary.instrument,
            provenance=_provenance(manifest),
            counts=summary.counts,
            sections=(
                *overview_sections(gathered, is_whole=is_whole),
                *built.sections,
                *(() if is_whole else (missing,)),
            ),
            headline=gathered.headline,
            confidence=gathered.confidence,
            profiles=given_profiles(summary),
            notices=(*summary.notices, *_label_notices(gathered)),
        )
    )


def _gathered(
    summary: Summary,
    manifest: Manifest,
    metric_texts: Mapping[str, MetricText],
    *,
    limits: Limits,
    streams: Streams,
) -> Gathered:
    """Read the streams: count everything, and keep what is shown."""
    shown = presentation_of(summary.instrument)
    headline = _headline_judge(summary, metric_texts)
    tallies = Tallies(
        headline,
        reference=reference_judge(judge.name for judge in manifest.judges),
        unsupported=shown.unsupported,
    )
    picker = FindingPicker(headline, shown.unsupported)
    selection = select(
        streams.get("records", ()),
        limits,
        tallies=tallies,
        picker=picker,
        severity=shown.severity,
        sharer=shown.sharer,
    )
    chosen = {item.response.record_id for item in (*selection.worst, *selection.random)}
    rows = [
        MetricRow(metric_texts.get(metric.metric, MetricText(metric.metric, "", "")), metric)
        for metric in summary.metrics
    ]
    return Gathered(
        summary,
        manifest,
        rows,
        metric_texts,
        selection,
        count_failures(streams.get("failures", ()), chosen, kept=limits.failures),
        headline,
        confidence_of(manifest),
        limits,
        streams.get("checks"),
        streams.get("own"),
    )


def given_profiles(summary: Summary) -> dict[str, Profile]:
    """The opinions of policies that somebody gave."""
    usual = presentation_of(summary.instrument).usual_policies
    return {} if tuple(summary.profile) == usual else summary.profile


def _provenance(manifest: Manifest) -> Provenance:
    return Provenance(
        manifest.hallumeter, manifest.seed, manifest.inputs, manifest.judges, manifest.settings, manifest.files
    )


def _headline_judge(summary: Summary, metric_texts: Mapping[str, MetricText]) -> str | None:
    """Whose verdicts the headline rests on: the first judge that the summary names for the whole run."""
    for row in sorted(summary.metrics, key=lambda row: bool(row.by)):
        text = metric_texts.get(row.metric)
        if row.judge is not None and (text is None or text.family != AGREEMENT):
            return row.judge
    return None


def confidence_of(manifest: Manifest) -> float:
    """Of the intervals of a run."""
    given = manifest.settings.get("confidence")
    return given if isinstance(given, float) else USUAL_CONFIDENCE


def _label_notices(gathered: Gathered) -> list[str]:
    """A warning where the marks on the responses cannot follow the headline."""
    manifest, selection, headline = gathered.manifest, gathered.selection, gathered.headline
    method = manifest.settings.get("consensus")
    is_known = headline != CONSENSUS or CONSENSUS in selection.tallies.judges() or method in {None, "majority"}
    if is_known or not selection.tallies.responses:
        return []
    return [f"claims are marked by the majority of the judges; the headline rests on their {method} consensus"]


def _is_headline(row: MetricRow, headline: str | None) -> bool:
    return row.summary.judge in {None, headline} and row.text.family != AGREEMENT


def metric_sections(gathered: Gathered, rows: list[MetricRow] | None = None) -> list[Section]:
    """The headline metrics of the whole run, of all rows or of some."""
    own = gathered.rows if rows is None else rows
    chosen = tuple(row for row in own if not row.summary.by and _is_headline(row, gathered.headline))
    return [MetricSection(chosen)] if chosen else []


def breakdown_sections(gathered: Gathered, rows: list[MetricRow] | None = None) -> list[Section]:
    """One section for each set of fields that makes several groups, metrics in the order of the headline."""
    rows = gathered.rows if rows is None else rows
    groups: dict[tuple[str, ...], list[MetricRow]] = {}
    order = list(dict.fromkeys(row.summary.metric for row in rows))
    for row in sorted(rows, key=lambda row: order.index(row.summary.metric)):
        if row.summary.by:
            groups.setdefault(tuple(row.summary.by), []).append(row)
    sections: list[Section] = []
    for by, group in groups.items():
        if len({tuple(row.summary.by.values()) for row in group}) < 2:
            # One group is the whole run again.
            continue
        chosen = tuple(row for row in group if _is_headline(row, gathered.headline))
        sections.append(BreakdownSection(by, chosen, len(group) - len(chosen)))
    return sections


def distribution_sections(gathered: Gathered) -> list[Section]:
    """How unsupported claims are spread over responses; one response has no spread."""
    tallies = gathered.selection.tallies
    if tallies.responses < 2:
        return []
    models = tallies.model_tallies()
    return [
        DistributionSection(
            bins=tallies.share_bins(),
            without_decided_claim=tallies.without_decided_claim,
            models=models,
            models_left_out=tallies.models - len(models),
        )
    ]


def record_sections(gathered: Gathered, own: Callable[[RecordView], RecordView] | None = None) -> list[Section]:
    """The chosen responses, as many as the limit of size lets in; `own` is what an instrument makes of each."""
    selection, failures = gathered.selection, gathered.broken.by_record
    if not selection.tallies.responses:
        return []
    kinds: tuple[tuple[Literal["worst", "random"], tuple[RecordFindings, ...]], ...] = (
        ("worst", selection.worst),
        ("random", selection.random),
    )
    chosen = [
        record_view(
            item,
            picked=kind,
            headline=gathered.headline,
            failures=tuple(failures.get(item.response.record_id, ())),
        )
        for kind, items in kinds
        for item in items
    ]
    shown: list[RecordView] = []
    passages: set[str] = set()
    room = gathered.limits.bytes
    for view in map(encodable, map(own, chosen) if own else chosen):
        size = _size(view, passages)
        if size <= room:
            room -= size
            passages.update(passage.text for passage in view.evidence)
            shown.append(view)
    picked = Counter(view.picked for view in shown)
    coverage = Coverage(
        responses=selection.tallies.responses,
        worst=picked["worst"],
        random=picked["random"],
        too_large=len(chosen) - len(shown),
    )
    return [RecordSection(coverage, tuple(shown))]


def _size(view: RecordView, passages: set[str]) -> int:
    """Bytes that a response adds to the document; a passage that is already there costs nothing more."""
    known = sum(len(passage.text.encode()) for passage in view.evidence if passage.text in passages)
    return len(msgspec.json.encode(view)) - known


def concentration_sections(
    gathered: Gathered, counted: Literal["unsupported", "REFUTED"] = "unsupported"
) -> list[Section]:
    """Where claims with the labels that count are most frequent; nowhere where there is none."""
    found = concentration_section(gathered.selection.tallies, gathered.confidence, counted=counted)
    if found is None:
        return []
    counts = [each.count for each in found.tenths] + [each.count for each in found.lengths]
    return [found] if any(counts) else []


def reason_sections(gathered: Gathered) -> list[Section]:
    """Why claims were not called supported."""
    found = reason_section(gathered.selection.tallies.reasons())
    return [found] if found else []


def _integrity_section(gathered: Gathered, sections: Iterable[Section], census: PageCensus | None) -> IntegritySection:
    broken, tallies = gathered.broken, gathered.selection.tallies
    return IntegritySection(
        tally=tallies.tally(),
        undefined=tuple(row for row in gathered.rows if row.summary.value is None),
        failure_counts=broken.by_kind(),
        failures=tuple(broken.first),
        failures_total=broken.total,
        records_without_claims=gathered.summary.counts.records_without_claims,
        not_aligned=tallies.not_aligned,
        census=census,
        cuts=cut_counts(tallies, broken, sections),
        languages=language_counts(tallies),
    )
