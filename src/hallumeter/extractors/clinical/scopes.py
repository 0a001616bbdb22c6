"""How each mention stands in its sentence: denied, advised against, of the family, an example, supposed, general, ….

A sentence is read twice. From left to right, cues such as "no", "avoid" or "if" work on what follows until a stop
ends their reach; from right to left, cues such as "should be avoided" work on what stands before them. A stop is a
preposition, the border of a clause, or a word like "but"; a comma is one only when a clause follows it, so that
lists share their scope. What stands in brackets does not work outside of them. Of all scopes that reach a mention, the
first in the order of `roles` is taken.
"""

from __future__ import annotations

from msgspec import Struct

from .roles import (
    ADVISED,
    AVOIDED,
    CONDITIONAL,
    EXAMPLE,
    FACT,
    FAMILY,
    GENERAL,
    GOAL,
    MENTIONED,
    POSSIBLE,
    Reach,
    Role,
)

Span = tuple[int, int]
_ALL = (1 << MENTIONED) - 1
_VALUE_BACK = 1 << FAMILY | 1 << EXAMPLE | 1 << CONDITIONAL | 1 << GOAL
AHEAD_OF = {
    "medication": _ALL & ~(1 << GOAL),
    "condition": _ALL & ~(1 << GOAL | 1 << ADVISED | 1 << FACT),
    "value": _ALL & ~(1 << ADVISED),
    "person": _ALL & ~(1 << GOAL | 1 << ADVISED | 1 << AVOIDED),
}
"""Which scopes can come to each kind of target from cues before it, as bits."""
BACK_OF = {
    "medication": _ALL & ~(1 << GOAL | 1 << FACT),
    "condition": _ALL & ~(1 << GOAL | 1 << ADVISED),
    "value": _VALUE_BACK,
    "person": _VALUE_BACK & ~(1 << GOAL) | 1 << GENERAL,
}
"""The same from cues after it: a number that is too high, or that may harm, was measured all the same."""
_NOT_OF_FACTS = frozenset({POSSIBLE, GENERAL, ADVISED})
"""Scopes that do not hold for what a verb of fact stands before."""
_NOT_OF_OWN = frozenset({POSSIBLE, FAMILY})
"""Scopes that do not hold for what "your" stands before."""
_VALUES = frozenset({"value", "person"})

CUE, TARGET, COMMA, OPEN, CLOSE, SEMICOLON, COLON = range(7)


class Target(Struct):
    """Something whose scope is asked for, in the positions of the clean text."""

    start: int
    """Where it begins; of a value, where the number does."""
    end: int
    name_start: int
    kind: str
    """`medication`, `condition`, `value` or `person`."""
    bound: Span | None = None
    """Words that make a value a threshold."""
    is_past: bool = False
    """Whether an age is that of another time."""
    scope: int = MENTIONED
    cue: Span | None = None
    clause: int = 0
    condition: Span | None = None
    """A condition in another clause of the sentence."""
    is_strong: bool = False
    """Whether a verb of fact stands directly before: 복용 중인 메트포르민."""
    is_possessed: bool = False
    """Whether "your" stands directly before."""

    def offer(self, scope: int, cue: Span) -> None:
        """Take a scope if it comes before the one it has."""
        if scope < self.scope:
            self.scope, self.cue = scope, cue


Item = tuple[int, int, int, Role | None, Target | None]
"""A cue, a mark or a target of a sentence: where it begins and ends, its code, and what it is."""


class Active:
    """A cue at work."""

    __slots__ = ("cue", "is_near", "is_used", "level", "reference")

    def __init__(self, cue: Span, reach: Reach, reference: int) -> None:
        self.cue = cue
        self.level = reach.level
        self.is_near = reach.is_near
        self.reference = reference
        """Where the cue, or what it worked on last, begins or ends."""
        self.is_used = False


class Facts(Struct):
    """What a sentence says of this patient, and what it hands on."""

    clauses: set[int]
    """Clauses with words that speak of this patient."""
    cue: Span | None = None
    """The first such words."""


def settle(target: Target, facts: Facts, *, question: Span | None) -> None:
    """Decide the scope of a target after both readings of its sentence."""
    if target.bound is not None:
        target.offer(GENERAL, target.bound)
    is_own = target.is_possessed and target.kind != "person"
    overruled = _NOT_OF_FACTS if target.is_strong else _NOT_OF_OWN if is_own else ()
    if target.scope in overruled:
        target.scope, target.cue = MENTIONED, None
    if question is not None:
        target.offer(CONDITIONAL, question)
    elif target.condition is not None and target.clause not in facts.clauses:
        target.offer(CONDITIONAL, target.condition)
    if target.scope != MENTIONED:
        return
    if target.kind in _VALUES:
        target.scope = MENTIONED if target.is_past else FACT
    elif facts.cue is not None:
        target.scope, target.cue = FACT, facts.cue
