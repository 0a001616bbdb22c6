"""Units: their spellings, and values brought to the unit of the slot."""

from __future__ import annotations

import pytest

from hallumeter.dialogue.reading.lexicon import load_tables
from hallumeter.dialogue.reading.reader import measurement_named
from hallumeter.dialogue.reading.units import Quantity, converted, parse_quantity, unit_key


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("6.24%", Quantity(6.24, "%")),
        ("131mmHg", Quantity(131, "mmHg")),
        ("45.3 mL/min/1.73m2", Quantity(45.3, "mL/min/1.73m2")),
        ("245,000 /uL", Quantity(245000, "/uL")),
        ("7,2 %", Quantity(7.2, "%")),
        (" 12 ", Quantity(12, None)),
        ("-3 mmol/L", Quantity(-3, "mmol/L")),
        ("high", None),
        ("", None),
        ("1.2.3 %", None),
    ],
)
def test_a_quantity_is_a_number_with_what_follows_it(text: str, expected: Quantity | None) -> None:
    assert parse_quantity(text) == expected


@pytest.mark.parametrize(
    ("value", "unit", "name", "expected"),
    [
        (7.0, "mmol/L", "glucose", 7.0 * 18.0156),
        (3.4, "mmol/L", "ldl", 3.4 * 38.665),
        (2.6, "mmol/L", "triglyceride", 2.6 * 88.54),
        (88, "μmol/L", "creatinine", 88 * 0.011312),
        (511, "µmol/L", "uric_acid", 511 * 0.016811),
        (20, "umol/l", "bilirubin", 20 * 0.058466),
        (5.0, "mmol/L", "bun", 5.0 * 2.80134),
        (2.5, "mmol/L", "calcium", 2.5 * 4.0078),
        (5.0, "mEq/L", "calcium", 5.0 * 4.0078 / 2),
        (137, "mEq/L", "sodium", 137),
        (53, "mmol/mol", "hba1c", 0.09148 * 53 + 2.152),
        (104, "g/L", "hemoglobin", 10.4),
        (8.6, "mg/dL", "crp", 86),
        (100.4, "°F", "temperature", 38),
        (100, "lb", "weight", 45.359237),
        (70, "inches", "height", 177.8),
        (1.7, "m", "height", 170),
        (0.36, "L/L", "hematocrit", 36),
        (245_000, "/µL", "platelets", 245),
        (245, "10^9/L", "platelets", 245),
        (1.5, "µkat/L", "alt", 90),
        (72, "beats per minute", "heart_rate", 72),
        (20, "kPa", "bp_systolic", 150.012),
        (3, "mg/mmol", "urine_albumin_creatinine_ratio", 3 / 0.11312),
        (50, "nmol/L", "vitamin_d", 50 * 0.40064),
        (6.1, "µIU/mL", "tsh", 6.1),
        (12, "µmol/L", "zinc", 12 * 6.538),
        (9, "g/L", "igg", 900),
        (1.2, "nmol/L", "digoxin_level", 1.2 * 0.78094),
        (9, None, "glucose", 9),
    ],
)
def test_values_are_brought_to_the_unit_of_the_slot(value: float, unit: str | None, name: str, expected: float) -> None:
    """Expected by hand: molar masses in grams per mole, definitions of the units, and the IFCC's master equation."""
    assert converted(value, unit, name) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("unit", "name"),
    [
        ("mg", "glucose"),
        ("furlong", "height"),
        ("%", "glucose"),
        ("°C", "weight"),
        ("kg", "temperature"),
        ("kg", "unheard_of"),
        ("U/mol", "heart_rate"),
    ],
)
def test_a_unit_that_cannot_belong_to_a_measurement_gives_nothing(unit: str, name: str) -> None:
    assert converted(1.0, unit, name) is None


def test_all_spellings_of_a_unit_are_one() -> None:
    assert len({unit_key(each) for each in ("μmol/L", "µmol / l", "umol/L", "µmol per L")}) == 1
    assert len({unit_key(each) for each in ("/min", "bpm", "beats/min", "beats per minute", "회/분")}) == 1
    assert len({unit_key(each) for each in ("10^3/uL", "×10³/µL", "K/µL", "x10^3/uL", "10*3/uL")}) == 1


def test_most_units_of_the_lexicon_can_be_brought_to_that_of_the_slot() -> None:
    units = [(each, unit) for each in load_tables().measurements for unit in each.units]
    known = [pair for pair in units if converted(1.0, pair[1], pair[0]) is not None]
    assert len(known) / len(units) > 0.85  # counts of cells and shares of them do not follow from each other


def test_the_lexicon_tells_kind_unit_and_bounds_of_a_measurement() -> None:
    potassium = measurement_named("potassium")
    assert potassium is not None
    assert (potassium.kind, potassium.unit) == ("lab", "mmol/L")
    assert potassium.holds(4.1)
    assert not potassium.holds(400)
    assert measurement_named("unheard_of") is None
