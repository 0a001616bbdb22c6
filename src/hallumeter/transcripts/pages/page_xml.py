"""PAGE XML, versions 2013 to 2019: regions of lines, with a text at any level."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from .layout import Box, LinePlace, Part, ReadingOrder, joined_text, page_box, parts_in_order, place_of, placed_lines

PageLevel = Literal["region", "line", "word"]
PAGE_LEVELS: tuple[PageLevel, ...] = ("region", "line", "word")
"""At which level the text of a PAGE XML file is taken where several have one."""
_INDEX = re.compile(r"readingOrder\s*\{\s*index\s*:\s*(\d{1,9})\s*;?\s*\}")
_POINT = re.compile(r"(-?\d{1,9})(?:\.\d*)?\s*,\s*(-?\d{1,9})")
_MOST_BOXES = 200
"""Regions that are put in order by where they stand; of more, the order of the file stays."""

_JOINTS = {"TextLine": " ", "Word": "", "Glyph": "", "Graphemes": ""}
"""What stands between the texts of the parts below, when a level has no text of its own."""
_GROUP_NAMES = ("OrderedGroup", "UnorderedGroup")
_REFERENCE_NAMES = ("RegionRef", "RegionRefIndexed")


class PageXmlReader:
    """Gathers the text of a PAGE XML file.

    A line is its TextEquiv of lowest index (the first where none has an index), or else its words with spaces between
    them, or else their glyphs. The text of a region counts only when no line or region in it has text; when it is the
    same lines in another order, it gives the order, because editors leave lines in the order in which they were drawn.
    At the level `region` a region's own text counts before its lines, at the level `word` words before a line's own.

    Regions come in the order of ReadingOrder, then those that it does not name. Among these, and among the lines of a
    region, `custom="readingOrder {index:0;}"` of Transkribus and eScriptorium gives the order, or else where they stand
    on the page, when all have coordinates, or else the file. Lines and regions are separated by one line break.
    """

    def __init__(self, level: PageLevel = "line") -> None:
        self._level = level
        self._open = [_Level("Page", level)]
        self._order = ReadingOrder()
        self._place = math.inf
        self._characters: list[str] | None = None
        self._page: Box | None = None
        self._parts: list[Part] | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if _is_level(name):
            self._open.append(_Level(name, self._level, attributes))
        elif name in {"Coords", "Baseline"}:
            self._open[-1].stand_at(attributes.get("points", ""), is_baseline=name == "Baseline")
        elif name == "Page":
            self._page = page_box(attributes.get("imageWidth"), attributes.get("imageHeight"))
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
        return joined_text(self._in_order())

    def places(self) -> tuple[LinePlace, ...]:
        """Where its lines stand, as far as they have coordinates."""
        return placed_lines(((part.text, part.box) for part in self._in_order()), self._page)

    def _in_order(self) -> list[Part]:
        if self._parts is None:
            page = self._open[0]
            page.put_in_order()
            self._parts = parts_in_order(page.part, self._order)
        return self._parts


def _is_level(name: str) -> bool:
    return name in _JOINTS or name.endswith("Region")


class _Level:
    """A region, line, word or glyph while it is being read."""

    __slots__ = ("_kind", "_level", "_pieces", "_place", "_text", "box", "index", "part", "placed")

    def __init__(self, kind: str, level: PageLevel, attributes: Mapping[str, str] | None = None) -> None:
        attributes = attributes or {}
        self.part = Part(attributes.get("id"))
        index = _INDEX.search(attributes.get("custom", ""))
        self.index = int(index[1]) if index else None
        self.box: Box | None = None
        self.placed: list[tuple[int | None, Box | None]] = []
        """The index and the place of each part inside, as the file has them."""
        self._kind = kind
        self._level = level
        self._text = ""
        self._place = math.inf
        self._pieces: list[str] = []

    def stand_at(self, points: str, *, is_baseline: bool) -> None:
        """Take the place of a part from its outline, or from its baseline when it has no outline."""
        if self.box is None or not is_baseline:
            self.box = _box_of(points) or self.box

    def offer(self, text: str, place: float) -> None:
        """One of several readings: the one of lowest place is taken, an empty one never."""
        if text.strip() and (not self._text or place < self._place):
            self._text, self._place = text, place

    def close(self, above: _Level) -> None:
        """Hand what was read to the level above; what holds no text is forgotten."""
        pieces = _JOINTS.get(self._kind, " ").join(self._pieces)
        is_by_words = self._kind == "TextLine" and self._level == "word"
        text = (is_by_words and pieces) or self._text or pieces
        if self._kind in _JOINTS and self._kind != "TextLine":
            above._pieces += [text] if self._kind != "Graphemes" and text else []  # parts of letters are no letters
            return
        if self.part.inside and not (self._level == "region" and self._text):
            self.put_in_order()
        else:
            self.part.text, self.part.inside, self.part.box = text, [], self.box
        if self.part.text or self.part.inside:
            above.part.inside.append(self.part)
            above.placed.append((self.index, self.box))

    def put_in_order(self) -> None:
        """Put what is inside in the order in which it is read."""
        parts = [self.part.inside[place] for place in _in_reading_order(self.placed)]
        self.part.inside = _in_order_of(self._text, parts)
        self.placed = []


def _box_of(points: str) -> Box | None:
    found = [(int(x), int(y)) for x, y in _POINT.findall(points)]
    if not found:
        return None
    across, down = zip(*found, strict=True)
    return min(across), min(down), max(across), max(down)


def _in_reading_order(placed: Sequence[tuple[int | None, Box | None]]) -> Sequence[int]:
    """Parts by the index that an editor gave, or else by place; as they are where some have neither."""
    given = range(len(placed))
    indices = [index for index, _ in placed if index is not None]
    if len(indices) == len(placed):
        return sorted(given, key=lambda place: indices[place])
    boxes = [box for _, box in placed if box is not None]
    return _places_in_order(boxes) if len(boxes) == len(placed) <= _MOST_BOXES else given


def _places_in_order(boxes: Sequence[Box]) -> list[int]:
    """The places of boxes as columns are read: above before below where they share a column, else left before right.

    A box to the left comes first only where nothing stands between the two that reaches over both, such as a heading
    (T. M. Breuel, High Performance Document Layout Analysis, 2003). Of boxes that nothing orders, the file decides.
    """
    waiting = list(range(len(boxes)))
    before = {place: {other for other in waiting if _comes_before(boxes, other, place)} for place in waiting}
    ordered: list[int] = []
    while waiting:
        # Two boxes that lie over each other may each come before the other.
        free = [place for place in waiting if before[place].isdisjoint(waiting)]
        chosen = free[0] if free else min(waiting, key=lambda place: (boxes[place][1], boxes[place][0]))
        ordered.append(chosen)
        waiting.remove(chosen)
    return ordered


def _comes_before(boxes: Sequence[Box], first: int, second: int) -> bool:
    one, other = boxes[first], boxes[second]
    if first == second:
        return False
    if _share_column(one, other):
        is_same_row = min(one[3], other[3]) - max(one[1], other[1]) > (min(one[3] - one[1], other[3] - other[1])) / 2
        return one[0] < other[0] if is_same_row and one[0] != other[0] else _middle(one) < _middle(other)
    if one[2] > other[0]:
        return False
    low, high = sorted((_middle(one), _middle(other)))
    between = (box for box in boxes if low < _middle(box) < high)
    return not any(_share_column(box, one) and _share_column(box, other) for box in between)


def _share_column(one: Box, other: Box) -> bool:
    return min(one[2], other[2]) > max(one[0], other[0])


def _middle(box: Box) -> float:
    return (box[1] + box[3]) / 2


def _in_order_of(text: str, parts: list[Part]) -> list[Part]:
    """The parts as the lines of a text have them; unchanged when these are not exactly the parts."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) != len(parts) or sorted(lines) != sorted(part.text for part in parts):
        return parts
    waiting: dict[str, list[Part]] = {}
    for part in reversed(parts):
        waiting.setdefault(part.text, []).append(part)
    return [waiting[line].pop() for line in lines]
