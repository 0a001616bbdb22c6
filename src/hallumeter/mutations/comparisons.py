"""Errors of comparison and order: more for less, before for after, rose for fell."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from hallumeter.text import load_lexicon

from .choosing import Choice
from .donors import Donors
from .forms.korean_particles import particle_after
from .protocol import Edit
from .reading import Reading, like, phrase_pattern


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
                yield _edit(reading, match.start(), match.end(), other=other)


def _edit(reading: Reading, start: int, end: int, *, other: str) -> Edit:
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
