"""Whether an answer can be acted on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.records import Rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.records import Element


def actionability(elements: Sequence[Element]) -> Rate:
    """Share of what the turn's answer must include that is there (ASS). Undefined for a turn that must include nothing.

    >>> from hallumeter.records import Element
    >>> actionability([Element("frequency", True, 0, 4), Element("duration", False)]).value
    0.5
    """
    return Rate(sum(element.is_found for element in elements), len(elements))
