"""A reliability diagram in characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hallumeter.records.decisions.calibration import ReliabilityBin

WIDTH = 31
"""Characters from 0 to 1."""
PROMISED, TRUE, BETWEEN = "|", "o", "-"


def diagram_scale() -> str:
    """The head of the column: from 0 to 1, and what the signs are.

    >>> len(diagram_scale()) == WIDTH
    True
    """
    return "0" + "| mean, o true".center(WIDTH - 2) + "1"


def diagram_line(each: ReliabilityBin) -> str:
    """One bin: the interval of what is true, its share, and the probability that was promised.

    >>> from hallumeter.records.decisions.calibration import ReliabilityBin
    >>> diagram_line(ReliabilityBin(0.2, 0.3, 50, 0.25, 0.5, (0.4, 0.6)))
    '        |   ---o---            '
    """
    signs = [" "] * WIDTH
    if each.interval is not None:
        for place in range(_place(each.interval[0]), _place(each.interval[1]) + 1):
            signs[place] = BETWEEN
    signs[_place(each.share)] = TRUE
    if _place(each.mean_probability) != _place(each.share):
        signs[_place(each.mean_probability)] = PROMISED
    return "".join(signs)


def _place(share: float) -> int:
    return round(share * (WIDTH - 1))
