"""What every reader of page images does."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from msgspec import Struct


class Reading(Struct, frozen=True):
    """What a reader found on a page."""

    text: str
    """Words parted by spaces, lines by line breaks; empty when nothing was found."""
    confidence: float | None
    """The reader's own, 0 to 1, each word or line weighing as many times as it has characters; None without text."""
    words: int
    """Runs without white space in the text."""


class PageReader(Protocol):
    """A program that reads the image of a page."""

    @property
    def name(self) -> str:
        """The program, its version and what else changes its readings: `tesseract-5.3.0-eng+fra`."""
        ...

    def read(self, image: Path) -> Reading:
        """Read one image. A fault of this image alone is an `InputError`; other images may still be readable."""
        ...


def reading_of(lines: list[str], weighted: list[tuple[float, int]]) -> Reading:
    r"""A reading from its lines, and from confidences with the number of characters each stands for.

    >>> reading_of(["a  b", "", "cd"], [(0.5, 2), (1.0, 2)])
    Reading(text='a b\ncd', confidence=0.75, words=3)
    """
    words = [line.split() for line in lines]
    characters = sum(count for _, count in weighted)
    return Reading(
        text="\n".join(" ".join(line) for line in words if line),
        confidence=sum(confidence * count for confidence, count in weighted) / characters if characters else None,
        words=sum(map(len, words)),
    )
