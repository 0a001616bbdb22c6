"""The words of a page that count, in the form in which they are looked for."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from hallumeter.text.words import Words

ENDLESS_MARKS = 1000
"""Signs without a letter or digit between them beyond which they are no markup, leader or empty table any more."""
_ASCII_SIGNS = "".join(character for character in map(chr, range(128)) if not character.isalnum())
# A run of signs at the end is looked at from its first sign alone, so that a long one costs no more than its length.
_EDGES = re.compile(r"^[\W_]++|(?<=[^\W_])[\W_]++$")


class Wording(Struct, frozen=True):
    """The words that have a letter or a digit, without case and outer punctuation, and where they stand."""

    keys: list[str]
    """What is compared: case folded, composed (NFC), without signs at either end."""
    starts: list[int]
    """Where the words begin in the original text."""
    ends: list[int]

    def __len__(self) -> int:
        return len(self.keys)


def wording_of(words: Words) -> Wording:
    """The words that count: signs alone (`**`, `|`, a bullet) do not, unless they go on and on.

    >>> from hallumeter.text.words import words_of
    >>> wording_of(words_of("** «Étienne,» I."))
    Wording(keys=['étienne', 'i'], starts=[3, 14], ends=[13, 16])
    """
    keys = _keys(words.texts)
    if all(keys):
        return Wording(keys, list(words.starts), list(words.ends))
    if sum(len(word) for word, key in zip(words.texts, keys, strict=True) if not key) > ENDLESS_MARKS:
        _keep_endless_marks(keys, words.texts)
    kept = [place for place, key in enumerate(keys) if key]
    return Wording(
        [keys[place] for place in kept], [words.starts[place] for place in kept], [words.ends[place] for place in kept]
    )


def _keys(words: tuple[str, ...]) -> list[str]:
    """Words as they are looked for, all at once; empty where there is no letter or digit."""
    if not words:
        return []
    lines = "\n".join(words).casefold()
    if lines.isascii():
        return [word.strip(_ASCII_SIGNS) for word in lines.split("\n")]
    keys = [word.strip(_ASCII_SIGNS) for word in unicodedata.normalize("NFC", lines).split("\n")]
    return [key if key.isalnum() else _EDGES.sub("", key) for key in keys]


def _keep_endless_marks(keys: list[str], words: tuple[str, ...]) -> None:
    """Give signs a key where more of them than `ENDLESS_MARKS` follow one another."""
    start = length = 0
    for place, key in enumerate([*keys, "end"]):
        if not key:
            length += len(words[place])
            continue
        if length > ENDLESS_MARKS:
            keys[start:place] = words[start:place]
        start, length = place + 1, 0
