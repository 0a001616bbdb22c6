"""The reader of a language, made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from hallumeter.errors import SettingsError

from .english.reader import EnglishReader
from .korean.reader import KoreanReader
from .protocol import AspectReader

_READERS: dict[str, Callable[[], AspectReader]] = {"en": EnglishReader, "ko": KoreanReader}


@cache
def reader_for(language: str) -> AspectReader:
    """The reader of a language, by its two letters.

    Raises:
        SettingsError: There is none.
    """
    if language not in _READERS:
        choices = ", ".join(sorted(_READERS))
        raise SettingsError(f"there is no reader of aspects for the language {language!r}; choose from {choices}")
    return _READERS[language]()
