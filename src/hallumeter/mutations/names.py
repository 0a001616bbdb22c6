"""Errors in names: another name of the same shape."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from hallumeter.text.names import Name

from .choosing import Choice
from .donors import Donors, Fact
from .forms.names import is_sure_name, name_shape
from .protocol import Edit
from .reading import Reading

_SHARE = 0.4
"""Of the words around a name; a sentence that has more of them may say the same of other names."""
_VOWELS = frozenset("aeiouhyàâéèêëîïôœù")


def name_edits(reading: Reading, donors: Donors, choice: Choice) -> Iterator[Edit]:
    """Another name for each name of a claim: first from its evidence, then from other records.

    A name that shares a word with one of the claim, or an abbreviation of it, is not used. That two different names
    name the same is not recognised.
    """
    for name in choice.ordered(_names(reading, donors), "place"):
        written = reading.text[name.start : name.end]
        shape = name_shape(reading, name, donors.own.classes)
        silent = donors.silent(reading.neighbours(name.start, name.end), written.casefold(), share=_SHARE)
        for fact in choice.ordered(donors.own.names.get(shape, ()), "own"):
            if fact.sentence not in silent and _is_usable(reading, name, fact):
                yield Edit(name.start, name.end, fact.written, "a name from elsewhere in the evidence")
        for fact in choice.ordered(donors.others.names.get(shape, ()), "others"):
            if not _is_in_evidence(donors, fact) and _is_usable(reading, name, fact):
                yield Edit(name.start, name.end, fact.written, "a name from another record")


def _names(reading: Reading, donors: Donors) -> list[Name]:
    """Names that are surely names: a word that opens the claim is one if the evidence has it elsewhere."""
    return [
        name
        for name in reading.names
        if is_sure_name(reading, name, donors.own.common)
        or reading.text[name.start : name.end] in donors.own.sure_names
    ]


def _is_in_evidence(donors: Donors, fact: Fact) -> bool:
    return any(part.casefold() in donors.own.words for part in fact.written.split())


def _is_usable(reading: Reading, name: Name, fact: Fact) -> bool:
    written = reading.text[name.start : name.end]
    said = {word.casefold() for word in reading.text.replace("-", " ").split()}
    if any(word.casefold().strip(",.") in said for word in fact.written.replace("-", " ").split()):
        return False
    if (
        fact.key in reading.text.casefold()
        or _is_akin(written, fact.written)
        or _initials(written) == _initials(fact.written) != written[:1].upper()
    ):
        return False
    return _takes_same_article(reading, name, fact.written)


def _is_akin(first: str, second: str) -> bool:
    """Whether two names begin alike, as "Pastafarian" and "Pastafarianism" do."""
    pairs = zip(first.casefold(), second.casefold(), strict=False)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return alike >= 4 and 2 * alike >= min(len(first), len(second))


def _initials(written: str) -> str:
    return written if written.isupper() else "".join(word[:1].upper() for word in written.split())


def _takes_same_article(reading: Reading, name: Name, other: str) -> bool:
    """Whether the words before the name suit the other one: "an" and "d'" stand before vowels alone."""
    before = reading.text[max(0, name.start - 3) : name.start].casefold()
    old, new = reading.text[name.start].casefold() in _VOWELS, other[0].casefold() in _VOWELS
    is_bound = reading.language == "fr" or before.endswith((" a ", "an ")) or name.start in {2, 3}
    return old == new or not is_bound
