"""Two wordings of a claim side by side: which words the other does not have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hallumeter.text.align import align

if TYPE_CHECKING:
    from collections.abc import Sequence

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
