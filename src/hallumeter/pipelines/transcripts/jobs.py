"""From what the user gave to pages with their readings, one job per page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from hallumeter.records import Failure, FieldValue

if TYPE_CHECKING:
    from collections.abc import Generator

    from hallumeter.records import InputFile

TRUTH, WITNESS = "truth", "witness"
"""What the reference of a page is called in a run: ground truth, or another reading."""


class Source(Struct, frozen=True):
    """A text, the file that holds it, or the image that shows it: whoever measures the page opens it."""

    text: str | None = None
    """The text itself, when it came out of a table or from Python."""
    path: Path | None = None
    """A file that holds the text."""
    image: Path | None = None
    """An image that shows the text."""
    reader: str | None = None
    """The OCR engine that reads the image."""


class EngineReading(Struct, frozen=True):
    """Where one engine's text of a page is."""

    engine: str
    source: Source
    fields: dict[str, FieldValue] = field(default_factory=dict)


class PageJob(Struct, frozen=True):
    """A page to measure."""

    page: str
    reference: Source
    readings: tuple[EngineReading, ...]


class Jobs(Struct):
    """The pages of a run, and what could not be paired."""

    pages: Generator[PageJob, None, None]
    """Read once, as they are measured, and closed before what they are read from."""
    count: int
    """Pages that have a reference and a reading."""
    engines: tuple[str, ...]
    inputs: tuple[InputFile, ...]
    failures: list[Failure]
    notices: list[str]
    reference_name: str = TRUTH
    """What the reference is called in the run: `truth`, or `witness`."""
    witness: str | None = None
    """Who read the pages as a witness; None with a ground truth."""


def unpaired(page: str, message: str) -> Failure:
    """A page that has nothing to be compared with."""
    return Failure(page, None, "read", None, "unpaired", message)
