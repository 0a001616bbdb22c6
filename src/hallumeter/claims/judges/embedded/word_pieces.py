"""Texts as the pieces of words that the model knows, with their places.

The pieces are those on which the network was trained: a text is freed of accents, capitals and control characters and
cut at white space, around punctuation and around Chinese characters; a word is then cut into the longest pieces of the
vocabulary, from left to right. A word that cannot be cut so is one unknown piece.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

from msgspec import Struct, json

from .model_files import model_bytes

CLS, SEP = 101, 102
_UNKNOWN = 100
_MARKS = {"[PAD]": 0, "[UNK]": _UNKNOWN, "[CLS]": CLS, "[SEP]": SEP, "[MASK]": 103}
_LONGEST_WORD = 100
_WORDS_KEPT = 65_536
_TEXTS_KEPT = 4096

_MARK = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK)\]")
# Other punctuation than that of ASCII stands between spaces when words are looked for.
_WORD = re.compile(r"[!-/:-@\[-`{-~]|[^\s!-/:-@\[-`{-~]+")
_PLAIN = re.compile(r"[\t\n\r -~]*")
_CHINESE = (
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F)),
    *((0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0x2F800, 0x2FA1F)),
)


class Tokens(Struct, frozen=True):
    """The tokens of a text."""

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    """Where each stands in the text, in code points."""

    def __len__(self) -> int:
        return len(self.ids)


@lru_cache(maxsize=_TEXTS_KEPT)
def tokens_of(text: str) -> Tokens:
    """Cut a text into tokens, without marks at its ends."""
    found: list[tuple[int, tuple[int, int]]] = []
    start = 0
    for mark in _MARK.finditer(text):
        found += _words(text[start : mark.start()], start)
        found.append((_MARKS[mark.group()], mark.span()))
        start = mark.end()
    found += _words(text[start:], start)
    return Tokens(tuple(token for token, _ in found), tuple(span for _, span in found))


def _words(text: str, offset: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """The tokens of a text that has no marks, with their places after the offset."""
    folded, places = _folded(text)
    for word in _WORD.finditer(folded):
        at = word.start()
        for token, length in _pieces(word.group()):
            first, last = (at, at + length - 1) if places is None else (places[at], places[at + length - 1])
            yield token, (offset + first, offset + last + 1)
            at += length


def _folded(text: str) -> tuple[str, list[int] | None]:
    """A text as words are looked for in it, and where each of its characters comes from; None when all stay."""
    if _PLAIN.fullmatch(text) is not None:
        return text.lower(), None
    parts = list(map(_folded_character, text))
    return "".join(parts), [place for place, part in enumerate(parts) for _ in part]


@lru_cache(maxsize=_WORDS_KEPT)
def _folded_character(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return "?"  # a lone surrogate, as broken files have it, belongs to no text
    category = unicodedata.category(character)
    if character in "\t\n\r" or category[0] == "Z":
        return " "
    if category in {"Cc", "Cf", "Co"} or character == "\ufffd":
        return ""
    plain = [each for each in unicodedata.normalize("NFD", character) if unicodedata.category(each) != "Mn"]
    # Each by itself: the small sigma at the end of a word is another one in Python's lower case of words.
    folded = "".join(each.lower() for each in plain)
    return f" {folded} " if (category[0] == "P" and not character.isascii()) or _is_chinese(character) else folded


def _is_chinese(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _CHINESE)


@lru_cache(maxsize=_WORDS_KEPT)
def _pieces(word: str) -> tuple[tuple[int, int], ...]:
    """The tokens of a word, each with its length."""
    unknown = ((_UNKNOWN, len(word)),)
    if len(word) > _LONGEST_WORD:
        return unknown
    pieces = []
    start = 0
    known, longest = vocabulary()
    while start < len(word):
        before = "##" if start else ""
        for end in range(min(len(word), start + longest), start, -1):
            token = known.get(before + word[start:end])
            if token is not None:
                pieces.append((token, end - start))
                start = end
                break
        else:
            return unknown
    return tuple(pieces)


class _Model(Struct, frozen=True):
    vocab: dict[str, int]


class _File(Struct, frozen=True):
    model: _Model


@cache
def vocabulary() -> tuple[dict[str, int], int]:
    """The pieces with their numbers, and the length of the longest."""
    known = json.decode(model_bytes("tokenizer.json"), type=_File).model.vocab
    return known, max(map(len, known))
