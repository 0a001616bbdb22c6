"""Which facts of the patient an answer uses, of those that its turn asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

from hallumeter.dialogue.reading.reader import ClinicalText, Hint, is_same_condition
from hallumeter.dialogue.records import Mention, Occurrence, PatientSlots, SlotUse
from hallumeter.records.response import FieldValue

from .settings import SLOTS, TurnRequirements
from .slots import AGE_TOLERANCE, PatientTruth, agrees, agrees_with, is_same_drug, true_condition, truth_of

# Procedures by their names in English and Korean.

_TABLE = resources.files("hallumeter.dialogue").joinpath("lexicons", "procedures.tsv")
_TAG = re.compile(r"\s*\(procedure\)\s*$", re.IGNORECASE)
_HANGUL = re.compile("[가-힣]")


def procedure_places(text: str, procedure: str) -> Iterator[tuple[int, int]]:
    """Where a text names a procedure, by any of its names.

    >>> list(procedure_places("관상동맥우회술(CABG) 이후", "Coronary artery bypass grafting"))
    [(0, 7), (8, 12)]
    """
    for found in _pattern(_TAG.sub("", procedure).strip().casefold()).finditer(text):
        yield found.span()


@lru_cache(maxsize=1024)
def _pattern(procedure: str) -> re.Pattern[str]:
    # All names of the procedure that a text names: the one with the longest name in it.
    held = [(len(name), names) for names in _procedures() for name in names if re.search(_written(name), procedure)]
    names = dict.fromkeys((procedure, *(max(held, key=lambda pair: pair[0])[1] if held else ())))
    # The longest first: of "total thyroidectomy" the whole is found.
    alternatives = "|".join(_written(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(alternatives, re.IGNORECASE)


def _written(name: str) -> str:
    """A name at the borders of words; a Korean one with or without its spaces, and with particles after it."""
    is_korean = _HANGUL.search(name) is not None
    words = (r"\s*" if is_korean else r"\s+").join(map(re.escape, name.split()))
    return rf"(?<![^\W_]){words}" if is_korean else rf"(?<![A-Za-z0-9]){words}s?(?![A-Za-z0-9])"


@cache
def _procedures() -> tuple[tuple[str, ...], ...]:
    lines = _TABLE.read_text(encoding="utf-8").splitlines()[1:]
    return tuple(tuple(filter(None, "|".join(line.split("\t")).split("|"))) for line in lines)


EXPLICIT, INDIRECT, UNUSED = 1.0, 0.5, 0.0
NO_USE = frozenset({"negated", "family", "example"})
"""What is denied, said of others or named as an example is not used for this patient."""


_NAMES_KEPT, _TURNS_KEPT = 1_024, 256
"""Answers about a patient name the same drugs and conditions again, and are asked for the same."""


class Use(NamedTuple):
    """A place where a fact is used, and how plainly."""

    confidence: float
    start: int
    end: int


class _Usable(NamedTuple):
    """What of an answer could be of use, by kind."""

    answer: ClinicalText
    mentions: dict[str, list[tuple[Mention, Occurrence]]]
    """With every place where they could be of use."""
    hints: dict[str, list[Hint]]


Found = Iterator[Use]


def judge_context(
    answer: ClinicalText, slots: PatientSlots | PatientTruth, turn: int | str, *, requirements: TurnRequirements
) -> tuple[tuple[SlotUse, ...], tuple[str, ...]]:
    """How each required fact of a turn is used, and which required facts the patient's record lacks.

    Of lists and maps the best element counts. A turn that the settings do not know requires nothing.
    """
    truth = slots if isinstance(slots, PatientTruth) else truth_of(slots)
    required, missing = _required(truth, str(turn), requirements)
    usable = _usable(answer)
    return tuple(_slot_use(unused, _best_use(usable, truth, name)) for unused, name in required), missing


@lru_cache(maxsize=_TURNS_KEPT)
def _required(
    truth: PatientTruth, turn: str, requirements: TurnRequirements
) -> tuple[tuple[tuple[SlotUse, str], ...], tuple[str, ...]]:
    """The required facts as long as nobody uses them, each with the slot that holds it, and those that are missing."""
    wanted = requirements.turn(turn)
    required: list[tuple[SlotUse, str]] = []
    missing: list[str] = []
    for slot, weight in wanted.required_slots if wanted else ():
        name = SLOTS.get(slot, slot)
        value = getattr(truth.slots, name, None) if name in PatientSlots.__struct_fields__ else None
        if value in (None, "", (), {}):
            missing.append(slot)
        else:
            required.append((SlotUse(slot, weight, shown_value(value), UNUSED), name))
    return tuple(required), tuple(missing)


def _usable(answer: ClinicalText) -> _Usable:
    """Sort the mentions and hints of an answer; what is denied, or said of others, is left out."""
    mentions: dict[str, list[tuple[Mention, Occurrence]]] = {}
    for mention in answer.mentions:
        for place in mention.occurrences:
            if place.scope not in NO_USE:
                mentions.setdefault(mention.kind, []).append((mention, place))
    hints: dict[str, list[Hint]] = {}
    for hint in answer.hints:
        if hint.scope not in NO_USE:
            hints.setdefault(hint.kind, []).append(hint)
    return _Usable(answer, mentions, hints)


def _best_use(usable: _Usable, truth: PatientTruth, slot: str) -> Use | None:
    """The plainest use of a fact, the first of equals; None when it is not used."""
    find = _FINDERS.get(slot)
    found = () if find is None else find(usable, truth)
    return max(found, key=_plainness, default=None)


def _plainness(use: Use) -> tuple[float, int]:
    return use.confidence, -use.start


def shown_value(value: object) -> FieldValue:
    """A fact in one line.

    >>> shown_value({"hba1c": "6.24%", "ldl": "96mg/dL"}), shown_value(("Metformin", "Lisinopril"))
    ('hba1c 6.24%, ldl 96mg/dL', 'Metformin, Lisinopril')
    """
    if isinstance(value, dict):
        return ", ".join(f"{name} {entry}" for name, entry in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return value if isinstance(value, str | int | float | bool) else str(value)


def _slot_use(unused: SlotUse, use: Use | None) -> SlotUse:
    return unused if use is None else SlotUse(unused.slot, unused.weight, unused.value, *use)


def _hints(usable: _Usable, kind: str, is_meant: Callable[[str], bool]) -> Found:
    """Indirect words of a kind."""
    for hint in usable.hints.get(kind, ()):
        if is_meant(hint.name):
            yield Use(INDIRECT, hint.start, hint.end)


def _age_uses(usable: _Usable, truth: PatientTruth) -> Found:
    age = truth.slots.age
    assert age is not None, "only known facts are looked for"
    for mention, place in usable.mentions.get("age", ()):
        if isinstance(mention.value, float | int):
            is_near = abs(mention.value - age) <= AGE_TOLERANCE
            if is_near or mention.value // 10 == age // 10:
                yield Use(EXPLICIT if is_near else INDIRECT, place.start, place.end)
    yield from _hints(usable, "life_stage", lambda stage: _is_of_age(stage, age))


def _is_of_age(stage: str, age: int) -> bool:
    """Whether an age lies within a stage of life, such as ``60-69``."""
    first, _, last = stage.partition("-")
    return int(first) <= age <= int(last)


def _sex_uses(usable: _Usable, truth: PatientTruth) -> Found:
    for mention, place in usable.mentions.get("sex", ()):
        if mention.value == truth.sex:
            yield Use(EXPLICIT, place.start, place.end)


def _primary_uses(usable: _Usable, truth: PatientTruth) -> Found:
    yield from _condition_uses(usable, (truth.slots.primary_condition or "",))


def _comorbidity_uses(usable: _Usable, truth: PatientTruth) -> Found:
    yield from _condition_uses(usable, tuple(truth.slots.comorbidities or ()))


def _condition_uses(usable: _Usable, conditions: tuple[str, ...]) -> Found:
    for mention, place in usable.mentions.get("condition", ()):
        if _names_condition(mention.name, conditions):
            yield Use(EXPLICIT, place.start, place.end)
    for each in map(true_condition, conditions):
        if not each.is_known:
            yield from _literal_uses(usable.answer, each.words)
    yield from _hints(usable, "condition", lambda hinted: _hints_at_condition(hinted, conditions))


@lru_cache(maxsize=_NAMES_KEPT)
def _names_condition(name: str, conditions: tuple[str, ...]) -> bool:
    known = map(true_condition, conditions)
    return any(agrees_with(name, each.name, each.words) for each in known)


@lru_cache(maxsize=_NAMES_KEPT)
def _hints_at_condition(hinted: str, conditions: tuple[str, ...]) -> bool:
    return any(is_same_condition(hinted, true_condition(text).name) for text in conditions)


def _drug_uses(usable: _Usable, truth: PatientTruth) -> Found:
    for mention, place in usable.mentions.get("medication", ()):
        if _names_drug(mention.name, truth):
            yield Use(EXPLICIT, place.start, place.end)
    yield from _hints(usable, "medication_class", truth.drug_classes.__contains__)


@lru_cache(maxsize=_NAMES_KEPT)
def _names_drug(name: str, truth: PatientTruth) -> bool:
    parts = [part.strip() for part in name.split("/")]
    return any(is_same_drug(part, drug) for held in truth.drugs or () for drug in held for part in parts)


def _lab_uses(usable: _Usable, truth: PatientTruth) -> Found:
    yield from _value_uses(usable, truth, "key_labs")


def _vital_uses(usable: _Usable, truth: PatientTruth) -> Found:
    yield from _value_uses(usable, truth, "key_vitals")


def _value_uses(usable: _Usable, truth: PatientTruth, slot: str) -> Found:
    """Values that are right; and names without a value, or with a wrong one."""
    known = {name: value for name, value in truth.values.items() if value.slot == slot}
    for kind in ("lab", "vital"):
        for mention, place in usable.mentions.get(kind, ()):
            if mention.name in known:
                is_right = agrees(mention, place, text=usable.answer.text, truth=known[mention.name])
                yield Use(EXPLICIT if is_right else INDIRECT, place.start, place.end)
    has_pressure = any(name.startswith("bp_") for name in known)
    yield from _hints(usable, "measurement", lambda name: name in known or (name == "bp" and has_pressure))


def _procedure_uses(usable: _Usable, truth: PatientTruth) -> Found:
    for procedure in truth.slots.major_procedures or ():
        for start, end in procedure_places(usable.answer.text, procedure):
            if usable.answer.scope_at(start, end).scope not in NO_USE:
                yield Use(EXPLICIT, start, end)


def _symptom_uses(usable: _Usable, truth: PatientTruth) -> Found:
    yield from _literal_uses(usable.answer, (truth.slots.chief_symptom or "").casefold())


def _literal_uses(answer: ClinicalText, words: str) -> Found:
    """The very words of the record, for what the lexicons do not know."""
    if not words:
        return
    for match in re.finditer(rf"(?<![^\W_]){re.escape(words)}(?![A-Za-z0-9])", answer.text, re.IGNORECASE):
        if answer.scope_at(*match.span()).scope not in NO_USE:
            yield Use(EXPLICIT, *match.span())


_FINDERS: dict[str, Callable[[_Usable, PatientTruth], Found]] = {
    "age": _age_uses,
    "sex": _sex_uses,
    "sex_code": _sex_uses,
    "primary_condition": _primary_uses,
    "comorbidities": _comorbidity_uses,
    "key_meds": _drug_uses,
    "key_labs": _lab_uses,
    "key_vitals": _vital_uses,
    "major_procedures": _procedure_uses,
    "chief_symptom": _symptom_uses,
}
