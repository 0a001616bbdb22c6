"""Records on their way from the files of a run to the scripts of its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from hallumeter.report import RecordFindings
from hallumeter.report.encoding import encodable
from hallumeter.report.page.packing import packed
from hallumeter.report.page.payload import entry_of, entry_payload, records_block, remote_payload
from hallumeter.report.transcripts.payload import (
    pages_payload,
    reading_entry_payload,
    readings_block,
    remote_readings_payload,
)
from hallumeter.report.transcripts.reading import reading_view
from hallumeter.report.transcripts.sections import PageSection, RankingSection
from hallumeter.report.views import record_view
from hallumeter.store import record_at

if TYPE_CHECKING:
    from pathlib import Path

    from hallumeter.report import Document, RecordView
    from hallumeter.report.drawing import Json
    from hallumeter.report.transcripts.sections import ReadingView

    from .index.reading import Index, KeptRecord


def entry(run: Path, index: Index, *, position: int) -> Json:
    """A line of the list."""
    kept = index.record(position)
    assert kept is not None, "positions come from the index"
    if index.has_pages:
        return reading_entry_payload(_reading(run, kept), position)
    return entry_payload(entry_of(_record(run, kept, headline=index.headline), position))


def single(run: Path, index: Index, *, position: int) -> Json | None:
    """One record as the page's data would hold it; None when there is no such record."""
    kept = index.record(position)
    if kept is None:
        return None
    if index.has_pages:
        return readings_block([_reading(run, kept)])
    return records_block([_record(run, kept, headline=index.headline)])


def remote_blocks(document: Document, index: Index) -> dict[str, Json]:
    """What stands in the page in place of records, and which readings the rows of a table lead to."""
    if index.has_pages:
        return {"readings-data": remote_readings_payload(total=index.total), **_page_rows(document, index)}
    return {"records-data": remote_payload(total=index.total, judges=index.judges())}


def _record(run: Path, kept: KeptRecord, *, headline: str | None) -> RecordView:
    response, findings = record_at(run, kept.place)
    item = RecordFindings(response, findings)
    view = record_view(item, picked="worst", headline=headline, failures=kept.failures)
    return encodable(structs.replace(view, trace=kept.trace))


def _reading(run: Path, kept: KeptRecord) -> ReadingView:
    response, findings = record_at(run, kept.place)
    item = RecordFindings(response, findings)
    return encodable(reading_view(item, picked="worst", row=kept.row, failures=kept.failures))


def _page_rows(document: Document, index: Index) -> dict[str, Json]:
    """The table of pages, with every reading in reach."""
    pages = next((section for section in document.sections if isinstance(section, PageSection)), None)
    if pages is None:
        return {}
    ranking = next((section for section in document.sections if isinstance(section, RankingSection)), None)
    engines = [engine.engine for engine in ranking.engines] if ranking is not None else []
    positions = index.readings()
    readings: list[Json] = [positions.get((row.page, row.engine)) for row in pages.rows]
    return {"pages-data": packed({**pages_payload(pages, engines, None), "reading": readings})}
