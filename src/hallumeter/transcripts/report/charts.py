"""The charts of transcriptions: who differs from whom, and where the pages lie."""

from __future__ import annotations

from hallumeter.records.ranking import Ranking
from hallumeter.report.drawing import ENGINE_COLOURS, PALETTE, Chart, Json, base_spec, legend_columns, tooltip
from hallumeter.report.languages.speaking import say, say_count, written
from hallumeter.report.sections import PageSection, RankingSection
from hallumeter.report.wording import format_number

from .ranking import LEVEL, metric_words, p_words

ROW_HEIGHT = 22
DANGER_ANCHOR = 0.5
DANGER_RATIO = 1.2
"""The thresholds of Picarones' badge: below the one or above the other, a page is in the danger zone."""
_RATIO_TICKS = (0.05, 0.1, 0.2, 0.5, 1, 1.2, 2, 3, 5, 8)
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")


def rank_charts(section: RankingSection) -> list[Chart]:
    """Mean ranks on a scale, with a bar along every group of engines that do not differ."""
    ranking = section.ranking
    if ranking is None or len(ranking.engines) < 2:
        return []
    spec = rank_spec(ranking, title=say("Mean rank of each engine"), who=say("engine"))
    return [Chart("ranks", say("Which engines differ"), _rank_caption(ranking), spec)]


def rank_spec(ranking: Ranking, *, title: str, who: str) -> dict[str, Json]:
    """A critical-difference diagram of two or more that were ranked; `who` names one of them."""
    lanes = _lanes(ranking)
    depth = 1 + max((lane for lane, _ in lanes), default=-1)
    step = 7 if depth <= 6 else 5  # pixels between two bars that join engines
    half = (ranking.critical_difference or 0.0) / 2
    values: list[Json] = [
        {
            "name": ranked.engine,
            "rank": ranked.mean_rank,
            "low": ranked.mean_rank - half,
            "high": ranked.mean_rank + half,
            "shown": format_number(ranked.mean_rank, 2),
        }
        for ranked in ranking.engines
    ]
    spec = base_spec(title, height=ROW_HEIGHT * len(ranking.engines))
    spec["data"] = {"values": values}
    axis: dict[str, Json] = {"labelPadding": 8 + step * depth, "ticks": False, "domain": False, "labelLimit": 170}
    spec["encoding"] = {"y": {"field": "name", "type": "nominal", "sort": None, "title": None, "axis": axis}}
    scale: dict[str, Json] = {"domain": [1 - half, len(ranking.engines) + half], "nice": False, "zero": False}
    along: dict[str, Json] = {
        "type": "quantitative",
        "title": say("mean rank, best on the left"),
        "scale": scale,
        "axis": {"tickMinStep": 1, "format": "d", "values": _ticks(len(ranking.engines))},
    }
    accent = PALETTE["accent"][0]
    tips: list[Json] = [tooltip("name", who), tooltip("shown", say("mean rank"))]
    layers: list[Json] = [
        {
            "mark": {"type": "rule", "size": 6, "color": accent, "opacity": 0.22},
            "encoding": {"x": {"field": "low", **along}, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 70, "color": accent, "opacity": 1},
            "encoding": {"x": {"field": "rank", **along}, "tooltip": tips},
        },
    ]
    spec["layer"] = [*layers, *(_bar(lane, ends, step=step) for lane, ends in lanes)]
    return spec


def _bar(lane: int, ends: tuple[str, str], *, step: int) -> dict[str, Json]:
    """A bar beside the names, from the first to the last engine of a group."""
    first, last = ends
    return {
        "data": {"values": [{"name": first, "last": last}]},
        "mark": {"type": "rule", "size": 3, "color": PALETTE["ink"][0], "strokeCap": "round"},
        "encoding": {
            "x": {"value": -7 - step * lane},
            "y": {"field": "name", "type": "nominal", "sort": None, "bandPosition": 0.25},
            "y2": {"field": "last", "bandPosition": 0.75},
        },
    }


def _lanes(ranking: Ranking) -> list[tuple[int, tuple[str, str]]]:
    """Every group as its first and last engine, in the first lane where it touches no other."""
    places = {ranked.engine: place for place, ranked in enumerate(ranking.engines)}
    names = [ranked.engine for ranked in ranking.engines]
    free: list[int] = []
    found = []
    for group in sorted(ranking.groups, key=lambda group: min(places[name] for name in group)):
        first, last = min(places[name] for name in group), max(places[name] for name in group)
        lane = next((lane for lane, place in enumerate(free) if place < first), len(free))
        free[lane : lane + 1] = [last]
        found.append((lane, (names[first], names[last])))
    return found


def _ticks(engines: int) -> list[Json]:
    step = 1 if engines <= 12 else 5 if engines <= 60 else 20
    return [1, *range(step if step > 1 else 2, engines + 1, step)]


def _rank_caption(ranking: Ranking) -> str:
    text = [
        say_count(
            ranking.pages,
            "Point: the mean rank of an engine by {metric} over {count} page; 1 is best.",
            "Point: the mean rank of an engine by {metric} over {count} pages; 1 is best.",
            metric=metric_words(ranking.metric),
        )
    ]
    if ranking.critical_difference is not None:
        text.append(
            say(
                "Mean ranks further apart than {difference} differ (Nemenyi, {level} %): pale lines that overlap do "
                "not. Beside the names, a bar joins engines that do not differ from each other.",
                difference=written(f"{ranking.critical_difference:.2f}"),
                level=written(f"{LEVEL * 100:g}"),
            )
        )
    if ranking.p_value is not None:
        text.append(say("All together: Friedman's test, {p}.", p=p_words(ranking.p_value)))
    if ranking.undefined:
        text.append(say("Not tested: {reason}.", reason=ranking.undefined))
    if ranking.dropped:
        text.append(
            say_count(
                ranking.dropped,
                "Not counted: {count} page that some engine lacks.",
                "Not counted: {count} pages that some engine lacks.",
            )
        )
    return " ".join(text)


def page_charts(section: PageSection) -> list[Chart]:
    """Every page by anchor score and length ratio; the page's own script adds the points, and colours them."""
    if not section.rows:
        return []
    engines = list(dict.fromkeys(row.engine for row in section.rows))
    ratios = [row.length_ratio_capped for row in section.rows]
    smallest = min((ratio for ratio in ratios if ratio > 0), default=1.0)
    low, high = min(0.5, max(smallest, 0.05)), max(2.0, *ratios)
    across: dict[str, Json] = {
        "type": "quantitative",
        "scale": {"domain": [0, 1], "nice": False, "clamp": True},
        "axis": {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".2~f"},
    }
    upward: dict[str, Json] = {
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False, "clamp": True},
        "axis": {
            "values": [tick for tick in _RATIO_TICKS if low <= tick <= high],
            "format": ".2~f",
            "labelOverlap": False,
        },
    }
    tips: list[Json] = [
        tooltip("page", say("page")),
        tooltip("engine", say("engine")),
        tooltip("anchor", say("anchor")),
        tooltip("ratio", say("length ratio")),
        tooltip("cer", "CER"),
    ]
    points: dict[str, Json] = {
        "name": "points",
        "mark": {"type": "point", "filled": True, "size": 46, "cursor": "pointer"},
        "encoding": {
            "x": {"field": "x", **across},
            "y": {"field": "y", **upward},
            "color": _colour(engines),
            "shape": _shape(engines),
            "opacity": {"field": "opacity", "type": "quantitative", "scale": None},
            "tooltip": tips,
        },
    }
    spec = base_spec(say("Anchor score and length ratio of every page"), height=340)
    spec["data"] = {"name": "pages", "values": []}
    spec["layer"] = [*_danger_zone(across, upward, high=high, low=low), points]
    return [Chart("pages", say("Pages at a glance"), _page_caption(high), spec)]


def _page_caption(highest: float) -> str:
    return say(
        "Low anchor: the engine's words do not follow each other as on the page. High ratio: it wrote more than there "
        "is. Tinted: anchor below {anchor} or ratio above {ratio}, where Picarones' badge warns. The ratio is drawn on "
        "a logarithmic scale, clipped at {highest}.",
        anchor=written(f"{DANGER_ANCHOR:g}"),
        ratio=written(f"{DANGER_RATIO:g}"),
        highest=format_number(highest, 2),
    )


def _danger_zone(across: dict[str, Json], upward: dict[str, Json], *, high: float, low: float) -> list[Json]:
    """Two tinted areas, and a line at each threshold."""
    refuted = PALETTE["refuted"][0]
    zone: dict[str, Json] = {"type": "rect", "color": refuted, "opacity": 0.07}
    line: dict[str, Json] = {"type": "rule", "color": refuted, "opacity": 0.6, "strokeDash": [4, 3]}
    area: dict[str, Json] = {
        "x": {"field": "left", "title": say("anchor score"), **across},
        "x2": {"field": "right"},
        "y": {"field": "from", "title": say("length ratio"), **upward},
        "y2": {"field": "to"},
    }
    areas: list[dict[str, Json]] = [
        {"left": 0, "right": DANGER_ANCHOR, "from": low, "to": high},
        {"left": DANGER_ANCHOR, "right": 1, "from": DANGER_RATIO, "to": high},
    ]
    found: list[Json] = [
        {"data": {"values": [areas[0]]}, "mark": zone, "encoding": area},
        {"data": {"values": [areas[1]]}, "mark": zone, "encoding": area},
        {"data": {"values": [areas[1]]}, "mark": line, "encoding": {"x": {"field": "left", **across}}},
        {"data": {"values": [areas[1]]}, "mark": line, "encoding": {"y": {"field": "from", **upward}}},
    ]
    return found


def is_told_apart(engines: list[str]) -> bool:
    """Whether there are few enough engines for a colour each."""
    return len(engines) <= len(ENGINE_COLOURS)


def _colour(engines: list[str]) -> dict[str, Json]:
    if not is_told_apart(engines):
        domain: list[Json] = ["chosen", "others"]
        colours: list[Json] = [PALETTE["accent"][0], PALETTE["undecided"][0]]
        return {"field": "group", "type": "nominal", "legend": None, "scale": {"domain": domain, "range": colours}}
    return {
        "field": "group",
        "type": "nominal",
        "scale": {"domain": [*engines], "range": [light for light, _ in ENGINE_COLOURS[: len(engines)]]},
        "legend": {
            "title": None,
            "orient": "top",
            "direction": "horizontal",
            "columns": legend_columns(3),
            "labelLimit": 160,
        },
    }


def _shape(engines: list[str]) -> dict[str, Json]:
    if not is_told_apart(engines):
        domain: list[Json] = ["chosen", "others"]
        return {
            "field": "group",
            "type": "nominal",
            "legend": None,
            "scale": {"domain": domain, "range": ["circle"] * 2},
        }
    return {"field": "group", "type": "nominal", "scale": {"domain": [*engines], "range": [*_SHAPES[: len(engines)]]}}
