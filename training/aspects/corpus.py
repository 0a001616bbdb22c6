"""MAMS: sentences of restaurant reviews in which people marked aspect terms and what is felt about them."""

from __future__ import annotations

from pathlib import Path

from defusedxml import ElementTree
from msgspec import Struct


class Marked(Struct, frozen=True):
    """A sentence and its marked terms: start, end and polarity."""

    text: str
    terms: tuple[tuple[int, int, str], ...]


def read_mams(path: Path) -> list[Marked]:
    """The sentences of a file, in its order."""
    sentences = []
    for element in ElementTree.parse(path).getroot():
        terms = [(int(t.get("from")), int(t.get("to")), str(t.get("polarity"))) for t in element.iter("aspectTerm")]
        sentences.append(Marked(element.findtext("text") or "", tuple(sorted(terms))))
    return sentences
