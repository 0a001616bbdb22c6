"""The words of a page that count, in the form in which they are looked for."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from hallumeter.text.words import Words

ENDLESS_MARKS = 200
"""Signs without a letter or digit between them beyond which they are no markup, leader or empty table any more."""
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,9}(?:\s[^<>]*)?/?>")


class _WithoutSigns(dict[int, int | None]):
    """What becomes of each character when signs are taken out, found when it is first met; line feeds stay."""

    def __missing__(self, code: int) -> int | None:
        is_sign = unicodedata.category(chr(code))[0] in "PSC" and code != ord("\n")
        result = None if is_sign else code
        self[code] = result
        return result


_WITHOUT_SIGNS = _WithoutSigns()


class Wording(Struct, frozen=True):
    """The words that have a letter or a digit, and where they stand."""

    keys: list[str]
    """What is compared: case folded, composed (NFC), letters and digits alone, without signs between or around."""
    texts: list[str]
    """The words in the chosen spelling."""
    starts: list[int]
    """Where the words begin in the original text."""
    ends: list[int]

    def __len__(self) -> int:
        return len(self.keys)


def without_tags(text: str) -> str:
    """The text with spaces in the place of tags, so that cells of a table are words and every place stays.

    >>> without_tags("<td class='x'>a</td><td>b</td>")
    '              a         b     '
    """
    return _TAG.sub(lambda tag: " " * len(tag[0]), text) if "<" in text else text


def wording_of(words: Words) -> Wording:
    """The words that count: signs alone (`**`, `|`, a bullet) do not, unless they go on and on.

    >>> from hallumeter.text.words import words_of
    >>> wording_of(words_of("** «l'Étienne,» I.")).keys
    ['létienne', 'i']
    """
    keys = _keys(words.texts)
    if all(keys):
        return Wording(keys, list(words.texts), list(words.starts), list(words.ends))
    if sum(len(word) for word, key in zip(words.texts, keys, strict=True) if not key) > ENDLESS_MARKS:
        _keep_endless_marks(keys, words.texts)
    kept = [place for place, key in enumerate(keys) if key]
    return Wording(
        [keys[place] for place in kept],
        [words.texts[place] for place in kept],
        [words.starts[place] for place in kept],
        [words.ends[place] for place in kept],
    )


def _keys(words: tuple[str, ...]) -> list[str]:
    """Words as they are looked for, all at once; empty where there is no letter or digit."""
    if not words:
        return []
    lines = "\n".join(words).casefold()
    if lines.isascii():
        return lines.translate(_WITHOUT_SIGNS).split("\n")
    keys = unicodedata.normalize("NFC", lines).translate(_WITHOUT_SIGNS).split("\n")
    # Accents alone are no word.
    return [key if key.isalnum() or any(map(str.isalnum, key)) else "" for key in keys]


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
