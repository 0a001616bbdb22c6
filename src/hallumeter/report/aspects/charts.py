"""Charts of aspects: the parts of a whole as bars, and errors on their way through the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.report.drawing import PALETTE, Chart, base_spec, tooltip
from hallumeter.report.languages.speaking import say, say_count
from hallumeter.report.wording import format_count, format_number, format_pair, interval_words

from .families import BARS
from .flow_drawing import flow_spec
from .wording import PART_WORDS, part_words

if TYPE_CHECKING:
    from hallumeter.records.aspects.aspect_summary import Breakdown
    from hallumeter.report.drawing import Json

    from .sections import FlowSection, PartSection

_ROW = 44


def part_charts(section: PartSection, confidence: float) -> list[Chart]:
    """The decisions of the moderator and of the debate as bars; other parts are tables alone."""
    return [
        _bars(whole, confidence) for whole in section.breakdowns if whole.name in BARS and any(whole.parts.values())
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


def _bars(whole: Breakdown, confidence: float) -> Chart:
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
