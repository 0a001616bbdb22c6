"""What a cue does: which scopes it gives, in which direction and how far, and whose reach it ends."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hallumeter.records.dialogue import MentionScope

    from .cue_words import CueWords, Effects, Words

NEGATED, AVOIDED, FAMILY, EXAMPLE, CONDITIONAL, POSSIBLE, GENERAL, GOAL, ADVISED, FACT, MENTIONED = range(11)
"""Scopes in the order in which the first that fits is taken; two kinds of the hypothetical and of the general."""
SCOPE_NAMES: tuple[MentionScope, ...] = (
    *("negated", "avoided", "family", "example", "hypothetical", "hypothetical", "general", "general", "advised"),
    *("asserted", "mentioned"),
)  # fmt: skip
_BY_KEY = {
    "negated": NEGATED, "avoided": AVOIDED, "family": FAMILY, "example": EXAMPLE, "hypothetical": CONDITIONAL,
    "possible": POSSIBLE, "general": GENERAL, "goal": GOAL, "advised": ADVISED, "fact": FACT,
}  # fmt: skip
PHRASE, CLAUSE, SENTENCE, NEVER = 1, 2, 3, 4
"""What ends the reach of a cue: a stop of this strength or more."""


class Reach(Struct, frozen=True, gc=False):
    """One direction in which a cue works."""

    scope: int
    level: int
    is_near: bool = False
    """Whether it works only on what stands beside it, and on the list that begins there."""


class Role(Struct, frozen=True, gc=False):
    """All that a phrase does."""

    ahead: tuple[Reach, ...] = ()
    back: tuple[Reach, ...] = ()
    stop: int = 0
    """How strong a stop it is to other cues."""
    is_finite: bool = False
    """Whether words after a comma are a clause with it."""
    is_verb: bool = False
    """Whether cues after it do not reach what stands before it."""
    is_opener: bool = False
    is_relative: bool = False
    is_predicate: bool = False
    is_third_person: bool = False
    is_possessive: bool = False
    is_fact: bool = False
    is_inner: bool = False
    is_label: bool = False
    is_subject: bool = False
    is_modal: bool = False
    is_family: bool = False
    is_condition: bool = False
    denies: bool = False
    avoids: bool = False
    is_special: bool = False
    """Whether it has to be looked at before it is used."""
    is_noted: bool = False
    """Whether it says something of the sentence besides what it does to its neighbours."""
    gives_scope: bool = False
    works_ahead: bool = False
    """Whether it matters to what follows it at all."""
    works_back: bool = False
    """Whether it does more to what stands before it than to be a verb."""


_REACHES: dict[str, tuple[int, int, bool]] = {
    "next": (CLAUSE, 0, True),
    "before": (PHRASE, 0, False),
    "clause_before": (CLAUSE, 0, False),
    "marks": (CLAUSE, 0, False),
    "sentence_before": (SENTENCE, 0, False),
    "last": (0, PHRASE, True),
    "after": (0, CLAUSE, False),
    "sentence_after": (0, NEVER, False),
    "clause": (CLAUSE, CLAUSE, False),
    "inner": (CLAUSE, CLAUSE, False),
    "sentence": (NEVER, NEVER, False),
    "predicates": (NEVER, NEVER, False),
    "labels": (NEVER, NEVER, False),
}
"""How far the cues of each list reach ahead and back, and whether only to what is near."""


def roles_of(words: CueWords) -> dict[str, Role]:
    """Every phrase of a language's cues, with stars, by what it does."""
    roles: dict[str, Role] = {}
    for phrase, role in _roles(words):
        for written in wordings(phrase, words.sets):
            roles[written] = _joined(roles[written], role) if written in roles else role
    facts = {phrase for phrase in words.cues["fact"].sentence if " " not in phrase and "*" not in phrase}
    return {phrase: _finished(role, is_fact=not facts.isdisjoint(phrase.split())) for phrase, role in roles.items()}


def _finished(role: Role, *, is_fact: bool) -> Role:
    """A role with what follows from the rest of it; a longer cue keeps its words' facts, as in "are not for you"."""
    if role == Role():
        return role
    is_fact = is_fact or role.is_fact
    noted = (is_fact, role.is_family, role.is_third_person, role.is_subject, role.is_modal, role.is_condition)
    is_special = role.denies or role.avoids or role.is_label or role.is_inner or role.is_relative
    return replace(
        role,
        is_fact=is_fact,
        is_noted=any(noted),
        is_special=is_special,
        gives_scope=bool(role.ahead or role.back or role.is_third_person or role.is_inner),
        works_back=role.stop > 0 or bool(role.back) or role.is_predicate or role.is_condition,
        works_ahead=role.stop > 0 or role.is_opener or any(noted) or bool(role.ahead) or role.denies or role.avoids,
    )


def wordings(phrase: str, sets: dict[str, Words]) -> Iterator[str]:
    """A phrase with every choice of the words of its sets.

    >>> list(wordings("{be} fine", {"be": ("is", "are")}))
    ['is fine', 'are fine']
    """
    parts = [part for piece in phrase.split("{") for part in piece.split("}")]
    choices: list[Iterable[str]] = [sets[part] if index % 2 else (part,) for index, part in enumerate(parts)]
    yield from map("".join, product(*choices))


def _roles(words: CueWords) -> Iterator[tuple[str, Role]]:
    plain, stops = words.words, words.stops
    lists = (
        (plain.neutral, Role()),
        (plain.verbs, Role(is_finite=True, is_verb=True)),
        (plain.openers, Role(is_finite=True, is_verb=True, is_opener=True)),
        (plain.third_persons, Role(is_finite=True, is_verb=True, is_third_person=True)),
        (plain.subjects, Role(is_finite=True, is_verb=True, is_subject=True)),
        (plain.modals, Role(is_finite=True, is_verb=True, is_modal=True)),
        (plain.possessives, Role(is_possessive=True)),
        (stops.phrase, Role(stop=PHRASE)),
        (stops.clause, Role(stop=CLAUSE)),
        (stops.sentence, Role(stop=SENTENCE)),
        (stops.relative, Role(stop=CLAUSE, is_relative=True)),
    )
    for phrases, role in lists:
        yield from ((phrase, role) for phrase in phrases)
    for key, effects in words.cues.items():
        yield from _cue_roles(_BY_KEY[key], effects)


def _cue_roles(scope: int, effects: Effects) -> Iterator[tuple[str, Role]]:
    for list_name, (ahead, back, is_near) in _REACHES.items():
        is_fact = scope == FACT and not is_near  # said of the whole sentence
        is_verb = (scope in {AVOIDED, ADVISED} and ahead > 0) or (scope == POSSIBLE and list_name == "clause")
        role = Role(
            ahead=(Reach(scope, ahead, is_near),) if ahead and not is_fact else (),
            back=(Reach(scope, back, is_near),) if back and not is_fact else (),
            stop=CLAUSE if scope == CONDITIONAL else 0,
            is_finite=is_verb or list_name in {"after", "sentence_after"},
            is_verb=is_verb,
            is_predicate=list_name == "predicates",
            is_fact=is_fact,
            is_inner=list_name == "inner",
            is_label=list_name == "labels",
            is_family=scope == FAMILY,
            is_condition=scope == CONDITIONAL,
            denies=scope == NEGATED,
            avoids=scope == AVOIDED,
        )
        yield from ((phrase, role) for phrase in getattr(effects, list_name))


def _joined(one: Role, other: Role) -> Role:
    flags = {
        name: getattr(one, name) or getattr(other, name) for name in Role.__struct_fields__ if name not in _NOT_FLAGS
    }
    return Role(one.ahead + other.ahead, one.back + other.back, max(one.stop, other.stop), **flags)


_NOT_FLAGS = frozenset({"ahead", "back", "stop"})
