"""Units of labs and vitals: how they are written, and how a value in one is given in that of the patient's record."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from operator import sub

from msgspec import Struct

from hallumeter.text.quantities import value_of

from .lexicon import Measurement, load_tables

_MOLAR_MASSES = {
    "glucose": 180.156, "ldl": 386.65, "hdl": 386.65, "non_hdl": 386.65, "total_cholesterol": 386.65,
    "triglyceride": 885.4, "creatinine": 113.12, "bilirubin": 584.66, "direct_bilirubin": 584.66,
    "indirect_bilirubin": 584.66, "uric_acid": 168.11, "bun": 28.0134, "calcium": 40.078, "ionized_calcium": 40.078,
    "magnesium": 24.305, "phosphate": 30.974, "iron": 55.845, "tibc": 55.845, "vitamin_d": 400.64,
    "vitamin_b12": 1355.37, "folate": 441.4, "free_t4": 776.87, "total_t4": 776.87, "free_t3": 650.98,
    "total_t3": 650.98, "lactate": 90.08, "cortisol": 362.46, "testosterone": 288.42, "estradiol": 272.38,
    "progesterone": 314.46, "ammonia": 17.031, "homocysteine": 135.18, "hemoglobin": 16114.5, "potassium": 39.098,
    "sodium": 22.990, "chloride": 35.453, "beta_hydroxybutyrate": 104.1, "c_peptide": 3020.3, "bnp": 3464.0,
    "nt_probnp": 8457.0, "fibrinogen": 340_000.0, "ferritin": 474_000.0, "acth": 4541.1, "igf1": 7649.0,
    "pth": 9425.0, "crp": 105_000.0, "zinc": 65.38, "copper": 63.546, "digoxin_level": 780.94, "dhea_s": 368.49,
    "amh": 140_000.0, "dihydroxyvitamin_d": 416.64, "csf_glucose": 180.156, "urine_calcium": 40.078,
    "urine_albumin_creatinine_ratio": 113.12, "urine_protein_creatinine_ratio": 113.12,
}  # fmt: skip
"""Grams per mole. Of urea only the nitrogen counts, of phosphate the phosphorus, of haemoglobin one of the four chains;
ratios to creatinine have the mass of creatinine."""
_VALENCES = {"calcium": 2, "ionized_calcium": 2, "magnesium": 2}

_SIGNS = str.maketrans({
    "µ": "u", "μ": "u", "²": "2", "³": "3", "⁶": "6", "⁹": "9", "¹": "1", "×": "x", "％": "%", "㎜": "mm", "㎝": "cm",
    "㎏": "kg", "㎡": "m2", "℃": "°c", "℉": "°f", "＊": "*", "*": "^", "·": "", "{": "", "}": "", "[": "", "]": "",
})  # fmt: skip
_SHORTER = tuple(
    (re.compile(pattern), shorter)
    for pattern, shorter in (
        (r"\s+", ""),
        ("^x(?=10)", ""),
        ("mcg", "ug"),
        ("per(?!cent)", "/"),
        (r"/1\.73_?m\^?2", ""),
        ("^(?:cells|개|copies|카피|beats|breaths|회|박동)(?=/)", ""),
        ("(?:units?|iu)(?=/)", "u"),
        (r"/(?:mm\^?3|cubicmillimeter|cmm)$", "/ul"),
        ("/(?:minute|분)$", "/min"),
        ("^(?:k|thousand|천)/ul", "10^3/ul"),
        ("^(?:m|million)/ul", "10^6/ul"),
        ("^10(?=[3-9]|12)", "10^"),
        ("/(?:일|24h|d)$", "/day"),
        ("(?:feu|cr|hb/cell)$", ""),
        ("/(?:hr|hour|시간)$", "/h"),
        ("mosmol", "mosm"),
        ("^(?:bpm|회)$", "/min"),
        ("^g%$", "g/dl"),
        ("^(?:percent|퍼센트|프로)$", "%"),
    )
)
"""What is done in turn to the spelling of a unit, in lower case, to make all its spellings one."""


class _Unit(Struct, frozen=True):
    """How many of the base units it is, and the power of each: gram, mole, activity, metre, second."""

    factor: float
    powers: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)

    def __truediv__(self, other: _Unit) -> _Unit:
        gram, mole, activity, metre, second = map(sub, self.powers, other.powers)
        return _Unit(self.factor / other.factor, (gram, mole, activity, metre, second))

    def times(self, factor: float) -> _Unit:
        """As many of it."""
        return _Unit(self.factor * factor, self.powers)


_ONE = _Unit(1.0)
_GRAM, _MOLE, _ACTIVITY = _Unit(1.0, (1, 0, 0, 0, 0)), _Unit(1.0, (0, 1, 0, 0, 0)), _Unit(1.0, (0, 0, 1, 0, 0))
_METRE, _LITRE = _Unit(1.0, (0, 0, 0, 1, 0)), _Unit(1e-3, (0, 0, 0, 3, 0))
_SECOND, _PASCAL = _Unit(1.0, (0, 0, 0, 0, 1)), _Unit(1e3, (1, 0, 0, -1, -2))
_PREFIXES = {"k": 1e3, "": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12}
_AMOUNTS = {
    **{f"{prefix}g": _GRAM.times(factor) for prefix, factor in _PREFIXES.items()},
    **{f"{prefix}mol": _MOLE.times(factor) for prefix, factor in _PREFIXES.items()},
    **{f"{prefix}u": _ACTIVITY.times(factor) for prefix, factor in _PREFIXES.items()},
    **{f"10^{power}": _ONE.times(10.0**power) for power in (3, 6, 9, 12)},
    "meq": _MOLE.times(1e-3), "ukat": _ACTIVITY.times(60.0), "mosm": _MOLE.times(1e-3), "": _ONE,
    "ml": _LITRE.times(1e-3), "mm": _METRE.times(1e-3),
}  # fmt: skip
_PER = {
    "l": _LITRE, "dl": _LITRE.times(0.1), "ml": _LITRE.times(1e-3), "ul": _LITRE.times(1e-6), "s": _SECOND,
    "min": _SECOND.times(60.0), "h": _SECOND.times(3600.0), "day": _SECOND.times(86400.0), "mol": _MOLE,
    "mmol": _MOLE.times(1e-3), "g": _GRAM, "mg": _GRAM.times(1e-3), "kg": _GRAM.times(1e3),
    "m2": _Unit(1.0, (0, 0, 0, 2, 0)), "m^2": _Unit(1.0, (0, 0, 0, 2, 0)), "cell": _ONE,
}  # fmt: skip
_SINGLE = {
    key: unit
    for keys, unit in {
        "%": _ONE.times(0.01),
        "mmhg": _PASCAL.times(133.322387415),  # a column of mercury of 13.5951 g/cm³, not a 760th of an atmosphere
        "torr": _PASCAL.times(101325.0 / 760.0),
        "kpa": _PASCAL.times(1e3),
        "kg kilogram kilograms kilo kilos 킬로그램 킬로": _GRAM.times(1e3),
        "g": _GRAM,
        "lb lbs pound pounds 파운드": _GRAM.times(453.59237),
        "stone": _GRAM.times(14 * 453.59237),
        "cm centimeter centimeters 센티미터 센티": _METRE.times(1e-2),
        "m meter meters 미터": _METRE,
        "in inch inches 인치": _METRE.times(0.0254),
        "ft foot feet 피트": _METRE.times(0.3048),
        "s sec second seconds 초": _SECOND,
        "min minute minutes 분": _SECOND.times(60.0),
        "fl um3": _LITRE.times(1e-15),
        "pg pg/cell": _GRAM.times(1e-12),
        "l/l": _ONE,
        "/min": _ONE / _SECOND.times(60.0),
    }.items()
    for key in keys.split()
}
"""Units that are no ratios."""
_CELSIUS = frozenset(["°c", "c", "cel", "degreescelsius", "degreecelsius", "degreesc", "degc", "도"])
_FAHRENHEIT = frozenset(["°f", "f", "degreesfahrenheit", "degreefahrenheit", "degreesf", "degf"])
_NUMBER = r"[-+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*(\S.*?)?\s*", re.IGNORECASE | re.DOTALL)

_MICRO = "[µμu]"
_VOLUME = rf"(?:[dm]|{_MICRO})?l|mm\^?[3³]"
_SQUARE_METER = r"(?:m2|m²|m\^2|㎡)"
_NUMERATOR = (
    rf"(?:[kmnp]|{_MICRO}|mc)?g|(?:[mnp]|{_MICRO})?mol|meq|(?:[mk]|{_MICRO})?i?u|units?|{_MICRO}kat|mosm(?:ol)?|mm"
    "|cells|copies|beats|breaths|k|m|thousand|million"
)
_DENOMINATOR = rf"{_VOLUME}|minute|min|분|hour|hr|h|시간|mmol|mol|mg|gcr|g|kg|day|24\s?h|일|{_SQUARE_METER}"
_LATIN_FORMS = (
    rf"(?:[x×]\s?)?10\s?[\^*]?\s?(?:12|[369]|[³⁶⁹]|¹²)\s?(?:cells\s?)?/\s?(?:{_VOLUME})",
    rf"ml\s?/\s?(?:min(?:ute)?|분)(?:\s?/\s?1\.73\s?{_SQUARE_METER})?",
    rf"(?:{_NUMERATOR})?\s?(?:/|per )\s?(?:{_DENOMINATOR})",
    rf"{_MICRO}m[3³]|mm\s?\[?hg\]?|㎜hg|kpa|torr|bpm|[%％]|percent",
    r"°\s?[cf]|℃|℉|degrees?(?: (?:celsius|fahrenheit|c|f))?|[cf]",
    r"kg|㎏|kilograms?|kilos?|lbs?|pounds?|stone|cm|㎝|centimeters?|meters?|m|inch(?:es)?|in|ft|feet|foot",
    r"fl|pg|sec(?:onds?)?|s|g%",
)
_KOREAN_FORMS = (
    rf"(?:개|카피|회|박동|천)\s?/\s?(?:{_DENOMINATOR})",
    r"퍼센트|프로(?![가-힣])|도(?![가-힣]{2})|킬로그램|킬로(?!칼)|파운드|센티미터|센티|미터|인치|피트|초",
)
UNIT_PATTERN = f"(?![가-힣])(?:{'|'.join(_LATIN_FORMS)})|(?=[가-힣])(?:{'|'.join(_KOREAN_FORMS)})"
"""Everything that is a unit of a lab or vital, in lower case."""


class Quantity(Struct, frozen=True):
    """A number with its unit, both as they were written."""

    value: float
    unit: str | None = None


def parse_quantity(text: str) -> Quantity | None:
    """A value as patients' records have it; None when it does not begin with a number.

    >>> parse_quantity("6.24%")
    Quantity(value=6.24, unit='%')
    """
    match = _QUANTITY.fullmatch(text)
    value = None if match is None else value_of(match.group(1))
    return None if match is None or value is None else Quantity(value, match.group(2))


def converted(value: float, unit: str | None, measurement: Measurement | str) -> float | None:
    """A value in the unit of its slot; None when the unit is unknown or cannot belong to the measurement.

    A missing unit is that of the slot. HbA1c follows the master equation of the IFCC: % = 0.09148 · mmol/mol + 2.152.

    >>> round(converted(7.0, "mmol/L", "glucose"), 1), converted(500, "mg", "glucose")
    (126.1, None)
    """
    name = measurement if isinstance(measurement, str) else measurement.name
    if unit is None:
        return value
    line = _line(name, unit_key(unit))
    return None if line is None else value * line[0] + line[1]


@lru_cache(maxsize=4096)
def unit_key(unit: str) -> str:
    """One spelling for all the ways to write a unit.

    >>> unit_key("μmol / L") == unit_key("umol/l"), unit_key("beats per minute")
    (True, '/min')
    """
    key = unit.lower().translate(_SIGNS)
    for pattern, shorter in _SHORTER:
        key = pattern.sub(shorter, key)
    return key


@cache
def measurements_by_name() -> dict[str, Measurement]:
    """The labs and vitals of the lexicon."""
    return {each.name: each for each in load_tables().measurements}


@lru_cache(maxsize=4096)
def _line(name: str, key: str) -> tuple[float, float] | None:
    """Factor and addend that bring a unit to that of the slot."""
    measurement = measurements_by_name().get(name)
    if measurement is None:
        return None
    own = unit_key(measurement.unit)
    if key == own:
        return 1.0, 0.0
    if name == "hba1c":
        return (0.09148, 2.152) if key == "mmol/mol" else None
    if own in _CELSIUS:
        return (1.0, 0.0) if key in _CELSIUS else (5.0 / 9.0, -160.0 / 9.0) if key in _FAHRENHEIT else None
    source, target = _unit(key, name), _unit(own, name)
    factor = None if source is None or target is None else _factor(source / target, _MOLAR_MASSES.get(name))
    return None if factor is None else (factor, 0.0)


def _unit(key: str, name: str) -> _Unit | None:
    if key in _SINGLE:
        return _SINGLE[key]
    amount, slash, per = key.partition("/")
    if not slash or amount not in _AMOUNTS or per not in _PER:
        return None
    valence = _VALENCES.get(name, 1) if amount == "meq" else 1
    return (_AMOUNTS[amount] / _PER[per]).times(1.0 / valence)


def _factor(ratio: _Unit, molar_mass: float | None) -> float | None:
    """How many of one unit are one of the other; a mass may stand for an amount of the substance."""
    if ratio.powers == _ONE.powers:
        return ratio.factor
    if molar_mass is not None and ratio.powers == (-1, 1, 0, 0, 0):
        return ratio.factor * molar_mass
    return ratio.factor / molar_mass if molar_mass is not None and ratio.powers == (1, -1, 0, 0, 0) else None
