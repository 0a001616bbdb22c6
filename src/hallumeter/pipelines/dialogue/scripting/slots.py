"""The facts of a patient as the slots of a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.records import PatientSlots

from .conditions import rank_of
from .tables import questions

if TYPE_CHECKING:
    from .facts import PatientFacts
    from .naming import Named


def slots_of(facts: PatientFacts, language: str) -> PatientSlots:
    """Slots in English, but for the sex and the symptom, which are in the language of the script."""
    return PatientSlots(
        age=facts.age,
        sex=questions(language).sex[facts.sex_code] if facts.sex_code else None,
        sex_code=facts.sex_code,
        primary_condition=facts.primary.words if facts.primary else None,
        comorbidities=_words(facts.comorbidities),
        key_meds=_words(facts.drugs.drugs) if facts.drugs else None,
        key_vitals=facts.vitals or None,
        key_labs=facts.labs or None,
        major_procedures=_words(facts.procedures),
        chief_symptom=symptom_of(facts, language),
    )


def symptom_of(facts: PatientFacts, language: str) -> str:
    """The usual symptom of the main condition, or a word for any."""
    rank = rank_of(facts.primary.lexicon) if facts.primary else None
    return rank.symptom[language] if rank else questions(language).symptom


def _words(found: tuple[Named, ...] | None) -> tuple[str, ...] | None:
    return None if found is None else tuple(each.words for each in found)
