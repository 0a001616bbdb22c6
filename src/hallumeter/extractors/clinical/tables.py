"""The lexicons of drugs, conditions, labs and vitals, read from the data files once."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Literal

from msgspec import Struct

from hallumeter.errors import SettingsError


class Drug(Struct, frozen=True, gc=False):
    """A drug and what it is called."""

    name: str
    names: tuple[str, ...]
    """All names in English and Korean, the first one included."""
    classes: tuple[str, ...]


class Condition(Struct, frozen=True, gc=False):
    """A disease and what it is called."""

    name: str
    names: tuple[str, ...]
    wider: tuple[str, ...]
    """Conditions of which it is a form."""


class Measurement(Struct, frozen=True, gc=False):
    """A lab or a vital, the unit of its slot, and the bounds of what a living patient can have."""

    name: str
    kind: Literal["lab", "vital"]
    unit: str
    low: float
    high: float
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    """Units in which it is written, the slot's own included."""

    def holds(self, value: float) -> bool:
        """Whether a patient can have this value, given in the slot's unit."""
        return self.low <= value <= self.high


class ClinicalTables(Struct, frozen=True):
    """What the clinical lexicons hold."""

    drugs: tuple[Drug, ...]
    conditions: tuple[Condition, ...]
    measurements: tuple[Measurement, ...]
    classes: dict[str, tuple[str, ...]]
    """Words for a class of drugs."""
    hints: dict[str, tuple[str, ...]]
    """Words that only make sense for a condition, by its name."""


def _rows(file: str, columns: tuple[str, ...]) -> list[list[str]]:
    """The cells of a table, in the order of the columns asked for."""
    path = resources.files("hallumeter.text").joinpath("lexicons", "clinical", file)
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    places = {name: index for index, name in enumerate(header.split("\t"))}
    if missing := [column for column in columns if column not in places]:
        raise SettingsError(f"{file}:1: expected the columns {', '.join(columns)}, but {', '.join(missing)} is missing")
    rows = []
    for number, line in enumerate(lines, 2):
        cells = line.split("\t")
        if len(cells) != len(places):
            raise SettingsError(f"{file}:{number}: expected {len(places)} cells, found {len(cells)}; separate by tabs")
        rows.append([cells[places[column]].strip() for column in columns])
    return rows


def _several(*cells: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for cell in cells for part in cell.split("|") if part.strip()))


@cache
def load_tables() -> ClinicalTables:
    """Read the lexicons.

    >>> next(drug.classes for drug in load_tables().drugs if drug.name == "metformin")
    ('biguanide', 'antidiabetic')
    """
    drugs = _rows("drugs.tsv", ("name", "english", "korean", "classes"))
    conditions = _rows("conditions.tsv", ("name", "english", "korean", "wider"))
    columns = ("name", "kind", "english", "korean", "unit", "units", "low", "high")
    return ClinicalTables(
        drugs=tuple(
            Drug(name, _several(name, english, korean), _several(classes)) for name, english, korean, classes in drugs
        ),
        conditions=tuple(
            Condition(name, _several(name, english, korean), _several(wider))
            for name, english, korean, wider in conditions
        ),
        measurements=tuple(_measurement(row) for row in _rows("measurements.tsv", columns)),
        classes={name: _several(*words) for name, *words in _rows("drug_classes.tsv", ("class", "english", "korean"))},
        hints={name: _several(*words) for name, *words in _rows("condition_hints.tsv", ("name", "english", "korean"))},
    )


def _measurement(row: list[str]) -> Measurement:
    name, kind, english, korean, unit, units, low, high = row
    return Measurement(
        name=name,
        kind="lab" if kind == "lab" else "vital",
        unit=unit,
        low=float(low),
        high=float(high),
        names=_several(english, korean),
        units=_several(unit, units),
    )
