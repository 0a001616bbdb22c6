"""Charts of aspects: the parts of a whole as bars, and errors on their way through the steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hallumeter.records.summaries import Breakdown, UnitStatus
from hallumeter.report.drawing import FONTS, PALETTE, Chart, Json, base_spec, tooltip
from hallumeter.report.languages.speaking import message, say, say_count
from hallumeter.report.sections import FlowSection, FlowStep, PartSection
from hallumeter.report.wording import format_count, format_number, format_pair, interval_words

from .build import deed
from .families import BARS
from .wording import DEEDS, PART_WORDS, part_words, step_words

# The drawing of a flow, for Vega itself: a row for each step, and bands of what moves between the rows.
#
# Positions across are counts, which the page scales to its width; positions down are points.

SCHEMA = "https://vega.github.io/schema/vega/v6.json"
LANES: tuple[UnitStatus, ...] = ("absent", "wrong", "right")
"""From left to right: what leaves the middle to the right was put right."""
LANE_WORDS = {"absent": message("not there"), "wrong": message("wrong"), "right": message("right")}
_LANE_COLOURS = {"absent": "undecided", "wrong": "refuted", "right": "supported"}
_DEED_COLOURS = {
    "introduced": "refuted",
    "broken": "refuted",
    "kept": "refuted",
    "repaired": "supported",
    "lost": "not_enough_info",
}
_BUSY, _IDLE, _BAR, _TOP = 52, 26, 11, 30
"""Points from a row to the next where something changes, where nothing does; of a row; above the first."""
_LABELS, _FIGURES, _GAP = 116, 52, 9
"""Points for names on the left and for counts on the right, and between lanes."""
_LINE = 17
"""Letters in a line of a name."""


class _Row(NamedTuple):
    name: str
    counts: dict[UnitStatus, int]
    y: int


def flow_spec(steps: Sequence[FlowStep], title: str) -> dict[str, Json]:
    """A drawing as wide as its place."""
    rows = _rows(steps)
    total = sum(rows[0].counts.values())
    muted, ink = PALETTE["muted"][0], PALETTE["ink"][0]
    size = "isFinite(containerSize()[0]) ? containerSize()[0] : 300"
    return {
        "$schema": SCHEMA,
        "description": title,
        "height": rows[-1].y + _BAR + 4,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": 0,
        "background": "transparent",
        "config": {"text": {"font": FONTS, "fontSize": 12}},
        "signals": [{"name": "width", "init": size, "on": [{"events": "window:resize", "update": size}]}],
        "data": [
            {"name": "bands", "values": [*_bands(steps, rows)]},
            {"name": "bars", "values": [bar for row in rows for bar in _bars(row)]},
            {"name": "rows", "values": [_label(row) for row in rows]},
            {"name": "heads", "values": [*_heads()]},
        ],
        "scales": [
            {
                "name": "across",
                "type": "linear",
                "domain": [0, total],
                "range": [_LABELS, {"signal": f"width - {_FIGURES + 2 * _GAP}"}],
            }
        ],
        "marks": [
            _band_mark(),
            _bar_mark(),
            _text_mark("rows", "label", x=0, colour=ink),
            _text_mark("rows", "figure", x=None, colour=PALETTE["refuted"][0]),
            *_head_marks(muted),
        ],
    }


def _rows(steps: Sequence[FlowStep]) -> list[_Row]:
    first: Counter[UnitStatus] = Counter()
    for move in steps[0].moves:
        first[move.was] += move.units
    rows = [_Row(say("before"), dict(first), _TOP)]
    for step in steps:
        counts: Counter[UnitStatus] = Counter()
        for move in step.moves:
            counts[move.became] += move.units
        is_busy = any(move.was != move.became for move in step.moves)
        rows.append(_Row(step_words(step.step), dict(counts), rows[-1].y + (_BUSY if is_busy else _IDLE)))
    return rows


def _starts(counts: dict[UnitStatus, int]) -> dict[UnitStatus, int]:
    """Where each lane of a row begins, in counts."""
    starts, place = {}, 0
    for lane in LANES:
        starts[lane] = place
        place += counts.get(lane, 0)
    return starts


def _bands(steps: Sequence[FlowStep], rows: Sequence[_Row]) -> Iterator[dict[str, Json]]:
    """What moves from row to row; bands of a lane lie side by side in the order of where they come from and go."""
    for number, step in enumerate(steps):
        above, below = rows[number], rows[number + 1]
        moved: Counter[tuple[UnitStatus, UnitStatus, str]] = Counter()
        for move in step.moves:
            moved[move.was, move.became, deed(move) or ""] += move.units
        leaving, arriving = _starts(above.counts), _starts(below.counts)
        order = sorted(moved, key=lambda key: (LANES.index(key[0]), LANES.index(key[1]), key[2]))
        tops: dict[tuple[UnitStatus, UnitStatus, str], int] = {}
        for key in order:
            tops[key] = leaving[key[0]]
            leaving[key[0]] += moved[key]
        for key in sorted(order, key=lambda key: (LANES.index(key[1]), LANES.index(key[0]), key[2])):
            yield _band(key, moved[key], starts=(tops[key], arriving[key[1]]), rows=(above, below))
            arriving[key[1]] += moved[key]


def _band(
    key: tuple[UnitStatus, UnitStatus, str], units: int, *, starts: tuple[int, int], rows: tuple[_Row, _Row]
) -> dict[str, Json]:
    was, became, done = key
    colour = PALETTE[_DEED_COLOURS.get(done, _LANE_COLOURS[became])][0]
    what = say(DEEDS[done]) if done else say(LANE_WORDS[became])
    return {
        "top": starts[0],
        "foot": starts[1],
        "units": units,
        "from": _GAP * LANES.index(was),
        "to": _GAP * LANES.index(became),
        "y": rows[0].y + _BAR,
        "y2": rows[1].y,
        "colour": colour,
        "opacity": 0.3 if was == became == "wrong" else 0.12 if was == became else 0.75,
        "edge": 0 if was == became else 0.8,
        "tip": {rows[1].name: what, say("errors"): format_count(units)},
    }


def _bars(row: _Row) -> Iterator[dict[str, Json]]:
    starts = _starts(row.counts)
    for lane in LANES:
        units = row.counts.get(lane, 0)
        if units:
            yield {
                "start": starts[lane],
                "end": starts[lane] + units,
                "gap": _GAP * LANES.index(lane),
                "y": row.y,
                "colour": PALETTE[_LANE_COLOURS[lane]][0],
                "tip": {row.name: say(LANE_WORDS[lane]), say("errors"): format_count(units)},
            }


def _label(row: _Row) -> dict[str, Json]:
    wrong = row.counts.get("wrong", 0)
    lines: list[Json] = [*_lines(row.name)]
    return {"y": row.y + 5 - 7 * (len(lines) - 1), "at": row.y + 5, "label": lines, "figure": format_count(wrong)}


def _heads() -> Iterator[dict[str, Json]]:
    """The names of the lanes, each with its colour."""
    for number, lane in enumerate(LANES):
        yield {"place": number, "name": say(LANE_WORDS[lane]), "colour": PALETTE[_LANE_COLOURS[lane]][0]}


def _lines(name: str) -> list[str]:
    """A name in lines that fit beside the rows."""
    lines: list[str] = []
    for word in name.split():
        if lines and len(lines[-1]) + len(word) < _LINE:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _band_mark() -> dict[str, Json]:
    left, right = "scale('across', datum.top) + datum.from", "scale('across', datum.top + datum.units) + datum.from"
    low, high = "scale('across', datum.foot) + datum.to", "scale('across', datum.foot + datum.units) + datum.to"
    middle = "((datum.y + datum.y2) / 2)"
    path = (
        f"'M' + ({left}) + ',' + datum.y + 'C' + ({left}) + ',' + {middle} + ' ' + ({low}) + ',' + {middle} + ' ' + "
        f"({low}) + ',' + datum.y2 + 'L' + ({high}) + ',' + datum.y2 + 'C' + ({high}) + ',' + {middle} + ' ' + "
        f"({right}) + ',' + {middle} + ' ' + ({right}) + ',' + datum.y + 'Z'"
    )
    colour: dict[str, Json] = {"field": "colour"}
    update: dict[str, Json] = {
        "path": {"signal": path},
        "fill": colour,
        "fillOpacity": {"field": "opacity"},
        "stroke": colour,
        "strokeWidth": {"field": "edge"},
        "strokeOpacity": {"field": "opacity"},
        "tooltip": {"signal": "datum.tip"},
    }
    return {"type": "path", "aria": False, "from": {"data": "bands"}, "encode": {"update": update}}


def _bar_mark() -> dict[str, Json]:
    update: dict[str, Json] = {
        "x": {"signal": "scale('across', datum.start) + datum.gap"},
        "x2": {"signal": "scale('across', datum.end) + datum.gap"},
        "y": {"field": "y"},
        "height": {"value": _BAR},
        "fill": {"field": "colour"},
        "tooltip": {"signal": "datum.tip"},
    }
    return {"type": "rect", "aria": False, "from": {"data": "bars"}, "encode": {"update": update}}


def _text_mark(data: str, field: str, *, x: int | None, colour: str) -> dict[str, Json]:
    """Names on the left; without a place, counts on the right."""
    update: dict[str, Json] = {
        "x": {"value": x} if x is not None else {"signal": "width"},
        "y": {"field": "y" if x is not None else "at"},
        "align": {"value": "left" if x is not None else "right"},
        "baseline": {"value": "middle"},
        "text": {"field": field},
        "fill": {"value": colour},
        "lineHeight": {"value": 14},
    }
    return {"type": "text", "interactive": False, "from": {"data": data}, "encode": {"update": update}}


def _head_marks(muted: str) -> list[Json]:
    """The names of the lanes over the drawing, and what the figures on the right are."""
    # Over names as well, so that they fit on a narrow page.
    step = f"(width - {_FIGURES}) / 3"
    x = f"datum.place * {step}"
    sign: dict[str, Json] = {
        "x": {"signal": x},
        "y": {"value": 1},
        "width": {"value": 10},
        "height": {"value": 10},
        "fill": {"field": "colour"},
    }
    name: dict[str, Json] = {
        "x": {"signal": f"{x} + 15"},
        "y": {"value": 6},
        "baseline": {"value": "middle"},
        "text": {"field": "name"},
        "fill": {"value": muted},
        "limit": {"signal": f"{step} - 18"},
    }
    figures: dict[str, Json] = {
        "x": {"signal": "width"},
        "y": {"value": 6},
        "align": {"value": "right"},
        "baseline": {"value": "middle"},
        "text": {"value": say("wrong")},
        "fill": {"value": muted},
        "limit": {"value": _FIGURES},
    }
    return [
        {"type": "rect", "aria": False, "from": {"data": "heads"}, "encode": {"update": sign}},
        {"type": "text", "from": {"data": "heads"}, "encode": {"update": name}},
        {"type": "text", "encode": {"update": figures}},
    ]


_ROW = 44


def part_charts(section: PartSection, confidence: float) -> list[Chart]:
    """The decisions of the moderator and of the debate as bars; other parts are tables alone."""
    return [
        _part_bars(whole, confidence)
        for whole in section.breakdowns
        if whole.name in BARS and any(whole.parts.values())
    ]


def flow_charts(section: FlowSection) -> list[Chart]:
    """Everything that was ever wrong, from step to step; nothing where nothing was."""
    if not section.steps:
        return []
    units = sum(move.units for move in section.steps[0].moves)
    caption = say_count(
        units,
        "{count} thing that was wrong after at least one step, read from top to bottom: after each step it is not "
        "there, wrong, or right. A band that changes sides was introduced, broken or repaired by the step it leads to.",
        "{count} things that were wrong after at least one step, read from top to bottom: after each step they are not "
        "there, wrong, or right. A band that changes sides was introduced, broken or repaired by the step it leads to.",
    )
    title = say("Errors through the steps")
    return [Chart("flow", title, caption, flow_spec(section.steps, title))]


def _part_bars(whole: Breakdown, confidence: float) -> Chart:
    """A bar for each part, under its name: names are too long to stand beside it on a narrow page."""
    title = say(PART_WORDS[whole.name])
    spec = base_spec(title, height=_ROW * len(whole.parts))
    accent, ink, muted = (PALETTE[name][0] for name in ("accent", "ink", "muted"))
    spec["data"] = {"values": [_bar(whole, part, count) for part, count in whole.parts.items()]}
    spec["encoding"] = {"y": {"field": "part", "type": "nominal", "sort": None, "axis": None}}
    share: dict[str, Json] = {
        "field": "share",
        "type": "quantitative",
        "title": say("share"),
        "scale": {"domain": [0, 1]},
        "axis": {"format": ".1f", "tickCount": 5},
    }
    name: dict[str, Json] = {"type": "text", "align": "left", "x": 0, "dy": -9, "fontSize": 12}
    tips: list[Json] = [
        tooltip("name", say("part")),
        tooltip("counts", say("counts")),
        tooltip("shown", say("share")),
        tooltip("interval", interval_words(confidence)),
    ]
    spec["layer"] = [
        {
            "mark": {"type": "bar", "size": 11, "yOffset": 8, "color": accent, "cornerRadiusEnd": 2},
            "encoding": {"x": share, "tooltip": tips},
        },
        {
            "mark": {"type": "rule", "size": 1.5, "yOffset": 8, "color": ink},
            "encoding": {"x": {**share, "field": "low"}, "x2": {"field": "high"}},
        },
        {"mark": {**name, "color": ink, "limit": {"expr": "width - 84"}}, "encoding": {"text": {"field": "name"}}},
        {
            "mark": {**name, "align": "right", "x": "width", "color": muted},
            "encoding": {"text": {"field": "counts"}},
        },
    ]
    counted = say("Of {total}.", total=format_count(whole.total))
    caption = say(
        "Bar: the share. Line: its {interval}, where sentences are counted.", interval=interval_words(confidence)
    )
    return Chart("parts", title, f"{counted} {caption}", spec)


def _bar(whole: Breakdown, part: str, count: int) -> dict[str, Json]:
    interval = (whole.intervals or {}).get(part)
    low, high = interval or (None, None)
    return {
        "part": part,
        "name": part_words(whole.name, part),
        "share": count / whole.total,
        "shown": format_number(count / whole.total),
        "counts": say("{count} of {total}", count=format_count(count), total=format_count(whole.total)),
        "low": low,
        "high": high,
        "interval": format_pair(interval),
    }
