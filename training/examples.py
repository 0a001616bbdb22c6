"""One labelled text with its evidence, whatever data set it comes from."""

from __future__ import annotations

from msgspec import Struct


class Span(Struct, frozen=True):
    """A part of a text that people marked as unsupported."""

    start: int
    end: int
    is_conflict: bool
    """The evidence says otherwise; else it says nothing of it."""


class Example(Struct, frozen=True):
    """A text, its evidence, and what people said of it."""

    data_set: str
    source: str
    """What several texts share: they are kept on one side of every split."""
    task: str
    """qa, data or summary."""
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

    @property
    def fold(self) -> str:
        """The part that is held back together: a domain where a set has several, else by source."""
        return f"{self.data_set}/{self.source}"
