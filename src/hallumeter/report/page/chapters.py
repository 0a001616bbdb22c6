"""A run on its way to the page: its sections with their templates, and the data that the scripts read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.report.aspects.building import ASPECTS
from hallumeter.report.aspects.families import theme_of
from hallumeter.report.aspects.payload import vocabulary
from hallumeter.report.aspects.sections import PartSection
from hallumeter.report.charts import charts_of
from hallumeter.report.dialogue.building import DIALOGUE
from hallumeter.report.dialogue.wording import group_title
from hallumeter.report.document import (
    TRANSCRIPTS,
    BreakdownSection,
    Document,
    IntegritySection,
    JudgeSection,
    MetricSection,
    RecordSection,
    Section,
)
from hallumeter.report.drawing import PALETTE, Chart, Json
from hallumeter.report.languages.speaking import message, say
from hallumeter.report.transcripts.payload import pages_payload, pairs_payload
from hallumeter.report.transcripts.sections import PageCensus, PageSection, RankingSection, ReadingSection
from hallumeter.report.transcripts.wording import WITNESS_WORDS, has_witness
from hallumeter.report.wording import field_words

from .fitting import Fitted, fitted
from .metric_words import with_metric_words
from .packing import packed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.report.document import MetricRow

TITLES = {
    "overview": message("Overview"),
    "concentration": message("Where it concentrates"),
    "metrics": message("Metrics"),
    "distribution": message("Spread"),
    "breakdown": message("By group"),
    "judges": message("Judges"),
    "reasons": message("Reasons"),
    "records": message("Responses"),
    "integrity": message("Integrity"),
    "ranking": message("Engines"),
    "pages": message("Pages"),
    "readings": message("Page by page"),
    "differences": message("Modes compared"),
    "scores": message("Spread and trend"),
    "parts": message("Parts in counts"),
    "flow": message("Errors through the steps"),
    "blame": message("Who made which error"),
}
"""The sections that this renderer knows, and their headings; each has a template of its own."""
_OWN_TITLES = {
    TRANSCRIPTS: {"metrics": message("All engines together")},
    DIALOGUE: {"metrics": message("All answers together"), "records": message("Answers")},
    ASPECTS: {"records": message("Sentences")},
}
"""The headings that an instrument has in place of these."""
_OWN_TEMPLATES = {
    DIALOGUE: {"records": "section_records_dialogue.html"},
    ASPECTS: {"metrics": "section_metrics_aspects.html"},
}
_OWN_STYLES = {TRANSCRIPTS: "transcripts.css", DIALOGUE: "dialogues.css", ASPECTS: "aspects.css"}
_OWN_SCRIPTS = {DIALOGUE: "dialogues.js", ASPECTS: "aspects.js"}
_GUIDES = {TRANSCRIPTS: "guide_pages.html", DIALOGUE: "guide_dialogue.html", ASPECTS: "guide_aspects.html"}
_BROWSING = ("texts.js", "sources.js", "listing.js")
_SECTION_SCRIPTS = {
    RecordSection: (*_BROWSING, "matching.js", "inspector.js", "records.js"),
    RankingSection: ("ranking.js",),
    PageSection: ("pages.js",),
    ReadingSection: (*_BROWSING, "stretches.js", "readings.js"),
}
"""What the sections need in the browser, beside what all of them share."""


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

    @property
    def guide(self) -> str:
        """The template that tells how to read it."""
        return _GUIDES.get(self.document.instrument, "guide.html")

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

    @property
    def scripts(self) -> list[str]:
        """What its sections need in the browser."""
        kinds = {type(section) for section in self.document.sections}
        used = [name for kind, names in _SECTION_SCRIPTS.items() if kind in kinds for name in names]
        own = _OWN_SCRIPTS.get(self.document.instrument)
        return [*([own] if own and RecordSection in kinds else []), *used]

    @property
    def style(self) -> str | None:
        """The style that its instrument has of its own."""
        return _OWN_STYLES.get(self.document.instrument)

    @property
    def blocks(self) -> dict[str, Json]:
        """The data that the scripts read, each under the name of its block."""
        blocks = chart_blocks(self.charts) | _page_blocks(self.document)
        if self.records_anchor and self.document.instrument == ASPECTS:
            blocks["traces-data"] = vocabulary()
        ready = {name: packed(block) for name, block in blocks.items()} | self.records
        return {self.prefix + name: block for name, block in ready.items()}

    @property
    def census(self) -> PageCensus | None:
        """How many pages there are; None for an instrument without pages."""
        found = (section.census for section in self.document.sections if isinstance(section, IntegritySection))
        return next(found, None)

    @property
    def caution(self) -> str | None:
        """What a reader must know before any number of pages without ground truth; None where they have it."""
        rankings = [section for section in self.document.sections if isinstance(section, RankingSection)]
        columns = [column for section in rankings for column in section.columns + section.further]
        if not has_witness(column.signature for column in columns):
            return None
        told = say(WITNESS_WORDS)
        return told[:1].upper() + told[1:] + "."

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
    return Chapter(document, prefix, tuple(_parts(document, charts, prefix=prefix)), charts, found.blocks)


def _parts(document: Document, charts: tuple[Chart, ...], *, prefix: str) -> list[Part]:
    """The sections that have a template; a kind that this renderer does not know is skipped."""
    parts = []
    titles = TITLES | _OWN_TITLES.get(document.instrument, {})
    templates = _OWN_TEMPLATES.get(document.instrument, {})
    theme: str | None = None
    for place, section in enumerate(document.sections):
        kind = str(section.__struct_config__.tag)
        if kind not in titles:
            continue
        drawn = tuple(chart for chart in charts if chart.section == place)
        template = templates.get(kind, f"section_{kind}.html")
        last, theme = theme, theme_of(section) if document.instrument == ASPECTS else None
        opened = say(theme) if theme is not None and theme != last else None
        title = _title(document, section, titles[kind])
        parts.append(Part(f"{prefix}{kind}-{place}", title, template, section, drawn, opened))
    return parts


def _title(document: Document, section: Section, usual: str) -> str:
    if isinstance(section, MetricSection | BreakdownSection | PartSection) and section.title is not None:
        return say(section.title)
    if isinstance(section, BreakdownSection):
        own = document.instrument == DIALOGUE
        return group_title(section.by) if own else say("By {fields}", fields=field_words(section.by))
    return say(usual)


def _page_blocks(document: Document) -> dict[str, Json]:
    """The data of the scripts that show pages; empty when there are none."""
    sections = {str(section.__struct_config__.tag): section for section in document.sections}
    ranking, pages, readings = (sections.get(name) for name in ("ranking", "pages", "readings"))
    found: dict[str, Json] = {}
    if isinstance(ranking, RankingSection):
        found["pairs-data"] = pairs_payload(ranking)
    if isinstance(pages, PageSection):
        engines = [engine.engine for engine in ranking.engines] if isinstance(ranking, RankingSection) else []
        shown = readings if isinstance(readings, ReadingSection) else None
        found["pages-data"] = pages_payload(pages, engines, shown)
    return found
