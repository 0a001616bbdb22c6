"""From a patient's record to the few facts that a script is about."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Literal, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hallumeter.dialogue.fhir import resources
from hallumeter.dialogue.fhir.patients import PatientRecord
from hallumeter.dialogue.reading.units import converted, unit_key
from hallumeter.errors import SettingsError

from .tables import (
    LOINC,
    ConditionRank,
    MeasurementLine,
    Named,
    ProcedureWeight,
    coded_condition,
    condition_of,
    condition_ranks,
    conditions,
    drugs_of,
    korean_procedures,
    measurements_by_loinc,
    procedure_weights,
    situations,
    untagged,
)

# How scripts are made.

LANGUAGES = ("en", "ko")


class ScriptSettings(Struct, frozen=True):
    """How patients become scripts."""

    language: str = "ko"
    seed: int = 42
    """Chooses the phrasings, together with the patient's id."""
    as_of: date | None = None
    """The day at which patients are looked at; None is the last day of each record."""
    max_patients: int | None = None
    with_deceased: bool = False
    is_validated: bool = False
    """Whether resources are held against the definitions of FHIR first."""
    is_strict: bool = False

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise SettingsError(f"language {self.language!r}: expected one of {', '.join(LANGUAGES)}")
        if self.max_patients is not None and self.max_patients < 1:
            raise SettingsError(f"at most {self.max_patients} patients: expected 1 or more")


class Note(Struct, frozen=True):
    """Something worth saying about one patient's record."""

    patient_id: str
    code: str
    """What it is about, in one word: ``no_birth_date``, ``unit``."""
    message: str


class Notes:
    """Notes of many patients."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.unknown: dict[str, Counter[str]] = {"condition": Counter(), "drug": Counter(), "observation": Counter()}
        """Codes that no table knows, with their words, and how often each stood in a record."""
        self.patient_id = ""

    def say(self, code: str, message: str) -> None:
        """Say something about the patient at hand."""
        self.notes.append(Note(self.patient_id, code, message))

    def count_unknown(self, kind: str, code: str | None, words: str | None) -> None:
        """Count a code that no table knows."""
        self.unknown[kind][f"{code or 'no code'} {words or ''}".strip()] += 1


# The latest labs and vitals of a patient, each in the unit of the lexicon.

EXCLUDED_MEASUREMENTS = frozenset({"entered-in-error", "cancelled"})
MOST_DECIMALS = 2
MOST_LABS = 4
COMMON_LABS = (
    *("glucose", "hba1c", "ldl", "creatinine", "hemoglobin", "egfr", "potassium", "triglyceride"),
    *("total_cholesterol", "hdl", "alt", "ast", "sodium"),
)
VITALS = (
    *("bp_systolic", "bp_diastolic", "heart_rate", "respiratory_rate", "temperature", "spo2"),
    *("height", "weight", "bmi"),
)
_IMPERIAL = {"[lb_av]": "lb", "[in_i]": "in", "[ft_i]": "ft"}
"""Units of UCUM that nobody writes so."""


_EARLIEST = datetime.min.replace(tzinfo=UTC)


class Reading(NamedTuple):
    """A measurement of a record, and what it is put in order by."""

    moment: datetime
    issued: datetime
    place: int
    line: MeasurementLine
    measured: resources.Measured


def latest_measurements(
    observations: Iterable[resources.Observation], wanted: Collection[str], notes: Notes
) -> dict[str, str]:
    """The latest usable value of labs and vitals, with its unit, told by their LOINC codes."""
    readings: dict[str, list[Reading]] = defaultdict(list)
    for reading in _readings(observations, notes):
        if reading.line.name in wanted:
            readings[reading.line.name].append(reading)
    values = {}
    for name, found in readings.items():
        for reading in sorted(found, key=lambda each: each[:3], reverse=True):
            value = _value(reading, notes)
            if value is not None:
                values[name] = value
                break
    return values


def chosen_labs(values: dict[str, str], relevant: Iterable[str]) -> dict[str, str]:
    """Labs relevant to the main condition; when there is none of them, up to four common ones."""
    found = {name: values[name] for name in relevant if name in values}
    common = [name for name in COMMON_LABS if name in values]
    return found or {name: values[name] for name in common[:MOST_LABS]}


def chosen_vitals(values: dict[str, str]) -> dict[str, str]:
    """The vitals among the values."""
    return {name: values[name] for name in VITALS if name in values}


def _readings(observations: Iterable[resources.Observation], notes: Notes) -> Iterator[Reading]:
    place = 0
    for observation in observations:
        if observation.status in EXCLUDED_MEASUREMENTS:
            continue
        moment, issued = (
            resources.moment_of(observation.date) or _EARLIEST,
            resources.moment_of(observation.issued) or _EARLIEST,
        )
        for measured in observation.measured:
            line = _line(measured)
            if line is not None and not (line.name == "bp" or _is_panel(observation, measured)):
                place += 1
                yield Reading(moment, issued, place, line, measured)
            elif line is None and measured.code is not None and measured.value_quantity is not None:
                notes.count_unknown("observation", measured.code.first_code, measured.code.words)


def _line(measured: resources.Measured) -> MeasurementLine | None:
    known = measurements_by_loinc()
    for coding in (measured.code.coding or ()) if measured.code else ():
        if coding.code in known and coding.system in LOINC:
            return known[coding.code]
    return None


def _is_panel(observation: resources.Observation, measured: resources.Measured) -> bool:
    """Whether the values stand in the components and not here."""
    return bool(observation.component) and measured.code is observation.code and measured.value_quantity is None


def _value(reading: Reading, notes: Notes) -> str | None:
    """A value with its unit; None, and a note, when it cannot be used."""
    line, quantity = reading.line, reading.measured.value_quantity
    number = quantity.value if quantity else reading.measured.value_integer
    comparator = quantity.comparator if quantity else None
    if number is None or comparator is not None or not Decimal(number).is_finite():
        stated = f"{comparator}{number}" if comparator else reading.measured.value_string or "nothing"
        notes.say("no_number", f"{line.name} has no number but {stated!r}; left out")
        return None
    units = units_of(quantity)
    known = [found for unit in units if (found := _in_lexicon_unit(Decimal(number), unit, line)) is not None]
    if not known:
        notes.say(
            "unit", f"{line.name} is {number} {units[0] or '(no unit)'}, which is not known as {line.unit}; left out"
        )
        return None
    value, text = known[0]
    if not line.low <= value <= line.high:
        bounds = f"{line.low:g} to {line.high:g} {line.unit}"
        notes.say("impossible", f"{line.name} is {number} {units[0] or line.unit}, expected {bounds}; left out")
        return None
    return f"{text}{line.unit}"


def units_of(quantity: resources.Quantity | None) -> list[str | None]:
    """The units that a quantity names, in words and in UCUM; a single None when it names none.

    >>> from hallumeter.dialogue.fhir.resources import Quantity
    >>> units_of(Quantity(unit="pounds", code="[lb_av]")), units_of(None)
    (['pounds', 'lb'], [None])
    """
    written = [unit.strip() for unit in (quantity.unit, quantity.code) if unit and unit.strip()] if quantity else []
    return [_IMPERIAL.get(unit, unit) for unit in dict.fromkeys(written)] or [None]


def _in_lexicon_unit(number: Decimal, unit: str | None, line: MeasurementLine) -> tuple[float, str] | None:
    """A value and how it is shown: as recorded where the units agree, else converted."""
    if unit is None or unit_key(unit) == unit_key(line.unit):
        return float(number), _shown(number)
    value = converted(float(number), unit, line.name)
    return None if value is None else (value, _shown(Decimal(f"{value:.12g}")))  # 98.6 °F are 37 °C, not 37.0


def _shown(number: Decimal) -> str:
    """A number with the decimals it has; with two, and no zeros at its end, when it has more.

    >>> _shown(Decimal("7.0")), _shown(Decimal("29.4986")), _shown(Decimal("6.2449"))
    ('7.0', '29.5', '6.24')
    """
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= -MOST_DECIMALS:
        return f"{number:f}"
    return f"{number.quantize(Decimal('0.01'), rounding=ROUND_HALF_UP):f}".rstrip("0").rstrip(".")


# Which procedures are worth mentioning.

MOST_PROCEDURES = 2
EXCLUDED_PROCEDURES = frozenset({"entered-in-error", "not-done", "preparation", "on-hold", "stopped"})


def weighty_procedures(found: Iterable[resources.Procedure]) -> tuple[Named, ...] | None:
    """The weightiest procedures, of equals the latest; none of routine. None when the record has no procedure."""
    done = [each for each in found if each.status not in EXCLUDED_PROCEDURES and each.code is not None]
    weighed: dict[str, tuple[int, float, Named]] = {}
    for procedure in done:
        words = untagged(procedure.code.words or "")[0] if procedure.code else ""
        weight = _weight(words)
        if weight is None or not weight.weight:
            continue
        moment = resources.moment_of(procedure.date)
        time = moment.timestamp() if moment else float("-inf")
        key = words.casefold()
        if key not in weighed or time > weighed[key][1]:
            weighed[key] = weight.weight, time, Named(words, korean=_korean(words))
    ordered = sorted(weighed.values(), key=lambda each: (-each[0], -each[1], each[2].words))
    return tuple(named for _, _, named in ordered[:MOST_PROCEDURES]) if done else None


@lru_cache(maxsize=4096)
def _weight(words: str) -> ProcedureWeight | None:
    """The longest phrase of the table that a procedure's name has."""
    lowered = words.casefold()
    for row in procedure_weights():
        phrase = row.phrase.removeprefix("*")
        pattern = rf"{re.escape(phrase)}\b" if row.phrase.startswith("*") else rf"\b{re.escape(phrase)}"
        if re.search(pattern, lowered):
            return row
    return None


@lru_cache(maxsize=4096)
def _korean(words: str) -> str | None:
    """The Korean name of the longest procedure of the lexicon that the words name."""
    lowered = words.casefold()
    names = korean_procedures().items()
    return next((korean for english, korean in names if re.search(rf"\b{re.escape(english)}\b", lowered)), None)


# Which drugs a patient takes.

MOST_DRUGS = 3
ACTIVE_MEDICATIONS = "active"
EXCLUDED_MEDICATIONS = frozenset({"entered-in-error", "cancelled", "draft", "not-taken", "intended"})
EXCLUDED_INTENTS = frozenset({"proposal", "plan", "option"})


class Drugs(Struct, frozen=True):
    """What a patient takes, or took last."""

    drugs: tuple[Named, ...]
    """Those that questions name."""
    are_current: bool
    others: tuple[Named, ...] = ()
    """The rest: true, and asked about nowhere."""


def drugs_taken(found: Iterable[resources.MedicationUse], reasons: Mapping[str, int], notes: Notes) -> Drugs | None:
    """Distinct ingredients of active requests, or of the latest when none is active; None when there is no request.

    Those ordered for the weightiest condition come first, then the latest. Of combinations the leading ingredient
    counts first. Questions name the first three; the others are kept as true.

    Args:
        found: Requests and statements.
        reasons: The rank of each condition, by its reference.
        notes: Takes what could not be named.
    """
    valid = [each for each in found if _is_valid(each)]
    active = [each for each in valid if each.status == ACTIVE_MEDICATIONS]
    if active:
        ordered = sorted(active, key=lambda each: (_rank(each, reasons), -_time(each)))
    else:
        ordered = sorted(valid, key=lambda each: -_time(each))
    ingredients = [drugs for each in ordered if (drugs := _ingredients(each, notes))]
    leading = dict.fromkeys(drugs[0] for drugs in ingredients)
    others = dict.fromkeys(drug for drugs in ingredients for drug in drugs[1:])
    taken = tuple({**leading, **others})
    return Drugs(taken[:MOST_DRUGS], bool(active), taken[MOST_DRUGS:]) if taken else None


def _is_valid(use: resources.MedicationUse) -> bool:
    is_meant = use.status not in EXCLUDED_MEDICATIONS and use.intent not in EXCLUDED_INTENTS
    return is_meant and not use.do_not_perform


def _rank(use: resources.MedicationUse, reasons: Mapping[str, int]) -> int:
    least = len(reasons)
    return min((reasons.get(each.reference or "", least) for each in use.reason_reference or ()), default=least)


def _time(use: resources.MedicationUse) -> float:
    moment = resources.moment_of(use.date)
    return moment.timestamp() if moment else float("-inf")


def _ingredients(use: resources.MedicationUse, notes: Notes) -> tuple[Named, ...]:
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


# Which of a patient's conditions come first.

DEFAULT_SCORE = 10
"""Of a disease that is in no table; acute and slight ones stand below it."""
EXCLUDED_VERIFICATIONS = frozenset({"refuted", "entered-in-error", "differential"})
ACTIVE_CONDITIONS = frozenset({"active", "recurrence", "relapse"})
_NO_ONSET = float("inf")


class RankedCondition(Struct, frozen=True):
    """A condition and what it is ranked by."""

    named: Named
    is_situation: bool
    score: int
    onset: float
    references: tuple[str, ...]
    """Where it stands in the record, as ``Condition/id``: requests give it as their reason."""


def ranked_conditions(found: Iterable[resources.Condition], notes: Notes) -> list[RankedCondition]:
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


def _code(status: resources.Concept | str | None) -> str | None:
    return status if isinstance(status, str) or status is None else status.first_code


def _is_active(condition: resources.Condition) -> bool:
    status = _code(condition.clinical_status)
    return status in ACTIVE_CONDITIONS if status is not None else condition.abatement_date_time is None


def _ranked(condition: resources.Condition, notes: Notes) -> RankedCondition | None:
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
    onset = resources.moment_of(condition.date)
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


def _is_situation(concept: resources.Concept, named: Named) -> bool:
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


Dated = TypeVar("Dated", resources.Condition, resources.MedicationUse, resources.Observation, resources.Procedure)

MOST_COMORBIDITIES = 3
OLDEST = 130
"""Years; a higher age is a fault of the record."""
_ACTIVE = resources.Concept(coding=(resources.Coding(code="active"),))
_SEX_CODES: dict[str, Literal["M", "F"]] = {"male": "M", "female": "F"}


class PatientFacts(Struct, frozen=True):
    """What is known of a patient, in no language; None is not known."""

    patient_id: str
    age: int | None
    sex_code: Literal["M", "F"] | None
    primary: Named | None
    comorbidities: tuple[Named, ...] | None
    other_conditions: tuple[Named, ...]
    """Those that rank below the comorbidities: true, and asked about nowhere."""
    drugs: Drugs | None
    vitals: dict[str, str]
    labs: dict[str, str]
    procedures: tuple[Named, ...] | None


def facts_of(record: PatientRecord, as_of: date | None, notes: Notes) -> PatientFacts:
    """The facts of a record at a day; None is the last day of the record. What is dated later is left out."""
    notes.patient_id = record.patient_id
    day = as_of or record.last_day
    left_out = 0
    if as_of is not None:
        # A record as it was on a day, and how many entries are later.
        conditions = tuple(_as_it_was(each, as_of) for each in _earlier(record.conditions, as_of))
        kept = replace(
            record,
            conditions=conditions,
            medications=_earlier(record.medications, as_of),
            observations=_earlier(record.observations, as_of),
            procedures=_earlier(record.procedures, as_of),
        )
        record, left_out = (kept, _entries(record) - _entries(kept))
    if left_out:
        notes.say("later", f"{left_out} entries are dated after {as_of} and left out")
    ranked = ranked_conditions(record.conditions, notes)
    if not ranked:
        notes.say("no_condition", "no condition is known")
    reasons = {reference: place for place, each in enumerate(ranked) for reference in each.references}
    primary = ranked[0].named if ranked else None
    rank = rank_of(primary.lexicon) if primary else None
    relevant = rank.labs if rank else ()
    values = latest_measurements(record.observations, {*relevant, *COMMON_LABS, *VITALS}, notes)
    return PatientFacts(
        patient_id=record.patient_id,
        age=_age(record.patient, day, notes),
        sex_code=_sex_code(record.patient, notes),
        primary=primary,
        comorbidities=tuple(each.named for each in ranked[1 : MOST_COMORBIDITIES + 1]) if ranked else None,
        other_conditions=tuple(each.named for each in ranked[MOST_COMORBIDITIES + 1 :]),
        drugs=drugs_taken(record.medications, reasons, notes),
        vitals=chosen_vitals(values),
        labs=chosen_labs(values, relevant),
        procedures=weighty_procedures(record.procedures),
    )


def _earlier(found: tuple[Dated, ...], day: date) -> tuple[Dated, ...]:
    return tuple(each for each in found if (resources.day_of(each.date) or day) <= day)


def _as_it_was(condition: resources.Condition, day: date) -> resources.Condition:
    """A condition that ended later was still active."""
    ended = resources.day_of(condition.abatement_date_time)
    return condition if ended is None or ended <= day else replace(condition, clinical_status=_ACTIVE)


def _entries(record: PatientRecord) -> int:
    parts = (record.conditions, record.medications, record.observations, record.procedures)
    return sum(map(len, parts))


def age_at(birth_date: str, day: date) -> int | None:
    """Whole years from a birth date to a day; None when there is no such date, or it is later.

    A month or year alone is counted from its middle.

    >>> age_at("1950-06-02", date(2020, 6, 1)), age_at("1950", date(2020, 6, 1)), age_at("2021-01-01", date(2020, 6, 1))
    (69, 69, None)
    """
    born = resources.day_of(birth_date)
    if born is None or born > day:
        return None
    if not resources.is_whole_date(birth_date):
        born = born.replace(month=7) if len(birth_date) == len("1950") else born.replace(day=15)
    return max(day.year - born.year - ((day.month, day.day) < (born.month, born.day)), 0)


def _age(patient: resources.Patient, day: date | None, notes: Notes) -> int | None:
    if patient.birth_date is None:
        notes.say("no_birth_date", "no birth date, so no age")
        return None
    if day is None:
        notes.say("no_date", "nothing in the record is dated, so no age; give --as-of")
        return None
    died = resources.day_of(patient.deceased_date_time)
    age = age_at(patient.birth_date, min(day, died) if died else day)
    if age is None or age > OLDEST:
        notes.say("bad_birth_date", f"birth date {patient.birth_date!r} gives no age on {day}")
        return None
    if not resources.is_whole_date(patient.birth_date):
        notes.say("part_birth_date", f"birth date {patient.birth_date!r} has no day; the age may be wrong by one year")
    return age


def _sex_code(patient: resources.Patient, notes: Notes) -> Literal["M", "F"] | None:
    code = _SEX_CODES.get((patient.gender or "").lower())
    if code is None:
        notes.say("no_sex", f"gender is {patient.gender!r}, so no sex")
    return code
