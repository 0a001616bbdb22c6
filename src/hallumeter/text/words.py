"""The words of a text and where they stand in it."""

from __future__ import annotations

import re
from itertools import accumulate

from msgspec import Struct

from .spelling import AS_WRITTEN, Spelling

# Scripts written without spaces: a character is a word there, with the marks that stand on it.
_UNSPACED = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b"  # Han
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Hiragana, Katakana
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46"  # Thai
    "\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"  # Lao
    "\u1780-\u17b3\u17d7\u17dc"  # Khmer
    "\u1000-\u102a\u103f\u1050-\u1055\u105a-\u105d\u1061\u1065\u1066\u106e-\u1070\u1075-\u1081\u108e"  # Myanmar
    "\ua9e0-\ua9e4\ua9e6-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa6f\uaa71-\uaa76\uaa7a\uaa7e\uaa7f"
)
_MARKS = (
    "\u0300-\u036f\ufe00-\ufe0f\U000e0100-\U000e01ef\u3099\u309a"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u17b4-\u17d3\u17dd"
    "\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d"
    "\ua9e5\uaa70\uaa7b-\uaa7d"
)
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_SPACED_WORD = re.compile(r"\S+")
_WORD = re.compile(rf"[{_UNSPACED}][{_MARKS}]*|[^\s{_UNSPACED}]+")


class Words(Struct, frozen=True):
    """The words of a text and where they stand in it."""

    texts: tuple[str, ...]
    """The words as they are compared, in the chosen spelling; none is empty."""
    starts: tuple[int, ...]
    """Where each begins in the original text, in code points."""
    ends: tuple[int, ...]
    """Where each ends, exclusive."""

    def __len__(self) -> int:
        return len(self.texts)


def words_of(text: str, spelling: Spelling = AS_WRITTEN) -> Words:
    """Cut a text into words: whatever white space separates, as in `str.split`.

    Han, Hiragana, Katakana, Thai, Lao, Khmer and Myanmar are written without spaces: there each character, with the
    marks on it, is a word; Korean has spaces and stays whole. A word of which the spelling leaves nothing is dropped.

    >>> words_of("Le roi, 王様")
    Words(texts=('Le', 'roi,', '王', '様'), starts=(0, 3, 8, 9), ends=(2, 7, 9, 10))
    """
    is_spaced = text.isascii() or _IS_UNSPACED.search(text) is None
    if is_spaced and not spelling.steps:
        return _spaced_words(text)
    spans = [match.span() for match in (_SPACED_WORD if is_spaced else _WORD).finditer(text)]
    texts = text.split() if is_spaced else [text[start:end] for start, end in spans]
    if spelling.steps:
        spelled = {word: spelling.word(word) for word in set(texts)}
        kept = [(spelled[word], span) for word, span in zip(texts, spans, strict=True) if spelled[word]]
        texts, spans = [word for word, _ in kept], [span for _, span in kept]
    return Words(tuple(texts), tuple([start for start, _ in spans]), tuple([end for _, end in spans]))


def _spaced_words(text: str) -> Words:
    """The words between white space, as they are written."""
    texts = text.split()
    behind = list(accumulate([len(word) + 1 for word in texts]))
    if texts and behind[-1] == len(text) + 1:
        # One white space between any two words, and none around them.
        return Words(tuple(texts), (0, *behind[:-1]), tuple([end - 1 for end in behind]))
    spans = [match.span() for match in _SPACED_WORD.finditer(text)]
    return Words(tuple(texts), tuple([start for start, _ in spans]), tuple([end for _, end in spans]))
