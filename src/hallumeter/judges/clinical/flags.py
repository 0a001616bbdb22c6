"""What a patient's values and a question show that matters for safety."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.extractors.clinical import ClinicalReader
from hallumeter.extractors.clinical.names import measurement_named
from hallumeter.records import PatientSlots

from .rules import COMPARED, PatientFlag, SafetyRules, Threshold
from .settings import load_safety_rules
from .truth import PatientTruth, TrueValue, truth_of

if TYPE_CHECKING:
    from collections.abc import Iterator

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
def _reader() -> ClinicalReader:
    return ClinicalReader()


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
    measurement = measurement_named(thresholds[0].measurement)
    assert measurement is not None, "the name was looked up when the rules were read"
    lows = [(measurement.low, True)] + [(t.value, t.comparison == ">=") for t in thresholds if ">" in t.comparison]
    highs = [(measurement.high, True)] + [(t.value, t.comparison == "<=") for t in thresholds if "<" in t.comparison]
    low, is_low_in = max(lows, key=lambda bound: (bound[0], not bound[1]))
    high, is_high_in = min(highs, key=lambda bound: (bound[0], bound[1]))
    return low < high or (low == high and is_low_in and is_high_in)


def _is_plausible(value: TrueValue) -> bool:
    measurement = measurement_named(value.name)
    return measurement is not None and measurement.low <= value.value <= measurement.high


def _is_met(threshold: Threshold, values: dict[str, TrueValue]) -> bool:
    value = values.get(threshold.measurement)
    return value is not None and bool(COMPARED[threshold.comparison](value.value, threshold.value))


def _reason(threshold: Threshold, values: dict[str, TrueValue]) -> str:
    name, value = threshold.measurement, values[threshold.measurement]
    return f"{name} {value.text} is {threshold.comparison} {threshold.value:g} {threshold.unit}"
