"""What the turns of a debate let expect, and how their source is named.

Edits come first; without any, it is what a speaker says and on which side he stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

from hallumeter.records.aspects import AspectHint, DebateTurn, Polarity, ProposedEdit
from hallumeter.text.polarity_words import repaired_polarity

PATCH, FINAL_PATCH = "patch", "final_patch"
"""How those speak who propose edits."""
_EDIT, _CONFIRMED_AT_THE_END, _DROP = 0.5, 0.8, 0.8
_SIDES: dict[str, Polarity] = {"pro": "positive", "con": "negative"}
_LONGEST_STANCE, _REMEMBERED = 40, 256
_ON_A_SIDE, _NEUTRAL, _ELSEWHERE = 1.0, 0.6, 0.8


class Expectation(Struct, frozen=True):
    """What an edit or a stance lets expect."""

    weight: float = 0.0
    polarity: Polarity | None = None
    is_drop: bool = False
    """Whether a tuple is to go: that says nothing about its polarity."""


def expectation_of_edit(edit: ProposedEdit, *, is_last_word: bool = False) -> Expectation:
    """What one edit lets expect; in the patch that ends a debate a confirmation weighs more.

    >>> expectation_of_edit(ProposedEdit("set_polarity", value="pos"))
    Expectation(weight=0.5, polarity='positive', is_drop=False)
    """
    op = edit.op.strip().lower()
    if op == "drop_tuple":
        return Expectation(_DROP, None, is_drop=True)
    if op == "set_aspect_ref":
        return Expectation()
    said = repaired_polarity(edit.value).value
    of_target = repaired_polarity(edit.target.polarity).value
    if op == "confirm_tuple":
        weight = _CONFIRMED_AT_THE_END if is_last_word else _EDIT
        return Expectation(weight if of_target is not None else 0.0, of_target)
    polarity = said if op == "set_polarity" else said or of_target
    return Expectation(_EDIT if polarity is not None else 0.0, polarity)


def expectation_of_stance(stance: str | None) -> Expectation:
    """What the side of a speaker lets expect; without a side nothing.

    >>> expectation_of_stance("Con"), expectation_of_stance("")
    (Expectation(weight=1.0, polarity='negative', is_drop=False), Expectation(weight=0.0, polarity=None, is_drop=False))
    """
    side = (stance or "").strip().lower()
    if not side:
        return Expectation()
    if side in _SIDES:
        return Expectation(_ON_A_SIDE, _SIDES[side])
    return Expectation(_NEUTRAL if side == "neutral" else _ELSEWHERE, "neutral")


def expectation_of_turn(turn: DebateTurn, of_edits: Sequence[Expectation]) -> Expectation:
    """What a whole turn lets expect, by its edits or else by its stance: where edits disagree, no polarity."""
    if not of_edits:
        return expectation_of_stance(turn.stance)
    polarities = dict.fromkeys(one.polarity for one in of_edits if one.polarity is not None)
    return Expectation(
        max(one.weight for one in of_edits),
        next(iter(polarities)) if len(polarities) == 1 else None,
        is_drop=all(one.is_drop for one in of_edits),
    )


def words_of_turn(turn: DebateTurn) -> str:
    """The words in which a turn may name aspects."""
    if not turn.proposed_edits:
        return " ".join(filter(None, [turn.message, *turn.key_points]))
    return " ".join(words for edit in turn.proposed_edits for words in words_of_edit(edit))


def words_of_edit(edit: ProposedEdit) -> Iterable[str]:
    """The words in which an edit may name aspects."""
    value = edit.value if repaired_polarity(edit.value).value is None else None
    return filter(None, [edit.target.aspect_term, edit.target.aspect_ref, value])


@lru_cache(maxsize=_REMEMBERED)
def source_of(speaker: str, stance: str) -> str | None:
    """Who said something, and how; None when nothing is known of how.

    >>> source_of("epm", "patch"), source_of("tan", "")
    ('source:epm/patch', None)
    """
    plain = " ".join(stance.split())[:_LONGEST_STANCE]
    return f"source:{speaker}/{plain}" if plain else None


def sources_of(hints: Iterable[AspectHint]) -> str | None:
    """All that gave hints, each once, in their order; None without any."""
    sources = dict.fromkeys(source_of(hint.speaker, hint.stance) for hint in hints)
    return "; ".join(source for source in sources if source) or None
