"""The charts of dialogues: modes side by side, their differences, the spread of scores, the trend over turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.report.drawing import PALETTE, Chart, base_spec, tooltip
from hallumeter.report.transcripts.charts import ENGINE_COLOURS
from hallumeter.report.wording import DIRECTION_WORDS, format_number, format_pair, interval_words

from .wording import SINGLE, p_words, pairs_of_modes, signed

if TYPE_CHECKING:
    from hallumeter.records import MetricSummary
    from hallumeter.records.pairing import ModeDifference, ScoreBins
    from hallumeter.report.drawing import Json

    from .sections import DifferenceSection, ScoreSection

ROW_HEIGHT = 34
CHART_HEIGHT = 180


def score_charts(section: ScoreSection, confidence: float) -> list[Chart]:
    """Modes side by side, then for each metric its trend over turns and the spread over answers."""
    drawn = _mode_chart(section, confidence)
    for metric in SINGLE:
        drawn += _trend_chart(section, metric, confidence)
        drawn += _spread_chart(section, metric)
    return drawn


def difference_charts(section: DifferenceSection, confidence: float) -> list[Chart]:
    """Every difference as a point with its interval; one chart for each mode that is compared."""
    drawn = []
    for (first, second), rows in pairs_of_modes(section.differences):
        values: list[Json] = [_difference(row, section.names) for row in rows if row.difference is not None]
        if values:
            title = f"{second} minus {first}"
            caption = (
                f"Mean difference over the turns that both were asked, with its {interval_words(confidence)}; whole "
                "patients are resampled. An arrow tells which way the metric is better."
            )
            drawn.append(Chart("differences", title, caption, _difference_spec(title, values, confidence)))
    return drawn


def _difference(row: ModeDifference, names: dict[str, str]) -> dict[str, Json]:
    low, high = row.interval or (None, None)
    return {
        "name": f"{names.get(row.metric, row.metric)} {DIRECTION_WORDS[row.direction][0]}".strip(),
        "value": row.difference,
        "low": low,
        "high": high,
        "shown": signed(row.difference),
        "interval": format_pair(row.interval),
        "p": p_words(row.adjusted_p_value),
    }


def _difference_spec(title: str, values: list[Json], confidence: float) -> dict[str, Json]:
    """Points and intervals beside a line at no difference."""
    spec = base_spec(title, height=ROW_HEIGHT * len(values))
    spec["data"] = {"values": values}
    spec["encoding"] = {"y": {"field": "name", "type": "nominal", "sort": None, "title": None}}
    accent, line = PALETTE["accent"][0], PALETTE["muted"][0]
    tips: list[Json] = [
        tooltip("name", "metric"),
        tooltip("shown", "difference"),
        tooltip("interval", interval_words(confidence)),
        tooltip("p", "adjusted p"),
    ]
    spec["layer"] = [
        {
            "data": {"values": [{"zero": 0}]},
            "mark": {"type": "rule", "color": line, "strokeDash": [4, 3]},
            "encoding": {"x": {"field": "zero", "type": "quantitative"}, "y": None},
        },
        {
            "mark": {"type": "rule", "size": 2.5, "color": accent},
            "encoding": {"x": _along("low", title), "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 90, "color": accent, "opacity": 1},
            "encoding": {"x": _along("value", title), "tooltip": tips},
        },
    ]
    return spec


def _mode_chart(section: ScoreSection, confidence: float) -> list[Chart]:
    """Every metric with a point for each mode."""
    rows = [row for metric in SINGLE for row in section.by_mode if row.metric == metric]
    if not rows:
        return []
    values: list[Json] = [_point(row) | {"metric": _label(section, row)} for row in rows]
    metrics = list(dict.fromkeys(row.metric for row in rows))
    spec = base_spec("Modes side by side", height=(18 * len(section.modes) + 10) * len(metrics))
    spec["data"] = {"values": values}
    spec["encoding"] = {
        "y": {"field": "metric", "type": "nominal", "sort": None, "title": None},
        "yOffset": {"field": "mode", "type": "nominal", "sort": None},
        "color": _mode_colours(section),
    }
    tips: list[Json] = [
        tooltip("mode", "mode"),
        tooltip("metric", "metric"),
        tooltip("shown", "mean"),
        tooltip("interval", interval_words(confidence)),
    ]
    spec["layer"] = [
        {"mark": {"type": "rule", "size": 2.5}, "encoding": {"x": _axis("low"), "x2": {"field": "high"}}},
        {
            "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
            "encoding": {"x": _axis("value"), "tooltip": tips},
        },
    ]
    caption = f"Mean over answers with its {interval_words(confidence)}; an arrow tells which way a metric is better."
    return [Chart("modes", "Modes side by side", caption, spec)]


def _trend_chart(section: ScoreSection, metric: str, confidence: float) -> list[Chart]:
    """A metric from turn to turn, a line for each mode."""
    rows = sorted((row for row in section.trend if row.metric == metric), key=lambda row: int(row.by["turn_id"]))
    if len({row.by["turn_id"] for row in rows}) < 2:
        return []
    title = f"{section.names[metric]} from turn to turn"
    values: list[Json] = [_point(row) | {"turn": row.by["turn_id"]} for row in rows]
    spec = base_spec(title, height=CHART_HEIGHT)
    spec["data"] = {"values": values}
    axis: dict[str, Json] = {"labelAngle": 0}
    spec["encoding"] = {
        "x": {"field": "turn", "type": "ordinal", "sort": None, "title": "turn", "axis": axis},
        "color": _mode_colours(section),
    }
    tips: list[Json] = [
        tooltip("mode", "mode"),
        tooltip("turn", "turn"),
        tooltip("shown", "mean"),
        tooltip("interval", interval_words(confidence)),
    ]
    height: dict[str, Json] = {"type": "quantitative", "title": None, "scale": {"domain": [0, 1]}}
    spec["layer"] = [
        {
            "mark": {"type": "rule", "opacity": 0.5},
            "encoding": {"y": {"field": "low", **height}, "y2": {"field": "high"}},
        },
        {"mark": {"type": "line"}, "encoding": {"y": {"field": "value", **height}}},
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "encoding": {"y": {"field": "value", **height}, "tooltip": tips},
        },
    ]
    caption = f"Mean over the answers of a turn, with its {interval_words(confidence)}; turns without a value left out."
    return [Chart("trend", title, caption, spec)]


def _spread_chart(section: ScoreSection, metric: str) -> list[Chart]:
    """How many answers of each mode have which value."""
    rows = [bins for bins in section.spread if bins.metric == metric]
    if not rows:
        return []
    title = f"{section.names[metric]} of single answers"
    spec = base_spec(title, height=CHART_HEIGHT)
    spec["data"] = {"values": [value for bins in rows for value in _bars(bins)]}
    spec["mark"] = {"type": "bar"}
    spec["encoding"] = {
        "x": {
            "field": "from",
            "type": "ordinal",
            "sort": None,
            "title": f"{section.names[metric]}, from … on",
            "axis": {"labelAngle": 0, "labelOverlap": True},
        },
        "xOffset": {"field": "mode", "type": "nominal", "sort": None},
        "y": {"field": "share", "type": "quantitative", "title": "share of answers", "scale": {"domainMin": 0}},
        "color": _mode_colours(section),
        "tooltip": [tooltip("mode", "mode"), tooltip("from", "from"), tooltip("answers", "answers")],
    }
    without = [f"{bins.mode} {bins.undefined:,}" for bins in rows if bins.undefined]
    caption = "Share of the answers that have a value, in steps of 0.05."
    if without:
        caption += f" Without a value, not drawn: {', '.join(without)}."
    return [Chart("spread", title, caption, spec)]


def _bars(bins: ScoreBins) -> list[Json]:
    known = sum(bins.answers)
    return [
        {
            "mode": bins.mode,
            "from": f"{place / len(bins.answers):.2f}",
            "answers": count,
            "share": count / known if known else 0.0,
        }
        for place, count in enumerate(bins.answers)
    ]


def _point(row: MetricSummary) -> dict[str, Json]:
    low, high = row.interval or (None, None)
    return {
        "mode": row.by["mode"],
        "value": row.value,
        "low": low,
        "high": high,
        "shown": "" if row.value is None else format_number(row.value),
        "interval": format_pair(row.interval),
    }


def _label(section: ScoreSection, row: MetricSummary) -> str:
    return f"{section.names[row.metric]} {DIRECTION_WORDS[row.direction][0]}".strip()


def _mode_colours(section: ScoreSection) -> dict[str, Json]:
    names: list[Json] = list(section.modes)
    colours: list[Json] = [ENGINE_COLOURS[place % len(ENGINE_COLOURS)][0] for place in range(len(names))]
    return {
        "field": "mode",
        "type": "nominal",
        "scale": {"domain": names, "range": colours},
        "legend": {"title": None, "orient": "top", "direction": "horizontal"},
    }


def _axis(name: str) -> dict[str, Json]:
    axis: dict[str, Json] = {"format": ".1f", "tickCount": 10}
    return {"field": name, "type": "quantitative", "title": None, "scale": {"domain": [0, 1]}, "axis": axis}


def _along(name: str, title: str) -> dict[str, Json]:
    return {"field": name, "type": "quantitative", "title": title, "scale": {"zero": True, "nice": True}}
