"""The pages of the viewer, made by the same templates and scripts as a report."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from msgspec import Struct, structs

from hallumeter.decide.compare.page import served_comparison
from hallumeter.instruments import instrument_of
from hallumeter.records.comparison import Comparison
from hallumeter.report.document import (
    BreakdownSection,
    Coverage,
    Document,
    MetricRow,
    MetricSection,
    OverviewSection,
    RecordSection,
    Section,
)
from hallumeter.report.languages.speaking import message, say
from hallumeter.report.page.chapters import chapters_of
from hallumeter.report.page.render import Served, render_served
from hallumeter.report.sections import DifferenceSection, PartSection, ScoreSection
from hallumeter.run.finished import load

from .index.build import opening_document
from .index.reading import Index
from .payloads import remote_blocks
from .runs import FoundRun
from .trends import headline_rows, trend_of

_FROM_SUMMARY = (OverviewSection, MetricSection, BreakdownSection, DifferenceSection, ScoreSection, PartSection)
"""Sections that tell the whole truth before any record is read."""
STATUS_WORDS = {
    "finished": message("finished"),
    "running": message("running"),
    "stopped": message("stopped"),
    "damaged": message("damaged"),
}
RESUME = message("Stopped. To go on, give the same command again; an audit needs --resume.")
"""How a run of which nothing is known is gone on with."""


class RunRow(Struct, frozen=True):
    """A run as a line of the list."""

    run: FoundRun
    when: str
    records: int | None
    metrics: tuple[MetricRow, ...]
    words: str
    """Everything that the search looks at."""
    resume: str
    """How to go on with it, if it was stopped."""


def list_page(folder: str, runs: Sequence[FoundRun]) -> str:
    """All runs of a folder, the youngest first."""
    rows = sorted(map(_row, runs), key=lambda row: (row.run.started or "9", row.run.name), reverse=True)
    facts: dict[str, object] = {
        "title": say("Runs in {folder}", folder=folder),
        "folder": folder,
        "rows": rows,
        "status_words": STATUS_WORDS,
        "version": version("hallumeter"),
        "at": "runs",
    }
    return render_served(_served("viewer_list.html", "static/", facts, scripts=("runs.js",)))


def trend_page(folder: str, runs: Sequence[FoundRun], *, instrument: str | None, metric: str | None) -> str:
    """One metric over the runs of one instrument."""
    trend = trend_of(runs, instrument=instrument, metric=metric)
    facts: dict[str, object] = {
        "title": say("Trends in {folder}", folder=folder),
        "folder": folder,
        "trend": trend,
        "version": version("hallumeter"),
        "at": "trends",
    }
    charts = [trend.chart] if trend is not None and trend.chart is not None else []
    return render_served(_served("viewer_trends.html", "static/", facts), charts=charts)


def run_page(run: FoundRun, index: Index | None, *, fault: str | None = None) -> str:
    """A run: its report with records from the server, what can be said before they are read, or how far it is."""
    facts: dict[str, object] = {
        "run": run,
        "resume": _resume_words(run),
        "fault": fault,
        "is_ready": index is not None,
        "version": version("hallumeter"),
        "at": "run",
    }
    if run.summary is None:
        return render_served(_served("viewer_unfinished.html", "../../static/", facts, scripts=("progress.js",)))
    if index is None:
        document = _without_records(opening_document(load(run.path, verify=False)))
        served = _served("viewer_run.html", "../../static/", facts, scripts=("progress.js",))
        return render_served(served, chapters_of([document]))
    document = _remote(index.document(), index.total)
    served = _served("viewer_run.html", "../../static/", facts, scripts=("progress.js",))
    served = structs.replace(served, blocks=remote_blocks(document, index))
    return render_served(served, chapters_of([document]))


def comparison_page(first: FoundRun, second: FoundRun, found: Comparison) -> str:
    """Two runs side by side, named as the list names them."""
    named = structs.replace(
        found,
        first=structs.replace(found.first, name=first.name),
        second=structs.replace(found.second, name=second.name),
    )
    links = {"first": f"../../runs/{first.run_id}/", "second": f"../../runs/{second.run_id}/"}
    return served_comparison(named, files="../../static/", facts={"links": links, "at": "compare"})


def comparing_page(first: FoundRun, second: FoundRun, *, fault: str | None) -> str:
    """Why two runs cannot be compared, or that it takes a while."""
    facts: dict[str, object] = {
        "title": say("{first} and {second}", first=first.name, second=second.name),
        "first": first.name,
        "second": second.name,
        "fault": fault,
        "version": version("hallumeter"),
        "at": "compare",
    }
    return render_served(_served("viewer_comparing.html", "../../static/", facts, scripts=("waiting.js",)))


def _served(template: str, files: str, facts: dict[str, object], *, scripts: tuple[str, ...] = ()) -> Served:
    return Served(template, files, scripts=scripts, styles=("viewer.css",), facts={"licences": (), **facts})


def _without_records(document: Document) -> Document:
    """The sections that are true as they are; the others would count nothing as none."""
    kept = tuple(section for section in document.sections if isinstance(section, _FROM_SUMMARY))
    return structs.replace(document, sections=kept)


def _remote(document: Document, total: int) -> Document:
    """The document with every record in reach, though none is inside."""

    def reached(section: Section) -> Section:
        if isinstance(section, RecordSection):
            return structs.replace(section, coverage=Coverage(total, total, 0))
        return section

    return structs.replace(document, sections=tuple(map(reached, document.sections)))


def _row(run: FoundRun) -> RunRow:
    summary, manifest = run.summary, run.manifest
    inputs = [file.name for file in manifest.inputs] if manifest is not None else []
    judges = [judge.name for judge in manifest.judges] if manifest is not None else []
    words = " ".join([run.name, run.instrument or "", run.status, *inputs, *judges])
    return RunRow(
        run=run,
        when=_moment(run),
        records=None if summary is None else summary.counts.records,
        metrics=() if summary is None else tuple(headline_rows(summary)),
        words=words,
        resume=_resume_words(run),
    )


def _resume_words(run: FoundRun) -> str:
    return say(RESUME if run.instrument is None else instrument_of(run.instrument).resume)


def _moment(run: FoundRun) -> str:
    """When a run began, or was last heard of, to the minute."""
    if run.started:
        return run.started[:16].replace("T", " ")
    if run.progress is not None:
        return datetime.fromtimestamp(run.progress.noted, UTC).isoformat(" ")[:16]
    return ""
