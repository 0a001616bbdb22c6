"""The latest labs and vitals of a patient, each in the unit of the lexicon."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, NamedTuple

from hallumeter.extractors.clinical.units import converted, unit_key
from hallumeter.formats.fhir import moment_of

from .tables import LOINC, MeasurementLine, measurements_by_loinc

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from hallumeter.formats.fhir import Measured, Observation, Quantity

    from .notes import Notes

EXCLUDED_STATUSES = frozenset({"entered-in-error", "cancelled"})
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
    measured: Measured


def latest_measurements(observations: Iterable[Observation], wanted: Collection[str], notes: Notes) -> dict[str, str]:
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


def _readings(observations: Iterable[Observation], notes: Notes) -> Iterator[Reading]:
    place = 0
    for observation in observations:
        if observation.status in EXCLUDED_STATUSES:
            continue
        moment, issued = moment_of(observation.date) or _EARLIEST, moment_of(observation.issued) or _EARLIEST
        for measured in observation.measured:
            line = _line(measured)
            if line is not None and not (line.name == "bp" or _is_panel(observation, measured)):
                place += 1
                yield Reading(moment, issued, place, line, measured)
            elif line is None and measured.code is not None and measured.value_quantity is not None:
                notes.count_unknown("observation", measured.code.first_code, measured.code.words)


def _line(measured: Measured) -> MeasurementLine | None:
    known = measurements_by_loinc()
    for coding in (measured.code.coding or ()) if measured.code else ():
        if coding.code in known and coding.system in LOINC:
            return known[coding.code]
    return None


def _is_panel(observation: Observation, measured: Measured) -> bool:
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


def units_of(quantity: Quantity | None) -> list[str | None]:
    """The units that a quantity names, in words and in UCUM; a single None when it names none.

    >>> from hallumeter.formats.fhir import Quantity
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
    return None if value is None else (value, _shown(Decimal(repr(value))))


def _shown(number: Decimal) -> str:
    """A number with the decimals it has; with two, and no zeros at its end, when it has more.

    >>> _shown(Decimal("7.0")), _shown(Decimal("29.4986")), _shown(Decimal("6.2449"))
    ('7.0', '29.5', '6.24')
    """
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= -MOST_DECIMALS:
        return f"{number:f}"
    return f"{number.quantize(Decimal('0.01'), rounding=ROUND_HALF_UP):f}".rstrip("0").rstrip(".")
