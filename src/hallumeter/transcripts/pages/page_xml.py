"""PAGE XML, versions 2013 to 2019: regions of lines, with a text at any level."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .layout import Part, ReadingOrder, place_of, text_in_order

_JOINTS = {"TextLine": " ", "Word": "", "Glyph": "", "Graphemes": ""}
"""What stands between the texts of the parts below, when a level has no text of its own."""
_GROUP_NAMES = ("OrderedGroup", "UnorderedGroup")
_REFERENCE_NAMES = ("RegionRef", "RegionRefIndexed")


class PageXmlReader:
    """Gathers the text of a PAGE XML file.

    A line is its TextEquiv of lowest index (the first where none has an index), or else its words with spaces between
    them, or else their glyphs. The text of a region counts only when no line or region in it has text; when it is the
    same lines in another order, it gives the order, because editors leave lines in the order in which they were drawn.
    Regions come in the order of ReadingOrder, then those that it does not name in the order of the file; lines and
    regions are separated by one line break.
    """

    def __init__(self) -> None:
        self._open = [_Level("Page")]
        self._order = ReadingOrder()
        self._place = math.inf
        self._characters: list[str] | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if _is_level(name):
            self._open.append(_Level(name, attributes.get("id")))
        elif name == "TextEquiv":
            self._place = place_of(attributes.get("index"))
        elif name == "Unicode":
            self._characters = []
        elif name.startswith(_GROUP_NAMES):
            self._order.open_group(place_of(attributes.get("index")), attributes.get("regionRef", "").split())
        elif name in _REFERENCE_NAMES:
            self._order.refer(attributes.get("regionRef", "").split(), place_of(attributes.get("index")))

    def data(self, text: str) -> None:
        """Some text; only that of a Unicode element is of the page."""
        if self._characters is not None:
            self._characters.append(text)

    def end(self, name: str) -> None:
        """An element ends."""
        if _is_level(name):
            self._open.pop().close(self._open[-1])
        elif name == "Unicode" and self._characters is not None:
            self._open[-1].offer("".join(self._characters), self._place)
            self._characters = None
        elif name.startswith(_GROUP_NAMES):
            self._order.close_group()

    def text(self) -> str:
        """The whole page."""
        return text_in_order(self._open[0].part, self._order)


def _is_level(name: str) -> bool:
    return name in _JOINTS or name.endswith("Region")


class _Level:
    """A region, line, word or glyph while it is being read."""

    __slots__ = ("_kind", "_pieces", "_place", "_text", "part")

    def __init__(self, kind: str, identifier: str | None = None) -> None:
        self.part = Part(identifier)
        self._kind = kind
        self._text = ""
        self._place = math.inf
        self._pieces: list[str] = []

    def offer(self, text: str, place: float) -> None:
        """One of several readings: the one of lowest place is taken, an empty one never."""
        if text.strip() and (not self._text or place < self._place):
            self._text, self._place = text, place

    def close(self, above: _Level) -> None:
        """Hand what was read to the level above; what holds no text is forgotten."""
        text = self._text or _JOINTS.get(self._kind, " ").join(self._pieces)
        if self._kind not in _JOINTS or self._kind == "TextLine":
            if self.part.inside:
                self.part.inside = _in_order_of(self._text, self.part.inside)
            else:
                self.part.text = text
            if self.part.text or self.part.inside:
                above.part.inside.append(self.part)
        elif self._kind != "Graphemes" and text:  # parts of letters are no letters
            above._pieces.append(text)


def _in_order_of(text: str, parts: list[Part]) -> list[Part]:
    """The parts as the lines of a text have them; unchanged when these are not exactly the parts."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) != len(parts) or sorted(lines) != sorted(part.text for part in parts):
        return parts
    waiting: dict[str, list[Part]] = {}
    for part in reversed(parts):
        waiting.setdefault(part.text, []).append(part)
    return [waiting[line].pop() for line in lines]
