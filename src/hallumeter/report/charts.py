"""Vega-Lite charts of a report document, as plain dictionaries; shared by the report and the viewer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from hallumeter.records.measurement import MetricSummary

from .document import (
    BreakdownSection,
    DistributionSection,
    Document,
    JudgeSection,
    MetricRow,
    MetricSection,
    Section,
    ShareBin,
)
from .drawing import LABEL_COLOURS, PALETTE, Chart, Json, base_spec, legend_columns, tooltip
from .languages.speaking import message, say, say_count
from .presentation import presentation_of
from .sections import Calibration, ConcentrationSection, LengthBin, TenthBin
from .tallies import Tallies
from .wording import (
    DIRECTION_WORDS,
    LABEL_WORDS,
    field_words,
    format_count,
    format_counts,
    format_number,
    format_pair,
    interval_words,
    value_words,
)


def concentration_section(
    tallies: Tallies, confidence: float, *, counted: Literal["unsupported", "REFUTED"] = "unsupported"
) -> ConcentrationSection | None:
    """By tenths of the responses and by their length; None when no claim is decided in a text that is known."""
    places = tallies.places
    tenths, lengths = places.tenths(confidence), places.lengths(confidence)
    if not tenths and not lengths:
        return None
    return ConcentrationSection(
        tenths, lengths, without_text=places.without_text, without_place=places.without_place, counted=counted
    )


HEIGHT = 220


_SHARE = {"unsupported": message("share unsupported"), "REFUTED": message("share refuted")}


def concentration_charts(section: ConcentrationSection, confidence: float) -> list[Chart]:
    """The rate of each tenth of the responses, and that of responses by their length."""
    basis = say("Point: the share. Line: its {interval}.", interval=interval_words(confidence))
    share, drawn = say(_SHARE[section.counted]), []
    if section.tenths:
        names = [f"{each.tenth * 10}–{each.tenth * 10 + 10}" for each in section.tenths]
        title = say("By position in the answer")
        spec = _share_spec(title, names, section.tenths, titles=(say("part of the answer, in %"), share))
        drawn.append(Chart("tenths", title, basis, spec))
    if section.lengths:
        names = [length_words(each) for each in section.lengths]
        title = say("By length of the answer")
        spec = _share_spec(title, names, section.lengths, titles=(say("characters"), share))
        drawn.append(Chart("lengths", title, basis, spec))
    return drawn


def calibration_charts(calibrations: Sequence[Calibration], confidence: float) -> list[Chart]:
    """What came true beside what was promised, for each judge that gives probabilities."""
    return [_calibration_chart(each, confidence) for each in calibrations if each.bins]


def tenth_words(each: TenthBin) -> str:
    """A tenth of a response, from and up to which per cent."""
    return say("{start}–{end} %", start=each.tenth * 10, end=each.tenth * 10 + 10)


def length_words(each: LengthBin) -> str:
    """From how many characters to how many."""
    if each.end is None:
        return say("{start} and more", start=format_count(each.start))
    return say("{start}–{end}", start=format_count(each.start), end=format_count(each.end - 1))


def _share_spec(
    title: str, names: Sequence[str], bins: Sequence[TenthBin | LengthBin], *, titles: tuple[str, str]
) -> dict[str, Json]:
    values: list[Json] = [
        {
            "name": name,
            "value": each.value,
            "low": each.interval[0] if each.interval else None,
            "high": each.interval[1] if each.interval else None,
            "shown": "" if each.value is None else format_number(each.value),
            "interval": format_pair(each.interval),
            "counts": f"{format_count(each.count)} / {format_count(each.total)}",
        }
        for name, each in zip(names, bins, strict=True)
    ]
    spec = base_spec(title, height=HEIGHT)
    spec["data"] = {"values": values}
    across, up = titles
    axis: dict[str, Json] = {"labelAngle": 0, "labelOverlap": True}
    spec["encoding"] = {"x": {"field": "name", "type": "ordinal", "sort": None, "title": across, "axis": axis}}
    tips: list[Json] = [tooltip("name", across), tooltip("shown", up), tooltip("interval", say("interval"))]
    tips.append(tooltip("counts", say("counts")))
    accent = PALETTE["accent"][0]
    interval: dict[str, Json] = {
        "mark": {"type": "rule", "size": 2.5, "color": accent},
        "encoding": {"y": _verdict_axis("low", up), "y2": {"field": "high"}},
    }
    point: dict[str, Json] = {
        "mark": {"type": "point", "filled": True, "size": 90, "color": accent, "opacity": 1},
        "encoding": {"y": _verdict_axis("value", up), "tooltip": tips},
    }
    # Vega warns of a field without any value.
    spec["layer"] = [*([interval] if any(each.interval for each in bins) else []), point]
    return spec


def _verdict_axis(name: str, title: str) -> dict[str, Json]:
    axis: dict[str, Json] = {"tickCount": 5, "format": "~g"}
    return {"field": name, "type": "quantitative", "title": title, "scale": {"zero": True}, "axis": axis}


def _calibration_chart(each: Calibration, confidence: float) -> Chart:
    title = say("Calibration of {judge}", judge=each.judge)
    against = (
        say("what most of the other judges say")
        if each.reference is None
        else say("the labels of {judge}", judge=each.reference)
    )
    caption = say(
        "Point: claims with about this probability of being unsupported, beside the share of them that is unsupported "
        "by {reference}. Line: its {interval}, with whole answers drawn again. On the diagonal, both are the same.",
        reference=against,
        interval=interval_words(confidence),
    )
    values: list[Json] = [
        {
            "mean": each_bin.mean,
            "value": each_bin.value,
            "low": each_bin.interval[0] if each_bin.interval else None,
            "high": each_bin.interval[1] if each_bin.interval else None,
            "claims": each_bin.total,
            "shown": format_number(each_bin.value or 0.0),
            "promised": format_number(each_bin.mean or 0.0),
            "interval": format_pair(each_bin.interval),
            "counts": f"{format_count(each_bin.count)} / {format_count(each_bin.total)}",
        }
        for each_bin in each.bins
        if each_bin.total
    ]
    spec = base_spec(title, height=HEIGHT + 40)
    across, up = say("mean probability"), say("share unsupported")
    tips: list[Json] = [tooltip("promised", across), tooltip("shown", up), tooltip("interval", say("interval"))]
    tips.append(tooltip("counts", say("counts")))
    spec["layer"] = [_diagonal((across, up)), *_calibration_layers(values, (across, up), tips)]
    return Chart("calibration", title, caption, spec)


def _diagonal(titles: tuple[str, str]) -> dict[str, Json]:
    across, up = titles
    ends: list[Json] = [{"mean": 0, "value": 0}, {"mean": 1, "value": 1}]
    return {
        "data": {"values": ends},
        "mark": {"type": "line", "color": PALETTE["muted"][0], "strokeDash": [4, 4], "strokeWidth": 1},
        "encoding": {"x": _unit("mean", across), "y": _unit("value", up)},
    }


def _calibration_layers(values: list[Json], titles: tuple[str, str], tips: list[Json]) -> list[Json]:
    across, up = titles
    accent = PALETTE["accent"][0]
    data: dict[str, Json] = {"values": values}
    size: dict[str, Json] = {"field": "claims", "type": "quantitative", "legend": None, "scale": {"range": [40, 320]}}
    return [
        {
            "data": data,
            "mark": {"type": "rule", "size": 2, "color": accent},
            "encoding": {"x": _unit("mean", across), "y": _unit("low", up), "y2": {"field": "high"}},
        },
        {
            "data": data,
            "mark": {"type": "point", "filled": True, "color": accent, "opacity": 1},
            "encoding": {"x": _unit("mean", across), "y": _unit("value", up), "size": size, "tooltip": tips},
        },
    ]


def _unit(name: str, title: str) -> dict[str, Json]:
    axis: dict[str, Json] = {"tickCount": 5, "format": ".1f"}
    scale: dict[str, Json] = {"domain": [0, 1]}
    return {"field": name, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


COMPARED = ("mihr", "mahr", "factscore")
"""The metrics that a comparison of groups shows; the first three rates when it has none of them."""
GROUPS_DRAWN = 30


def charts_of(document: Document) -> tuple[Chart, ...]:
    """All charts of a document in reading order; empty when nothing in it can be drawn."""
    draw = presentation_of(document.instrument).charts
    drawn = [
        (place, chart)
        for place, section in enumerate(document.sections)
        for chart in draw(section, document.confidence)
    ]
    return tuple(
        msgspec.structs.replace(chart, section=place, number=number) for number, (place, chart) in enumerate(drawn)
    )


def section_charts(section: Section, confidence: float) -> list[Chart]:
    """The charts of the kinds of sections that instruments share."""
    if isinstance(section, MetricSection):
        return rate_charts(section.rows, confidence)
    if isinstance(section, DistributionSection):
        return [*_share_chart(section), *_label_chart(section)]
    if isinstance(section, BreakdownSection):
        return group_charts(section, confidence)
    if isinstance(section, ConcentrationSection):
        return concentration_charts(section, confidence)
    return calibration_charts(section.calibrations, confidence) if isinstance(section, JudgeSection) else []


def rate_charts(rows: Sequence[MetricRow], confidence: float) -> list[Chart]:
    """Every headline rate as a point with its interval, and its bounds behind it."""
    rates = [row for row in rows if _is_rate(row)]
    if not rates:
        return []
    names = [f"{row.text.alias} {DIRECTION_WORDS[row.summary.direction][0]}".strip() for row in rates]
    caption = say(
        "Point: the value. Line: its {interval}. Pale bar: what the value could be if every unmeasured claim had "
        "turned out best, and worst.",
        interval=interval_words(confidence),
    )
    undefined = [f"{row.text.alias} ({value_words(row.summary)})" for row in rows if row.summary.value is None]
    if undefined:
        caption += " " + say("Not drawn: {names}.", names=", ".join(undefined))
    title = say("Headline rates")
    spec = _interval_spec(names, rates, title=title, confidence=confidence)
    return [Chart("rates", title, caption, spec)]


def group_charts(section: BreakdownSection, confidence: float) -> list[Chart]:
    """One panel for each compared metric, with a line for each group."""
    rates = [row for row in section.rows if _is_rate(row)]
    names = list(dict.fromkeys(row.summary.metric for row in rates))
    compared = [name for name in COMPARED if name in names] or names[: len(COMPARED)]
    drawn = []
    for name in compared:
        panel = [row for row in rates if row.summary.metric == name]
        if len(panel) < 2:
            continue
        text, direction = panel[0].text, say(DIRECTION_WORDS[panel[0].summary.direction][1])
        caption = f"{text.question or text.name} ({direction})".strip()
        if len(panel) > GROUPS_DRAWN:
            caption += ". " + say(
                "The first {shown} of {total} groups; the table has all.",
                shown=format_count(GROUPS_DRAWN),
                total=format_count(len(panel)),
            )
        shown = panel[:GROUPS_DRAWN]
        title = say("{metric} by {fields}", metric=text.alias, fields=field_words(section.by))
        groups = [" · ".join(row.summary.by.values()) for row in shown]
        spec = _interval_spec(groups, shown, title=title, confidence=confidence)
        drawn.append(Chart("groups", title, caption, spec))
    return drawn


def _share_chart(section: DistributionSection) -> list[Chart]:
    """How many responses have which share of unsupported claims."""
    drawn = sum(share.responses for share in section.bins)
    if not drawn:
        return []
    caption = say_count(
        drawn,
        "{count} answer by the share of their decided claims that the evidence does not support.",
        "{count} answers by the share of their decided claims that the evidence does not support.",
    )
    if section.without_decided_claim:
        caption += " " + say_count(
            section.without_decided_claim,
            "Not drawn: {count} answer without a decided claim.",
            "Not drawn: {count} answers without a decided claim.",
        )
    values: list[Json] = [
        {
            "share": _bin_name(share),
            "responses": share.responses,
            "colour": PALETTE["supported" if share.to == 0 else "refuted"][0],
        }
        for share in section.bins
    ]
    title = say("Unsupported share of each answer")
    spec = base_spec(title, height=180)
    spec["data"] = {"values": values}
    spec["mark"] = {"type": "bar", "width": {"band": 0.84}}
    spec["encoding"] = {
        "x": {
            "field": "share",
            "type": "ordinal",
            "sort": None,
            "title": say("unsupported share of an answer, up to … %"),
            "axis": {"labelAngle": 0, "labelOverlap": True},
        },
        "y": {
            "field": "responses",
            "type": "quantitative",
            "title": say("answers"),
            "axis": {"tickMinStep": 1},
        },
        "color": {"field": "colour", "type": "nominal", "scale": None},
        "tooltip": [tooltip("share", say("unsupported share")), tooltip("responses", say("answers"))],
    }
    return [Chart("shares", title, caption, spec)]


def _label_chart(section: DistributionSection) -> list[Chart]:
    """The labels of each model's claims, as shares of a bar."""
    models = [entry for entry in section.models if entry.tally.claims][:GROUPS_DRAWN]
    if not models:
        return []
    values: list[Json] = [
        {
            "model": entry.model or say("model not given"),
            "label": say(LABEL_WORDS[label]),
            "claims": count,
            "share": count / entry.tally.claims,
            "order": order,
        }
        for entry in models
        for order, (label, count) in enumerate(entry.tally.by_label.items())
        if count
    ]
    left_out = section.models_left_out + len(section.models) - len(models)
    caption = say("All claims of each model by their settled label.")
    if left_out:
        caption += " " + say_count(left_out, "Not drawn: {count} model.", "Not drawn: {count} models.")
    held = [label for label in LABEL_WORDS if any(entry.tally.by_label[label] for entry in models)]
    words: list[Json] = [say(LABEL_WORDS[label]) for label in held]
    colours: list[Json] = [PALETTE[LABEL_COLOURS[label]][0] for label in held]
    title = say("Labels of the claims")
    spec = base_spec(title, height=30 * len(models))
    spec["data"] = {"values": values}
    spec["mark"] = {"type": "bar", "stroke": PALETTE["surface"][0], "strokeWidth": 1}
    spec["encoding"] = {
        "y": {"field": "model", "type": "nominal", "sort": None, "title": None},
        "x": {
            "field": "share",
            "type": "quantitative",
            "stack": "zero",
            "title": say("share of claims"),
            "scale": {"domain": [0, 1]},
        },
        "color": {
            "field": "label",
            "type": "nominal",
            "scale": {"domain": words, "range": colours},
            "legend": {"title": None, "orient": "top", "direction": "horizontal", "columns": legend_columns(5)},
        },
        "order": {"field": "order", "type": "ordinal"},
        "tooltip": [tooltip("model", say("model")), tooltip("label", say("label")), tooltip("claims", say("claims"))],
    }
    return [Chart("labels", title, caption, spec)]


def _interval_spec(
    names: Sequence[str], rows: Sequence[MetricRow], *, title: str, confidence: float
) -> dict[str, Json]:
    """Points with intervals on the scale from 0 to 1; bounds as a pale bar behind them."""
    spec = base_spec(title, height=34 * len(rows))
    spec["data"] = {"values": [_point(name, row.summary) for name, row in zip(names, rows, strict=True)]}
    # Rows keep the order of the data: a list of names here would be compiled into an expression.
    aside: dict[str, Json] = {"labelPadding": 10, "ticks": False, "domain": False}
    spec["encoding"] = {"y": {"field": "name", "type": "nominal", "sort": None, "title": None, "axis": aside}}
    accent = PALETTE["accent"][0]
    tips: list[Json] = [
        tooltip("name", say("what")),
        tooltip("shown", say("value")),
        tooltip("interval", interval_words(confidence)),
        tooltip("bounds", say("possible")),
        tooltip("counts", say("counts")),
    ]
    spec["layer"] = [
        {
            "mark": {"type": "rule", "size": 12, "color": accent, "opacity": 0.18},
            "encoding": {"x": _axis("best"), "x2": {"field": "worst"}},
        },
        {
            "mark": {"type": "rule", "size": 2.5, "color": accent},
            "encoding": {"x": _axis("low"), "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 90, "color": accent, "opacity": 1},
            "encoding": {"x": _axis("value"), "tooltip": tips},
        },
    ]
    return spec


def _point(name: str, summary: MetricSummary) -> dict[str, Json]:
    low, high = summary.interval or (None, None)
    best, worst = summary.bounds or (None, None)
    return {
        "name": name,
        "value": summary.value,
        "low": low,
        "high": high,
        "best": best,
        "worst": worst,
        "shown": value_words(summary),
        "interval": format_pair(summary.interval),
        "bounds": format_pair(summary.bounds),
        "counts": format_counts(summary),
    }


def _axis(name: str) -> dict[str, Json]:
    axis: dict[str, Json] = {"format": ".1f", "tickCount": 10}
    return {"field": name, "type": "quantitative", "title": None, "scale": {"domain": [0, 1]}, "axis": axis}


def _is_rate(row: MetricRow) -> bool:
    return row.text.range == (0.0, 1.0) and row.summary.value is not None


def _bin_name(share: ShareBin) -> str:
    return f"{share.to * 100:.0f}"
