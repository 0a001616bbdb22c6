"""What an answer says about the patient, held against what is true."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from hallumeter.records import Label, Mention, MentionKind, Occurrence, PatientSlots, SlotFinding

from .truth import PatientTruth, agrees, truth_of

if TYPE_CHECKING:
    from hallumeter.extractors.clinical import ClinicalText

SLOT_WEIGHTS: dict[MentionKind, float] = {
    "medication": 2.0,
    "lab": 2.0,
    "vital": 2.0,
    "condition": 1.0,
    "age": 1.0,
    "sex": 1.0,
}
"""A wrong drug or value can harm; a wrong age rarely does."""
AGE_TOLERANCE = 2
"""Years by which an age may differ."""
NOT_ASSERTED, NOT_IN_RECORD, CANNOT_COMPARE = "not_asserted", "not_in_record", "cannot_compare"
_LISTED_KEPT = 512
"""Answers about a patient name the same drugs and conditions again."""
_LISTS: dict[MentionKind, str] = {"medication": "medications", "condition": "conditions"}


def judge_slots(answer: ClinicalText, slots: PatientSlots | PatientTruth) -> tuple[SlotFinding, ...]:
    """Every mention of an answer, with what the patient's record says of it.

    Only what is asserted of the patient can be REFUTED. What the record does not speak of is NOT_ENOUGH_INFO.
    """
    truth = slots if isinstance(slots, PatientTruth) else truth_of(slots)
    return tuple(_finding(mention, answer, truth) for mention in answer.mentions)


def _finding(mention: Mention, answer: ClinicalText, truth: PatientTruth) -> SlotFinding:
    asserted = mention.asserted
    if asserted is None:
        scopes = "; ".join(dict.fromkeys(_scope_words(each, answer.text) for each in mention.occurrences))
        note = f"not said of this patient ({scopes})"
        return SlotFinding(mention, Label.NOT_ENOUGH_INFO, SLOT_WEIGHTS[mention.kind], NOT_ASSERTED, note)
    label, reason, note = _held_against(mention, asserted, answer=answer, truth=truth)
    return SlotFinding(mention, label, SLOT_WEIGHTS[mention.kind], reason, note)


def _scope_words(place: Occurrence, text: str) -> str:
    """How something stands, and the words that decided it."""
    if place.cue_start is None or place.cue_end is None:
        return place.scope
    return f"{place.scope}: {text[place.cue_start : place.cue_end]!r}"


def _held_against(
    mention: Mention, asserted: Occurrence, *, answer: ClinicalText, truth: PatientTruth
) -> tuple[Label, str | None, str]:
    if mention.kind in _LISTS:
        return _listed(mention.kind, mention.name, truth)
    if mention.kind == "age":
        return _age(mention, truth)
    if mention.kind == "sex":
        return _sex(mention, truth)
    return _measured(mention, asserted, answer=answer, truth=truth)


@lru_cache(maxsize=_LISTED_KEPT)
def _listed(kind: MentionKind, name: str, truth: PatientTruth) -> tuple[Label, str | None, str]:
    is_drug = kind == "medication"
    is_known = (truth.drugs if is_drug else truth.conditions) is not None
    if not is_known:
        return Label.NOT_ENOUGH_INFO, NOT_IN_RECORD, f"the record has no {_LISTS[kind]}"
    told = truth.drugs_told if is_drug else truth.conditions_told
    if truth.has_drug(name) if is_drug else truth.has_condition(name):
        return Label.SUPPORTED, None, f"the record lists {told}"
    reason = "invented_medication" if is_drug else "invented_condition"
    return Label.REFUTED, reason, f"the answer says {name}, the record lists {told}"


def _age(mention: Mention, truth: PatientTruth) -> tuple[Label, str | None, str]:
    age = truth.slots.age
    if age is None or not isinstance(mention.value, float | int):
        return Label.NOT_ENOUGH_INFO, NOT_IN_RECORD, "the record has no age"
    note = f"the answer says {mention.value:.12g}, the record {age}"
    if abs(mention.value - age) <= AGE_TOLERANCE:
        return Label.SUPPORTED, None, note
    return Label.REFUTED, "age_mismatch", note


def _sex(mention: Mention, truth: PatientTruth) -> tuple[Label, str | None, str]:
    if truth.sex is None:
        return Label.NOT_ENOUGH_INFO, NOT_IN_RECORD, "the record has no sex"
    note = f"the answer says {mention.value}, the record {truth.sex}"
    return (Label.SUPPORTED, None, note) if mention.value == truth.sex else (Label.REFUTED, "sex_mismatch", note)


def _measured(
    mention: Mention, asserted: Occurrence, *, answer: ClinicalText, truth: PatientTruth
) -> tuple[Label, str | None, str]:
    known = truth.values.get(mention.name)
    if known is None:
        return Label.NOT_ENOUGH_INFO, NOT_IN_RECORD, f"the record has no {mention.name} that can be read"
    note = f"the answer says {mention.name} {stated(mention)}, the record {known.text}"
    is_right = agrees(mention, asserted, text=answer.text, truth=known)
    if is_right is None:
        return Label.NOT_ENOUGH_INFO, CANNOT_COMPARE, f"{note}; the units cannot be compared"
    return (Label.SUPPORTED, None, note) if is_right else (Label.REFUTED, f"{mention.kind}_mismatch", note)


def stated(mention: Mention) -> str:
    """A value as it was stated, with its unit."""
    value = f"{mention.value:.12g}" if isinstance(mention.value, float | int) else str(mention.value)
    return f"{value} {mention.unit}" if mention.unit else value
