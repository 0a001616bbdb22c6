"""Which of a patient's conditions come first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.formats.fhir import moment_of

from .naming import Named, coded_condition, condition_of, untagged
from .tables import ConditionRank, condition_ranks, conditions, situations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hallumeter.formats.fhir import Concept, Condition

    from .notes import Notes

DEFAULT_SCORE = 10
"""Of a disease that is in no table; acute and slight ones stand below it."""
EXCLUDED_VERIFICATIONS = frozenset({"refuted", "entered-in-error", "differential"})
ACTIVE = frozenset({"active", "recurrence", "relapse"})
_NO_ONSET = float("inf")


class RankedCondition(Struct, frozen=True):
    """A condition and what it is ranked by."""

    named: Named
    is_situation: bool
    score: int
    onset: float
    references: tuple[str, ...]
    """Where it stands in the record, as ``Condition/id``: requests give it as their reason."""


def ranked_conditions(found: Iterable[Condition], notes: Notes) -> list[RankedCondition]:
    """Active conditions (all when none is active), the weightiest first and of equals the oldest; each once.

    A situation, such as a pregnancy or a history of something, comes after every disease.
    """
    valid = [each for each in found if _code(each.verification_status) not in EXCLUDED_VERIFICATIONS]
    active = [each for each in valid if _is_active(each)]
    ranked: dict[str, RankedCondition] = {}
    for condition in active or valid:
        each = _ranked(condition, notes)
        if each is not None:
            key = each.named.lexicon or each.named.words.casefold()
            ranked[key] = _joined(ranked[key], each) if key in ranked else each
    return sorted(ranked.values(), key=lambda each: (each.is_situation, -each.score, each.onset, each.named.words))


def _code(status: Concept | str | None) -> str | None:
    return status if isinstance(status, str) or status is None else status.first_code


def _is_active(condition: Condition) -> bool:
    status = _code(condition.clinical_status)
    return status in ACTIVE if status is not None else condition.abatement_date_time is None


def _ranked(condition: Condition, notes: Notes) -> RankedCondition | None:
    """One condition; None when it says nothing about health, or cannot be named."""
    concept = condition.code
    named = condition_of(concept) if concept is not None else None
    if concept is None or named is None:
        notes.count_unknown("condition", concept.first_code if concept else None, None)
        notes.say("nameless_condition", f"condition {condition.id} has neither a known code nor words; left out")
        return None
    words = (concept.words or named.words).casefold()
    if any(f" {phrase}" in f" {words}" for phrase in situations().left_out):
        return None
    if named.lexicon is None:
        notes.count_unknown("condition", concept.first_code, concept.words)
    rank = rank_of(named.lexicon)
    onset = moment_of(condition.date)
    return RankedCondition(
        named=named,
        is_situation=_is_situation(concept, named),
        score=rank.score if rank else DEFAULT_SCORE,
        onset=onset.timestamp() if onset else _NO_ONSET,
        references=(f"Condition/{condition.id}",),
    )


def _joined(first: RankedCondition, second: RankedCondition) -> RankedCondition:
    """A condition that stands in the record twice, since its first onset."""
    earlier = min(first, second, key=lambda each: each.onset)
    return RankedCondition(
        earlier.named, earlier.is_situation, earlier.score, earlier.onset, first.references + second.references
    )


def _is_situation(concept: Concept, named: Named) -> bool:
    """Whether an entry is no disease; the lexicon may find a disease in words such as "family history of"."""
    words = (coded_condition(concept) or concept.words or named.words).casefold()
    if words.startswith(situations().situations):
        return True
    return named.lexicon is None and untagged(words)[1] in situations().situation_tags


def rank_of(name: str | None) -> ConditionRank | None:
    """The rank of a condition of the lexicon, or of the nearest wider one that has a rank."""
    table, lexicon = condition_ranks(), conditions()
    nearest = [name] if name is not None else []
    for each in nearest:  # grows by wider conditions while it is walked
        if each in table:
            return table[each]
        line = lexicon.get(each)
        nearest += [wider for wider in (line.wider if line else ()) if wider not in nearest]
    return None
