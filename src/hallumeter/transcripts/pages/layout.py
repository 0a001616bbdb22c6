"""The parts of a page and the order in which they are read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator


class Part:
    """A region, block or line of a page: its own text, then the parts inside it."""

    __slots__ = ("identifier", "inside", "text")

    def __init__(self, identifier: str | None = None) -> None:
        self.identifier = identifier
        self.text = ""
        self.inside: list[Part] = []


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


def place_of(index: str | None) -> float:
    """A place in a group from an attribute; what is missing or no number comes last.

    >>> place_of("2"), place_of(None), place_of("second")
    (2, inf, inf)
    """
    try:
        return int(index) if index is not None else math.inf
    except ValueError:
        return math.inf


def text_in_order(page: Part, order: ReadingOrder) -> str:
    """The lines of a page: parts that the reading order names, then all others as the file has them.

    A part brings what is inside it along, except parts that the order names at a place of their own. Lines are joined
    by line breaks, and so are the lines of different parts.
    """
    named: dict[str, list[Part]] = {identifier: [] for identifier in order.identifiers()}
    for part in _walk(page, {}):
        if part.identifier in named:
            named[part.identifier].append(part)
    beginnings = [part for parts in named.values() for part in parts]
    return "\n".join(part.text for first in [*beginnings, page] for part in _walk(first, named) if part.text)


def _walk(first: Part, named: dict[str, list[Part]]) -> Iterator[Part]:
    """A part and those inside it, in the order of the file, without those that are named elsewhere."""
    waiting = [first]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(inner for inner in reversed(part.inside) if inner.identifier not in named)
