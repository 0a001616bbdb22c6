"""The words of a human language that show what is felt, and those that turn them, from one data file per language."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from msgspec import Struct, convert, field
from msgspec.json import Decoder

from hallumeter.errors import SettingsError

SENTIMENT_LANGUAGES = ("en", "ko")


class SentimentWords(Struct, frozen=True, forbid_unknown_fields=True):
    """What shows a feeling in one language; how the forms are looked for is up to the reader of the language.

    All forms are in lower case. A weight above 0 is favourable, below 0 unfavourable; its size is how strongly.
    """

    language: str
    """Two letters, ISO 639-1."""
    words: dict[str, float]
    """Single words, stems or morphemes with their weight."""
    negations: tuple[str, ...]
    """Words that turn what they stand with."""
    contrasts: tuple[str, ...]
    """Words, or endings, that oppose two parts of a sentence."""
    phrases: dict[str, float] = field(default_factory=dict)
    """Several words that together weigh something else than each of them."""
    intensifiers: dict[str, float] = field(default_factory=dict)
    """Words that multiply the weight beside them by a factor above 1."""
    diminishers: dict[str, float] = field(default_factory=dict)
    """Words that multiply it by a factor below 1."""
    irony: tuple[str, ...] = ()
    """Words and phrases that let expect that the opposite is meant."""
    stop_terms: tuple[str, ...] = ()
    """Words that are no aspect, however often they stand where one could."""
    extra: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Lists that only the reader of this language knows, by name."""


# msgspec crashes when two threads look at a type for the first time at once; an import is only ever done by one.
Decoder(SentimentWords)


@cache
def sentiment_words(language: str) -> SentimentWords:
    """Read the words of one language.

    >>> sentiment_words("en").words["delicious"] > 0 > sentiment_words("en").words["bland"]
    True
    """
    if language not in SENTIMENT_LANGUAGES:
        choices = ", ".join(SENTIMENT_LANGUAGES)
        raise SettingsError(f"there are no sentiment words for the language {language!r}; choose from {choices}")
    file = resources.files("hallumeter.text").joinpath("lexicons", "sentiment", f"{language}.toml")
    return convert(tomllib.loads(file.read_text(encoding="utf-8")), SentimentWords)
