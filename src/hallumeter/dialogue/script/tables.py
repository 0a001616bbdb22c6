"""The tables beside this module, and the lines of the clinical lexicon by their codes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib import resources

from msgspec import Struct, convert

from hallumeter.dialogue.fhir.resources import Concept
from hallumeter.dialogue.reading.reader import condition_named, drug_named

SNOMED = ("http://snomed.info/sct", "urn:oid:2.16.840.1.113883.6.96")
LOINC = ("http://loinc.org", "urn:oid:2.16.840.1.113883.6.1")
RXNORM = ("http://www.nlm.nih.gov/research/umls/rxnorm", "urn:oid:2.16.840.1.113883.6.88")


class ConditionRank(Struct, frozen=True):
    """How much a condition weighs among others, and what goes with it."""

    name: str
    score: int
    labs: tuple[str, ...]
    symptom: dict[str, str]
    """By language."""


class ProcedureWeight(Struct, frozen=True):
    """How much a kind of procedure weighs; 0 is routine."""

    phrase: str
    """Words that begin a word of the procedure's name, or with ``*`` that end one."""
    weight: int


class Situations(Struct, frozen=True, forbid_unknown_fields=True):
    """Phrases of entries that are no disease."""

    situations: tuple[str, ...]
    left_out: tuple[str, ...]
    situation_tags: tuple[str, ...]
    disease_tags: tuple[str, ...]


class Questions(Struct, frozen=True, forbid_unknown_fields=True):
    """The questions in one language; the files say how they are read."""

    sex: dict[str, str]
    symptom: str
    join: str
    last_join: str
    proper_names: tuple[str, ...]
    labels: dict[str, str]
    turns: dict[str, tuple[tuple[tuple[str, ...], ...], ...]]


class ConditionLine(Struct, frozen=True):
    """A condition of the lexicon."""

    name: str
    korean: str
    """The first of its Korean names."""
    wider: tuple[str, ...]


class MeasurementLine(Struct, frozen=True):
    """A lab or a vital of the lexicon."""

    name: str
    unit: str
    low: float
    high: float


@cache
def condition_ranks() -> dict[str, ConditionRank]:
    """Ranks by the lexicon's name of a condition."""
    return {
        row["name"]: ConditionRank(
            row["name"], int(row["score"]), _parts(row["labs"]), {"en": row["symptom_en"], "ko": row["symptom_ko"]}
        )
        for row in _rows(_own("condition_ranks.tsv"))
    }


@cache
def procedure_weights() -> tuple[ProcedureWeight, ...]:
    """Weights of procedures, the longest phrase first."""
    rows = [ProcedureWeight(row["phrase"], int(row["weight"])) for row in _rows(_own("procedure_weights.tsv"))]
    return tuple(sorted(rows, key=lambda row: (row.phrase.startswith("*"), -len(row.phrase))))


@cache
def situations() -> Situations:
    """Phrases of entries that are no disease."""
    return convert(tomllib.loads(_own("situations.toml")), Situations)


@cache
def questions(language: str) -> Questions:
    """The questions in one language."""
    return convert(tomllib.loads(_own(f"questions.{language}.toml")), Questions)


@cache
def drugs_by_rxnorm() -> dict[str, tuple[str, ...]]:
    """The lexicon's names of the ingredients by RxNorm code."""
    return {row["code"]: _parts(row["drugs"]) for row in _rows(_own("rxnorm.tsv"))}


@cache
def conditions() -> dict[str, ConditionLine]:
    """The lexicon's conditions by name."""
    return {
        row["name"]: ConditionLine(row["name"], row["korean"].partition("|")[0], _parts(row["wider"]))
        for row in _rows(_lexicon("conditions.tsv"))
    }


@cache
def conditions_by_snomed() -> dict[str, str]:
    """The lexicon's name of a condition by SNOMED code."""
    return {code: row["name"] for row in _rows(_lexicon("conditions.tsv")) for code in _parts(row["snomed"])}


@cache
def measurements_by_loinc() -> dict[str, MeasurementLine]:
    """The lexicon's labs and vitals by LOINC code."""
    return {
        code: MeasurementLine(name=row["name"], unit=row["unit"], low=float(row["low"]), high=float(row["high"]))
        for row in _rows(_lexicon("measurements.tsv"))
        for code in _parts(row["loinc"])
    }


@cache
def korean_procedures() -> dict[str, str]:
    """The first Korean name of a procedure by each of its English names, the longest first."""
    names = {
        english: row["korean"].partition("|")[0]
        for row in _rows(_lexicon("procedures.tsv"))
        for english in (row["name"], *_parts(row["english"]))
    }
    return dict(sorted(names.items(), key=lambda item: -len(item[0])))


@cache
def measurement_labels(language: str) -> dict[str, str]:
    """What labs and vitals are called in one language, by the lexicon's name."""
    column = {"en": "english", "ko": "korean"}[language]
    return {row["name"]: row[column].partition("|")[0] for row in _rows(_lexicon("measurements.tsv"))}


@cache
def korean_drugs() -> dict[str, str]:
    """The first Korean name of a drug by the lexicon's name."""
    return {row["name"]: row["korean"].partition("|")[0] for row in _rows(_lexicon("drugs.tsv"))}


def _own(name: str) -> str:
    return resources.files(__package__).joinpath("tables", name).read_text(encoding="utf-8")


def _lexicon(name: str) -> str:
    return resources.files("hallumeter.dialogue").joinpath("lexicons", name).read_text(encoding="utf-8")


def _rows(table: str) -> list[dict[str, str]]:
    """The lines of a table by the names in its first line; cells that are missing at the end are empty."""
    head, *lines = table.splitlines()
    names = head.split("\t")
    cells = [line.split("\t") for line in lines if line]
    return [dict(zip(names, row + [""] * (len(names) - len(row)), strict=True)) for row in cells]


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(part for part in cell.split("|") if part)


# What the things in a record are called: by their codes where the lexicon knows them, else by the record's words.

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
