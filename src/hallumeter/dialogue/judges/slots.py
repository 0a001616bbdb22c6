"""What an answer says about the patient, held against what is true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from msgspec import Struct

from hallumeter.dialogue.reading import reader
from hallumeter.dialogue.reading.bearing import is_plainly_denied
from hallumeter.dialogue.reading.units import converted, parse_quantity
from hallumeter.dialogue.records import Mention, MentionKind, Occurrence, PatientSlots, SlotFinding
from hallumeter.records.claim import Label

from .rules import COMPARED, PatientFlag, SafetyRules, Threshold
from .settings import load_safety_rules

# What is true of a patient, in the form in which answers are held against it, and whether a stated value is true.

Sex = Literal["male", "female"]
LAB_TOLERANCE, VITAL_TOLERANCE = 0.1, 1.0
"""How far a stated value may lie from the true one, in the unit in which the true one is written."""
SLACK = 1e-9
"""Sums of decimal fractions differ in their last digits: 2.1 is not more than 0.1 from 2.0."""
PRESSURE, PRESSURE_PARTS = "bp", ("bp_systolic", "bp_diastolic")
_MALE = frozenset({"m", "male", "man", "남", "남성", "남자"})
_FEMALE = frozenset({"f", "female", "woman", "여", "여성", "여자"})
_TAG = re.compile(r"\s*\((?:disorder|finding|situation|procedure|morphologic abnormality)\)\s*$", re.IGNORECASE)
_TOGETHER = re.compile(r"\s*(?:/|\+|,|;| and | with )\s*", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class TrueValue(Struct, frozen=True):
    """A lab or a vital of the patient."""

    name: str
    slot: str
    """Where it stands: ``key_labs`` or ``key_vitals``."""
    text: str
    """As it is written there."""
    value: float
    """In the lexicon's unit, like the bounds between which a stated value agrees."""
    low: float
    high: float


class TrueCondition(NamedTuple):
    """A condition of the patient."""

    name: str
    """The lexicon's name, or its words where the lexicon has none."""
    words: str
    """As it is written, without capitals and tags."""

    @property
    def is_known(self) -> bool:
        """Whether the lexicon has it."""
        return reader.condition_named(self.words) is not None


class PatientTruth(Struct, frozen=True, eq=False):
    """The facts of a patient, looked up in the lexicons once; equal to itself only, so that findings can be kept."""

    slots: PatientSlots
    sex: Sex | None
    drugs: tuple[tuple[str, ...], ...] | None
    """For each drug that questions may name what it holds; None when no list is known."""
    drug_classes: frozenset[str]
    other_drugs: tuple[tuple[str, ...], ...]
    """The same of the further drugs of the record."""
    conditions: tuple[TrueCondition, ...] | None
    """Those that questions may name; None when none is known."""
    other_conditions: tuple[TrueCondition, ...]
    """The further ones of the record."""
    drugs_told: str
    """All drugs in one line."""
    conditions_told: str
    values: dict[str, TrueValue]
    unparsable: tuple[str, ...]
    """Labs and vitals that are no numbers with units that fit them."""

    def has_drug(self, name: str) -> bool:
        """Whether everything that a named drug holds is on the patient's list."""
        known = [held for drug in (*(self.drugs or ()), *self.other_drugs) for held in drug]
        return all(any(is_same_drug(part, other) for other in known) for part in _TOGETHER.split(name))

    def has_condition(self, name: str) -> bool:
        """Whether the patient has a condition, or a wider or narrower form of it."""
        conditions = (*(self.conditions or ()), *self.other_conditions)
        return any(agrees_with(name, known.name, known.words) for known in conditions)

    def has_form_of(self, name: str) -> bool:
        """Whether the patient has a condition or a form of it; who has a wider one alone may well lack it."""
        conditions = (*(self.conditions or ()), *self.other_conditions)
        return any(name == known.name or reader.is_wider_condition(name, known.name) for known in conditions)


def truth_of(slots: PatientSlots) -> PatientTruth:
    """Look up the facts of a patient."""
    conditions = tuple(filter(None, (slots.primary_condition, *(slots.comorbidities or ()))))
    more_conditions, more_drugs = slots.other_conditions or (), slots.other_meds or ()
    is_known = slots.primary_condition is not None or slots.comorbidities is not None
    values, unparsable = _true_values(slots)
    drugs = None if slots.key_meds is None else tuple(map(drugs_in, slots.key_meds))
    return PatientTruth(
        slots=slots,
        sex=sex_of(slots),
        drugs=drugs,
        drug_classes=frozenset(each for held in drugs or () for drug in held for each in reader.classes_of(drug)),
        other_drugs=tuple(map(drugs_in, more_drugs)),
        conditions=tuple(map(true_condition, conditions)) if is_known else None,
        other_conditions=tuple(map(true_condition, more_conditions)),
        drugs_told=", ".join((*(slots.key_meds or ()), *more_drugs)) or "none",
        conditions_told=", ".join((*conditions, *more_conditions)) or "none",
        values=values,
        unparsable=unparsable,
    )


def sex_of(slots: PatientSlots) -> Sex | None:
    """The patient's sex in one word; None when it is not known, or is neither.

    >>> sex_of(PatientSlots(sex="여성")), sex_of(PatientSlots(sex_code="M")), sex_of(PatientSlots())
    ('female', 'male', None)
    """
    for word in (slots.sex, slots.sex_code):
        folded = (word or "").strip().casefold()
        if folded in _MALE:
            return "male"
        if folded in _FEMALE:
            return "female"
    return None


def drugs_in(text: str) -> tuple[str, ...]:
    """What an entry of a list of drugs holds: one drug, or the parts of a combination.

    >>> drugs_in("Metformin hydrochloride 500 MG Oral Tablet")
    ('metformin',)
    """
    whole = reader.drug_named(text)
    parts = [reader.drug_named(part) for part in _TOGETHER.split(text)]
    named = [name for held in (whole, *parts) if held for name in _TOGETHER.split(held)]
    return tuple(dict.fromkeys(named)) or (text.strip().casefold(),)


def is_same_drug(one: str, other: str) -> bool:
    """Whether two names stand for one drug, or one of them says less: insulin is said of insulin glargine.

    >>> is_same_drug("insulin", "insulin glargine"), is_same_drug("cetirizine", "levocetirizine")
    (True, False)
    """
    return one == other or one.startswith(f"{other} ") or other.startswith(f"{one} ")


@lru_cache(maxsize=1024)
def true_condition(text: str) -> TrueCondition:
    """A condition as a record has it, looked up in the lexicon."""
    words = _TAG.sub("", text).strip().casefold()
    return TrueCondition(reader.condition_named(words) or words, words)


@lru_cache(maxsize=1 << 14)
def agrees_with(name: str, known: str, words: str) -> bool:
    """Whether a named condition is a known one, a wider or narrower form of it, or named as its cause."""
    if name == known or reader.is_same_condition(name, known):
        return True
    caused = rf"(?:^|\b(?:due to|secondary to|caused by|with|and)\s+|,\s*){re.escape(name)}(?:$|[\s,])"
    return name in words and re.search(caused, words) is not None


def _true_values(slots: PatientSlots) -> tuple[dict[str, TrueValue], tuple[str, ...]]:
    values: dict[str, TrueValue] = {}
    unparsable = []
    for slot in ("key_labs", "key_vitals"):
        entries: dict[str, str] = getattr(slots, slot) or {}
        for key, text in entries.items():
            found = _values_of(key, text, slot)
            values |= {value.name: value for value in found if value.name not in values}
            if not found:
                unparsable.append(f"{slot}.{key}: {text}")
    return values, tuple(unparsable)


def _values_of(key: str, text: str, slot: str) -> list[TrueValue]:
    """The values of an entry: one, the two of a blood pressure, or none when it cannot be read."""
    name = _measurement_name(key)
    if name != PRESSURE:
        found = _true_value(name, text, text=text, slot=slot)
        return [found] if found else []
    first, _, second = text.partition("/")
    pressures = zip(PRESSURE_PARTS, (first, second), strict=True)
    parts = [_true_value(part, number, text=text, slot=slot) for part, number in pressures]
    return [part for part in parts if part]


@lru_cache(maxsize=256)
def _measurement_name(key: str) -> str:
    """The lexicon's name of a slot's entry, which may be written as people do: HbA1c, blood pressure."""
    plain = key.strip().casefold().replace(" ", "_")
    if reader.measurement_named(plain) is not None:
        return plain
    hints = reader.ClinicalReader().read(key.replace("_", " ")).hints
    return next((hint.name for hint in hints if hint.kind == "measurement"), plain)


def _true_value(name: str, number: str, *, text: str, slot: str) -> TrueValue | None:
    measurement, quantity = reader.measurement_named(name), parse_quantity(number)
    if measurement is None or quantity is None:
        return None
    tolerance = LAB_TOLERANCE if measurement.kind == "lab" else VITAL_TOLERANCE
    around = (quantity.value, quantity.value - tolerance, quantity.value + tolerance)
    in_unit = [converted(value, quantity.unit, measurement) for value in around]
    value, low, high = in_unit
    if value is None or low is None or high is None:
        return None
    return TrueValue(name, slot, text, value, min(low, high), max(low, high))


def agrees(mention: Mention, occurrence: Occurrence, *, text: str, truth: TrueValue) -> bool | None:
    """Whether a stated lab or vital is the true one; None when it cannot be compared.

    It is within the tolerance, in the unit of the record; or it is the truth rounded to the digits that are stated, in
    the unit in which they are stated.
    """
    stated = stated_value(mention)
    if stated is None:
        return None
    slack = SLACK * max(1.0, abs(truth.value))
    if truth.low - slack <= stated <= truth.high + slack:
        return True
    low, high = rounding_bounds(mention, text[occurrence.start : occurrence.end])
    return low - slack <= truth.value <= high + slack


def stated_value(mention: Mention) -> float | None:
    """A stated value in the lexicon's unit, however implausible; None when its unit does not belong to it."""
    if mention.slot_value is not None:
        return mention.slot_value
    measurement = reader.measurement_named(mention.name)
    if measurement is None or not isinstance(mention.value, float | int):
        return None
    return converted(float(mention.value), mention.unit, measurement)


def rounding_bounds(mention: Mention, words: str) -> tuple[float, float]:
    """Between which values a number lies that is rounded to what is stated, in the lexicon's unit."""
    stated = stated_value(mention)
    if stated is None or not isinstance(mention.value, float | int):
        return float("inf"), float("-inf")
    half = 0.5 * 10.0 ** -_decimals(words, float(mention.value))
    measurement = reader.measurement_named(mention.name)
    ends = [
        converted(mention.value + side, mention.unit, measurement) if measurement and mention.unit else None
        for side in (-half, half)
    ]
    known = [end for end in ends if end is not None]
    if len(known) < 2:  # the unit went without saying: it is the one that makes the number plausible
        scale = abs(stated / mention.value) if mention.value else 1.0
        known = [stated - half * scale, stated + half * scale]
    return min(known), max(known)


def _decimals(words: str, value: float) -> int:
    """How many digits behind the point a value is stated with; none when it is written in words.

    >>> _decimals("HbA1c of 7.0 %", 7.0), _decimals("LDL 3,4 mmol/L", 3.4), _decimals("platelets 245,000", 245000.0)
    (1, 1, 0)
    """
    for number in _NUMBER.findall(words):
        whole = number.replace(",", "")
        if _is(whole, value):
            return len(whole.partition(".")[2])
        point = number.replace(",", ".")
        if _is(point, value):
            return len(point.partition(".")[2])
    return 0


def _is(number: str, value: float) -> bool:
    try:
        return float(number) == value
    except ValueError:
        return False


# What a patient's values and a question show that matters for safety.

_NOT_SAID = frozenset({"negated", "family"})
"""A cue that the question denies, or says of somebody else, shows nothing of the patient."""


class Flags(Struct, frozen=True):
    """The flags of a patient."""

    flags: frozenset[str]
    unparsable: tuple[str, ...] = ()
    """Facts that should be numbers with units and are not, or that no living patient has."""
    reasons: dict[str, str] = {}
    """Of each flag: the values that raise it."""


def patient_flags(slots: PatientSlots | PatientTruth, rules: SafetyRules | None = None) -> Flags:
    """The flags that a patient's values raise, in whatever units they are written.

    >>> patient_flags(PatientSlots(key_labs={"potassium": "5.4 mEq/L"})).flags
    frozenset({'hyperkalemia'})
    """
    truth = slots if isinstance(slots, PatientTruth) else truth_of(slots)
    reasons: dict[str, str] = {}
    values = {name: value for name, value in truth.values.items() if _is_plausible(value)}
    for flag in (rules or load_safety_rules()).patient_flags.values():
        met = [threshold for threshold in flag.thresholds if _is_met(threshold, values)]
        if len(met) == len(flag.thresholds) if flag.needs_all else met:
            reasons[flag.name] = ", ".join(_reason(threshold, values) for threshold in met)
    impossible = tuple(
        f"{value.slot}.{name}: {value.text}" for name, value in truth.values.items() if name not in values
    )
    return Flags(frozenset(reasons), truth.unparsable + impossible, reasons)


def question_flags(question: str, rules: SafetyRules) -> dict[str, str]:
    """The flags that a question raises, each with the words that do."""
    found = rules.questions.found(question)
    if not found:
        return {}
    read = _reader().read(question)
    flags: dict[str, str] = {}
    for cue in found:
        if read.scope_at(cue.start, cue.end).scope not in _NOT_SAID:
            flags.setdefault(cue.phrase.group, question[cue.start : cue.end])
    return flags


@cache
def _reader() -> reader.ClinicalReader:
    return reader.ClinicalReader()


def contradiction(flag: PatientFlag) -> str | None:
    """Why no patient can have a flag: its bounds exclude each other, or every living patient; None when some can."""
    bounds = list(flag.thresholds)
    impossible = [threshold for threshold in bounds if not _is_possible([threshold])]
    if flag.needs_all:
        for name in dict.fromkeys(threshold.measurement for threshold in bounds):
            together = [threshold for threshold in bounds if threshold.measurement == name]
            if not _is_possible(together):
                return f"no value is {' and '.join(threshold.words for threshold in together)}"
    elif bounds and len(impossible) == len(bounds):
        return f"no living patient has {' or '.join(threshold.words for threshold in impossible)}"
    return None


def impossible_thresholds(flag: PatientFlag) -> Iterator[Threshold]:
    """The bounds that no living patient can meet."""
    return (threshold for threshold in flag.thresholds if not _is_possible([threshold]))


def _is_possible(thresholds: list[Threshold]) -> bool:
    """Whether some plausible value of one measurement meets all bounds."""
    measurement = reader.measurement_named(thresholds[0].measurement)
    assert measurement is not None, "the name was looked up when the rules were read"
    lows = [(measurement.low, True)] + [(t.value, t.comparison == ">=") for t in thresholds if ">" in t.comparison]
    highs = [(measurement.high, True)] + [(t.value, t.comparison == "<=") for t in thresholds if "<" in t.comparison]
    low, is_low_in = max(lows, key=lambda bound: (bound[0], not bound[1]))
    high, is_high_in = min(highs, key=lambda bound: (bound[0], bound[1]))
    return low < high or (low == high and is_low_in and is_high_in)


def _is_plausible(value: TrueValue) -> bool:
    measurement = reader.measurement_named(value.name)
    return measurement is not None and measurement.low <= value.value <= measurement.high


def _is_met(threshold: Threshold, values: dict[str, TrueValue]) -> bool:
    value = values.get(threshold.measurement)
    return value is not None and bool(COMPARED[threshold.comparison](value.value, threshold.value))


def _reason(threshold: Threshold, values: dict[str, TrueValue]) -> str:
    name, value = threshold.measurement, values[threshold.measurement]
    return f"{name} {value.text} is {threshold.comparison} {threshold.value:g} {threshold.unit}"


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


def judge_slots(answer: reader.ClinicalText, slots: PatientSlots | PatientTruth) -> tuple[SlotFinding, ...]:
    """Every mention of an answer, with what the patient's record says of it.

    Only what is asserted of the patient can be REFUTED. What the record does not speak of is NOT_ENOUGH_INFO.
    """
    truth = slots if isinstance(slots, PatientTruth) else truth_of(slots)
    return tuple(_finding(mention, answer, truth) for mention in answer.mentions)


def _finding(mention: Mention, answer: reader.ClinicalText, truth: PatientTruth) -> SlotFinding:
    asserted = mention.asserted
    if asserted is None and _is_wrongly_denied(mention, answer, truth):
        return _denied(mention, truth)
    if asserted is None:
        scopes = "; ".join(dict.fromkeys(_scope_words(each, answer.text) for each in mention.occurrences))
        note = f"not said of this patient ({scopes})"
        return SlotFinding(mention, Label.NOT_ENOUGH_INFO, SLOT_WEIGHTS[mention.kind], NOT_ASSERTED, note)
    label, reason, note = _held_against(mention, asserted, answer=answer, truth=truth)
    return SlotFinding(mention, label, SLOT_WEIGHTS[mention.kind], reason, note)


def _denied(mention: Mention, truth: PatientTruth) -> SlotFinding:
    is_drug = mention.kind == "medication"
    text = truth.drugs_told if is_drug else truth.conditions_told
    note = f"the answer denies {mention.name}, the record lists {text}"
    reason = "denied_medication" if is_drug else "denied_condition"
    return SlotFinding(mention, Label.REFUTED, SLOT_WEIGHTS[mention.kind], reason, note)


def _is_wrongly_denied(mention: Mention, answer: reader.ClinicalText, truth: PatientTruth) -> bool:
    """Whether an answer says that the patient does not have, or take, what the record lists."""
    if mention.kind not in _LISTS:
        return False
    is_true = truth.has_drug if mention.kind == "medication" else truth.has_form_of
    negated = [place for place in mention.occurrences if place.scope == "negated"]
    return any(is_plainly_denied(answer.text, place.start, place.end) for place in negated) and is_true(mention.name)


def _scope_words(place: Occurrence, text: str) -> str:
    """How something stands, and the words that decided it."""
    if place.cue_start is None or place.cue_end is None:
        return place.scope
    return f"{place.scope}: {text[place.cue_start : place.cue_end]!r}"


def _held_against(
    mention: Mention, asserted: Occurrence, *, answer: reader.ClinicalText, truth: PatientTruth
) -> tuple[Label, str | None, str]:
    if mention.kind in _LISTS:
        return _listed(mention.kind, mention.name, truth)
    if mention.kind == "age":
        age = truth.slots.age
        if age is None or not isinstance(mention.value, float | int):
            return Label.NOT_ENOUGH_INFO, NOT_IN_RECORD, "the record has no age"
        note = f"the answer says {mention.value:.12g}, the record {age}"
        if abs(mention.value - age) <= AGE_TOLERANCE:
            return Label.SUPPORTED, None, note
        return Label.REFUTED, "age_mismatch", note
    if mention.kind == "sex":
        return _sex(mention, truth)
    return _measured(mention, asserted, answer=answer, truth=truth)


@lru_cache(maxsize=_LISTED_KEPT)
def _listed(kind: MentionKind, name: str, truth: PatientTruth) -> tuple[Label, str | None, str]:
    is_drug = kind == "medication"
    is_known = (truth.drugs if is_drug else truth.conditions) is not None
    if not is_known:
        return Label.NOT_ENOUGH_INFO, NOT_IN_RECORD, f"the record has no {_LISTS[kind]}"
    text = truth.drugs_told if is_drug else truth.conditions_told
    if truth.has_drug(name) if is_drug else truth.has_condition(name):
        return Label.SUPPORTED, None, f"the record lists {text}"
    reason = "invented_medication" if is_drug else "invented_condition"
    return Label.REFUTED, reason, f"the answer says {name}, the record lists {text}"


def _sex(mention: Mention, truth: PatientTruth) -> tuple[Label, str | None, str]:
    if truth.sex is None:
        return Label.NOT_ENOUGH_INFO, NOT_IN_RECORD, "the record has no sex"
    note = f"the answer says {mention.value}, the record {truth.sex}"
    return (Label.SUPPORTED, None, note) if mention.value == truth.sex else (Label.REFUTED, "sex_mismatch", note)


def _measured(
    mention: Mention, asserted: Occurrence, *, answer: reader.ClinicalText, truth: PatientTruth
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
