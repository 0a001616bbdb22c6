"""What a classifier of sentiment is asked, and what it answers."""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import Struct

SignalLabel = Literal["pos", "neg", "neu"]


class Classified(Struct, frozen=True):
    """What a classifier says of a text."""

    label: SignalLabel
    confidence: float | None = None
    """None when the classifier does not say."""


class Classifier(Protocol):
    """Anyone who says how a text feels as a whole. It may be sent to another process."""

    @property
    def model_id(self) -> str:
        """Which one it is."""
        ...

    def classify(self, text: str) -> Classified:
        """How a text feels."""
        ...
