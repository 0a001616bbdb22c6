"""How far an answer uses what is known of the patient."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.records import Rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.records import SlotUse

USED = 0.5
"""From this confidence on a fact counts as used: an indirect mention does."""


def context_utilisation(uses: Sequence[SlotUse]) -> Rate:
    """Weight of the required facts, each times how plainly it is used, over their weight (CUS_improved).

    Explicit use counts 1, indirect use 0.5. Undefined when the turn requires no fact that is known of the patient.

    >>> from hallumeter.records import SlotUse
    >>> age, sex = SlotUse("age", 1.0, 67, 1.0), SlotUse("sex", 1.0, "male", 0.0)
    >>> condition = SlotUse("primary_condition", 2.0, "Type 2 diabetes mellitus", 0.5)
    >>> context_utilisation([age, sex, condition]), slots_used([age, sex, condition])
    (Rate(count=2.0, total=4.0), Rate(count=2, total=3))
    """
    used = sum((use.weight * use.confidence for use in uses), 0.0)
    return Rate(used, sum((use.weight for use in uses), 0.0))


def slots_used(uses: Sequence[SlotUse]) -> Rate:
    """Required facts that are used, plainly or not, over all that are required and known (CUS), each counting once.

    Undefined when the turn requires no fact that is known of the patient.
    """
    return Rate(sum(use.confidence >= USED for use in uses), len(uses))
