"""Records on their way from the files of a run to the scripts of its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.report import RecordFindings
from hallumeter.report.document import Coverage, RecordSection
from hallumeter.report.encoding import encodable
from hallumeter.report.page.payload import LABEL_ORDER, record_payload
from hallumeter.report.transcripts.payload import pages_payload, readings_payload
from hallumeter.report.transcripts.reading import reading_view
from hallumeter.report.transcripts.sections import PageSection, RankingSection, ReadingSection
from hallumeter.report.views import record_view
from hallumeter.store import record_at

if TYPE_CHECKING:
    from pathlib import Path

    from hallumeter.report import Document
    from hallumeter.report.drawing import Json

    from .index.reading import Index


def entry(run: Path, index: Index, *, position: int, headline: str | None) -> Json:
    """A line of the list."""
    kept = index.record(position)
    assert kept is not None, "positions come from the index"
    response, findings = record_at(run, kept.place)
    item = RecordFindings(response, findings)
    if index.has_pages:
        own = encodable(reading_view(item, picked="worst", row=kept.row, failures=kept.failures))
        payload = readings_payload(ReadingSection((own,), 1))["readings"]
        assert isinstance(payload, list)
        assert isinstance(payload[0], dict)
        return {**payload[0], "n": position, "t": own.response[:200]}
    view = encodable(record_view(item, picked="worst", headline=headline, failures=kept.failures))
    words = view.question or (view.response or "")[:200]
    counts: list[Json] = [view.tally.by_label[label] for label in LABEL_ORDER]
    return {"n": position, "id": view.record_id, "m": view.model, "w": words[:200], "c": counts, "x": {**view.fields}}


def single(run: Path, index: Index, *, position: int, headline: str | None) -> Json | None:
    """One record as the page's data would hold it; None when there is no such record."""
    kept = index.record(position)
    if kept is None:
        return None
    response, findings = record_at(run, kept.place)
    item = RecordFindings(response, findings)
    if index.has_pages:
        own = encodable(reading_view(item, picked="worst", row=kept.row, failures=kept.failures))
        return readings_payload(ReadingSection((own,), 1))
    view = encodable(record_view(item, picked="worst", headline=headline, failures=kept.failures))
    return record_payload(RecordSection(Coverage(1, 1, 0), (view,)))


def remote_blocks(document: Document, index: Index) -> dict[str, Json]:
    """What stands in the page in place of records, and which readings the rows of a table lead to."""
    if index.has_pages:
        empty = readings_payload(ReadingSection((), index.total))
        return {"readings-data": {**empty, "source": "records", "total": index.total}, **_page_rows(document, index)}
    frame = record_payload(RecordSection(Coverage(0, 0, 0), ()))
    frame |= {"source": "records", "total": index.total, "judges": [*index.judges()]}
    return {"records-data": frame}


def _page_rows(document: Document, index: Index) -> dict[str, Json]:
    """The table of pages, with every reading in reach."""
    pages = next((section for section in document.sections if isinstance(section, PageSection)), None)
    if pages is None:
        return {}
    ranking = next((section for section in document.sections if isinstance(section, RankingSection)), None)
    engines = [engine.engine for engine in ranking.engines] if ranking is not None else []
    positions = index.readings()
    readings: list[Json] = [positions.get((row.page, row.engine)) for row in pages.rows]
    return {"pages-data": {**pages_payload(pages, engines, None), "reading": readings}}
