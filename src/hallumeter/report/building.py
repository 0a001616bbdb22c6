"""Build the report document from a summary and a stream of findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

import msgspec
from msgspec import Struct

from hallumeter.records import Label

from .aspects.building import ASPECTS, executive_rows, metric_families, part_sections, run_rows, told_sentences
from .aspects.families import EXECUTIVE
from .aspects.views import sentence_view
from .counting.tallies import UNSUPPORTED, Tallies
from .counting.votes import reference_judge
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
    IntegritySection,
    MetricRow,
    MetricSection,
    MetricText,
    Provenance,
    RecordFindings,
    RecordSection,
    Section,
)
from .encoding import encodable
from .overview.building import overview_sections
from .segmentation import CONSENSUS
from .selection import Limits, Selection, select
from .transcripts.pages import count_pages
from .transcripts.ranking import ranking_section
from .transcripts.reading import page_of, reading_section, severity
from .verdicts.concentrating import concentration_section
from .verdicts.integrity import Broken, count_failures, cut_counts, language_counts
from .verdicts.judging import AGREEMENT, judge_section
from .verdicts.reasons import reason_section
from .views import record_view
from .wording import title_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hallumeter.records import Failure, Manifest, PageRow, Summary
    from hallumeter.records.aspects.traced_sentence import TracedSentence
    from hallumeter.records.decisions.checks import JudgeChecks

    from .document import RecordView
    from .transcripts.pages import CountedPages
    from .transcripts.sections import PageCensus


class Streams(TypedDict, total=False):
    """What a run holds, as streams that are read once, and what is known of it beside."""

    records: Iterable[RecordFindings]
    failures: Iterable[Failure]
    pages: Iterable[PageRow]
    """Of an instrument that reads pages, sorted by page."""
    traced: Iterable[TracedSentence]
    """Of an instrument whose agents read sentences."""
    checks: JudgeChecks | None
    """What labels say about the judges; None where nothing is labelled."""


class _Gathered(Struct, frozen=True):
    """What the sections are made of, once the streams have been read."""

    summary: Summary
    manifest: Manifest
    rows: list[MetricRow]
    selection: Selection
    broken: Broken
    headline: str | None
    confidence: float
    checks: JudgeChecks | None


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
    limits = limits or Limits()
    headline = _headline_judge(summary, metric_texts)
    order = {TRANSCRIPTS: severity, DIALOGUE: dialogue_severity}.get(summary.instrument)
    tallies = Tallies(
        headline,
        reference=reference_judge(judge.name for judge in manifest.judges),
        unsupported=(Label.REFUTED,) if summary.instrument == DIALOGUE else UNSUPPORTED,
    )
    selection = select(streams.get("records", ()), limits, tallies=tallies, severity=order)
    chosen = {item.response.record_id for item in (*selection.worst, *selection.random)}
    broken = count_failures(streams.get("failures", ()), chosen, kept=limits.failures)
    rows = [
        MetricRow(metric_texts.get(metric.metric, MetricText(metric.metric, "", "")), metric)
        for metric in summary.metrics
    ]
    confidence, checks = confidence_of(manifest), streams.get("checks")
    gathered = _Gathered(summary, manifest, rows, selection, broken, headline, confidence, checks)
    sections, census = _sections(gathered, limits, streams=streams, metric_texts=metric_texts)
    first = overview_sections(summary, headline, texts=metric_texts, confidence=confidence, checks=checks)
    document = Document(
        title=title_words(manifest.instrument, [file.name for file in manifest.inputs]),
        instrument=summary.instrument,
        provenance=Provenance(manifest.hallumeter, manifest.seed, manifest.inputs, manifest.judges, manifest.settings),
        counts=summary.counts,
        sections=(*first, *sections, _integrity_section(gathered, sections, census)),
        headline=headline,
        confidence=confidence,
        profiles=summary.profile,
        notices=(*summary.notices, *_label_notices(manifest, selection, headline=headline)),
    )
    return encodable(document)


def _sections(
    gathered: _Gathered, limits: Limits, *, streams: Streams, metric_texts: Mapping[str, MetricText]
) -> tuple[list[Section], PageCensus | None]:
    """What the instrument shows between the overview and what is not a number; and how many pages there are."""
    selection = gathered.selection
    if gathered.summary.instrument == TRANSCRIPTS:
        wanted = {page_of(item.response) for item in (*selection.worst, *selection.random)}
        counted = count_pages(streams.get("pages", ()), wanted=wanted, kept=limits.pages)
        return _page_sections(gathered, counted, limits=limits, metric_texts=metric_texts), counted.census
    if gathered.summary.instrument == ASPECTS:
        return _aspect_sections(gathered, limits, traced=streams.get("traced", ())), None
    own = _dialogue_sections if gathered.summary.instrument == DIALOGUE else _claim_sections
    return own(gathered, limits), None


def _claim_sections(gathered: _Gathered, limits: Limits) -> list[Section]:
    """What a report on claims shows."""
    rows, selection, headline = gathered.rows, gathered.selection, gathered.headline
    reasons = reason_section(selection.tallies.reasons())
    return [
        *_metric_sections(rows, headline),
        *_distribution_sections(selection),
        *_breakdown_sections(rows, headline),
        *_concentration_sections(gathered),
        judge_section(
            rows,
            gathered.manifest,
            tallies=selection.tallies,
            confidence=gathered.confidence,
            checks=gathered.checks,
        ),
        *([reasons] if reasons else []),
        *_record_sections(selection, limits, failures=gathered.broken.by_record, headline=headline),
    ]


def _dialogue_sections(gathered: _Gathered, limits: Limits) -> list[Section]:
    """What a report on dialogues shows: modes and turns, where another has judges."""
    rows, selection = gathered.rows, gathered.selection
    differences, scores = difference_section(gathered.summary), score_section(gathered.summary)
    reasons = reason_section(selection.tallies.reasons())
    return [
        *([differences] if differences else []),
        *([scores] if scores else []),
        *_metric_sections(rows, gathered.headline),
        *_breakdown_sections([row for row in rows if row.summary.metric in SINGLE], gathered.headline),
        *_concentration_sections(gathered),
        *([reasons] if reasons else []),
        *_record_sections(selection, limits, failures=gathered.broken.by_record, headline=gathered.headline),
    ]


def _aspect_sections(gathered: _Gathered, limits: Limits, *, traced: Iterable[TracedSentence]) -> list[Section]:
    """What a report on aspects shows, theme by theme: quality, effectiveness, sentences, reliability, the rest."""
    rows, selection, parts = gathered.rows, gathered.selection, part_sections(gathered.summary)
    shown = {item.response.record_id: item.findings for item in (*selection.worst, *selection.random)}
    told = told_sentences(traced, gathered.summary, shown=shown)
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
        told.flow if selection.tallies.responses else None,
        told.blame if told.blame.rows else None,
        parts.get("decisions"),
        *(families.get(title) for title in ("Against gold", "Risks, corrections and changes", "Debate")),
        *sentences,
        families.get("Between runs"),
        *_breakdown_sections(run_rows(rows), gathered.headline),
        *(families.get(title) for title in ("Failures and effort", "Auxiliary classifier")),
        parts.get("others"),
        reason_section(selection.tallies.reasons()),
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
    ]


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


def _label_notices(manifest: Manifest, selection: Selection, *, headline: str | None) -> list[str]:
    """A warning where the marks on the responses cannot follow the headline."""
    method = manifest.settings.get("consensus")
    is_known = headline != CONSENSUS or CONSENSUS in selection.tallies.judges() or method in {None, "majority"}
    if is_known or not selection.tallies.responses:
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
    tallies = selection.tallies
    if not tallies.responses:
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


def _record_sections(
    selection: Selection,
    limits: Limits,
    *,
    failures: Mapping[str, list[Failure]],
    headline: str | None,
    own: Callable[[RecordView], RecordView] | None = None,
) -> list[Section]:
    """The chosen responses, as many as the limit of size lets in; `own` is what an instrument makes of each."""
    if not selection.tallies.responses:
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


def _concentration_sections(gathered: _Gathered) -> list[Section]:
    """Of dialogues only what is refuted counts: a fact that is not used, or not said of a patient, is not invented."""
    is_dialogue = gathered.summary.instrument == DIALOGUE
    found = concentration_section(
        gathered.selection.tallies, gathered.confidence, counted="REFUTED" if is_dialogue else "unsupported"
    )
    return [found] if found else []


def _integrity_section(gathered: _Gathered, sections: list[Section], census: PageCensus | None) -> IntegritySection:
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
