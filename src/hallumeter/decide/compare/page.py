"""A comparison, or a ranking, as one page with its charts: alone in a file, or given by a server."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import NamedTuple, get_args

from msgspec import Struct

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.records.claim import Label
from hallumeter.records.comparison import ClaimChange, Comparison, MetricComparison, RunRanking, State, Transition
from hallumeter.records.ranking import Ranking
from hallumeter.report.drawing import PALETTE, Chart, Json, base_spec, tooltip
from hallumeter.report.languages.speaking import ENGLISH, message, say, say_count, speaking, written
from hallumeter.report.page.proof import data_proof
from hallumeter.report.page.render import Served, render_alone, render_served, write_page
from hallumeter.report.wording import (
    DIRECTION_WORDS,
    LABEL_WORDS,
    format_number,
    format_pair,
    instrument_words,
    interval_words,
)
from hallumeter.text.align import align
from hallumeter.transcripts.report.charts import rank_spec
from hallumeter.transcripts.report.ranking import LEVEL, p_words

from .ranking import ranked_metrics
from .wording import EFFECTS, HEADLINES, SHOWS, TESTS, alias_of, difference_words, reasons_of, share_words, slice_words

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


# Two wordings of a claim side by side: which words the other does not have.

# Scripts without spaces between words are compared character by character.
_PIECES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_]+|\s+|.", re.DOTALL)


class Marked(NamedTuple):
    """A piece of a wording."""

    text: str
    is_changed: bool
    """Whether the other wording lacks it."""


def marked_wordings(first: str, second: str) -> tuple[tuple[Marked, ...], tuple[Marked, ...]]:
    """Both wordings, cut where they begin or cease to differ.

    >>> first, second = marked_wordings("It is 330 m high.", "It is 999 m high.")
    >>> [piece.text for piece in first if piece.is_changed], [piece.text for piece in second if piece.is_changed]
    (['330'], ['999'])
    """
    one, other = _PIECES.findall(first), _PIECES.findall(second)
    kept: tuple[set[int], set[int]] = (set(), set())
    for kind, top, bottom, left, right in align(one, other).steps:
        if kind == "equal":
            kept[0].update(range(top, bottom))
            kept[1].update(range(left, right))
    return _joined(one, kept[0]), _joined(other, kept[1])


def _joined(pieces: Sequence[str], kept: set[int]) -> tuple[Marked, ...]:
    """Neighbours that are alike in this as one piece."""
    found: list[Marked] = []
    for place, piece in enumerate(pieces):
        is_changed = place not in kept
        if found and found[-1].is_changed == is_changed:
            found[-1] = Marked(found[-1].text + piece, is_changed)
        else:
            found.append(Marked(piece, is_changed))
    return tuple(found)


# A comparison as its page shows it: rows with their words, and claims with what changed in them.

STATES: tuple[State, ...] = get_args(State)
ROWS_SHOWN = 300
"""Slices in the table; all are in the JSON."""
BYTES_OF_CLAIMS = 400_000
"""Room of a page for claims; with the drawing library and the rest it stays below two megabytes."""
LONGEST_NAME = 160
"""Characters of a record's name, or of a slice's."""
_UNSUPPORTED = ("REFUTED", "NOT_ENOUGH_INFO")


class RowView(Struct, frozen=True):
    """One metric, with the words of the catalog."""

    row: MetricComparison
    alias: str
    name: str
    question: str
    arrow: str
    direction: str
    where: str
    """The slice; empty for all records."""
    shows: str
    test: str
    effect: str


class ChangeView(Struct, frozen=True):
    """A claim in both runs."""

    record_id: str
    first: tuple[Marked, ...] | None
    """None where it is absent."""
    second: tuple[Marked, ...] | None


class CellView(Struct, frozen=True):
    """Claims with one label in the first run and one in the second."""

    cell: Transition
    anchor: str
    kind: str
    """``broken``, ``mended``, ``same`` or ``other``."""
    changes: tuple[ChangeView, ...]

    @property
    def first(self) -> str:
        """The label in the first run."""
        return state_words(self.cell.first)

    @property
    def second(self) -> str:
        """The label in the second run."""
        return state_words(self.cell.second)


def state_words(state: State) -> str:
    """A label as it is called elsewhere on the page."""
    if state == "ABSENT":
        return say(message("Absent"))
    return say(LABEL_WORDS[None if state == "FAILED" else Label(state)])


def row_views(rows: Iterable[MetricComparison]) -> list[RowView]:
    """Rows with their words."""
    return [_row_view(row) for row in rows]


def _row_view(row: MetricComparison) -> RowView:
    known = METRICS_BY_ID.get(row.metric)
    arrow, direction = DIRECTION_WORDS[row.direction]
    test = next((words for name, words in TESTS.items() if row.test and row.test.startswith(name)), "")
    return RowView(
        row=row,
        alias=alias_of(row.metric),
        name=say(known.name) if known else "",
        question=say(known.question) if known else "",
        arrow=arrow,
        direction=say(direction),
        where=shortened(slice_words(row)),
        shows=say(SHOWS[row.outcome]),
        test=say(test) if test else "",
        effect=say(EFFECTS[row.effect]) if row.effect else "",
    )


def shortened(text: str) -> str:
    """A name of the data that may be any length."""
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


class Matrix(Struct, frozen=True):
    """The claims by their labels in both runs."""

    firsts: tuple[State, ...]
    seconds: tuple[State, ...]
    cells: dict[tuple[State, State], CellView]
    changed: tuple[CellView, ...]
    """Those whose claims can be read, the worst first."""


def matrix_of(comparison: Comparison) -> Matrix | None:
    """The table of transitions with the claims that fit on a page; None without claims."""
    transitions = comparison.transitions.cells
    if not transitions:
        return None
    shown = _fitting([cell.examples for cell in transitions if cell.first != cell.second])
    views = {(cell.first, cell.second): _cell_view(cell, shown) for cell in transitions}
    changed = sorted((view for view in views.values() if view.changes), key=_gravity)
    return Matrix(
        firsts=tuple(state for state in STATES if any(cell.first == state for cell in transitions)),
        seconds=tuple(state for state in STATES if any(cell.second == state for cell in transitions)),
        cells=views,
        changed=tuple(changed),
    )


def _gravity(view: CellView) -> tuple[int, int]:
    """What was supported and is not any more first, then what appeared without support, then the largest."""
    is_new = view.cell.first == "ABSENT" and view.cell.second in _UNSUPPORTED
    return (0 if view.kind == "broken" else 1 if is_new else 2 if view.kind == "mended" else 3), -view.cell.claims


def _cell_view(cell: Transition, shown: int) -> CellView:
    return CellView(
        cell=cell,
        anchor=f"claims-{STATES.index(cell.first)}-{STATES.index(cell.second)}",
        kind=_kind(cell),
        changes=tuple(_change_view(change) for change in cell.examples[:shown]) if cell.first != cell.second else (),
    )


def _kind(cell: Transition) -> str:
    if cell.first == cell.second:
        return "same"
    if cell.first == "SUPPORTED" and cell.second in _UNSUPPORTED:
        return "broken"
    return "mended" if cell.second == "SUPPORTED" and cell.first in _UNSUPPORTED else "other"


def _change_view(change: ClaimChange) -> ChangeView:
    name = shortened(change.record_id)
    if change.first is None or change.second is None:
        first, second = (None if text is None else (Marked(text, False),) for text in (change.first, change.second))
        return ChangeView(name, first, second)
    return ChangeView(name, *marked_wordings(change.first, change.second))


def _fitting(groups: Sequence[Sequence[ClaimChange]]) -> int:
    """How many claims of each cell a page has room for."""
    most = max((len(group) for group in groups), default=0)
    while most > 1 and sum(_size(change) for group in groups for change in group[:most]) > BYTES_OF_CLAIMS:
        most = most * 3 // 4
    return most


def _size(change: ClaimChange) -> int:
    """Bytes of a claim with its marks, about."""
    texts = (change.record_id[:LONGEST_NAME], change.first or "", change.second or "")
    return 200 + 2 * sum(len(text.encode(errors="replace")) for text in texts)


Compared = Comparison | RunRanking
SCRIPTS = ("comparison.js",)
STYLES = ("comparison.css",)
NOTICES_SHOWN = 30


def render_comparison(found: Compared, *, language: str = ENGLISH) -> str:
    """The whole page: no other file, no network. Texts of the runs are escaped."""
    with speaking(language):
        template, facts, charts = _page_facts(found)
        proof = data_proof(template.removesuffix(".html"), found, language)
        shown = {**facts, "chapters": ()}
        return render_alone(template, shown, charts=charts, scripts=SCRIPTS, styles=STYLES, proof=proof)


def write_comparison(found: Compared, path: str | os.PathLike[str], *, language: str = ENGLISH) -> None:
    """Write the page; a file of that name is replaced at once or not at all."""
    write_page(render_comparison(found, language=language), path)


def served_comparison(found: Comparison, *, files: str, facts: dict[str, object]) -> str:
    """The same page as a server gives it, in the language that is being spoken."""
    template, own, charts = _page_facts(found)
    served = Served(
        f"viewer_{template}",
        files,
        scripts=SCRIPTS,
        styles=("viewer.css", *STYLES),
        facts={**own, "licences": (), **facts},
    )
    return render_served(served, charts=charts)


def _page_facts(found: Compared) -> tuple[str, dict[str, object], list[Chart]]:
    """The template, what it says, and what it draws."""
    shared: dict[str, object] = {
        "found": found,
        "unit": unit_words(found.cluster),
        "instruments": " + ".join(instrument_words(name) for name in found.instrument.split(" and ")),
        "notices": [shortened(notice) if len(notice) > 2_000 else notice for notice in found.notices[:NOTICES_SHOWN]],
        "version": version("hallumeter"),
        "links": None,
    }
    if isinstance(found, RunRanking):
        charts = ranking_charts(found.rankings, found.cluster)
        title = say("Ranking of runs")
        own = {"title": title, "metrics": ranked_metrics(found, charts), "runs": [("", run) for run in found.runs]}
        return "ranking.html", {**shared, **own}, charts
    names = {"first": shortened(found.first.name), "second": shortened(found.second.name)}
    whole = [row for row in found.rows if not row.by]
    slices = [row for row in found.rows if row.by]
    drawn = difference_charts(whole, found.confidence, number=0)
    drawn_slices = difference_charts(slices, found.confidence, number=1)
    facts = {
        **shared,
        "title": say("{first} and {second}", **names),
        "headline": say(HEADLINES[found.outcome], **names),
        "reasons": reasons_of(found),
        "rows": row_views(whole),
        "slices": row_views(slices[:ROWS_SHOWN]),
        "slices_left_out": max(0, len(slices) - ROWS_SHOWN),
        "drawn": drawn,
        "drawn_slices": drawn_slices,
        "matrix": matrix_of(found),
        "state_words": state_words,
        "share_of": share_words,
    }
    return "comparison.html", facts, [*drawn, *drawn_slices]
