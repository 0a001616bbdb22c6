"""Errors of addition: something plausible that the evidence does not say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from hallumeter.stats.choice import Choice
from hallumeter.text.lexicon import load_lexicon
from hallumeter.text.quantities import Quantity
from hallumeter.text.terms import fold, terms_of
from hallumeter.text.units import CURRENCY_SIGNS, UNITS, Unit, is_currency, unit_named, unit_words

from .donors import Donors, particle_after
from .protocol import Edit, Reading, like, phrase_pattern

# Errors in units: the same number of something else.

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


# Errors of comparison and order: more for less, before for after, rose for fell.


def comparison_edits(reading: Reading, donors: Donors, choice: Choice) -> Iterator[Edit]:
    """One comparison of a claim turned round; a word whose opposite the claim also has is left alone."""
    del donors
    if reading.text.rstrip().endswith("?"):
        return
    others = _others(reading.language)
    text = reading.text.replace("’", "'")
    lowered = text.lower()
    kept = [
        match.span()
        for match in phrase_pattern(reading.words.not_flipped).finditer(lowered)
        if len(lowered) == len(text)
    ]
    matches = [
        match
        for match in phrase_pattern(tuple(others)).finditer(text)
        if not any(start < match.end() and end > match.start() for start, end in kept)
        and (match.start() == 0 or not text[match.start()].isupper())
    ]
    for match in choice.ordered(matches, "place"):
        for other in choice.ordered(others[match.group().lower()], "opposite"):
            if phrase_pattern((other,)).search(text) is None:
                yield _comparison_edit(reading, match.start(), match.end(), other=other)


def _comparison_edit(reading: Reading, start: int, end: int, *, other: str) -> Edit:
    written = like(reading.text[start:end], other)
    old, new = particle_after(reading.text, end, written)
    return Edit(start, end + len(old), written + new, "a comparison turned round")


@cache
def _others(language: str) -> dict[str, tuple[str, ...]]:
    """The opposites of each phrase."""
    table: dict[str, tuple[str, ...]] = {}
    for first, second in load_lexicon(language).mutations.flips:
        table[first] = (*table.get(first, ()), second)
        table[second] = (*table.get(second, ()), first)
    return table


_END = re.compile(r"(?<=[\w)%])([.!。])?\s*$")
_SENTENCE_END = re.compile(r"[.!?。][\"'”’)\]]*\s*$")


def addition_edits(reading: Reading, donors: Donors, choice: Choice) -> Iterator[Edit]:
    """A cause, date, place, attribution or sentence added, of whose words the evidence has at most half."""
    kinds = tuple(reading.words.additions)
    for kind in choice.ordered(kinds, "kind"):
        for added in choice.ordered(reading.words.additions[kind], "addition"):
            if _is_absent(added, reading, donors) and (edit := _addition_edit(reading.text, added, kind)) is not None:
                yield edit


def _is_absent(added: str, reading: Reading, donors: Donors) -> bool:
    terms = terms_of(added)
    telling = [word for word, key in zip(terms.folded, terms.keys, strict=True) if key]
    known = donors.own.words | set(reading.terms.folded)
    return 2 * sum(word in known for word in telling) <= len(telling)


def _addition_edit(text: str, added: str, kind: str) -> Edit | None:
    note = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} added"
    if added.startswith(","):
        ending = _END.search(text)
        return Edit(ending.start(), ending.start(), added, note) if ending is not None else None
    # A sentence can only follow one that has ended.
    place = len(text.rstrip())
    return Edit(place, place, added, note) if _SENTENCE_END.search(text) is not None else None
