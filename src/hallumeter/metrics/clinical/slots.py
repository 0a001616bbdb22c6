"""How much of what an answer says about the patient is no invention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.records import Label, Rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hallumeter.records import SlotFinding


def slot_factuality(findings: Iterable[SlotFinding]) -> Rate:
    """Weight of the mentions that are no inventions over the weight of all mentions (SFS).

    1 - sum of w(hallucinated) / sum of w(mentioned); mentions that are examples, hypothetical or denied count in the
    denominator, and only REFUTED ones are hallucinated. Undefined without a mention.

    >>> from hallumeter.records import Mention, SlotFinding
    >>> drug, age = Mention("medication", "warfarin", ()), Mention("age", "age", (), 67.0)
    >>> slot_factuality([SlotFinding(drug, Label.REFUTED, 2.0), SlotFinding(age, Label.SUPPORTED, 1.0)])
    Rate(count=1.0, total=3.0)
    """
    mentioned = hallucinated = 0.0
    for finding in findings:
        mentioned += finding.weight
        hallucinated += finding.weight if finding.label is Label.REFUTED else 0.0
    return Rate(mentioned - hallucinated, mentioned)
