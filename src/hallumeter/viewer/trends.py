"""How a metric moved from run to run."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hallumeter.instruments import instrument_of
from hallumeter.records.measurement import Summary
from hallumeter.report.catalog import metric_texts
from hallumeter.report.document import MetricRow, MetricText
from hallumeter.report.drawing import PALETTE, Chart, Json, base_spec, tooltip
from hallumeter.report.languages.speaking import say
from hallumeter.report.presentation import presentation_of
from hallumeter.report.wording import format_number, format_pair

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
