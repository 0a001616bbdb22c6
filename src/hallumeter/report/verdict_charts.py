"""Charts of where claims are unsupported, and of what probabilities are worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .drawing import PALETTE, Chart, Json, base_spec, tooltip
from .languages.speaking import message, say
from .sections import Calibration, ConcentrationSection, LengthBin, TenthBin
from .tallies import Tallies
from .wording import format_count, format_number, format_pair, interval_words


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
        "encoding": {"y": _axis("low", up), "y2": {"field": "high"}},
    }
    point: dict[str, Json] = {
        "mark": {"type": "point", "filled": True, "size": 90, "color": accent, "opacity": 1},
        "encoding": {"y": _axis("value", up), "tooltip": tips},
    }
    # Vega warns of a field without any value.
    spec["layer"] = [*([interval] if any(each.interval for each in bins) else []), point]
    return spec


def _axis(name: str, title: str) -> dict[str, Json]:
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
