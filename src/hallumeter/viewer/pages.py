"""The pages of the viewer, made by the same templates and scripts as a report, with the trends of metrics."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from msgspec import Struct, structs

from hallumeter.decide.compare.page import served_comparison
from hallumeter.instruments import instrument_of
from hallumeter.records.comparison import Comparison
from hallumeter.records.measurement import Summary
from hallumeter.report.catalog import metric_texts
from hallumeter.report.document import (
    BreakdownSection,
    Coverage,
    Document,
    MetricRow,
    MetricSection,
    MetricText,
    OverviewSection,
    RecordFindings,
    RecordSection,
    RecordView,
    Section,
    encodable,
)
from hallumeter.report.drawing import PALETTE, Chart, Json, base_spec, tooltip
from hallumeter.report.languages.speaking import message, say
from hallumeter.report.page.chapters import chapters_of
from hallumeter.report.page.payload import entry_of, entry_payload, records_block, remote_payload
from hallumeter.report.page.render import Served, render_served
from hallumeter.report.presentation import Readings, presentation_of
from hallumeter.report.sections import DifferenceSection, PartSection, ReadingView, ScoreSection
from hallumeter.report.selection import record_view
from hallumeter.report.wording import format_number, format_pair
from hallumeter.run.finished import load
from hallumeter.run.run_folder import record_at

from .index.build import opening_document
from .index.reading import Index, KeptRecord
from .runs import FoundRun

# The few numbers by which a run is known in a list.

SHOWN = 2
_AGREEMENT = "agreement"


def whole_rows(summary: Summary) -> list[MetricRow]:
    """The metrics of a whole run: by the judge that the headline rests on, those that come first at the head."""
    texts, first = metric_texts(summary.instrument), instrument_of(summary.instrument).headline
    rows = [
        MetricRow(texts.get(metric.metric, MetricText(metric.metric, "", "")), metric)
        for metric in summary.metrics
        if not metric.by
    ]
    rows = [row for row in rows if row.text.family != _AGREEMENT]
    headline = next((row.summary.judge for row in rows if row.summary.judge is not None), None)
    own = [row for row in rows if row.summary.judge in {None, headline}]
    return sorted(own, key=lambda row: first.index(row.summary.metric) if row.summary.metric in first else len(first))


def headline_rows(summary: Summary) -> list[MetricRow]:
    """The first of them that have a value; none where figures of the whole run tell little."""
    if not presentation_of(summary.instrument).has_figures(summary):
        return []
    return [row for row in whole_rows(summary) if row.summary.value is not None][:SHOWN]


# How a metric moved from run to run.

_COLOURS = ("accent", "not_enough_info", "refuted", "undecided", "ink")
"""Of groups of runs that can be compared with each other."""


_LEVEL = 6
"""Runs whose names fit beside each other."""


class Point(Struct, frozen=True):
    """A metric of a run."""

    run: FoundRun
    row: MetricRow
    group: int
    """Runs with the same signature have the same number: only they can be compared."""


class Trend(Struct, frozen=True):
    """A metric over the runs of an instrument, in the order in which they began."""

    instrument: str
    instruments: tuple[str, ...]
    text: MetricText
    metric: str
    metrics: tuple[tuple[str, str], ...]
    """Ids and names of the metrics that can be chosen."""
    points: tuple[Point, ...]
    signatures: tuple[str, ...]
    """One for each group."""
    undefined: int
    """Runs in which the metric has no value."""
    chart: Chart | None


def trend_of(runs: Sequence[FoundRun], *, instrument: str | None = None, metric: str | None = None) -> Trend | None:
    """The trend that was chosen, else the first there is; None when no run is finished."""
    finished = sorted((run for run in runs if run.summary is not None), key=lambda run: (run.started, run.name))
    instruments = tuple(sorted({run.instrument or "" for run in finished}))
    if not instruments:
        return None
    chosen = instrument if instrument in instruments else _most_frequent(finished)
    rows = {run.run_id: whole_rows(run.summary) for run in finished if run.summary and run.instrument == chosen}
    texts = {row.summary.metric: row.text for own in rows.values() for row in own}
    if not texts:
        return None
    wanted = metric if metric in texts else next(iter(texts))
    own = [(run, row) for run in finished for row in rows.get(run.run_id, ()) if row.summary.metric == wanted]
    signatures = tuple(dict.fromkeys(row.summary.signature for _, row in own if row.summary.value is not None))
    points = tuple(
        Point(run, row, signatures.index(row.summary.signature)) for run, row in own if row.summary.value is not None
    )
    return Trend(
        instrument=chosen,
        instruments=instruments,
        text=texts[wanted],
        metric=wanted,
        metrics=tuple((name, text.alias) for name, text in texts.items()),
        points=points,
        signatures=signatures,
        undefined=len(own) - len(points),
        chart=_chart(points, texts[wanted]) if points else None,
    )


def _most_frequent(runs: Sequence[FoundRun]) -> str:
    names = [run.instrument or "" for run in runs]
    return max(sorted(set(names)), key=names.count)


def _chart(points: Sequence[Point], text: MetricText) -> Chart:
    title = say("{metric} from run to run", metric=text.alias)
    spec = base_spec(title, height=280)
    spec["data"] = {"values": [_datum(place, point) for place, point in enumerate(points)]}
    groups = sorted({point.group for point in points})
    colours: list[Json] = [PALETTE[_COLOURS[group % len(_COLOURS)]][0] for group in groups]
    x: dict[str, Json] = {
        "field": "label",
        "type": "ordinal",
        "sort": None,
        "axis": {
            "title": None,
            "labelAngle": 0 if len(points) <= _LEVEL else -35,
            "labelLimit": 140,
            "labelOverlap": True,
            "grid": False,
        },
    }
    domain: dict[str, Json] = {"zero": False, "nice": True}
    y: dict[str, Json] = {"type": "quantitative", "scale": domain, "axis": {"title": text.alias, "tickCount": 5}}
    colour: dict[str, Json] = {
        "field": "group",
        "type": "nominal",
        "scale": {"domain": [f"{group + 1}" for group in groups], "range": colours},
        "legend": None if len(groups) == 1 else {"title": say("Signature"), "orient": "top"},
    }
    tips: list[Json] = [
        tooltip("run", say("run")),
        tooltip("when", say("began")),
        tooltip("shown", text.alias),
        tooltip("range", say("interval")),
    ]
    spec["encoding"] = {"x": x, "color": colour}
    spec["layer"] = _layers(y, tips)
    caption = say("Each point is a run, in the order in which they started; the bar is its interval.")
    return Chart("trend", title, caption, spec)


def _layers(y: dict[str, Json], tips: list[Json]) -> list[Json]:
    """A line through runs that can be compared, an interval and a point for each."""
    return [
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"y": {**y, "field": "value"}, "detail": {"field": "group"}},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.55},
            "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
            "encoding": {
                "y": {**y, "field": "value"},
                "shape": {"field": "group", "type": "nominal", "legend": None},
                "tooltip": tips,
            },
        },
    ]


def _datum(place: int, point: Point) -> Json:
    summary = point.row.summary
    assert summary.value is not None, "points have a value"
    low, high = summary.interval or (None, None)
    name = point.run.name
    return {
        # Two runs of one name would be drawn at one place.
        "label": f"{place + 1} · {name if len(name) <= 24 else f'…{name[-23:]}'}",
        "run": name,
        "when": point.run.started[:16].replace("T", " "),
        "value": summary.value,
        "low": low,
        "high": high,
        "shown": format_number(summary.value),
        "range": format_pair(summary.interval),
        "group": f"{point.group + 1}",
    }


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


# Records on their way from the files of a run to the scripts of its page.


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
