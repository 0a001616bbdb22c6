"""How runs of transcripts are shown: engines and pages, where another has judges and claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from hallumeter.records.page import PageRow, page_of
from hallumeter.records.ranking import Ranking
from hallumeter.report.build import breakdown_sections, metric_sections
from hallumeter.report.charts import group_charts
from hallumeter.report.document import BreakdownSection, Document, Section
from hallumeter.report.drawing import Chart, Json
from hallumeter.report.languages.speaking import message, say
from hallumeter.report.page.chapters import READERS, block_size, kept_views
from hallumeter.report.page.payload import packed
from hallumeter.report.presentation import Behind, Gathered, Presentation, Readings, SectionKind, Sections
from hallumeter.report.sections import PageSection, RankingColumn, RankingSection, ReadingSection
from hallumeter.transcripts.catalog import METRICS
from hallumeter.transcripts.pages_table import PAGES, read_pages

from .charts import page_charts, rank_charts
from .overview import FIGURES, page_facts
from .pages import count_pages, reading_section, reading_view, severity
from .payload import (
    KIND_WORDS,
    pages_payload,
    pairs_payload,
    reading_entry_payload,
    readings_block,
    readings_payload,
    remote_readings_payload,
)
from .ranking import (
    HALLUCINATING,
    WITNESS_WORDS,
    difference_words,
    has_witness,
    metric_words,
    neighbours,
    p_words,
    ranking_section,
    reading_coverage_words,
)


def _read(run: Path) -> Iterator[PageRow]:
    return read_pages(run / PAGES) if (run / PAGES).exists() else iter(())


def _sections(gathered: Gathered) -> Sections:
    selection, limits = gathered.selection, gathered.limits
    wanted = {page_of(item.response) for item in (*selection.worst, *selection.random)}
    counted = count_pages(gathered.own or (), wanted=wanted, kept=limits.pages)
    ranking = ranking_section(gathered.summary, counted, gathered.texts)
    reading = reading_section(selection, limits, counted=counted, failures=gathered.broken.by_record)
    others = [row for row in gathered.rows if tuple(row.summary.by) != ("engine",)]
    sections: list[Section] = [
        *([ranking] if ranking else []),
        *([counted.section] if counted.section.rows else []),
        *([reading] if reading.total else []),
        *metric_sections(gathered, others),
        *breakdown_sections(gathered, others),
    ]
    return Sections(sections, counted.census)


def _charts(section: Section, confidence: float) -> list[Chart]:
    if isinstance(section, RankingSection):
        return rank_charts(section)
    if isinstance(section, PageSection):
        return page_charts(section)
    return group_charts(section, confidence) if isinstance(section, BreakdownSection) else []


def _taken(document: Document) -> int:
    """Bytes of the table of pages, which leave less room for readings."""
    tables = [section for section in document.sections if isinstance(section, PageSection)]
    return sum(block_size(packed(pages_payload(table, [], None))) for table in tables)


def _fit(section: Section, room: int) -> tuple[Section, dict[str, Json]] | None:
    if not isinstance(section, ReadingSection):
        return None
    readings, block = kept_views(section.readings, lambda kept: readings_payload(replace(section, readings=kept)), room)
    left_out = len(section.readings) - len(readings)
    return replace(section, readings=readings, too_large=section.too_large + left_out), {"readings-data": block}


def _blocks(document: Document) -> dict[str, Json]:
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


def _table(document: Document, positions: Mapping[tuple[str, str], int]) -> dict[str, Json]:
    """The table of pages, with every reading in reach."""
    pages = next((section for section in document.sections if isinstance(section, PageSection)), None)
    if pages is None:
        return {}
    ranking = next((section for section in document.sections if isinstance(section, RankingSection)), None)
    engines = [engine.engine for engine in ranking.engines] if ranking is not None else []
    readings: list[Json] = [positions.get((row.page, row.engine)) for row in pages.rows]
    return {"pages-data": packed({**pages_payload(pages, engines, None), "reading": readings})}


def _caution(document: Document) -> str | None:
    """What a reader must know before any number of pages without ground truth; None where they have it."""
    rankings = [section for section in document.sections if isinstance(section, RankingSection)]
    columns = [column for section in rankings for column in section.columns + section.further]
    if not has_witness(column.signature for column in columns):
        return None
    told = say(WITNESS_WORDS)
    return told[:1].upper() + told[1:] + "."


def _functions() -> dict[str, object]:
    return {
        "kind_words": KIND_WORDS,
        "hallucinating": HALLUCINATING,
        "difference_of": difference_words,
        "neighbours_of": neighbours,
    }


def _filters() -> dict[str, Callable[..., object]]:
    return {"metric_name": metric_words, "p_value": p_words, "reading_coverage": reading_coverage_words}


def _pages(**counted: Json) -> Behind:
    return Behind(counted, {}, undecided={"status": "undecided"})


PRESENTATION = Presentation(
    sections=_sections,
    facts=page_facts,
    figures=FIGURES,
    charts=_charts,
    read=_read,
    severity=severity,
    readings=Readings(
        view=reading_view,
        entry=reading_entry_payload,
        block=readings_block,
        remote=lambda total: remote_readings_payload(total=total),
        table=_table,
    ),
    kinds={
        "metrics": SectionKind(title=message("All engines together"), template="section_metrics.html"),
        "ranking": SectionKind(title=message("Engines"), template="section_ranking.html", scripts=("ranking.js",)),
        "pages": SectionKind(title=message("Pages"), template="section_pages.html", scripts=("pages.js",)),
        "readings": SectionKind(title=message("Page by page"), template="section_readings.html", scripts=READERS),
    },
    guide="guide_pages.html",
    style="transcripts.css",
    blocks=_blocks,
    caution=_caution,
    fit=_fit,
    taken=_taken,
    texts={RankingColumn: ("heading", "name", "question"), Ranking: ("undefined",)},
    large=(PageSection, ReadingSection),
    functions=_functions,
    filters=_filters,
    behind={
        # Rates of characters, of words as a bag, and of whole pages speak of every page.
        **{metric.id: _pages() for metric in METRICS},
        "true_insertion_rate": _pages(kind="insertion"),
        "invented_rate": _pages(kind="block"),
        "loop_rate": _pages(kind="loop"),
        "omission_rate": _pages(kind="omission"),
        "hallucinating_page_rate": _pages(badge=True),
        "empty_output_rate": _pages(status="empty_output"),
    },
)
