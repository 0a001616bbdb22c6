"""What a comparison looks like: differences with their intervals and margins, and runs on a scale of mean ranks."""

from __future__ import annotations

from collections.abc import Sequence

from hallumeter.records.comparison import MetricComparison
from hallumeter.records.ranking import Ranking
from hallumeter.report.drawing import PALETTE, Chart, Json, base_spec, tooltip
from hallumeter.report.languages.speaking import message, say, say_count, written
from hallumeter.report.wording import DIRECTION_WORDS, format_number, format_pair, interval_words
from hallumeter.transcripts.report.charts import rank_spec
from hallumeter.transcripts.report.ranking import LEVEL, p_words

from .telling import SHOWS, alias_of, difference_words

ROWS_DRAWN = 30
ROW_HEIGHT = 34
_COLOURS = {"worse": "refuted", "better": "supported", "unmeasured": "undecided"}
_SHAPES = {"worse": "triangle-down", "better": "triangle-up", "unmeasured": "cross"}


def difference_charts(rows: Sequence[MetricComparison], confidence: float, *, number: int) -> list[Chart]:
    """Every difference of a share as a point with its interval, its margin and what the unmeasured allow."""
    shares = [row for row in rows if row.difference is not None and row.effect != "paired_d"]
    if not shares:
        return []
    drawn = shares[:ROWS_DRAWN]
    title = say("Differences: second run minus first")
    spec = base_spec(title, height=ROW_HEIGHT * len(drawn))
    spec["data"] = {"values": [_value(row) for row in drawn]}
    axis: dict[str, Json] = {"labelLimit": 170}
    spec["encoding"] = {"y": {"field": "name", "type": "nominal", "sort": None, "title": None, "axis": axis}}
    spec["layer"] = [*_bands(drawn), _interval(), _points(confidence)]
    return [Chart("differences", title, _caption(rows, shares, confidence), spec, number=number)]


def _value(row: MetricComparison) -> dict[str, Json]:
    low, high = row.interval or (None, None)
    best, worst = row.difference_bounds if row.difference_bounds and any(row.unmeasured) else (None, None)
    return {
        "name": " · ".join([f"{alias_of(row.metric)} {DIRECTION_WORDS[row.direction][0]}".rstrip(), *row.by.values()]),
        "difference": row.difference,
        "low": low,
        "high": high,
        "best": best,
        "worst": worst,
        "below": None if row.margin is None else -row.margin,
        "above": row.margin,
        "colour": PALETTE[_COLOURS.get(row.outcome, "accent")][0],
        "sign": _SHAPES.get(row.outcome, "circle"),
        "shown": difference_words(row),
        "interval": format_pair(row.interval),
        "shows": say(SHOWS[row.outcome]),
    }


def _along(name: str) -> dict[str, Json]:
    axis: dict[str, Json] = {"format": "+.2~f", "tickCount": 8}
    scale: dict[str, Json] = {"zero": True, "nice": True}
    return {
        "field": name,
        "type": "quantitative",
        "title": say("second run minus first"),
        "scale": scale,
        "axis": axis,
    }


def _bands(rows: Sequence[MetricComparison]) -> list[Json]:
    """The margin as a wide pale band, what the unmeasured allow as a narrower one, and a line at no difference."""
    layers: list[Json] = []
    if any(row.margin is not None for row in rows):
        layers.append(_band("below", "above", size=26, colour="muted", opacity=0.12))
    if any(any(row.unmeasured) for row in rows):
        layers.append(_band("best", "worst", size=9, colour="accent", opacity=0.28))
    line: dict[str, Json] = {"type": "rule", "color": PALETTE["muted"][0], "strokeDash": [3, 3]}
    layers.append({"data": {"values": [{"none": 0}]}, "mark": line, "encoding": {"x": _along("none"), "y": None}})
    return layers


def _band(start: str, end: str, *, size: float, colour: str, opacity: float) -> dict[str, Json]:
    mark: dict[str, Json] = {"type": "rule", "size": size, "color": PALETTE[colour][0], "opacity": opacity}
    return {"mark": mark, "encoding": {"x": _along(start), "x2": {"field": end}}}


def _interval() -> dict[str, Json]:
    colour: dict[str, Json] = {"field": "colour", "type": "nominal", "scale": None}
    return {
        "mark": {"type": "rule", "size": 2.5},
        "encoding": {"x": _along("low"), "x2": {"field": "high"}, "color": colour},
    }


def _points(confidence: float) -> dict[str, Json]:
    tips: list[Json] = [
        tooltip("name", say("what")),
        tooltip("shown", say("difference")),
        tooltip("interval", interval_words(confidence)),
        tooltip("shows", say("shows")),
    ]
    return {
        "mark": {"type": "point", "filled": True, "size": 100, "opacity": 1},
        "encoding": {
            "x": _along("difference"),
            "color": {"field": "colour", "type": "nominal", "scale": None},
            "shape": {"field": "sign", "type": "nominal", "scale": None},
            "tooltip": tips,
        },
    }


def _caption(rows: Sequence[MetricComparison], shares: Sequence[MetricComparison], confidence: float) -> str:
    texts = [
        say(
            "Point: the difference; a triangle where it is shown to be better or worse. Line: its {interval}.",
            interval=interval_words(confidence),
        )
    ]
    if any(row.margin is not None for row in shares):
        texts.append(say("Wide pale band: the margin, within which a change does not matter."))
    if any(any(row.unmeasured) for row in shares):
        texts.append(say("Narrow band: the differences that the unmeasured allow."))
    others = list(dict.fromkeys(alias_of(row.metric) for row in rows if row not in shares))
    if others:
        texts.append(say("Not drawn: {names}.", names=", ".join(others)))
    if len(shares) > ROWS_DRAWN:
        more = len(shares) - ROWS_DRAWN
        texts.append(say_count(more, "{count} more row is in the table.", "{count} more rows are in the table."))
    return " ".join(texts)


def ranking_charts(rankings: Sequence[Ranking], unit: str) -> list[Chart]:
    """For each metric the critical-difference diagram: runs on a scale of mean ranks, joined where they are alike."""
    return [
        Chart(
            "ranks",
            say("Which runs differ"),
            _rank_caption(ranking, unit),
            rank_spec(ranking, title=say("Mean rank of each run"), who=say("run")),
            metric=ranking.metric,
            number=number,
        )
        for number, ranking in enumerate(rankings)
        if len(ranking.engines) > 1
    ]


UNITS = {
    "response": message("one answer"),
    "question": message("one question"),
    "page": message("one page"),
    "patient_id": message("one patient"),
}
"""What is resampled or ranked, where it is not a field of the user's own."""


def unit_words(unit: str) -> str:
    """What a cluster is called; a field is called what the data calls it."""
    return say(UNITS[unit]) if unit in UNITS else unit


def _rank_caption(ranking: Ranking, unit: str) -> str:
    texts = [
        say(
            "Point: the mean rank of a run by {metric} over {count} units ({unit} each); 1 is best.",
            metric=alias_of(ranking.metric),
            count=written(f"{ranking.pages:,}"),
            unit=unit_words(unit),
        )
    ]
    if ranking.critical_difference is not None:
        texts.append(
            say(
                "Mean ranks further apart than {difference} differ (Nemenyi, {level} %): pale lines that overlap do "
                "not. Beside the names, a bar joins runs that do not differ from each other.",
                difference=format_number(ranking.critical_difference, 2),
                level=written(f"{LEVEL * 100:g}"),
            )
        )
    if ranking.p_value is not None:
        texts.append(say("All together: Friedman's test, {p}.", p=p_words(ranking.p_value)))
    return " ".join(texts)
