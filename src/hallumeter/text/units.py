"""Units and currencies, and how one is turned into another."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from .lexicon import lexicons_with
from .terms import fold


class Unit(Struct, frozen=True):
    """A unit of measurement or a currency."""

    symbol: str
    dimension: str
    """What it measures: only units of one dimension can be compared; a currency is a dimension of its own."""
    factor: float = 1.0
    """How many of the dimension's first unit it holds."""
    offset: float = 0.0
    """What is added after the factor, for temperatures."""

    def standard(self, value: float) -> float:
        """A value in the first unit of the dimension.

        >>> round(unit_named("°F").standard(212), 6)
        100.0
        """
        return value * self.factor + self.offset


PERCENT = Unit("%", "percent")


def _concentrations(amount: str) -> dict[str, float]:
    """An amount with its prefixes per litre, decilitre and millilitre, in so many per litre."""
    prefixes = {"": 1, "m": 1e-3, "µ": 1e-6, "n": 1e-9, "p": 1e-12}
    volumes = {"L": 1, "dL": 0.1, "mL": 1e-3}
    return {
        f"{prefix}{amount}/{volume}": factor / litres
        for prefix, factor in prefixes.items()
        for volume, litres in volumes.items()
    }


_DAY = 86_400.0
_YEAR = 365.25 * _DAY
_DIMENSIONS: dict[str, dict[str, float]] = {
    "length": {
        "m": 1, "km": 1000, "cm": 0.01, "mm": 0.001, "mi": 1609.344, "yd": 0.9144, "ft": 0.3048, "in": 0.0254,
    },
    "mass": {
        "g": 1, "kg": 1000, "mg": 1e-3, "µg": 1e-6, "mcg": 1e-6, "lb": 453.592_37, "oz": 28.349_523_125, "t": 1e6,
    },
    "volume": {
        "L": 1, "mL": 1e-3, "ml": 1e-3, "gal": 3.785_411_784, "qt": 0.946_352_946, "pt": 0.473_176_473,
        "cup": 0.236_588_236_5, "tbsp": 0.014_786_764_78, "tsp": 0.004_928_921_59, "cc": 1e-3,
    },
    "duration": {
        "s": 1, "min": 60, "h": 3600, "d": _DAY, "wk": 7 * _DAY, "mo": _YEAR / 12, "yr": _YEAR, "decade": 10 * _YEAR,
        "ms": 1e-3,
    },
    "area": {
        "m²": 1, "km²": 1e6, "ha": 1e4, "acre": 4046.856_422_4, "ft²": 0.092_903_04, "mi²": 2_589_988.110_336,
        "pyeong": 3.305_785,
    },
    "speed": {"m/s": 1, "km/h": 1 / 3.6, "mph": 0.447_04, "kph": 1 / 3.6},
    "energy": {"kcal": 1, "kJ": 1 / 4.184},
    "data": {"MB": 1, "GB": 1024, "TB": 1024**2, "KB": 1 / 1024, "kB": 1 / 1024},
    "voltage": {"V": 1, "mV": 1e-3, "kV": 1e3},
    "power": {"W": 1, "kW": 1e3, "MW": 1e6, "GW": 1e9},
    "frequency": {"Hz": 1, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9},
    "angle": {"°": 1},
    "pressure": {"mmHg": 1, "kPa": 7.500_617},
    # Moles become grams only where it is known of what; the clinical reader knows that.
    "molar concentration": _concentrations("mol"),
    "mass concentration": _concentrations("g"),
    "activity concentration": _concentrations("U") | _concentrations("IU"),
}  # fmt: skip
UNITS: dict[str, Unit] = {
    **{
        symbol: Unit(symbol, dimension, factor)
        for dimension, symbols in _DIMENSIONS.items()
        for symbol, factor in symbols.items()
    },
    "°C": Unit("°C", "temperature"),
    "°F": Unit("°F", "temperature", 5 / 9, -160 / 9),
    "%": PERCENT,
}
"""Units by symbol. Months and years are their mean lengths; cups and spoons those of the United States."""

CURRENCY_SIGNS = {
    "$": "USD", "€": "EUR", "£": "GBP", "₩": "KRW", "￦": "KRW", "¥": "JPY", "₹": "INR", "US$": "USD", "A$": "AUD",
    "C$": "CAD",
}  # fmt: skip
_CURRENCY_CODES = ("USD", "EUR", "GBP", "KRW", "JPY", "CNY", "INR", "CHF", "AUD", "CAD")


def is_currency(unit: Unit) -> bool:
    """Whether a unit is money."""
    return unit.dimension.startswith("money:")


@cache
def unit_named(symbol: str) -> Unit:
    """The unit with this symbol, or the currency with this ISO code or a hundredth of it."""
    if symbol in UNITS:
        return UNITS[symbol]
    code, _, part = symbol.partition("/")
    return Unit(symbol, f"money:{code}", 1 / float(part) if part else 1.0)


@cache
def unit_words() -> dict[str, Unit]:
    """Units by folded word, in all known languages; symbols that are also words in lower case are left to `UNITS`."""
    words = {code.lower(): unit_named(code) for code in _CURRENCY_CODES}
    for lexicon in lexicons_with("quantities"):
        table = lexicon.quantities
        for symbols in (table.units, table.currencies):
            words.update({fold(word): unit_named(symbol) for symbol, names in symbols.items() for word in names})
        words.update({fold(word): PERCENT for word in table.percent if " " not in word})
    return words
