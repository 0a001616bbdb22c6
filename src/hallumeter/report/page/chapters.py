"""A run on its way to the page: its sections with their templates, and the data that the scripts read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hallumeter.instruments import instrument_of
from hallumeter.records.measurement import MetricSummary
from hallumeter.report.charts import charts_of
from hallumeter.report.document import (
    BreakdownSection,
    Document,
    FindingSection,
    IntegritySection,
    JudgeSection,
    MetricRow,
    MetricSection,
    MetricText,
    RecordSection,
    RecordView,
    Section,
)
from hallumeter.report.drawing import PALETTE, Chart, Json
from hallumeter.report.languages.speaking import ENGLISH, message, say, speaking, spoken
from hallumeter.report.presentation import Presentation, SectionKind, presentation_of
from hallumeter.report.sections import (
    PageCensus,
    RankingSection,
    ReadingSection,
    ReadingView,
)
from hallumeter.report.wording import field_words, title_words

from .payload import packed, record_payload

# The texts of metrics that a document holds in English, in the language of the page.

T = TypeVar("T")
S = TypeVar("S", bound=Struct)
_TEXTS: dict[type[Struct], tuple[str, ...]] = {
    MetricText: ("alias", "name", "question"),
    MetricSummary: ("undefined",),
}
"""The fields that hold a text of the catalog of metrics, or why a number is undefined; instruments add theirs."""


def with_metric_words(document: Document) -> Document:
    """The document as a reader of this language sees it; a document of its own is always in English."""
    if spoken() == ENGLISH:
        return document
    shown = presentation_of(document.instrument)
    translated = _Translator(_TEXTS | shown.texts, (FindingSection, RecordSection, *shown.large)).translated(document)
    return replace(translated, title=_title(document))


def _title(document: Document) -> str:
    """The title that a run has by itself, in this language; another is the choice of whoever gave it."""
    files = [file.name for file in document.provenance.inputs]
    with speaking(ENGLISH):
        usual = {title_words(run, files): run for run in instrument_of(document.instrument).runs}
    return title_words(usual[document.title], files) if document.title in usual else document.title


class _Translator:
    """Says every text of a metric in the language of the page, however deep it lies."""

    def __init__(self, texts: dict[type[Struct], tuple[str, ...]], without: tuple[type[Struct], ...]) -> None:
        self._texts = texts
        self._without = without
        """What holds no metrics, and is large."""

    def translated(self, value: T) -> T:
        """The same with every text said."""
        if isinstance(value, self._without):
            return value
        if isinstance(value, tuple):
            return type(value)(self.translated(part) for part in value)
        if isinstance(value, dict):
            return type(value)((name, self.translated(part)) for name, part in value.items())
        return self._struct(value) if isinstance(value, Struct) else value

    def _struct(self, value: S) -> S:
        texts = self._texts.get(type(value), ())
        changed = {}
        for name in value.__struct_fields__:
            old = getattr(value, name)
            new = _said(old) if name in texts else self.translated(old)
            if new is not old:
                changed[name] = new
        return replace(value, **changed) if changed else value


def _said(text: T) -> T:
    """A text, or the texts of a dictionary, said; None stays None."""
    if isinstance(text, dict):
        return type(text)((name, say(part)) for name, part in text.items())
    return type(text)(say(text)) if isinstance(text, str) else text


# As many records as a page has room for, so that a report stays a file that can be mailed.

ROOM = 750_000
"""Bytes of a page for packed records; with the drawing library and the rest it stays below two megabytes."""
_View = TypeVar("_View", bound=RecordView | ReadingView)


class Fitted(Struct, frozen=True):
    """A document that fits on its page, and its records as the page holds them."""

    document: Document
    blocks: dict[str, Json]
    """Packed already, because their size decides what fits."""


def fitted(document: Document, *, chapters: int = 1) -> Fitted:
    """The document with as many of its records as fit on a page of so many chapters; the coverage says how many."""
    shown = presentation_of(document.instrument)
    room = max(ROOM // chapters - shown.taken(document), ROOM // (4 * chapters))
    blocks: dict[str, Json] = {}
    sections = []
    for section in document.sections:
        fitting = _fitted_records(section, room, shown) if isinstance(section, RecordSection) else None
        kept, own = fitting or shown.fit(section, room) or (section, {})
        sections.append(kept)
        blocks |= own
    return Fitted(replace(document, sections=tuple(sections)), blocks)


def _fitted_records(section: RecordSection, room: int, shown: Presentation) -> tuple[Section, dict[str, Json]]:
    """The section with the responses that fit, and their block."""
    records, block = kept_views(
        section.records, lambda kept: record_payload(replace(section, records=kept), shown.trace_payload), room
    )
    blocks = {"records-data": block}
    if not section.records:
        # Nothing was left out here: a server has them all.
        return section, blocks
    picked = Counter(view.picked for view in records)
    coverage = section.coverage
    coverage = replace(
        coverage,
        worst=picked["worst"],
        random=picked["random"],
        too_large=coverage.too_large + len(section.records) - len(records),
    )
    return RecordSection(coverage, records), blocks


def block_size(block: Json) -> int:
    """Bytes that a block takes in a page."""
    return len(json.dumps(block, ensure_ascii=False).encode(errors="replace"))


def kept_views(
    views: tuple[_View, ...], payload_of: Callable[[tuple[_View, ...]], Json], room: int
) -> tuple[tuple[_View, ...], Json]:
    """As many as fit, and their block; one stays, however large, so that there is something to read."""
    kept, block = views, packed(payload_of(views))
    while len(kept) > 1 and (size := block_size(block)) > room:
        # A little fewer than the size suggests, because fewer records have less to share.
        kept = _fewer(kept, max(1, int(0.97 * len(kept) * room / size)))
        block = packed(payload_of(kept))
    return kept, block


def _fewer(views: Sequence[_View], kept: int) -> tuple[_View, ...]:
    """The first of the worst and of those drawn at random, in the same proportion."""
    drawn = tuple(view for view in views if view.picked == "random")
    worst = tuple(view for view in views if view.picked == "worst")
    share = kept * len(drawn) // len(views)
    return worst[: kept - share] + drawn[:share]


_BROWSING = ("texts.js", "sources.js", "listing.js")
KINDS = {
    "overview": message("Overview"),
    "findings": message("Findings"),
    "concentration": message("By position"),
    "metrics": message("Metrics"),
    "distribution": message("Per answer"),
    "breakdown": message("By group"),
    "judges": message("Judges"),
    "reasons": message("Reasons"),
    "integrity": message("What is missing"),
}
"""The kinds of sections that instruments share, and their headings; each has a template of its own."""
RECORDS = SectionKind(
    title=message("Answers"),
    template="section_records.html",
    scripts=(*_BROWSING, "matching.js", "inspector.js", "records.js"),
)
READERS = (*_BROWSING, "stretches.js", "readings.js")
"""What a section of readings needs in the browser."""


def _kinds_of(shown: Presentation) -> dict[str, SectionKind]:
    usual = {kind: SectionKind(title=title, template=f"section_{kind}.html") for kind, title in KINDS.items()}
    return {**usual, "records": RECORDS, **shown.kinds}


class Part(Struct, frozen=True):
    """A section on its way to its template."""

    anchor: str
    title: str
    template: str
    section: Section
    charts: tuple[Chart, ...]
    theme: str | None = None
    """What it and the sections behind it answer together; None where it belongs to the one before, or to none."""


class Chapter(Struct, frozen=True):
    """One run on a page."""

    document: Document
    prefix: str
    """What the names of its places on the page begin with; empty where it has the page for itself."""
    parts: tuple[Part, ...]
    charts: tuple[Chart, ...]
    records: dict[str, Json]
    """The data of its records, packed."""
    fitting: Document
    """The document in English, with the records that the page has room for."""

    @property
    def shown(self) -> Presentation:
        """How the runs of its instrument are shown."""
        return presentation_of(self.document.instrument)

    @property
    def guide(self) -> str:
        """The template that tells how to read it."""
        return self.shown.guide

    @property
    def headline(self) -> MetricRow | None:
        """The first figure of the whole run that has a value; None when there is none."""
        sections = (section for section in self.document.sections if isinstance(section, MetricSection))
        rows = (row for section in sections for row in section.rows if row.summary.value is not None)
        return next(rows, None)

    @property
    def records_anchor(self) -> str | None:
        """Where its records can be read; None when there are none."""
        shown = (part.anchor for part in self.parts if isinstance(part.section, RecordSection | ReadingSection))
        return next(shown, None)

    def is_shown(self, record_id: str) -> bool:
        """Whether a record can be opened on this page; a server has them all."""
        return any(
            not section.records or record_id in {view.record_id for view in section.records}
            for section in self.document.sections
            if isinstance(section, RecordSection)
        )

    @property
    def scripts(self) -> list[str]:
        """What its sections need in the browser."""
        tags = {str(section.__struct_config__.tag) for section in self.document.sections}
        used = [name for tag, kind in _kinds_of(self.shown).items() if tag in tags for name in kind.scripts]
        own = self.shown.script
        return [*([own] if own and "records" in tags else []), *used]

    @property
    def style(self) -> str | None:
        """The style that its instrument has of its own."""
        return self.shown.style

    @property
    def blocks(self) -> dict[str, Json]:
        """The data that the scripts read, each under the name of its block."""
        blocks = chart_blocks(self.charts) | self.shown.blocks(self.document)
        if self.records_anchor:
            blocks |= self.shown.records_blocks()
        ready = {name: packed(block) for name, block in blocks.items()} | self.records
        return {self.prefix + name: block for name, block in ready.items()}

    @property
    def census(self) -> PageCensus | None:
        """How many pages there are; None for an instrument without pages."""
        shown = (
            section for section in self.document.sections if isinstance(section, IntegritySection | RankingSection)
        )
        return next((section.census for section in shown if section.census), None)

    @property
    def caution(self) -> str | None:
        """What a reader must know before any number; None for nothing."""
        return self.shown.caution(self.document)

    @property
    def aliases(self) -> dict[str, str]:
        """What the metrics are called in the literature."""
        rows: list[MetricRow] = []
        for section in self.document.sections:
            if isinstance(section, MetricSection):
                rows += section.rows
            elif isinstance(section, JudgeSection):
                rows += section.agreement + section.each
        return {row.summary.metric: row.text.alias for row in rows}


def chart_blocks(charts: Sequence[Chart]) -> dict[str, Json]:
    """The data of the script that draws charts; empty when there are none."""
    specs: dict[str, Json] = {chart.chart_id: dict(chart.spec) for chart in charts}
    swaps: dict[str, Json] = dict(PALETTE.values())
    return {"charts-data": {"specs": specs, "dark": swaps}} if charts else {}


def chapters_of(documents: Sequence[Document]) -> list[Chapter]:
    """The runs of a page; a single one needs no prefix."""
    return [
        _chapter(fitted(document, chapters=len(documents)), "" if len(documents) == 1 else f"run-{place}-")
        for place, document in enumerate(documents)
    ]


def _chapter(found: Fitted, prefix: str) -> Chapter:
    document = with_metric_words(found.document)
    charts = charts_of(document)
    return Chapter(
        document, prefix, tuple(_parts(document, charts, prefix=prefix)), charts, found.blocks, found.document
    )


def _parts(document: Document, charts: tuple[Chart, ...], *, prefix: str) -> list[Part]:
    """The sections that have a template; a kind that this renderer does not know is skipped."""
    parts = []
    shown = presentation_of(document.instrument)
    kinds = _kinds_of(shown)
    theme: str | None = None
    for place, section in enumerate(document.sections):
        tag = str(section.__struct_config__.tag)
        kind = kinds.get(tag)
        if kind is None:
            continue
        drawn = tuple(chart for chart in charts if chart.section == place)
        last, theme = theme, shown.theme(section)
        opened = say(theme) if theme is not None and theme != last else None
        title = _section_title(shown, section, kind.title)
        parts.append(Part(f"{prefix}{tag}-{place}", title, kind.template, section, drawn, opened))
    return parts


def _section_title(shown: Presentation, section: Section, usual: str) -> str:
    own = getattr(section, "title", None)
    if own is not None:
        return say(own)
    if isinstance(section, BreakdownSection):
        named = shown.group_title
        return named(section.by) if named else say("By {fields}", fields=field_words(section.by))
    return say(usual)
