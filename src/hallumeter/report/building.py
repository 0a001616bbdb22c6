"""Build the report document from a summary and a stream of findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

import msgspec
from msgspec import Struct

from .aspects.building import ASPECTS, executive_rows, metric_families, part_sections, run_rows, told_sentences
from .aspects.families import EXECUTIVE
from .aspects.views import sentence_view
from .dialogue.building import DIALOGUE, difference_section, score_section
from .dialogue.building import severity as dialogue_severity
from .dialogue.wording import SINGLE
from .document import (
    TRANSCRIPTS,
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
from .encoding import encodable
from .segmentation import CONSENSUS
from .selection import Limits, Selection, select, tally_of
from .transcripts.pages import count_pages
from .transcripts.ranking import ranking_section
from .transcripts.reading import page_of, reading_section, severity
from .verdicts.panel import panel_advice
from .verdicts.reasons import reason_section
from .views import record_view

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hallumeter.records import Failure, Manifest, PageRow, Summary
    from hallumeter.records.aspects.traced_sentence import TracedSentence

    from .aspects.building import ToldSentences
    from .document import RecordView
    from .transcripts.pages import CountedPages
    from .transcripts.sections import PageCensus

AGREEMENT = "agreement"
"""The family of the metrics that compare judges."""
FAILURES_PER_RECORD = 20


class Streams(TypedDict, total=False):
    """What a run holds, as streams that are read once."""

    records: Iterable[RecordFindings]
    failures: Iterable[Failure]
    pages: Iterable[PageRow]
    """Of an instrument that reads pages, sorted by page."""
    traced: Iterable[TracedSentence]
    """Of an instrument whose agents read sentences."""


class _Failures(Struct):
    """Failures, while they are being counted."""

    total: int
    counts: Counter[tuple[str, str | None, str]]
    first: list[Failure]
    by_record: dict[str, list[Failure]]


class _Gathered(Struct, frozen=True):
    """What the sections are made of, once the streams have been read."""

    summary: Summary
    manifest: Manifest
    rows: list[MetricRow]
    selection: Selection
    broken: _Failures
    headline: str | None


def build_document(
    *,
    summary: Summary,
    manifest: Manifest,
    metric_texts: Mapping[str, MetricText],
    limits: Limits | None = None,
    **streams: Unpack[Streams],
) -> Document:
    """Everything that a report shows, in reading order; equal inputs give equal documents.

    The streams `records`, `failures`, `pages` and `traced` are read once. A metric without a text is shown under
    its own name.
    """
    limits = limits or Limits()
    headline = _headline_judge(summary, metric_texts)
    is_of_pages = summary.instrument == TRANSCRIPTS
    order = {TRANSCRIPTS: severity, DIALOGUE: dialogue_severity}.get(summary.instrument)
    selection = select(streams.get("records", ()), limits, headline=headline, severity=order)
    chosen = {item.response.record_id for item in (*selection.worst, *selection.random)}
    broken = _count_failures(streams.get("failures", ()), chosen, kept=limits.failures)
    rows = [
        MetricRow(metric_texts.get(metric.metric, MetricText(metric.metric, "", "")), metric)
        for metric in summary.metrics
    ]
    gathered = _Gathered(summary, manifest, rows=rows, selection=selection, broken=broken, headline=headline)
    if is_of_pages:
        wanted = {page_of(item.response) for item in (*selection.worst, *selection.random)}
        counted = count_pages(streams.get("pages", ()), wanted=wanted, kept=limits.pages)
        sections = _page_sections(gathered, counted, limits=limits, metric_texts=metric_texts)
    elif summary.instrument == DIALOGUE:
        sections = _dialogue_sections(gathered, limits)
    elif summary.instrument == ASPECTS:
        shown = {item.response.record_id: item.findings for item in (*selection.worst, *selection.random)}
        told = told_sentences(streams.get("traced", ()), summary, shown=shown)
        sections = _aspect_sections(gathered, limits, told=told)
    else:
        sections = _claim_sections(gathered, limits)
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


def _claim_sections(gathered: _Gathered, limits: Limits) -> list[Section]:
    """What a report on claims shows."""
    rows, selection, headline = gathered.rows, gathered.selection, gathered.headline
    reasons = reason_section(selection.overview.reasons)
    return [
        *_metric_sections(rows, headline),
        *_distribution_sections(selection),
        *_breakdown_sections(rows, headline),
        _judge_section(rows, gathered.manifest, selection=selection),
        *([reasons] if reasons else []),
        *_record_sections(selection, limits, failures=gathered.broken.by_record, headline=headline),
        _integrity_section(gathered),
    ]


def _dialogue_sections(gathered: _Gathered, limits: Limits) -> list[Section]:
    """What a report on dialogues shows: modes and turns, where another has judges."""
    rows, selection = gathered.rows, gathered.selection
    differences, scores = difference_section(gathered.summary), score_section(gathered.summary)
    reasons = reason_section(selection.overview.reasons)
    return [
        *([differences] if differences else []),
        *([scores] if scores else []),
        *_metric_sections(rows, gathered.headline),
        *_breakdown_sections([row for row in rows if row.summary.metric in SINGLE], gathered.headline),
        *([reasons] if reasons else []),
        *_record_sections(selection, limits, failures=gathered.broken.by_record, headline=gathered.headline),
        _integrity_section(gathered),
    ]


def _aspect_sections(gathered: _Gathered, limits: Limits, *, told: ToldSentences) -> list[Section]:
    """What a report on aspects shows, theme by theme: quality, effectiveness, sentences, reliability, the rest."""
    rows, selection, parts = gathered.rows, gathered.selection, part_sections(gathered.summary)
    reasons = reason_section(selection.overview.reasons)
    brief = executive_rows(rows)
    families = {title: MetricSection(found, title) for title, found in metric_families(rows).items()}
    sentences = _record_sections(
        selection,
        limits,
        failures=gathered.broken.by_record,
        headline=gathered.headline,
        own=lambda view: sentence_view(view, told.traces.get(view.record_id)),
    )
    ordered: list[Section | None] = [
        MetricSection(brief, EXECUTIVE) if brief else None,
        *(families.get(title) for title in ("Dropped aspects of stage 1", "Grounding")),
        told.flow if selection.overview.responses else None,
        told.blame if told.blame.rows else None,
        parts.get("decisions"),
        *(families.get(title) for title in ("Against gold", "Risks, corrections and changes", "Debate")),
        *sentences,
        families.get("Between runs"),
        *_breakdown_sections(run_rows(rows), gathered.headline),
        *(families.get(title) for title in ("Failures and effort", "Auxiliary classifier")),
        parts.get("others"),
        reasons,
        _integrity_section(gathered),
    ]
    return [section for section in ordered if section is not None]


def _page_sections(
    gathered: _Gathered, counted: CountedPages, *, limits: Limits, metric_texts: Mapping[str, MetricText]
) -> list[Section]:
    """What a report on transcriptions shows: engines and pages, where another has judges and claims."""
    ranking = ranking_section(gathered.summary, counted, metric_texts)
    reading = reading_section(gathered.selection, limits, counted=counted, failures=gathered.broken.by_record)
    others = [row for row in gathered.rows if tuple(row.summary.by) != ("engine",)]
    return [
        *([ranking] if ranking else []),
        *([counted.section] if counted.section.rows else []),
        *([reading] if reading.total else []),
        *_metric_sections(others, gathered.headline),
        *_breakdown_sections(others, gathered.headline),
        _integrity_section(gathered, counted.census),
    ]


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
        broken.counts[failure.step, failure.judge, failure.code] += 1
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
    each = tuple(row for row in agreement if row.summary.judge in specs or row.summary.judge in tallies)
    return JudgeSection(
        judges=tuple(judges),
        agreement=tuple(row for row in agreement if row not in each),
        each=each,
        advice=panel_advice([row.summary for row in rows]),
    )


def _record_sections(
    selection: Selection,
    limits: Limits,
    *,
    failures: Mapping[str, list[Failure]],
    headline: str | None,
    own: Callable[[RecordView], RecordView] | None = None,
) -> list[Section]:
    """The chosen responses, as many as the limit of size lets in; `own` is what an instrument makes of each."""
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
    for view in map(encodable, map(own, chosen) if own else chosen):
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


def _integrity_section(gathered: _Gathered, census: PageCensus | None = None) -> IntegritySection:
    broken = gathered.broken
    counts = sorted(broken.counts.items(), key=lambda item: (-item[1], item[0][0], item[0][1] or "", item[0][2]))
    return IntegritySection(
        tally=tally_of(gathered.selection.overview.labels),
        undefined=tuple(row for row in gathered.rows if row.summary.value is None),
        failure_counts=tuple(FailureCount(*kind, failures) for kind, failures in counts),
        failures=tuple(broken.first),
        failures_total=broken.total,
        records_without_claims=gathered.summary.counts.records_without_claims,
        not_aligned=gathered.selection.overview.not_aligned,
        census=census,
    )
