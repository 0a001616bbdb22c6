"""How much of what safety rules forbid an answer does all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.records import Rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hallumeter.records import RuleOutcome


def contraindication_penalty(outcomes: Iterable[RuleOutcome]) -> Rate:
    """Weight of the rules that are violated over the weight of all that apply (CSP); lower is better.

    A requirement applies on its turns whether it is met or not. Undefined when no rule applies: a safe silence is not
    a pass.

    >>> from hallumeter.records import RuleOutcome
    >>> kept = RuleOutcome("R1", "a rule", "rule", 1.5, False, "a flag")
    >>> broken = RuleOutcome("R2", "another", "rule", 0.5, True, "a cue")
    >>> contraindication_penalty([kept, broken]).value
    0.25
    """
    applicable = violated = 0.0
    for outcome in outcomes:
        applicable += outcome.weight
        violated += outcome.weight if outcome.is_violated else 0.0
    return Rate(violated, applicable)
