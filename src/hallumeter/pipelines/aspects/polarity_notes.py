"""Polarities as others spell them, with a note of every one that was misspelt."""

from __future__ import annotations

from hallumeter.records.aspects import Polarity
from hallumeter.text.polarity_words import repaired_polarity

REPAIRED, INVALID = "polarity_repaired:", "polarity_invalid:"
"""With which the notes begin that tell of polarities."""
_SHOWN = 40
"""Characters of a word that a note repeats."""


def noted_polarity(value: object, notes: list[str]) -> Polarity | None:
    """A polarity; one that cannot be understood is missing, which is not neutral.

    >>> notes = []
    >>> noted_polarity("positve", notes), noted_polarity("great", notes), noted_polarity("NEG", notes), notes
    ('positive', None, 'negative', ['polarity_repaired:positve->positive', 'polarity_invalid:great'])
    """
    said = value if isinstance(value, str) else str(value)
    read = repaired_polarity(said)
    if read.is_invalid:
        notes.append(f"{INVALID}{said[:_SHOWN]}")
    elif read.was_repaired:
        notes.append(f"{REPAIRED}{said[:_SHOWN]}->{read.value}")
    return read.value
