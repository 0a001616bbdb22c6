"""How far an answer agrees with what was said before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.records import Rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.records import Consistency

FEWEST_STATEMENTS = 2
"""A single statement would make the rate 0 or 1 by chance."""


def consistency(statements: Sequence[Consistency]) -> Rate:
    """Share of the comparable statements that contradict nothing said before (MCS).

    Undefined with fewer than two statements that something earlier can be compared with.

    >>> from hallumeter.records import Consistency
    >>> same = Consistency("age", "age", 0, 5, False, "question 1", "67세")
    >>> other = Consistency("sex", "sex", 6, 8, True, "question 1", "남성")
    >>> consistency([same, other]).value, consistency([same]).value
    (0.5, None)
    """
    if len(statements) < FEWEST_STATEMENTS:
        return Rate(0, 0)
    return Rate(sum(not statement.is_contradiction for statement in statements), len(statements))
