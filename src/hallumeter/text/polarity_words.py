"""Which polarity a word names: whole words only, and typing errors only where one polarity alone can be meant."""

from __future__ import annotations

import tomllib
import unicodedata
from functools import cache
from importlib import resources

from msgspec import Struct
from rapidfuzz.distance import Levenshtein

from hallumeter.records.aspects import POLARITIES, Polarity, SentenceLabel

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
    file = resources.files("hallumeter.text").joinpath("lexicons", "polarity_words.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))
