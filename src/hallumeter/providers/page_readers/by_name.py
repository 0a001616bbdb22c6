"""Choose a reader of page images from what a user types."""

from __future__ import annotations

from collections.abc import Sequence

from hallumeter.errors import SettingsError

from .protocol import PageReader
from .rapidocr_reader import RapidOcrReader
from .tesseract import TesseractReader

READERS = ("tesseract", "rapidocr")
"""What a user can type, before a colon and languages."""


def page_reader(name: str, languages: Sequence[str] = ()) -> PageReader:
    """The reader called `tesseract`, `tesseract:fra+eng` (with languages of its own) or `rapidocr`.

    Languages after the colon win over those given apart; without either Tesseract reads English.

    Raises:
        SettingsError: There is no such reader, or it lacks a language.
        MissingExtraError: The reader needs a package that is not installed.
    """
    program, colon, own = name.partition(":")
    chosen = tuple(own.split("+")) if colon else tuple(languages)
    if program not in READERS or (colon and not all(chosen)):
        raise SettingsError(
            f"no reader of page images is called {name!r}; expected tesseract, tesseract:fra+eng or rapidocr"
        )
    if program == "rapidocr":
        return RapidOcrReader(chosen)
    return TesseractReader(chosen) if chosen else TesseractReader()
