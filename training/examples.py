"""One labelled text with its evidence, whatever data set it comes from."""

from __future__ import annotations

from msgspec import Struct


class Span(Struct, frozen=True):
    """A part of a text that people marked as unsupported."""

    start: int
    end: int
    is_conflict: bool
    """The evidence says otherwise; else it says nothing of it."""


class GivenClaim(Struct, frozen=True):
    """A claim whose place in a text is known beforehand, and what people said of it."""

    start: int
    end: int
    is_unsupported: bool


class Example(Struct, frozen=True):
    """A text, its evidence, and what people said of it."""

    data_set: str
    source: str
    """What several texts share: they are kept on one side of every split."""
    task: str
    """qa, data, summary, dialogue or claim."""
    evidence: tuple[str, ...]
    text: str
    is_unsupported: bool
    spans: tuple[Span, ...] = ()
    has_spans: bool = True
    """False when people judged the whole text and marked no place."""
    question: str = ""
    writer: str = ""
    """The model that wrote the text."""
    is_one_claim: bool = False
    """The text is a claim as it stands, not to be cut into sentences."""
    given: tuple[GivenClaim, ...] = ()
    """The claims, where the data set has them one by one; else the text is cut into sentences."""
    disputed: tuple[Span, ...] = ()
    """Parts that one person marked and another did not: nothing is learned of them."""
    family: str = ""
    """What a text shares with others that differ from it in a few words only, right ones and wrong ones."""
