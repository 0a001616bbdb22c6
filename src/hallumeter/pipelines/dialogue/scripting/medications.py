"""Which drugs a patient takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.formats.fhir import moment_of

from .naming import Named, drugs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hallumeter.formats.fhir import MedicationUse

    from .notes import Notes

MOST_DRUGS = 3
ACTIVE = "active"
EXCLUDED_STATUSES = frozenset({"entered-in-error", "cancelled", "draft", "not-taken", "intended"})
EXCLUDED_INTENTS = frozenset({"proposal", "plan", "option"})


class Drugs(Struct, frozen=True):
    """What a patient takes, or took last."""

    drugs: tuple[Named, ...]
    are_current: bool


def drugs_taken(found: Iterable[MedicationUse], reasons: Mapping[str, int], notes: Notes) -> Drugs | None:
    """Distinct ingredients of active requests, or of the latest when none is active; None when there is no request.

    Those ordered for the weightiest condition come first, then the latest. Of combinations the leading ingredient
    counts first, and the others while there is room.

    Args:
        found: Requests and statements.
        reasons: The rank of each condition, by its reference.
        notes: Takes what could not be named.
    """
    valid = [each for each in found if _is_valid(each)]
    active = [each for each in valid if each.status == ACTIVE]
    if active:
        ordered = sorted(active, key=lambda each: (_rank(each, reasons), -_time(each)))
    else:
        ordered = sorted(valid, key=lambda each: -_time(each))
    ingredients = [drugs for each in ordered if (drugs := _ingredients(each, notes))]
    leading = dict.fromkeys(drugs[0] for drugs in ingredients)
    others = dict.fromkeys(drug for drugs in ingredients for drug in drugs[1:])
    chosen = tuple({**leading, **others})[:MOST_DRUGS]
    return Drugs(chosen, bool(active)) if chosen else None


def _is_valid(use: MedicationUse) -> bool:
    is_meant = use.status not in EXCLUDED_STATUSES and use.intent not in EXCLUDED_INTENTS
    return is_meant and not use.do_not_perform


def _rank(use: MedicationUse, reasons: Mapping[str, int]) -> int:
    least = len(reasons)
    return min((reasons.get(each.reference or "", least) for each in use.reason_reference or ()), default=least)


def _time(use: MedicationUse) -> float:
    moment = moment_of(use.date)
    return moment.timestamp() if moment else float("-inf")


def _ingredients(use: MedicationUse, notes: Notes) -> tuple[Named, ...]:
    concept = use.medication_codeable_concept
    drugs = drugs_of(concept) if concept is not None else ()
    if not drugs:
        pointer = use.medication_reference.reference if use.medication_reference else None
        why = f"points to {pointer}, which is not there" if pointer and concept is None else "names no drug"
        notes.say("nameless_drug", f"medication {use.id} {why}; left out")
    for drug in drugs:
        if drug.lexicon is None and concept is not None:
            notes.count_unknown("drug", concept.first_code, concept.words)
    return drugs
