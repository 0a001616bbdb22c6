"""How each mention stands in its sentence: denied, advised against, of the family, an example, supposed, general, ….

A sentence is read twice. From left to right, cues such as "no", "avoid" or "if" work on what follows until a stop
ends their reach; from right to left, cues such as "should be avoided" work on what stands before them. A stop is a
preposition, the border of a clause, or a word like "but"; a comma is one only when a clause follows it, so that
lists share their scope. What stands in brackets does not work outside of them. Of all scopes that reach a mention, the
first in the order of `roles` is taken. A label holds for the list after it ("Foods to avoid: …"), a verdict for what
precedes it ("Beer – avoid").
"""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from .cues import (
    ADVISED,
    AVOIDED,
    CLAUSE,
    CONDITIONAL,
    EXAMPLE,
    FACT,
    FAMILY,
    GENERAL,
    GOAL,
    MENTIONED,
    NEGATED,
    POSSIBLE,
    SENTENCE,
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
_OVERRULED = _NOT_OF_FACTS | _NOT_OF_OWN
_VALUES = frozenset({"value", "person"})

_AGAINST = frozenset({NEGATED, AVOIDED})
_LONGEST_LABEL, _AFTER_LAST = 60, 12
"""Characters of a label before its colon, and between its last verb and its end."""
_LAST_WORDS = re.compile(r"[^)\]|]{0,14}(?:[)\]|]|\Z)")
"""What may follow the verb of a verdict."""
_KOREAN_SENTENCE = re.compile(r"[가-힣](?:다|요|오|죠|니까)[.!\s\"'*)]*\Z")
_VERDICT_MARKS = (":", "(", "[", "|", "→", "=", " -", " –", " —")
_BEFORE_REFUSAL = ("please ", "so ", "better ", "rather ", "best ", "answer is ")
_MARKS = " .!*)]|\"'"

CUE, TARGET, COMMA, OPEN, CLOSE, SEMICOLON, COLON = range(7)


class Target(Struct, gc=False):
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

    __slots__ = ("cue", "is_near", "is_shared", "is_used", "level", "reference")

    def __init__(self, cue: Span, reach: Reach, reference: int) -> None:
        self.cue = cue
        self.level = reach.level
        self.is_near = reach.is_near
        self.reference = reference
        """Where the cue, or what it worked on last, begins or ends."""
        self.is_used = False
        self.is_shared = False
        """Whether it has its subject from the verb before it: "… harms the kidneys and should be avoided"."""


class Given(NamedTuple):
    """What the reading from left to right is given."""

    actives: dict[int, Active]
    """Cues of the heading over the sentence."""
    is_family: bool
    """Whether the last sentence spoke of the family."""
    label: dict[int, Active]
    """Cues of a label, for what follows its colon."""
    colon: int | None
    """Which item that colon is."""
    doing: frozenset[str]


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
    if target.scope in _OVERRULED and _is_overruled(target):
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


def _is_overruled(target: Target) -> bool:
    """Whether what stands directly before a target says more than the cue that reached it."""
    if target.is_strong:
        return target.scope in _NOT_OF_FACTS
    return target.is_possessed and target.kind != "person" and target.scope in _NOT_OF_OWN


def label_cues(items: list[Item], end: int) -> dict[int, Active]:
    """What the words of a label say of the list that follows: those of them against it.

    Verbs that have their object before them count when the label ends with them, as 다음 음식은 피하세요 does.
    """
    found: dict[int, Active] = {}
    for start, cue_end, _, role, _ in items:
        if role is None:
            continue
        if role.stop >= CLAUSE:
            found.clear()
        for reach in (*role.ahead, *(role.back if end - cue_end <= _AFTER_LAST else ())):
            if reach.scope in _AGAINST and not reach.is_near:
                found[reach.scope] = Active((start, cue_end), Reach(reach.scope, CLAUSE), cue_end)
    return found


def colon_of_label(items: list[Item], lower: str, span: Span) -> int | None:
    """Which item is the colon between a label and its list; None when there is no such colon."""
    for place, (start, _, code, _, target) in enumerate(items):
        if target is not None or start - span[0] > _LONGEST_LABEL:
            return None
        if code == COLON:
            return place if _is_list(items[place + 1 :], lower, (start, span[1])) else None
    return None


def _is_list(items: list[Item], lower: str, span: Span) -> bool:
    """Whether names follow a colon, and no clause."""
    for _, _, code, role, _ in items:
        if code == COMMA:
            break
        if role is not None and role.is_finite:
            return False
    return _KOREAN_SENTENCE.search(lower, span[0], span[1]) is None or "," in lower[span[0] : span[1]]


def turn_verdicts(items: list[Item], lower: str, span: Span) -> None:
    """Let a verdict after a colon, a dash or in brackets work on what stands before it, and "so please don't" too."""
    for place, (start, end, code, role, _) in enumerate(items):
        if role is None or not role.is_special or not (role.denies or role.avoids):
            continue
        # The few words up to the end of a sentence, a bracket or a cell; None when they are many.
        match = _LAST_WORDS.match(lower, end, span[1])
        rest = None if match is None else match.group().strip(_MARKS)
        if rest is None or (place + 1 < len(items) and items[place + 1][4] is not None):
            continue
        is_verdict = (not rest or bool(role.back)) and _follows_mark(lower, span[0], start)
        is_refusal = not rest and role.denies and lower[max(span[0], start - 10) : start].endswith(_BEFORE_REFUSAL)
        if is_verdict or is_refusal:
            items[place] = (start, end, code, _turned(role), None)
            if is_verdict and place and items[place - 1][2] in {COLON, OPEN}:
                items[place - 1], items[place] = items[place], items[place - 1]


def _follows_mark(lower: str, first: int, start: int) -> bool:
    """Whether a place follows a mark that has words before it."""
    begin = max(first, start - 12)
    if "가" <= lower[start - 1] <= "힣":  # a cue such as 지 마 begins inside of its verb
        start = lower.rfind(" ", begin, start) + 1
    head = lower[begin:start].rstrip(" *")
    if not head.endswith(_VERDICT_MARKS):
        return False
    before = head[:-1].rstrip(" *")
    return before != "" and (before[-1].isalnum() or before[-1] in "\"')")


def _turned(role: Role) -> Role:
    scope = NEGATED if role.denies else AVOIDED
    return replace(role, ahead=(), back=(Reach(scope, SENTENCE),), works_back=True)
