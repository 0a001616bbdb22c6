"""Catalogues of words: for each language the messages of a report, under their English text."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from msgspec import Struct, convert, field

from hallumeter.errors import SettingsError

ENGLISH = "en"
_HERE = Path(__file__).parent


class Catalogue(Struct, frozen=True, forbid_unknown_fields=True):
    """How a language says the messages of a report and writes its numbers."""

    messages: dict[str, str] = field(default_factory=dict)
    """Translations, under the English text with its places in braces."""
    counts: dict[str, list[str]] = field(default_factory=dict)
    """Translations of what is counted, under the English plural: one form, or those for one and for many."""
    numbers: dict[str, str] = field(default_factory=dict)
    """``decimal`` and ``thousands``: the marks inside numbers."""


def languages() -> tuple[str, ...]:
    """The languages that a report can be written in, English first.

    >>> languages()
    ('en', 'fr', 'ko')
    """
    return (ENGLISH, *sorted(folder.name for folder in _HERE.iterdir() if any(folder.glob("*.toml"))))


@cache
def catalogue(language: str) -> Catalogue:
    """The words of a language; those of English are the messages themselves."""
    if language not in languages():
        raise SettingsError(f"no report is written in {language!r}; choose one of {', '.join(languages())}")
    parts = [_part(path) for path in sorted((_HERE / language).glob("*.toml"))]
    return Catalogue(
        messages={message: words for part in parts for message, words in part.messages.items()},
        counts={message: forms for part in parts for message, forms in part.counts.items()},
        numbers={name: mark for part in parts for name, mark in part.numbers.items()},
    )


def _part(path: Path) -> Catalogue:
    return convert(tomllib.loads(path.read_text(encoding="utf-8")), Catalogue)
