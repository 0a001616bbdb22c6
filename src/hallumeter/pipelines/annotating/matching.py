"""The evidence of a claim, what speaks of it first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.retrieval.tokens import tokens_of
from hallumeter.text import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hallumeter.records import Passage

    from .shelf import AskedClaim


class MatchedPassage(Struct, frozen=True):
    """A passage and the place in it that speaks of a claim."""

    passage: Passage
    start: int
    end: int
    """One past the last character; the place is empty where nothing in the passage speaks of the claim."""


def excerpt(text: str, place: tuple[int, int], room: int) -> tuple[int, int]:
    """The part of a text around a place of it that fits into so many characters, cut between words where it can be.

    >>> text = "one two three four five six"
    >>> text[slice(*excerpt(text, (8, 13), 17))]
    'two three four'
    """
    start, end = place
    if len(text) <= room:
        return 0, len(text)
    if end - start >= room:
        return start, start + room
    first = min(max(0, start - (room - (end - start)) // 2), len(text) - room)
    last = first + room
    if first:
        first = text.find(" ", first - 1, start) + 1 or first
    cut = text.rfind(" ", end, last + 1) if last < len(text) else last
    return first, last if cut < 0 else cut


def matched_passages(asked: AskedClaim) -> list[MatchedPassage]:
    """The evidence of a claim: passages that its verdict quotes, then those that share most words with it.

    Words that stand in many sentences of the evidence count less.
    """
    passages = asked.response.evidence
    lengths = {passage.evidence_id: len(passage.text) for passage in passages}
    quoted = {
        quote.evidence_id: (quote.start, quote.end)
        for verdict in asked.verdicts
        for quote in reversed(verdict.evidence)
        if quote.start is not None and quote.end is not None and quote.end <= lengths.get(quote.evidence_id, 0)
    }
    sentences = [list(_sentences(passage)) for passage in passages]
    seen = Counter(token for spans in sentences for *_, tokens in spans for token in tokens)
    wanted = set(tokens_of(asked.text))
    found = []
    for number, passage in enumerate(passages):
        best, place = max(
            (
                (sum(1 / seen[token] for token in wanted & tokens), (start, end))
                for start, end, tokens in sentences[number]
            ),
            key=lambda pair: pair[0],
            default=(0.0, (0, 0)),
        )
        is_quoted = passage.evidence_id in quoted
        place = quoted[passage.evidence_id] if is_quoted else place if best else (0, 0)
        found.append((not is_quoted, -best, number, MatchedPassage(passage, *place)))
    return [passage for *_, passage in sorted(found, key=lambda row: row[:3])]


def _sentences(passage: Passage) -> Iterator[tuple[int, int, set[str]]]:
    for start, end in sentence_spans(passage.text):
        yield start, end, set(tokens_of(passage.text[start:end]))
