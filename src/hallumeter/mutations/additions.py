"""Errors of addition: something plausible that the evidence does not say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hallumeter.text.terms import terms_of

from .choosing import Choice
from .donors import Donors
from .protocol import Edit
from .reading import Reading

_END = re.compile(r"(?<=[\w)%])([.!。])?\s*$")
_SENTENCE_END = re.compile(r"[.!?。][\"'”’)\]]*\s*$")


def addition_edits(reading: Reading, donors: Donors, choice: Choice) -> Iterator[Edit]:
    """A cause, date, place, attribution or sentence added, of whose words the evidence has at most half."""
    kinds = tuple(reading.words.additions)
    for kind in choice.ordered(kinds, "kind"):
        for added in choice.ordered(reading.words.additions[kind], "addition"):
            if _is_absent(added, reading, donors) and (edit := _edit(reading.text, added, kind)) is not None:
                yield edit


def _is_absent(added: str, reading: Reading, donors: Donors) -> bool:
    terms = terms_of(added)
    telling = [word for word, key in zip(terms.folded, terms.keys, strict=True) if key]
    known = donors.own.words | set(reading.terms.folded)
    return 2 * sum(word in known for word in telling) <= len(telling)


def _edit(text: str, added: str, kind: str) -> Edit | None:
    note = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} added"
    if added.startswith(","):
        ending = _END.search(text)
        return Edit(ending.start(), ending.start(), added, note) if ending is not None else None
    # A sentence can only follow one that has ended.
    place = len(text.rstrip())
    return Edit(place, place, added, note) if _SENTENCE_END.search(text) is not None else None
