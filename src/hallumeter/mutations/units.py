"""Errors in units: the same number of something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from hallumeter.text import load_lexicon
from hallumeter.text.quantities import Quantity
from hallumeter.text.terms import fold
from hallumeter.text.units import CURRENCY_SIGNS, UNITS, Unit, is_currency, unit_named, unit_words

from .choosing import Choice
from .donors import Donors
from .forms.korean_particles import particle_after
from .protocol import Edit
from .reading import Reading, like

_KOREAN_SCALE = re.compile("[만억조]")
"""A number with several of them would not be one after an exchange."""


def unit_edits(reading: Reading, donors: Donors, choice: Choice) -> Iterator[Edit]:
    """Another unit, currency or scale word for each number of a claim that has one."""
    del donors  # no evidence gives one value twice as the same number in different units
    for quantity in choice.ordered([each for each in reading.numbers if each.kind != "ordinal"], "place"):
        pieces = [
            (match.start(), match.group(), options)
            for options, pattern in _groups(reading.language)
            for match in pattern.finditer(reading.text, quantity.start, quantity.end)
        ]
        if len(_KOREAN_SCALE.findall(reading.text[quantity.start : quantity.end])) > 1:
            pieces = [piece for piece in pieces if _KOREAN_SCALE.fullmatch(piece[1]) is None]
        for start, written, options in choice.ordered(pieces, "group"):
            others = [unit for unit in options if unit != written and _is_same_dimension(written, unit, quantity)]
            yield from (_edit(reading, start, written, other=unit) for unit in choice.ordered(others, "unit"))


@cache
def _groups(language: str) -> list[tuple[tuple[str, ...], re.Pattern[str]]]:
    return [(group, _pattern(group)) for group in load_lexicon(language).mutations.unit_groups]


def _pattern(group: tuple[str, ...]) -> re.Pattern[str]:
    """Units of a group that are whole words or signs; symbols keep their case."""
    longest_first = sorted(group, key=lambda unit: -len(unit))
    return re.compile(rf"(?<![A-Za-zÀ-ÿ가-힣])(?:{'|'.join(map(re.escape, longest_first))})(?![A-Za-zÀ-ÿ²])")


def _is_same_dimension(written: str, other: str, quantity: Quantity) -> bool:
    """Whether both are of one kind; a word such as "pounds" is money or a weight, by the number it stands with."""
    known = [_unit(unit) for unit in (written, other)]
    if quantity.unit is not None and known[0] is not None:
        known[0] = quantity.unit
    old, new = known
    if old is None or new is None:
        return old is None and new is None
    return old.dimension == new.dimension or (is_currency(old) and is_currency(new))


def _unit(written: str) -> Unit | None:
    if written in CURRENCY_SIGNS:
        return unit_named(CURRENCY_SIGNS[written])
    return UNITS.get(written) or unit_words().get(fold(written))


def _edit(reading: Reading, start: int, written: str, *, other: str) -> Edit:
    end = start + len(written)
    changed = like(written, other) if written[:1].isupper() and len(written) > 3 else other
    old, new = particle_after(reading.text, end, changed)
    return Edit(start, end + len(old), changed + new, "another unit")
