"""Records on their way from the files of a run to the scripts of its page."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from hallumeter.report.document import Document, RecordFindings, RecordView
from hallumeter.report.drawing import Json
from hallumeter.report.encoding import encodable
from hallumeter.report.page.payload import entry_of, entry_payload, records_block, remote_payload
from hallumeter.report.presentation import Readings, presentation_of
from hallumeter.report.sections import ReadingView
from hallumeter.report.selection import record_view
from hallumeter.run.run_folder import record_at

from .index.reading import Index, KeptRecord


def entry(run: Path, index: Index, *, position: int) -> Json:
    """A line of the list."""
    kept = index.record(position)
    assert kept is not None, "positions come from the index"
    readings = presentation_of(index.instrument).readings
    if readings is not None:
        return readings.entry(_reading(run, kept, readings), position)
    return entry_payload(entry_of(_record(run, kept, headline=index.headline), position))


def single(run: Path, index: Index, *, position: int) -> Json | None:
    """One record as the page's data would hold it; None when there is no such record."""
    kept = index.record(position)
    if kept is None:
        return None
    shown = presentation_of(index.instrument)
    if shown.readings is not None:
        view = _reading(run, kept, shown.readings)
        address = f"records/{position}/image" if view.image is not None else None
        return shown.readings.block([structs.replace(view, image=address)])
    return records_block([_record(run, kept, headline=index.headline)], shown.trace_payload)


def image_of(run: Path, index: Index, *, position: int) -> Path | None:
    """The file with the image of a record's page; None when it names none."""
    kept = index.record(position)
    readings = presentation_of(index.instrument).readings
    if kept is None or readings is None:
        return None
    image = _reading(run, kept, readings).image
    return None if image is None else Path(image)


def remote_blocks(document: Document, index: Index) -> dict[str, Json]:
    """What stands in the page in place of records, and which readings the rows of a table lead to."""
    readings = presentation_of(index.instrument).readings
    if readings is not None:
        return {"readings-data": readings.remote(index.total), **readings.table(document, index.readings())}
    return {"records-data": remote_payload(total=index.total, judges=index.judges())}


def _record(run: Path, kept: KeptRecord, *, headline: str | None) -> RecordView:
    response, findings = record_at(run, kept.place)
    item = RecordFindings(response, findings)
    view = record_view(item, picked="worst", headline=headline, failures=kept.failures)
    return encodable(structs.replace(view, trace=kept.trace))


def _reading(run: Path, kept: KeptRecord, readings: Readings) -> ReadingView:
    response, findings = record_at(run, kept.place)
    item = RecordFindings(response, findings)
    return encodable(readings.view(item, picked="worst", row=kept.row, failures=kept.failures))
