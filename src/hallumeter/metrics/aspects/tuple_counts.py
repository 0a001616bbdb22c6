"""What a scorecard tells of its tuples, alone and beside gold, in counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .tuples import (
    VALID_POLARITIES,
    Stated,
    TupleMatch,
    has_conflict,
    has_severe_error,
    match_explicit,
    match_implicit,
    match_stated,
    pairs_of,
    stated_by,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.records.aspects import AspectTuple
    from hallumeter.records.aspects.scorecard import Scorecard

    from .stage_counts import Counts
    from .tuples import Pair

_STAGES = ("s1", "s2", "final")
_KINDS = ("gold", "f1", "pairs", "matched", "explicit_gold", "explicit_f1", "implicit_gold", "implicit_f1")
_COPIED = {
    (source, target): [(f"{kind}_{source}", f"{kind}_{target}") for kind in _KINDS]
    for source in ("s1", "s2")
    for target in ("s2", "final")
}
"""The counts of a stage, and those of another that states the same."""
_NAMES = {stage: tuple(f"{kind}_{stage}" for kind in _KINDS) for stage in _STAGES}


def count_tuples(card: Scorecard, counts: Counts) -> None:
    """Add what the tuples of the stages are worth."""
    result = card.final_result
    if result is None:
        return
    stages = _stated({"s1": result.stage1_tuples, "s2": result.stage2_tuples, "final": result.final_tuples})
    for name in ("s1", "final"):
        if name in stages:
            counts[f"tuples_{name}"] = 1
            counts[f"conflict_{name}"] = int(has_conflict(stages[name]))
    given = None if card.inputs is None else card.inputs.gold_tuples
    if given is None:
        return
    wanted = stated_by(given)
    gold = wanted.pairs
    counts["gold"] = 1
    counts["unequal_gold"] = int(_is_unequal(wanted))
    _count_transition(_matches(stages, gold, counts), counts)
    final = stages.get("final")
    if final is not None:
        counts["unequal_final"] = int(_is_unequal(final))
        counts["severe"] = int(has_severe_error(final, gold))
        if any(not term for term, _ in gold):
            counts["implicit_gold"] = 1
            counts["implicit_invalid"] = int(_is_invalid(final))


def count_failed_gold(card: Scorecard, counts: Counts) -> None:
    """A sentence that failed cannot be compared, and has no valid polarity for gold that names no aspect."""
    stated = None if card.inputs is None else card.inputs.gold_tuples
    if stated is None:
        return
    counts["failed_gold"] = 1
    if any(not term for term, _ in pairs_of(stated)):
        counts["implicit_gold"] = counts["implicit_invalid"] = 1


def _stated(stages: dict[str, tuple[AspectTuple, ...] | None]) -> dict[str, Stated]:
    """What the stages that are known state; of stages that say the same, one and the same."""
    found: dict[str, Stated] = {}
    for name, tuples in stages.items():
        if tuples is not None:
            stated = stated_by(tuples)
            found[name] = next((each for each in found.values() if each == stated), stated)
    return found


def _matches(stages: dict[str, Stated], gold: Sequence[Pair], counts: Counts) -> dict[str, TupleMatch]:
    """Match every stage that is known with gold; stages that say the same are matched once."""
    has_explicit = any(term for term, _ in gold)
    has_implicit = not all(term for term, _ in gold)
    found: dict[str, TupleMatch] = {}
    first: dict[int, str] = {}
    for name, stated in stages.items():
        same = first.setdefault(id(stated), name)
        if same != name:
            found[name] = found[same]
            counts.update({target: counts[source] for source, target in _COPIED[same, name] if source in counts})
            continue
        match = found[name] = match_stated(stated, gold)
        known, f1, pairs, matched, explicit_known, explicit_f1, implicit_known, implicit_f1 = _NAMES[name]
        counts[known] = 1
        counts[f1] = match.f1
        counts[pairs] = match.predicted + match.gold
        counts[matched] = 2 * match.matched
        if has_explicit:
            is_all_named = not has_implicit and stated.is_all_named
            counts[explicit_known] = 1
            counts[explicit_f1] = match.f1 if is_all_named else match_explicit(stated, gold).f1
        if has_implicit:
            counts[implicit_known] = 1
            counts[implicit_f1] = match_implicit(stated, gold).f1
    return found


def _count_transition(matches: dict[str, TupleMatch], counts: Counts) -> None:
    """From stage 1 to stage 2: what was put right, and what was put wrong."""
    if "s1" not in matches or "s2" not in matches:
        return
    was, became = matches["s1"].is_perfect, matches["s2"].is_perfect
    counts["gold_both"] = 1
    counts["delta_f1"] = counts["f1_s2"] - counts["f1_s1"]
    counts["right_before" if was else "wrong_before"] = 1
    counts["kept" if was and became else "broken" if was else "fixed" if became else "still"] = 1
    counts["net_gain"] = int(became) - int(was)
    for part in ("explicit", "implicit"):
        if f"{part}_f1_s1" in counts:
            counts[f"{part}_gold_both"] = 1
            counts[f"{part}_delta_f1"] = counts[f"{part}_f1_s2"] - counts[f"{part}_f1_s1"]
    if counts.get("override_samples"):
        counts["gold_override"] = 1
        counts["delta_f1_override"] = counts["delta_f1"]


def _is_unequal(stated: Stated) -> bool:
    """Whether tuples do not match themselves, as they should; those that are all named are equal to themselves."""
    return not stated.is_all_named and not match_stated(stated, list(stated.pairs)).is_perfect


def _is_invalid(stated: Stated) -> bool:
    """Whether no polarity is valid, or one is missing."""
    polarities = [polarity for _, polarity in stated.pairs]
    return "" in polarities or not any(polarity in VALID_POLARITIES for polarity in polarities)
