"""What every chart is made of: colours, fonts, a quiet specification, and the words that go with a drawing."""

from __future__ import annotations

from msgspec import Struct

from hallumeter.records.claim import Label

from .wording import LABEL_WORDS

Json = str | float | bool | list["Json"] | dict[str, "Json"] | None
"""What a specification is made of."""

PALETTE: dict[str, tuple[str, str]] = {
    "paper": ("#fbfbf9", "#14171a"),
    "surface": ("#ffffff", "#1b1f23"),
    "ink": ("#1b1f24", "#e6e8ea"),
    "muted": ("#59616b", "#a1a9b2"),
    "line": ("#dcdfdb", "#343b42"),
    "accent": ("#1f5f8b", "#7cc0f0"),
    "refuted": ("#a1260d", "#e8643f"),
    "not_enough_info": ("#b87900", "#f5c862"),
    "undecided": ("#7b838c", "#8b949e"),
    "no_verdict": ("#3a4047", "#dfe3e7"),
    "supported": ("#2474b5", "#5fa8e6"),
}
"""Colours for light and dark paper. Charts are drawn in the light ones; a page may swap them one for one."""
LABEL_COLOURS: dict[Label | None, str] = {
    label: "no_verdict" if label is None else label.value.lower() for label in LABEL_WORDS
}
"""The name in the palette for each label, worst first."""
FONTS = "Noto Sans, Helvetica Neue, Arial, DejaVu Sans, Noto Sans KR, NanumGothic, sans-serif"
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


class Chart(Struct, frozen=True):
    """A chart with its words."""

    kind: str
    """``rates``, ``groups``, ``shares``, ``labels``, ``ranks`` or ``pages``."""
    title: str
    caption: str
    """How to read it, and what it leaves out."""
    spec: dict[str, Json]
    metric: str = ""
    """The metric that it draws, where a section puts the charts of a metric together."""
    section: int = 0
    """Position in the document of the section that it draws."""
    number: int = 0
    """Position among the charts of the document."""

    @property
    def chart_id(self) -> str:
        """A name for it on a page, made of nothing that came from outside."""
        return f"{self.kind}-{self.number}"


def base_spec(title: str, *, height: Json) -> dict[str, Json]:
    """A specification without data: the size follows the page, the fonts and lines are quiet."""
    ink, muted, line = (PALETTE[name][0] for name in ("ink", "muted", "line"))
    axis: dict[str, Json] = {
        "labelColor": ink,
        "titleColor": muted,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 220,
        "labelFlush": False,
        "labelSeparation": 10,
        "domainColor": line,
        "tickColor": line,
        "gridColor": line,
    }
    return {
        "$schema": _SCHEMA,
        "description": title,
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "background": "transparent",
        "config": {
            "font": FONTS,
            "view": {"stroke": None},
            # What a line tells, its point tells in words.
            "rule": {"aria": False},
            "axis": axis,
            "legend": {"labelColor": ink, "labelFontSize": 12, "symbolType": "square"},
        },
    }


def legend_columns(columns: int) -> dict[str, Json]:
    """Side by side where there is room; on a phone, where names take half of it, below each other."""
    return {"expr": f"width < 320 ? 1 : {columns}"}


def tooltip(name: str, title: str) -> dict[str, Json]:
    """A line of the small table under the pointer."""
    return {"field": name, "title": title}


ENGINE_COLOURS = (
    ("#1f5f8b", "#7cc0f0"),
    ("#b3541e", "#f0a36b"),
    ("#3b7d3a", "#86cf84"),
    ("#8a3d8f", "#d79bdc"),
    ("#9a7b00", "#e3c64a"),
    ("#2a8a8a", "#6fd3d3"),
    ("#a1260d", "#ff8f7a"),
    ("#59616b", "#c2c9d1"),
)
"""For as many engines as can be told apart, on light and on dark paper."""
