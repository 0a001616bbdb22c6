"""How the runs of one instrument are shown: everything that a report asks an instrument for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from hallumeter.instruments import instrument_of
from hallumeter.records.claim import Finding, Label
from hallumeter.records.decisions import JudgeChecks
from hallumeter.records.manifest import Manifest
from hallumeter.records.measurement import Summary

from .document import Document, Fact, MetricRow, MetricText, RecordFindings, Section
from .drawing import Chart, Json
from .integrity import Broken
from .sections import PageCensus, ReadingView, SentenceTrace
from .selection import Limits, Selection
from .tallies import UNSUPPORTED


class Gathered(Struct, frozen=True):
    """What the sections of a document are made of, once everything in a run has been read."""

    summary: Summary
    manifest: Manifest
    rows: list[MetricRow]
    texts: Mapping[str, MetricText]
    selection: Selection
    broken: Broken
    headline: str | None
    confidence: float
    limits: Limits
    checks: JudgeChecks | None = None
    """What labels say about the judges; None where nothing is labelled."""
    own: Any = None
    """What the instrument reads of a run beside its records, as its `read` gave it."""


class Sections(Struct, frozen=True):
    """What an instrument shows between the overview and what is not a number."""

    sections: Sequence[Section]
    census: PageCensus | None = None
    """How many pages there are, for an instrument that reads pages."""


class SectionKind(Struct, frozen=True, kw_only=True):
    """How one kind of section is put on a page."""

    title: str
    template: str
    scripts: tuple[str, ...] = ()
    """What it needs in the browser, beside what all sections share."""


class Readings(Struct, frozen=True, kw_only=True):
    """How records are shown that are readings of pages: beside the text of the page, in place of a list of claims."""

    view: Callable[..., ReadingView]
    """From a record, why it was picked, its row of the table of pages and its failures."""
    entry: Callable[[ReadingView, int], Json]
    """A line of the list, and under which number it can be opened."""
    block: Callable[[Sequence[ReadingView]], Json]
    remote: Callable[[int], Json]
    """What the page needs to know before it asks a server for so many readings."""
    table: Callable[[Document, Mapping[tuple[str, str], int]], dict[str, Json]]
    """The table of pages, whose rows lead to readings by their positions."""


class Presentation(Struct, frozen=True, kw_only=True):
    """Everything that differs between the reports of two instruments."""

    sections: Callable[[Gathered], Sections]
    facts: Callable[[Summary, str | None, float], Iterable[Fact]]
    """What is told first, from the summary, the headline's judge and the confidence of intervals."""
    figures: tuple[str, ...]
    """The metrics that are shown large."""
    label_facts: Callable[[list[Fact], JudgeChecks, str | None], list[Fact]] | None = None
    """The same facts with what labels add to them."""
    charts: Callable[[Section, float], list[Chart]]
    """The charts of a section, at the confidence of its intervals."""
    read: Callable[[Path], Any] | None = None
    """What is read of a run folder beside records and failures."""
    checks: Callable[[Any], JudgeChecks | None] | None = None
    """What labels say about the judges of a run."""
    severity: Callable[[RecordFindings], tuple[float, float, float]] | None = None
    """How bad a record is; None where its unsupported claims tell."""
    sharer: Callable[[RecordFindings], str] | None = None
    """Whose record it is, where each shall have an equal share of the worst that are shown."""
    has_figures: Callable[[Summary], bool] = lambda _: True
    """Whether figures of the whole run are worth being shown large."""
    unsupported: tuple[Label, ...] = UNSUPPORTED
    """The labels that are counted where claims concentrate."""
    kinds: dict[str, SectionKind] = {}
    """Kinds of sections that only this instrument has, or shows in its own way, by their tag."""
    guide: str = "guide.html"
    """The template that tells how to read the report."""
    counts: str = "counts_claims.html"
    """The template of the counts in the header."""
    metrics: str = "metrics_usual.html"
    """The template of the table of headline metrics."""
    is_undefined_abbreviated: bool = False
    """Whether a table of groups shows a dash with the reason behind it, instead of the reason."""
    usual_policies: tuple[str, ...] = ()
    """The policies of a run that was given none: their opinions are not shown."""
    templates: Path | None = None
    """A folder of templates that only this instrument has."""
    style: str | None = None
    script: str | None = None
    """What its browser of records needs beside the usual."""
    theme: Callable[[Section], str | None] = lambda _: None
    """What a section and its neighbours answer together."""
    group_title: Callable[[Sequence[str]], str] | None = None
    """What a breakdown by these fields is called; None for the usual words."""
    blocks: Callable[[Document], dict[str, Json]] = lambda _: {}
    """Data that its scripts read, by the name of the block."""
    records_blocks: Callable[[], dict[str, Json]] = dict
    """The same where records are shown."""
    caution: Callable[[Document], str | None] = lambda _: None
    """What a reader must know before any number."""
    fit: Callable[[Section, int], tuple[Section, dict[str, Json]] | None] = lambda _, __: None
    """A section with as many of its records as fit into so many bytes, and their blocks; None for the usual kinds."""
    taken: Callable[[Document], int] = lambda _: 0
    """Bytes that other blocks of its page take."""
    readings: Readings | None = None
    """How its records are browsed where they are readings of pages; None for responses with claims."""
    trace: Callable[[Any, Sequence[Finding]], SentenceTrace] | None = None
    """The way of a record through the steps of a pipeline, from what `read` gave of it and its findings."""
    trace_payload: Callable[[SentenceTrace, str], Json] | None = None
    """The way of a record through the steps of a pipeline, as the page's script reads it."""
    texts: dict[type[Struct], tuple[str, ...]] = {}
    """Fields of its sections that hold a text of the catalog, said in the language of the page."""
    large: tuple[type[Struct], ...] = ()
    """Sections that hold no such text, and are large."""
    functions: Callable[[], dict[str, object]] = dict
    """What its templates call."""
    filters: Callable[[], dict[str, Callable[..., object]]] = dict
    behind: dict[str, Behind] = {}
    """The records behind each of its metrics that has any."""


def presentation_of(run: str) -> Presentation:
    """How runs of this name are shown."""
    found = instrument_of(run).presentation()
    assert isinstance(found, Presentation), f"the presentation of {run} is no Presentation"
    return found


Query = dict[str, Json]


class Behind(Struct, frozen=True):
    """What a metric counts, and among what."""

    counted: Query
    among: Query
    missed: Query | None = None
    """What keeps the value below 1, for a metric that counts what is right; it tells more than what is right."""
    undecided: Query = field(default_factory=lambda: {"label": "UNDECIDED"})
    """What could not be told."""


def labels_behind(label: str) -> Behind:
    """Findings of a label, among those that are decided."""
    return Behind({"label": label}, {"label": "decided"})


def findings_behind(kind: str, label: str) -> Behind:
    """Findings of a kind with a label, among all of the kind."""
    return Behind({"kind": kind, "label": label}, {"kind": kind})
