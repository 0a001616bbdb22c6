"""The words of a human language that show what is felt, and those that turn them, from one data file per language."""

from __future__ import annotations

import tomllib
import unicodedata
from functools import cache
from importlib import resources

from msgspec import Struct, convert, field
from msgspec.json import Decoder
from rapidfuzz.distance import Levenshtein

from hallumeter.errors import SettingsError

from .records.aspect import POLARITIES, Polarity, SentenceLabel

# Which polarity a word names: whole words only, and typing errors only where one polarity alone can be meant.

MOST_EDITS = 2
"""Letters by which a word may differ from a canonical one and still be taken for it."""


class RepairedPolarity(Struct, frozen=True):
    """What a word was read as."""

    value: Polarity | None
    """None when nothing was said, or nothing that can be understood: neither is neutral."""
    was_repaired: bool = False
    """Whether a typing error was mended."""
    is_invalid: bool = False
    """Whether something was said that names no polarity."""


def repaired_polarity(value: str | None) -> RepairedPolarity:
    """Read a polarity; case and white space around it do not count.

    Abbreviations are looked up as whole values. Any other word is taken for a canonical one when it is at most two
    letters away from it and farther from the others.

    >>> repaired_polarity("POS").value, repaired_polarity("negatife"), repaired_polarity("mixed").is_invalid
    ('positive', RepairedPolarity(value='negative', was_repaired=True, is_invalid=False), True)
    >>> repaired_polarity(None)
    RepairedPolarity(value=None, was_repaired=False, is_invalid=False)
    """
    if value is None:
        return _MISSING
    known = _readings().get(value)
    if known is not None:
        return known
    word = _plain(value)
    return (_readings().get(word) or _mended(word)) if word else _MISSING


def sentence_label(value: str | None) -> SentenceLabel | None:
    """The label of a sentence that a word names: a polarity, or mixed; None where it names none.

    >>> sentence_label("Neg"), sentence_label("혼합"), sentence_label("great")
    ('negative', 'mixed', None)
    """
    if value is not None and _plain(value) in _lists()["mixed"]:
        return "mixed"
    return repaired_polarity(value).value


_MISSING = RepairedPolarity(None)
_INVALID = RepairedPolarity(None, is_invalid=True)


def _plain(value: str) -> str:
    return unicodedata.normalize("NFC", value).strip().lower()


def _mended(word: str) -> RepairedPolarity:
    edits = [Levenshtein.distance(word, polarity, score_cutoff=MOST_EDITS) for polarity in POLARITIES]
    least = min(edits)
    if least > MOST_EDITS or edits.count(least) > 1:
        return _INVALID
    return RepairedPolarity(POLARITIES[edits.index(least)], was_repaired=True)


@cache
def _readings() -> dict[str, RepairedPolarity]:
    return {word: RepairedPolarity(polarity) for polarity in POLARITIES for word in _lists()[polarity]}


@cache
def _lists() -> dict[str, list[str]]:
    file = resources.files("hallumeter.aspects").joinpath("lexicons", "polarity_words.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


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
    file = resources.files("hallumeter.aspects").joinpath("lexicons", f"{language}.toml")
    return convert(tomllib.loads(file.read_text(encoding="utf-8")), SentimentWords)
