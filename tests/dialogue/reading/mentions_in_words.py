"""What a clinical text mentions, written in words: ``metformin: asserted; hba1c 7.2: general``."""

from __future__ import annotations

from functools import cache

from hallumeter.dialogue.reading.reader import ClinicalReader
from hallumeter.dialogue.records import Mention, MentionScope

STRENGTH: tuple[MentionScope, ...] = (
    *("asserted", "advised", "mentioned", "general", "hypothetical", "example", "family", "avoided", "negated", "past"),
)
"""Scopes with the strongest first: that of a mention is the strongest of its occurrences."""


@cache
def reader() -> ClinicalReader:
    return ClinicalReader()


def scope_of(mention: Mention) -> MentionScope:
    return min((occurrence.scope for occurrence in mention.occurrences), key=STRENGTH.index)


def mentions_in(text: str) -> dict[str, str]:
    """The scope of every mention by its name, with its value as in ``hba1c:7.2`` or ``sex:male``."""
    return {_title(mention): scope_of(mention) for mention in reader().read(text).mentions}


def _title(mention: Mention) -> str:
    if mention.value is None:
        return mention.name
    return (
        f"{mention.name}:{mention.value:g}" if isinstance(mention.value, float) else f"{mention.name}:{mention.value}"
    )


def check_mentions(text: str, expected: str) -> None:
    """Compare all mentions of a text with those expected; `any` stands for every scope."""
    wanted = dict(each.rsplit(": ", 1) for each in expected.split("; ")) if expected else {}
    found = mentions_in(text)
    assert {name: "any" if wanted.get(name) == "any" else scope for name, scope in found.items()} == wanted
