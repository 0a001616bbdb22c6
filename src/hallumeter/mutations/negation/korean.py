"""Negation in Korean: in the ending of the last verb."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from hallumeter.mutations.forms.korean_particles import ends_in_consonant
from hallumeter.mutations.protocol import Edit
from hallumeter.mutations.reading import Reading
from hallumeter.text import load_lexicon

_END = re.compile(r"[.!。\"'”’)\s]*$")
_SUBJECT = "{이}"


def korean_edits(reading: Reading) -> Iterator[Edit]:
    """The last verb of a claim denied, or no longer denied."""
    words = reading.words
    if any(word in reading.text for word in words.not_negated):
        return
    ending = _END.search(reading.text)
    end = ending.start() if ending is not None else len(reading.text)
    body = reading.text[:end]
    for table, note in (
        (_longest_first("affirm"), "a negation taken out"),
        (_longest_first("negate"), "a negation put in"),
    ):
        for said, other in table:
            start = end - len(said)
            if body.endswith(said) and _may_follow(body[:start], said, other):
                yield Edit(start, end, _written(body[:start], other), note)
                return


def _may_follow(before: str, said: str, other: str) -> bool:
    """Whether the ending is one: "이다" and "였다" follow a noun, "있다" and whole verbs a space."""
    if not before:
        return False
    if other.startswith(_SUBJECT):
        is_noun = "가" <= before[-1] <= "힣" or before[-1].isalnum()
        return is_noun and (said[0] != "였" or not ends_in_consonant(before))
    if said[0] in "하했한합되됐된됩":
        return True
    return before[-1].isspace() or said[0] in "이가"


def _written(before: str, other: str) -> str:
    """The other ending, with 이 or 가 as the noun before it wants."""
    if other.startswith(_SUBJECT):
        return ("이" if ends_in_consonant(before) else "가") + other.removeprefix(_SUBJECT)
    return other


@cache
def _longest_first(table: str) -> tuple[tuple[str, str], ...]:
    pairs: tuple[tuple[str, str], ...] = getattr(load_lexicon("ko").mutations, table)
    return tuple(sorted(pairs, key=lambda pair: (-len(pair[0]), pair[0])))
