"""The parts of a page and the order in which they are read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_WHOLE = 10_000
_LEAST = 60
"""The height that a line has at least, in ten-thousandths of the page."""


Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


class Part:
    """A region, block or line of a page: its own text, then the parts inside it."""

    __slots__ = ("box", "identifier", "inside", "text")

    def __init__(self, identifier: str | None = None, box: Box | None = None) -> None:
        self.identifier = identifier
        self.box = box
        self.text = ""
        self.inside: list[Part] = []


class LinePlace(NamedTuple):
    """Where a line of the text stands on the page, in ten-thousandths of its width and height."""

    start: int
    """First code point of the line in the text of the page."""
    end: int
    left: int
    top: int
    right: int
    bottom: int


def placed_lines(lines: Iterable[tuple[str, Box | None]], page: Box | None) -> tuple[LinePlace, ...]:
    """The places of lines that are joined by line breaks; lines without a box are passed over.

    >>> placed_lines([("ab", (10, 20, 60, 40)), ("c", None)], (0, 0, 100, 200))
    (LinePlace(start=0, end=2, left=1000, top=1000, right=6000, bottom=2000),)
    """
    if page is None or page[2] <= page[0] or page[3] <= page[1]:
        return ()
    found = []
    start = 0
    for text, box in lines:
        end = start + len(text)
        place = None if box is None else _scaled(box, page)
        if place is not None:
            found.append(LinePlace(start, end, *place))
        start = end + 1
    return tuple(found)


def _scaled(box: Box, page: Box) -> tuple[int, int, int, int] | None:
    """A box in ten-thousandths of the page, as far as it lies on it; None when it has no extent there."""
    (width, height), sides = (page[2] - page[0], page[3] - page[1]), []
    for side, origin, extent in zip(box, (page[0], page[1]) * 2, (width, height) * 2, strict=True):
        sides.append(min(_WHOLE, max(0, round((side - origin) / extent * _WHOLE))))
    left, top, right, bottom = sides
    # A baseline has no height: what is written stands above it.
    top = min(top, bottom - _LEAST)
    return (left, max(0, top), right, bottom) if right > left and bottom > 0 else None


class Confidence:
    """How sure an engine is of its words, each with the same weight."""

    __slots__ = ("_sum", "_words")

    def __init__(self) -> None:
        self._sum = 0.0
        self._words = 0

    def add(self, stated: str, *, of: float = 1.0) -> None:
        """Take what a file states of a word, on a scale that ends here; what is no number of it is passed over."""
        try:
            share = float(stated) / of
        except ValueError:
            return
        if 0 <= share <= 1:
            self._sum += share
            self._words += 1

    @property
    def mean(self) -> float | None:
        """None when the file states nothing."""
        return self._sum / self._words if self._words else None


class ReadingOrder:
    """The identifiers of a page's parts in the order of its groups, which may stand inside each other."""

    def __init__(self) -> None:
        self._open: list[_Group] = [_Group()]

    def open_group(self, place: float = math.inf, identifiers: Iterable[str] = ()) -> None:
        """Begin a group; it may stand for a part itself."""
        group = _Group()
        self._open[-1].members.append((place, group))
        self._open.append(group)
        self.refer(identifiers)

    def refer(self, identifiers: Iterable[str], place: float = math.inf) -> None:
        """Name parts at a place in the open group; without a place they stay in the order of the file."""
        self._open[-1].members.extend((place, identifier) for identifier in identifiers)

    def close_group(self) -> None:
        """End the group that was opened last."""
        self._open.pop()

    def identifiers(self) -> Iterator[str]:
        """All that was named, group by group."""
        waiting: list[str | _Group] = [self._open[0]]
        while waiting:
            member = waiting.pop()
            if isinstance(member, str):
                yield member
            else:
                in_order = sorted(member.members, key=_place_first)
                waiting.extend(inner for _, inner in reversed(in_order))


class _Group:
    """Members of a group, each with its place in it."""

    __slots__ = ("members",)

    def __init__(self) -> None:
        self.members: list[tuple[float, str | _Group]] = []


def _place_first(member: tuple[float, object]) -> float:
    return member[0]


def page_box(width: str | None, height: str | None) -> Box | None:
    """A page from its width and height, as a file states them; None when it does not.

    >>> page_box("800", "1200.5"), page_box("800", None), page_box("wide", "nan")
    ((0.0, 0.0, 800.0, 1200.5), None, None)
    """
    return box_of(("0", "0", width, height))


def box_of(stated: Iterable[str | None]) -> Box | None:
    """A box from its left, top, width and height; None unless all four are numbers."""
    try:
        sides = [float(side or "") for side in stated]
    except ValueError:
        return None
    if not all(map(math.isfinite, sides)):
        return None
    return sides[0], sides[1], sides[0] + sides[2], sides[1] + sides[3]


def place_of(index: str | None) -> float:
    """A place in a group from an attribute; what is missing or no number comes last.

    >>> place_of("2"), place_of(None), place_of("second")
    (2, inf, inf)
    """
    try:
        return int(index) if index is not None else math.inf
    except ValueError:
        return math.inf


def parts_in_order(page: Part, order: ReadingOrder) -> list[Part]:
    """The parts of a page with a text: those that the reading order names, then all others as the file has them.

    A part brings what is inside it along, except parts that the order names at a place of their own.
    """
    named: dict[str, list[Part]] = {identifier: [] for identifier in order.identifiers()}
    for part in _walk(page, {}):
        if part.identifier in named:
            named[part.identifier].append(part)
    beginnings = [part for parts in named.values() for part in parts]
    return [part for first in [*beginnings, page] for part in _walk(first, named) if part.text]


def joined_text(parts: Iterable[Part]) -> str:
    """The text of a page: lines are joined by line breaks, and so are the lines of different parts."""
    return "\n".join(part.text for part in parts)


def _walk(first: Part, named: dict[str, list[Part]]) -> Iterator[Part]:
    """A part and those inside it, in the order of the file, without those that are named elsewhere."""
    waiting = [first]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(inner for inner in reversed(part.inside) if inner.identifier not in named)
