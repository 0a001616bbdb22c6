"""Documents cut into passages that a judge can read at once and a reader can find again."""

from __future__ import annotations

import math

from msgspec import Struct

from hallumeter.text import sentence_spans

PASSAGE_WORDS = 120
"""About as many words as a passage has; measured as recall in benchmarks/retrieval_recall.py."""
_LONGEST_SENTENCE = 2 * PASSAGE_WORDS
"""A longer one, such as a table without periods, is cut between words."""
_SHORTEST_END = PASSAGE_WORDS // 3
"""The end of a document that is shorter stays with the passage before it."""


class Document(Struct, frozen=True):
    """A text with the name under which its passages are cited."""

    name: str
    """A path below the knowledge base, or the id of a row."""
    text: str
    title: str = ""
    """Looked up with every passage of the document, and not part of any."""
    is_row: bool = False
    """Whether it is a passage already, which keeps its name as it is when it is short enough."""


class CutPassage(Struct, frozen=True):
    """A passage of a document, with its place."""

    evidence_id: str
    """The document's name, ``#``, and the places in it of the first character and of the one past the last."""
    text: str
    title: str = ""


def cut(document: Document) -> list[CutPassage]:
    """Cut a document between sentences into passages of about 120 words; sentences are never shared by two.

    >>> [passage.evidence_id for passage in cut(Document("notes.txt", "One. Two."))]
    ['notes.txt#0-9']
    """
    spans = _groups(_units(document.text))
    if document.is_row and len(spans) == 1:
        return [CutPassage(document.name, document.text, document.title)]
    return [
        CutPassage(f"{document.name}#{start}-{end}", document.text[start:end], document.title) for start, end in spans
    ]


def _units(text: str) -> list[tuple[int, int, int]]:
    """Start, end and number of words of every sentence, and of the parts of those that are too long."""
    units = []
    for start, end in sentence_spans(text):
        words = len(text[start:end].split())
        if words <= _LONGEST_SENTENCE:
            units.append((start, end, words))
        else:
            units += _parts(text, start, end)
    return units


def _parts(text: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """A sentence cut between words."""
    starts = []
    place = start
    for word in text[start:end].split():
        place = text.index(word, place)
        starts.append((place, place + len(word)))
        place += len(word)
    parts = [starts[first : first + PASSAGE_WORDS] for first in range(0, len(starts), PASSAGE_WORDS)]
    return [(part[0][0], part[-1][1], len(part)) for part in parts]


def _groups(units: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Neighbouring units joined until the next one would lead further from the wanted length."""
    groups: list[tuple[int, int, int]] = []
    for start, end, words in units:
        held = groups[-1][2] if groups else math.inf
        if held + words / 2 <= PASSAGE_WORDS:
            groups[-1] = (groups[-1][0], end, int(held) + words)
        else:
            groups.append((start, end, words))
    if len(groups) > 1 and groups[-1][2] < _SHORTEST_END:
        _, end, _ = groups.pop()
        groups[-1] = (groups[-1][0], end, 0)
    return [(start, end) for start, end, _ in groups]
