"""Texts as the pieces of words that the model knows, with their places."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from .model_files import model_bytes

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CLS, SEP = 101, 102
_REMEMBERED = 4096


class Tokens(Struct, frozen=True):
    """The tokens of a text."""

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    """Where each stands in the text, in code points."""

    def __len__(self) -> int:
        return len(self.ids)


@lru_cache(maxsize=_REMEMBERED)
def tokens_of(text: str) -> Tokens:
    """Cut a text into tokens, without marks at its ends."""
    # A lone surrogate, as broken files have it, cannot be encoded; a question mark takes its place.
    encoded = tokenizer().encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)
    return Tokens(tuple(encoded.ids), tuple(encoded.offsets))


@cache
def tokenizer() -> Tokenizer:
    """What cuts texts into tokens."""
    from tokenizers import Tokenizer

    made = Tokenizer.from_str(model_bytes("tokenizer.json").decode())
    made.no_truncation()
    made.no_padding()
    return made
