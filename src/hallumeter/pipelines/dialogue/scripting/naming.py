"""What the things in a record are called: by their codes where the lexicon knows them, else by the record's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.extractors.clinical.names import condition_named, drug_named

from .tables import RXNORM, SNOMED, conditions_by_snomed, drugs_by_rxnorm, situations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hallumeter.formats.fhir import Concept

_TAG = re.compile(r"\s*\(([a-z/ ]+)\)\s*$")
_DOSE_WORDS = frozenset(
    ("abuse-deterrent", "actuat", "day", "hr", "iu", "mcg", "meq", "mg", "ml", "mmol", "pack", "puff", "unt", "week")
)
"""Words of a medication's name that are no drug's."""
_LETTERS = re.compile(r"(?<!\w)[^\W\d_][^\W\d_'-]*(?!\w)")


class Named(Struct, frozen=True):
    """Something of a record as it stands in the slots."""

    words: str
    lexicon: str | None = None
    """The lexicon's name; None when it knows none."""
    korean: str | None = None
    """How it is called in Korean where the lexicon does not say it."""


def codes_of(concept: Concept, systems: Iterable[str]) -> tuple[str, ...]:
    """The codes of a code system, which has several addresses."""
    return tuple(code for system in systems for code in concept.codes(system))


def untagged(words: str) -> tuple[str, str | None]:
    """A SNOMED name without the tag at its end, and the tag.

    >>> untagged("Viral sinusitis (disorder)"), untagged("Psoriasis")
    (('Viral sinusitis', 'disorder'), ('Psoriasis', None))
    """
    match = _TAG.search(words)
    table = situations()
    if match is None or match[1] not in (*table.disease_tags, *table.situation_tags, "procedure"):
        return words, None
    return words[: match.start()], match[1]


def capitalized(name: str) -> str:
    """A name of the lexicon as it is written at the beginning of a line.

    >>> capitalized("penicillin v"), capitalized("vitamin b12"), capitalized("hiv infection")
    ('Penicillin V', 'Vitamin B12', 'HIV infection')
    """
    words = [
        word.upper()
        if len(word) == 1 or word in {"hiv", "adhd", "covid-19"} or re.fullmatch(r"[a-z]\d+", word)
        else word
        for word in name.split(" ")
    ]
    return " ".join(words)[:1].upper() + " ".join(words)[1:]


def condition_of(concept: Concept) -> Named | None:
    """A condition; None when neither the codes nor the words say which.

    The record's words are kept where they mean what the code means, and else give way to it: Synthea writes "Diabetes"
    for the code of type 2 diabetes, and "Body mass index 30+ - obesity (finding)" for obesity.
    """
    words, tag = untagged(concept.words) if concept.words else (None, None)
    by_words = condition_named(words) if words else None
    by_code = coded_condition(concept)
    if by_code is not None and (by_code != by_words or tag == "finding"):
        return Named(capitalized(by_code), by_code)
    return Named(words, by_words) if words else None


def coded_condition(concept: Concept) -> str | None:
    """The lexicon's name of the condition that a SNOMED code means."""
    known = conditions_by_snomed()
    return next((known[code] for code in codes_of(concept, SNOMED) if code in known), None)


def drugs_of(concept: Concept) -> tuple[Named, ...]:
    """The ingredients of a medication, the leading one first; none when nothing says what it is."""
    known = drugs_by_rxnorm()
    for code in codes_of(concept, RXNORM):
        if code in known:
            return tuple(Named(capitalized(name), name) for name in known[code])
    parts = re.split(r"\s+/\s+", concept.words) if concept.words else []
    found = tuple(dict.fromkeys(drug for part in parts if (drug := _drug(part)) is not None))
    if any(drug.lexicon is None for drug in found) and len(found) > 1:
        together = drug_named("/".join(drug.words.lower() for drug in found))
        return (Named(capitalized(together), together),) if together else found
    return found


def _drug(words: str) -> Named | None:
    """The drug of one ingredient with its dose and form; its first word when the lexicon knows none."""
    name = drug_named(words)
    if name is not None:
        return Named(capitalized(name), name)
    first = next((word for word in _LETTERS.findall(words) if word.lower() not in _DOSE_WORDS), None)
    return None if first is None else Named(first[:1].upper() + first[1:].lower())
