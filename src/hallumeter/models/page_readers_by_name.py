"""Choose a reader of page images from what a user types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from hallumeter.errors import SettingsError

from .page_readers import PageReader
from .rapidocr import RapidOcrReader
from .tesseract import TesseractReader

READERS: dict[str, tuple[Callable[..., PageReader], tuple[str, ...]]] = {
    "tesseract": (TesseractReader, ("tesseract", "tesseract:fra+eng")),
    "rapidocr": (RapidOcrReader, ("rapidocr",)),
}
"""What a user can type, before a colon and languages: who reads then, and the forms that messages name."""


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
        *forms, last = chain.from_iterable(forms for _, forms in READERS.values())
        raise SettingsError(f"no reader of page images is called {name!r}; expected {', '.join(forms)} or {last}")
    make, _ = READERS[program]
    return make(chosen) if chosen else make()
