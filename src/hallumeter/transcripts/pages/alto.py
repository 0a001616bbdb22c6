"""ALTO, versions 2 to 4: lines of strings in blocks."""

from __future__ import annotations

from collections.abc import Mapping

from .layout import (
    Box,
    Confidence,
    LinePlace,
    Part,
    ReadingOrder,
    box_of,
    joined_text,
    page_box,
    parts_in_order,
    placed_lines,
)

_PARTS = {"ComposedBlock", "TextBlock", "TextLine"}
_GROUPS = {"OrderedGroup", "UnorderedGroup"}
_SPACE = " "


class AltoReader:
    """Gathers the text of an ALTO file.

    A line is the CONTENT of its String elements, with a space for each SP and the CONTENT of a HYP at the end; in a
    line without any SP, spaces stand between the strings. Lines and blocks are separated by one line break, in the
    order of the file or, where there is one, of the ReadingOrder of ALTO 4. Margins count; a hyphenated word stays as
    it is printed (CONTENT, not SUBS_CONTENT).
    """

    def __init__(self) -> None:
        self._open = [Part()]
        self._order = ReadingOrder()
        self.confidence = Confidence()
        """By the WC of its words."""
        self._strings: list[str] = []
        self._has_spaces = False
        self._ends_in_space = False
        self._page: Box | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if name == "String":
            self._strings.append(attributes.get("CONTENT", ""))
            self._ends_in_space = False
            self.confidence.add(attributes.get("WC", ""))
        elif name == "SP":
            self._strings.append(_SPACE)
            self._has_spaces = self._ends_in_space = True
        elif name == "HYP":
            self._add_hyphen(attributes.get("CONTENT", ""))
        elif name in _PARTS:
            self._strings.clear()
            self._has_spaces = self._ends_in_space = False
            place = map(attributes.get, ("HPOS", "VPOS", "WIDTH", "HEIGHT"))
            self._open.append(Part(attributes.get("ID"), box_of(place) if name == "TextLine" else None))
        elif name == "Page":
            self._page = page_box(attributes.get("WIDTH"), attributes.get("HEIGHT"))
        elif name in _GROUPS:
            self._order.open_group()
        elif name == "ElementRef":
            self._order.refer(attributes.get("REF", "").split())

    def data(self, text: str) -> None:
        """Nothing: ALTO keeps its text in attributes."""

    def end(self, name: str) -> None:
        """An element ends."""
        if name in _GROUPS:
            self._order.close_group()
        elif name in _PARTS:
            part = self._open.pop()
            if name == "TextLine":
                part.text = self._line()
            if part.text or part.inside:
                self._open[-1].inside.append(part)

    def text(self) -> str:
        """The whole page."""
        return joined_text(parts_in_order(self._open[0], self._order))

    def places(self) -> tuple[LinePlace, ...]:
        """Where its lines stand, as far as they have coordinates."""
        return placed_lines(((part.text, part.box) for part in parts_in_order(self._open[0], self._order)), self._page)

    def _add_hyphen(self, hyphen: str) -> None:
        if self._strings and not self._ends_in_space:
            self._strings[-1] += hyphen
        else:
            self._strings.append(hyphen)

    def _line(self) -> str:
        # A String may hold nothing but a space, so that only an SP tells that the line marks its spaces.
        if self._has_spaces:
            return "".join(self._strings).strip(_SPACE)
        return _SPACE.join(string for string in self._strings if string.strip(_SPACE)).strip(_SPACE)
